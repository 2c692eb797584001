"""The protocols of encoders and comparers, which tell how close texts are in meaning to a query.

Implementations are in `ctxcompress.encoders`.
"""

import threading
from collections.abc import Coroutine, Sequence
from concurrent.futures import CancelledError, wait
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:  # both take time to import, and many callers only need the classes
    import asyncio

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "AsyncEncoder",
    "Comparer",
    "Encoder",
    "ManyComparer",
    "OnLoop",
    "PassageVectors",
    "WithWordVectors",
    "WordComparer",
    "word_vectors_of",
]

_POLL_INTERVAL = 0.05
"""Seconds between looks at whether the loop is still alive."""


@runtime_checkable
class Encoder(Protocol):
    """A model that turns texts into vectors whose cosine tells how close they are. A SentenceTransformer is one."""

    def encode_query(self, text: str, /) -> "ArrayLike":
        """Return the vector of a query, shape (dimensions,)."""

    def encode_document(self, texts: Sequence[str], /) -> "ArrayLike":
        """Return one vector for each text, shape (texts, dimensions). Parts of the query are among the texts."""


@runtime_checkable
class AsyncEncoder(Encoder, Protocol):
    """An encoder with coroutines, which `Compressor.acompress` awaits."""

    def aencode_query(self, text: str, /) -> "Coroutine[Any, Any, ArrayLike]":
        """Return what `encode_query` returns."""

    def aencode_document(self, texts: Sequence[str], /) -> "Coroutine[Any, Any, ArrayLike]":
        """Return what `encode_document` returns."""


@runtime_checkable
class Comparer(Protocol):
    """A model that tells how close texts are to a query without vectors to store: a cross-encoder, word vectors."""

    @property
    def compares_all(self) -> bool:
        """True if it is cheap enough to compare all texts with the query and with parts of the query.

        False if it should compare only the texts that other features leave in doubt, and only with the query.
        """

    def compare(self, query: str, texts: Sequence[str], /) -> "ArrayLike":
        """Return one number for each text, greater for closer texts, on any scale, shape (texts,)."""


@runtime_checkable
class ManyComparer(Comparer, Protocol):
    """A comparer for which several queries cost little more than one."""

    def compare_each(self, queries: Sequence[str], texts: Sequence[str], /) -> "ArrayLike":
        """Return the result of `compare` for each query, shape (queries, texts)."""


@runtime_checkable
class WordComparer(Comparer, Protocol):
    """A comparer that needs only the words of texts, so that nothing is split twice."""

    def compare_words(
        self,
        queries: Sequence[Sequence[str]],
        texts: Sequence[Sequence[str]],
        labels: Sequence[Sequence[str]],
        label_of: "NDArray[np.intp]",
        /,
    ) -> "tuple[ArrayLike, ArrayLike]":
        """Return how close each text with its label before it is to each query, shape (queries, texts), and how close
        each label is, shape (queries, labels).

        All are given as words. label_of: the number of each text's label, -1 for none.
        """


@runtime_checkable
class PassageVectors(Protocol):
    """A comparer of one language that also gives vectors of whole passages, for finding duplicates.

    The cosine of two of these vectors must mean the same as with a sentence encoder.
    """

    @property
    def language(self) -> str:
        """The ISO 639-1 code of the language. Passages in other languages are not compared by these vectors."""

    def encode_passages(self, texts: Sequence[str], /) -> "ArrayLike":
        """Return one vector for each text, shape (texts, dimensions)."""


@runtime_checkable
class WithWordVectors(Protocol):
    """An expensive encoder or comparer for some texts, together with a cheap comparer for all texts."""

    @property
    def word_vectors(self) -> Comparer | None:
        """The cheap comparer, or None."""


def word_vectors_of(encoder: object) -> Comparer | None:
    """Return the cheap comparer of an encoder, or None. An encoder that is itself cheap has none."""
    if encoder is None or not isinstance(encoder, WithWordVectors):
        return None
    is_cheap = not isinstance(encoder, Encoder) and isinstance(encoder, Comparer) and encoder.compares_all
    return None if is_cheap else encoder.word_vectors


class OnLoop:
    """An adapter that lets a thread without an event loop use an async encoder.

    The coroutines run on `loop`, which must be running in another thread. A call raises CancelledError after `cancel`,
    or if the loop is closed.
    """

    __slots__ = ("_cancelled", "_encoder", "_loop", "tokenizer", "word_vectors")

    def __init__(self, encoder: AsyncEncoder, loop: "asyncio.AbstractEventLoop") -> None:
        self._encoder, self._loop = encoder, loop
        self.word_vectors = word_vectors_of(encoder)
        self.tokenizer = getattr(encoder, "tokenizer", None)
        self._cancelled = threading.Event()

    def encode_query(self, text: str, /) -> "ArrayLike":
        """Return the result of the encoder's `aencode_query`."""
        return self._await(self._encoder.aencode_query(text))

    def encode_document(self, texts: Sequence[str], /) -> "ArrayLike":
        """Return the result of the encoder's `aencode_document`."""
        return self._await(self._encoder.aencode_document(texts))

    def cancel(self) -> None:
        """Cancel the running call and all later ones."""
        self._cancelled.set()

    def _await(self, coroutine: "Coroutine[Any, Any, ArrayLike]") -> "ArrayLike":
        if self._is_over():
            coroutine.close()
            raise CancelledError
        from asyncio import run_coroutine_threadsafe

        future = run_coroutine_threadsafe(coroutine, self._loop)
        # A loop that has stopped never completes the future, so check it now and then.
        while not wait([future], timeout=_POLL_INTERVAL).done:
            if self._is_over():
                future.cancel()
                raise CancelledError
        return future.result()

    def _is_over(self) -> bool:
        return self._cancelled.is_set() or self._loop.is_closed()
