"""LlamaIndex's LLMs as language models of the core, which select segments."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from llama_index.core.base.llms.base import BaseLLM
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, MessageRole
from llama_index.core.callbacks.token_counting import get_tokens_from_response

from ctxcompress.agents.framework_models import Answer, LLMSelector, Prompt, identity_of, reported, with_model

__all__ = ["LLMSelector", "as_language_model"]


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


def _messages(prompt: Prompt) -> list[ChatMessage]:
    return [ChatMessage(prompt.system, role=MessageRole.SYSTEM), ChatMessage(prompt.user, role=MessageRole.USER)]


def _answer(response: ChatResponse) -> Answer:
    read = written = 0
    with suppress(TypeError, ValueError, AttributeError):  # a raw response of a form that LlamaIndex does not know
        read, written = get_tokens_from_response(response)
    return Answer(response.message.content or "", reported(read), reported(written))
