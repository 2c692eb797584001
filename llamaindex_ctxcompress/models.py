"""LlamaIndex's embedding models and LLMs as the core takes them and as JSON has them, and what an LLM can read."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.llms.base import BaseLLM
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, MessageRole, TextBlock
from llama_index.core.callbacks.token_counting import get_tokens_from_response
from llama_index.core.embeddings.loading import RECOGNIZED_EMBEDDINGS, load_embed_model
from llama_index.core.llms.loading import RECOGNIZED_LLMS, load_llm
from llama_index.core.tools import BaseTool, ToolMetadata

from ctxcompress.agents.framework_models import (
    Answer,
    Encoding,
    LLMSelector,
    Prompt,
    count_prompt,
    identity_of,
    reported,
    with_model,
)

__all__ = [
    "EmbeddingsEncoder",
    "LLMSelector",
    "as_encoder",
    "as_language_model",
    "context_window",
    "prompt_tokens",
    "read_back",
    "written_down",
]


@dataclass(frozen=True, slots=True)
class EmbeddingsEncoder:
    """An encoder that uses any `BaseEmbedding`.

    Queries and texts go to the methods that LlamaIndex has for each, because some models embed them differently. The
    query is embedded even if retrieval left its vector in the query bundle: the bundle does not say which model the
    vector is of. An `embeddings_cache` saves embedding it twice.

    word_vectors: a cheap comparer for all texts, of which the model embeds only some: `StaticVectors()` of
    ctxcompress.encoders for English, another comparer, or None.
    """

    model: BaseEmbedding
    word_vectors: Any = None

    def encode_query(self, text: str, /) -> list[float]:
        """Return the vector of a query."""
        return self.model.get_query_embedding(text)

    def encode_document(self, texts: Sequence[str], /) -> list[list[float]]:
        """Return one vector for each text."""
        return self.model.get_text_embedding_batch(list(texts))

    async def aencode_query(self, text: str, /) -> list[float]:
        """Do the same as `encode_query`."""
        return await self.model.aget_query_embedding(text)

    async def aencode_document(self, texts: Sequence[str], /) -> list[list[float]]:
        """Do the same as `encode_document`."""
        return await self.model.aget_text_embedding_batch(list(texts))


def as_encoder(encoder: object) -> Any:
    """Return an encoder of the core for an embedding model; anything else as it is, for the core to check."""
    return EmbeddingsEncoder(encoder) if isinstance(encoder, BaseEmbedding) else encoder


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


_LOADERS: Mapping[str, tuple[Collection[str], Callable[[dict[str, Any]], object]]] = {
    "encoder": (RECOGNIZED_EMBEDDINGS, load_embed_model),
    "llm": (RECOGNIZED_LLMS, load_llm),
}
"""Option -> the classes that LlamaIndex loads by name, and what loads them."""


def written_down(option: str, model: object) -> object:
    """Return the model of an option as JSON can hold it: one of LlamaIndex as it writes itself, of others the class.

    The name of a class is in brackets, so that reading it back is refused.
    """
    if isinstance(model, BaseEmbedding | BaseLLM):
        return model.to_dict()
    return model if isinstance(model, str | None) else f"<{option} {type(model).__qualname__}>"


def read_back(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the models among the options, made again of what was written down of them.

    Raises ValueError for a model whose class LlamaIndex does not know by name.
    """
    return {option: _loaded(option, options[option]) for option in _LOADERS if option in options}


def _loaded(option: str, model: object) -> object:
    """Return the model that LlamaIndex reads from its own description; anything else as it is."""
    if not isinstance(model, Mapping):
        return model
    (known, load), name = _LOADERS[option], model.get("class_name")
    if name not in known:  # the rest may contain an API key, and stays out of the message
        raise ValueError(
            f"{option} is the description of a {name!r}, which LlamaIndex does not load by its name; give the model "
            f"itself: from_dict(data, {option}=...)"
        )
    return load(dict(model))


def context_window(model: object) -> int:
    """Return the most tokens that a language model reads: its context window without the room for its answer.

    Raises TypeError for anything but a language model of LlamaIndex, and what its metadata raises.
    """
    if not isinstance(model, BaseLLM):
        raise TypeError(f"model is a {type(model).__name__}; give an LLM of LlamaIndex, or context_window in tokens")
    metadata = model.metadata
    room = metadata.context_window - max(metadata.num_output, 0)
    return room if room > 0 else metadata.context_window


def prompt_tokens(
    messages: Iterable[ChatMessage | str] = (),
    *,
    system_prompt: str | None = None,
    tools: Iterable[BaseTool | ToolMetadata] = (),
    encoding: Encoding = "o200k_base",
) -> int:
    """Return about how many tokens of the context window a prompt takes, to be left out of `context_window`.

    The schemas of tools count as JSON; images and other media do not count.
    """
    prompt = [*([system_prompt] if system_prompt else []), *messages]
    texts = (text for message in prompt for text in _texts(message))
    about = (tool.metadata if isinstance(tool, BaseTool) else tool for tool in tools)
    return count_prompt(texts, (each.to_openai_tool(skip_length_check=True) for each in about), encoding)


def _texts(message: ChatMessage | str) -> Iterator[str]:
    if isinstance(message, str):
        yield message
        return
    yield "".join(block.text for block in message.blocks if isinstance(block, TextBlock))
    for call in message.additional_kwargs.get("tool_calls") or ():
        yield str(call)
