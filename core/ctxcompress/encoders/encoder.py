"""The protocols of encoders and comparers, which tell how close texts are in meaning to a query; and how well one knows
the language of the texts.

Implementations are in `ctxcompress.encoders`.
"""

from collections.abc import Coroutine, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from ctxcompress.guarded import awaited
from ctxcompress.lazy_regex import lazy_regex

if TYPE_CHECKING:  # both take time to import, and many callers only need the classes
    import asyncio

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "AsyncEncoder",
    "Comparer",
    "Encoder",
    "OnLoop",
    "PassageVectors",
    "WordComparer",
    "knowledge",
    "word_vectors_of",
]


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


def word_vectors_of(encoder: object) -> Comparer | None:
    """Return the cheap comparer for all texts that stands beside an expensive encoder for some, as its `word_vectors`;
    None if it has none, or is cheap itself."""
    if encoder is None or (not isinstance(encoder, Encoder) and isinstance(encoder, Comparer) and encoder.compares_all):
        return None
    found: Comparer | None = getattr(encoder, "word_vectors", None)
    return found


class OnLoop:
    """An adapter that lets a thread without an event loop use an async encoder: see `awaited`."""

    def __init__(self, encoder: AsyncEncoder, loop: "asyncio.AbstractEventLoop") -> None:
        self._encoder, self._loop = encoder, loop
        self.word_vectors = word_vectors_of(encoder)
        self.tokenizer = getattr(encoder, "tokenizer", None)

    def encode_query(self, text: str, /) -> "ArrayLike":
        """Return the result of the encoder's `aencode_query`."""
        return awaited(self._encoder.aencode_query(text), self._loop)

    def encode_document(self, texts: Sequence[str], /) -> "ArrayLike":
        """Return the result of the encoder's `aencode_document`."""
        return awaited(self._encoder.aencode_document(texts), self._loop)


_LEAST, _ENOUGH = 1.5, 3.3
"""Letters per piece: with the least, nothing is known; with enough, everything. English prose has 3.6 to 4.7 in
all-MiniLM-L6-v2, French 3.1, German 2.6, Hindi 1.5, Arabic 1.0."""
_MOST_WORDS, _AT_ONCE = 200, 30
"""Words that are looked at, as more say the same, and given to a tokenizer at once: it warns of long texts."""
_HAN = lazy_regex("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U000323af]")
_HANGUL = lazy_regex("[\uac00-\ud7af]")


@runtime_checkable
class Pieces(Protocol):
    """An encoder that tells into how many pieces its tokenizer cuts words."""

    def pieces(self, words: Sequence[str], /) -> tuple[int, int]:
        """Return the number of pieces of these words, and how many of the pieces are not in its vocabulary."""


def knowledge(encoder: object, texts: Sequence[Sequence[str]]) -> float:
    """Return how well the encoder knows the language of the texts, from 0 (not at all) to 1.

    texts: as words. An encoder whose tokenizer cannot be asked is taken to know it.
    """
    tokenizer = getattr(encoder, "tokenizer", None)  # of the transformers package, as a SentenceTransformer has one
    if tokenizer is None and not isinstance(encoder, Pieces):
        return 1.0
    words = _sample(texts)
    pieces, unknown = encoder.pieces(words) if isinstance(encoder, Pieces) else _cut(tokenizer, words)
    if not pieces:
        return 1.0
    # What is not in the vocabulary says nothing, as if it had no letters.
    letters = _letters("".join(words)) * (1 - unknown / pieces)
    return min(max((letters / pieces - _LEAST) / (_ENOUGH - _LEAST), 0.0), 1.0)


def _sample(texts: Sequence[Sequence[str]]) -> list[str]:
    """Return words from all over the texts, without numbers and identifiers, which no language has."""
    sample = islice(chain.from_iterable(texts), 0, None, 1 + sum(map(len, texts)) // _MOST_WORDS)
    return [word for word in sample if word.isalpha() or not word.isascii()]


def _cut(tokenizer: Any, words: Sequence[str]) -> tuple[int, int]:
    """Return the number of pieces of the words, and of unknown ones; 0 for a tokenizer of another kind."""
    fast = getattr(tokenizer, "backend_tokenizer", None)
    if fast is not None:
        pieces = _pieces(fast, " ".join(words))
    elif callable(getattr(tokenizer, "tokenize", None)):
        starts = range(0, len(words), _AT_ONCE)
        pieces = [piece for start in starts for piece in tokenizer.tokenize(" ".join(words[start : start + _AT_ONCE]))]
    else:
        return 0, 0
    return len(pieces), pieces.count(getattr(tokenizer, "unk_token", ""))


def _pieces(fast: Any, text: str) -> list[str]:
    """Return the pieces of a text by the parts of a tokenizer of the tokenizers package.

    The tokenizer itself is not called: `tokenize` would turn off its padding, which another thread may need just then.
    """
    text = fast.normalizer.normalize_str(text) if fast.normalizer else text
    parts = [part for part, _ in fast.pre_tokenizer.pre_tokenize_str(text)] if fast.pre_tokenizer else [text]
    return [piece.value for part in parts for piece in fast.model.tokenize(part)]


def _letters(text: str) -> int:
    """Count letters, as many for a Chinese or Korean character as a translation into an alphabet would have."""
    if text.isascii():
        return len(text)
    return len(text) + 2 * len(_HAN.findall(text)) + len(_HANGUL.findall(text))
