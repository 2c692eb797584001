"""LangChain's chat models as language models of the core, which select segments."""

from dataclasses import dataclass, replace
from typing import Any

from langchain_core.callbacks import Callbacks
from langchain_core.language_models import BaseLanguageModel
from langchain_core.load import dumpd
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableConfig, RunnableWithFallbacks
from langchain_core.runnables.base import RunnableBindingBase

from ctxcompress import CompressionConfig
from ctxcompress.agents.framework_models import Answer, LLMSelector, Prompt, identity_of, reported, with_model

__all__ = ["LLMSelector", "as_language_model", "traced_by"]

_RUN_NAME = "select_segments"
_NOT_STREAMED = "nostream"
"""The tag by which LangGraph leaves a model's words out of the stream that users see (`stream_mode="messages"`)."""


@dataclass(frozen=True, slots=True)
class _ChatModel:
    """A language model that uses any chat model, also one with retries, fallbacks or bound arguments."""

    model: Runnable[Any, Any]
    callbacks: Callbacks = None
    """Of the run that asks; None for those of the surrounding runnable."""

    @property
    def identity(self) -> str:
        """The model as LangChain writes it, without secrets; "" for a runnable of which it writes only the name."""
        described = _described(self.model)
        return "" if described is None else identity_of(described)

    def complete(self, prompt: Prompt, /) -> Answer:
        """Return the model's answer to two messages."""
        return _answer(self.model.invoke(_messages(prompt), self._config()))

    async def acomplete(self, prompt: Prompt, /) -> Answer:
        """Do the same as `complete`."""
        return _answer(await self.model.ainvoke(_messages(prompt), self._config()))

    def _config(self) -> RunnableConfig:
        config = RunnableConfig(run_name=_RUN_NAME, tags=[_NOT_STREAMED])
        return config if self.callbacks is None else {**config, "callbacks": self.callbacks}


def as_language_model(llm: object) -> Any:
    """Return a language model of the core for a chat model; anything else as it is, for the core to check."""
    return with_model(llm, lambda model: _ChatModel(model) if isinstance(model, Runnable) else model)


def traced_by(config: CompressionConfig, callbacks: Callbacks) -> CompressionConfig:
    """Return the options with a chat model whose runs are children of the run that has these callbacks."""
    if config.llm is None:
        return config
    llm = with_model(
        config.llm, lambda model: replace(model, callbacks=callbacks) if isinstance(model, _ChatModel) else model
    )
    return config.with_options(llm=llm)


def _described(model: Runnable[Any, Any]) -> list[object] | None:
    """Return the parameters of the models in a runnable, or None if it has other parts."""
    if isinstance(model, BaseLanguageModel):
        return [dumpd(model)]
    if isinstance(model, RunnableBindingBase):
        bound = _described(model.bound)
        return bound and [*bound, dict(model.kwargs)]
    if isinstance(model, RunnableWithFallbacks):
        ways = [_described(way) for way in model.runnables]
        return None if None in ways else [*ways]
    return None


def _messages(prompt: Prompt) -> list[BaseMessage]:
    return [SystemMessage(prompt.system), HumanMessage(prompt.user)]


def _answer(output: object) -> Answer:
    """Return the answer of a chat model, or of a model that returns a string."""
    if not isinstance(output, BaseMessage):
        return Answer(output if isinstance(output, str) else str(output))
    usage = output.usage_metadata if isinstance(output, AIMessage) else None
    if not usage:
        return Answer(str(output.text))
    return Answer(str(output.text), reported(usage.get("input_tokens")), reported(usage.get("output_tokens")))
