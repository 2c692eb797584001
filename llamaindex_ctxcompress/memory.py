"""The memory block: what leaves the short-term memory of an agent, compressed for the current question."""

import asyncio
from typing import Any, Self

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import ConfigDict, Field, PrivateAttr
from llama_index.core.memory import BaseMemoryBlock
from typing_extensions import override

from ctxcompress import Compressor, Encoder
from ctxcompress.agents.agent_messages import goal_of, query_for
from ctxcompress.agents.history import recall, recalled_text
from llamaindex_ctxcompress.chat_messages import agent_messages
from llamaindex_ctxcompress.events import tell
from llamaindex_ctxcompress.models import read_back
from llamaindex_ctxcompress.postprocessor import SerializedOptions

__all__ = ["CtxCompressMemoryBlock"]

_SPARE = 0.9
"""The share of the tokens left after a truncation that is used: LlamaIndex may count with another tokenizer."""


class CtxCompressMemoryBlock(SerializedOptions, BaseMemoryBlock[str]):
    """A memory block that returns what answers the current question of the messages that left the short-term memory.

    It goes into `Memory.from_defaults(memory_blocks=[CtxCompressMemoryBlock(max_tokens=1000)])`. The text is verbatim,
    in the order of the conversation, in at most `max_tokens` tokens. Above each part stands who said it, and when:
    "[message 3, user, 2026-05-01]", with the time if `additional_kwargs` has one. The question is the user's last
    message in the short-term memory. While nothing leaves it and the user asks nothing new, the text stays byte for
    byte the same. With a `session_id`, only messages of that session count.

    `messages` are all whole messages so far, so that what one question did not need can come back for another. JSON and
    pickle keep them. To go on in a new process, give the messages that a chat store has kept:
    `messages=await memory.aget_all(status=MessageStatus.ARCHIVED)`.

    The options are those of `ctxcompress.CompressionConfig`, as fields, other than `format`, and `preset`
    and `trace_to`. A passage is a message here. Raises pydantic's ValidationError, a ValueError, for a value that
    cannot work, and TokenizerUnavailable, a RuntimeError, if the vocabulary of `encoding` can neither be found nor
    fetched.
    """

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    name: str = Field(default="CompressedHistory", description="The name of the memory block.")
    encoder: BaseEmbedding | Encoder | object | None = Field(default="words", json_schema_extra={"type": "object"})
    """What tells the scorer how close texts are in meaning: an embedding model of LlamaIndex, or one of
    ctxcompress.encoders, such as `StaticVectors()`."""
    messages: list[ChatMessage] = Field(default_factory=list)
    """The messages that left the short-term memory, in their order."""
    _last: tuple[str, str, str | None] = PrivateAttr(default=("", "", None))
    """The last text, with its question and its session."""

    @override
    @classmethod
    def _as_given(cls, options: dict[str, Any]) -> dict[str, Any]:
        if options.get("format", "plain") != "plain":
            raise ValueError(f"format is {options['format']!r}; a memory block shows messages in a form of its own")
        return {**options, **read_back(options)}

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """Return the block itself: a workflow copies its state, with the memory in it, each time a tool edits the
        state, and messages that a copy is given must not be lost."""
        return self

    @override
    async def _aget(
        self, messages: list[ChatMessage] | None = None, session_id: str | None = None, **block_kwargs: Any
    ) -> str:
        current = agent_messages(messages or ())
        query = query_for(current, goal_of(current))
        text = await self._recalled(query, session_id)
        self._last = text, query, session_id
        return text

    async def _aput(self, messages: list[ChatMessage]) -> None:
        self.messages += [message.model_copy(deep=True) for message in messages]

    @override
    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Return less for the same question: as many tokens as are left, or None if none are."""
        text, query, session_id = self._last
        left = int((Compressor(self.config).count(content) - tokens_to_truncate) * _SPARE)
        if left < 1 or content != text:
            return None
        return await self._recalled(query, session_id, left) or None

    async def _recalled(self, query: str, session_id: str | None, max_tokens: int | None = None) -> str:
        """Return what answers the query. max_tokens: in place of the option."""
        of_session = [
            message
            for message in self.messages
            if session_id is None or message.additional_kwargs.get("session_id") in (None, session_id)
        ]
        if not of_session:
            return ""
        config = self.config if max_tokens is None else self.config.with_options(max_tokens=max_tokens)
        compression = await recall(config, agent_messages(of_session), query)
        tell(compression)
        if self.trace_to is not None:
            await asyncio.to_thread(compression.trace, self.trace_to)
        return recalled_text(compression)
