"""What can be asked how close texts are in meaning to a question. The classes that do it are in `encoders`."""

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from numpy.typing import ArrayLike

__all__ = ["AsyncEncoder", "Comparer", "Encoder", "OnLoop"]


@runtime_checkable
class Encoder(Protocol):
    """Turns texts into vectors whose cosine says how close they are. A SentenceTransformer is one as it is."""

    def encode_query(self, text: str, /) -> ArrayLike:
        """The vector of a question, shape (dimensions,)."""

    def encode_document(self, texts: Sequence[str], /) -> ArrayLike:
        """One vector for each text, shape (texts, dimensions)."""


@runtime_checkable
class AsyncEncoder(Encoder, Protocol):
    """An encoder that can be awaited, as `Compressor.acompress` does."""

    def aencode_query(self, text: str, /) -> Coroutine[Any, Any, ArrayLike]:
        """As `encode_query`."""

    def aencode_document(self, texts: Sequence[str], /) -> Coroutine[Any, Any, ArrayLike]:
        """As `encode_document`."""


@runtime_checkable
class Comparer(Protocol):
    """Says how close texts are to a question without vectors that could be kept: a cross-encoder, word vectors."""

    @property
    def cheap(self) -> bool:
        """Whether all texts may be compared. Otherwise only those are that other signs leave in doubt."""

    def compare(self, query: str, texts: Sequence[str], /) -> ArrayLike:
        """One number for each text, greater for closer ones, on any scale, shape (texts,)."""


@dataclass(frozen=True, slots=True)
class OnLoop:
    """An async encoder for a thread that has no event loop: what it awaits runs on `loop`, which must be free."""

    encoder: AsyncEncoder
    loop: asyncio.AbstractEventLoop

    def encode_query(self, text: str, /) -> ArrayLike:
        """As the encoder's `aencode_query`."""
        return asyncio.run_coroutine_threadsafe(self.encoder.aencode_query(text), self.loop).result()

    def encode_document(self, texts: Sequence[str], /) -> ArrayLike:
        """As the encoder's `aencode_document`."""
        return asyncio.run_coroutine_threadsafe(self.encoder.aencode_document(texts), self.loop).result()
