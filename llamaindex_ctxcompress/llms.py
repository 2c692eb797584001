"""LlamaIndex's LLMs as language models of the core, which select segments, and how one is serialized."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from llama_index.core.base.llms.base import BaseLLM
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, MessageRole
from llama_index.core.callbacks.token_counting import get_tokens_from_response
from llama_index.core.llms.loading import RECOGNIZED_LLMS, load_llm

from ctxcompress.tools.framework_models import Answer, LLMSelector, Prompt, identity_of, reported, with_model

__all__ = ["LLMSelector", "as_language_model", "read_back_llm", "written_down_llm"]


@dataclass(frozen=True, slots=True)
class _FrameworkLLM:
    """A language model that uses any LLM."""

    llm: BaseLLM

    @property
    def identity(self) -> str:
        """The class, the name and the parameters of the model. It is only hashed, because it may have an API key."""
        try:
            described = [type(self.llm).__qualname__, self.llm.metadata.model_dump(), self.llm.to_dict()]
        except (AttributeError, TypeError, ValueError):  # some have no metadata for models that they do not know
            return ""
        return identity_of(described)

    def complete(self, prompt: Prompt, /) -> Answer:
        """Return the model's answer to two messages."""
        return _answer(self.llm.chat(_messages(prompt)))

    async def acomplete(self, prompt: Prompt, /) -> Answer:
        """Do the same as `complete`."""
        return _answer(await self.llm.achat(_messages(prompt)))


def as_language_model(llm: object) -> Any:
    """Return a language model of the core for an LLM; anything else as it is, for the core to check."""
    return with_model(llm, lambda model: _FrameworkLLM(model) if isinstance(model, BaseLLM) else model)


def written_down_llm(llm: object) -> object:
    """Return the value of the option `llm` as JSON can hold it: an LLM as LlamaIndex writes it, of others the class.

    The name of a class is in brackets, so that reading it back is refused.
    """
    if isinstance(llm, BaseLLM):
        return llm.to_dict()
    return None if llm is None else f"<llm {type(llm).__qualname__}>"


def read_back_llm(llm: object) -> object:
    """Return the LLM that LlamaIndex reads from its own description; anything else as it is.

    Raises ValueError for a model whose class LlamaIndex does not know by name.
    """
    if not isinstance(llm, Mapping):
        return llm
    name = llm.get("class_name")
    if name not in RECOGNIZED_LLMS:  # the rest may contain an API key, and stays out of the message
        raise ValueError(
            f"llm is the description of a {name!r}, which LlamaIndex does not load by its name; give the model itself: "
            "from_dict(data, llm=...)"
        )
    return load_llm(dict(llm))


def _messages(prompt: Prompt) -> list[ChatMessage]:
    return [ChatMessage(prompt.system, role=MessageRole.SYSTEM), ChatMessage(prompt.user, role=MessageRole.USER)]


def _answer(response: ChatResponse) -> Answer:
    read = written = 0
    with suppress(TypeError, ValueError, AttributeError):  # a raw response of a form that LlamaIndex does not know
        read, written = get_tokens_from_response(response)
    return Answer(response.message.content or "", reported(read), reported(written))
