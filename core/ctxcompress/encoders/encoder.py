"""What can be asked how close texts are in meaning to a question. The classes that do it are in `encoders`."""

import asyncio
import threading
from collections.abc import Coroutine, Sequence
from concurrent.futures import CancelledError, wait
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctxcompress.errors import ConfigError

__all__ = [
    "AsyncEncoder",
    "Comparer",
    "Encoder",
    "ManyComparer",
    "OnLoop",
    "PassageVectors",
    "WithWordVectors",
    "as_numbers",
    "checked_numbers",
    "unit",
    "without_surrogates",
    "word_vectors_of",
]

_LOOK = 0.05
"""Seconds."""


@runtime_checkable
class Encoder(Protocol):
    """Turns texts into vectors whose cosine says how close they are. A SentenceTransformer is one as it is."""

    def encode_query(self, text: str, /) -> ArrayLike:
        """The vector of a question, shape (dimensions,)."""

    def encode_document(self, texts: Sequence[str], /) -> ArrayLike:
        """One vector for each text, shape (texts, dimensions). Parts of the question are among the texts."""


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
    def compares_all(self) -> bool:
        """Whether all texts may be compared, with the question and with parts of it. Otherwise only those are that
        other signs leave in doubt, and with the question only."""

    def compare(self, query: str, texts: Sequence[str], /) -> ArrayLike:
        """One number for each text, greater for closer ones, on any scale, shape (texts,)."""


@runtime_checkable
class ManyComparer(Comparer, Protocol):
    """A comparer for which several questions cost little more than one."""

    def compare_each(self, queries: Sequence[str], texts: Sequence[str], /) -> ArrayLike:
        """What `compare` says for each question, shape (queries, texts)."""


@runtime_checkable
class PassageVectors(Protocol):
    """A comparer that can also give vectors of whole passages, by which duplicates are told: a cosine of two of them
    means what it means of a sentence encoder's. It knows one language."""

    @property
    def language(self) -> str:
        """ISO 639-1 code. Passages in other languages are not compared by these vectors."""

    def encode_passages(self, texts: Sequence[str], /) -> ArrayLike:
        """One vector for each text, shape (texts, dimensions)."""


@runtime_checkable
class WithWordVectors(Protocol):
    """An encoder, or a comparer that is not cheap, with a cheap comparer beside it that compares all texts, where the
    encoder compares some."""

    @property
    def word_vectors(self) -> Comparer | None:
        """The cheap one; None for none."""


def word_vectors_of(encoder: object) -> Comparer | None:
    """The cheap comparer that stands beside an encoder. What is cheap itself has none beside it."""
    if encoder is None or not isinstance(encoder, WithWordVectors):
        return None
    is_cheap = not isinstance(encoder, Encoder) and isinstance(encoder, Comparer) and encoder.compares_all
    return None if is_cheap else encoder.word_vectors


class OnLoop:
    """An async encoder for one thread that has no event loop: what it awaits runs on `loop`, which must be free.

    Raises CancelledError in that thread after `cancel`, or if the loop is closed.
    """

    __slots__ = ("_cancelled", "_encoder", "_loop", "word_vectors")

    def __init__(self, encoder: AsyncEncoder, loop: asyncio.AbstractEventLoop) -> None:
        self._encoder, self._loop = encoder, loop
        self.word_vectors = word_vectors_of(encoder)
        self._cancelled = threading.Event()

    def encode_query(self, text: str, /) -> ArrayLike:
        """As the encoder's `aencode_query`."""
        return self._awaited(self._encoder.aencode_query(text))

    def encode_document(self, texts: Sequence[str], /) -> ArrayLike:
        """As the encoder's `aencode_document`."""
        return self._awaited(self._encoder.aencode_document(texts))

    def cancel(self) -> None:
        """Nothing is awaited any more, and what is being awaited is cancelled."""
        self._cancelled.set()

    def _awaited(self, coroutine: Coroutine[Any, Any, ArrayLike]) -> ArrayLike:
        if self._is_over():
            coroutine.close()
            raise CancelledError
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        # A loop that has stopped tells nobody: so it is looked at now and then.
        while not wait([future], timeout=_LOOK).done:
            if self._is_over():
                future.cancel()
                raise CancelledError
        return future.result()

    def _is_over(self) -> bool:
        return self._cancelled.is_set() or self._loop.is_closed()


Floats = NDArray[np.float64]


def without_surrogates(texts: Sequence[str]) -> list[str]:
    """The texts without lone surrogates, which tokenizers refuse."""
    return [text.encode("utf-8", "replace").decode("utf-8") for text in texts]


def as_numbers(values: object) -> Floats | None:
    """The values as an array, or None if they are no numbers."""
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError, OverflowError, RuntimeError):  # the last is torch's, of what has a gradient
        return None


def checked_numbers(values: ArrayLike, of: str, dimensions: int) -> Floats:
    """What an encoder gave `of` something; raises ConfigError if that is not finite numbers in so many dimensions."""
    array = as_numbers(values)
    if array is None:
        raise ConfigError(f"the encoder gave a {type(values).__name__} for {of}; give an array of numbers")
    if array.ndim != dimensions:
        raise ConfigError(f"the encoder gave an array of shape {array.shape} for {of}; give {dimensions} dimensions")
    if not np.isfinite(array).all():
        raise ConfigError(f"the encoder gave numbers for {of} that are not all finite numbers; give no NaN or infinity")
    return array


def unit(vectors: Floats) -> Floats:
    """Of length 1; a vector of zeros stays. Scaled first, so that no square is too large."""
    scaled = vectors / np.maximum(np.abs(vectors).max(axis=-1, keepdims=True, initial=0.0), 1e-300)
    result: Floats = scaled / np.maximum(np.linalg.norm(scaled, axis=-1, keepdims=True), 1e-12)
    return result
