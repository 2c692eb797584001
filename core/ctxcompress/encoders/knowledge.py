"""How well an encoder knows the language of texts, from how its tokenizer cuts their words.

A model has whole words and long pieces of the languages that it learned from. It reads other languages letter by
letter, and its similarities say little about them.
"""

from collections.abc import Sequence
from itertools import chain, islice
from typing import Any, Protocol, runtime_checkable

from ctxcompress.lazy_regex import lazy_regex

__all__ = ["HasTokenizer", "Pieces", "knowledge"]

_LEAST, _ENOUGH = 1.5, 3.3
"""Letters per piece: with the least, nothing is known; with enough, everything. English prose has 3.6 to 4.7 in
all-MiniLM-L6-v2, French 3.1, German 2.6, Hindi 1.5, Arabic 1.0."""
_MOST_WORDS = 200
"""The number of words that are looked at: more say the same."""
_AT_ONCE = 30
"""The number of words given to a tokenizer at once. It warns of texts that are longer than the model reads."""
_HAN = lazy_regex("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U000323af]")
_HANGUL = lazy_regex("[\uac00-\ud7af]")


@runtime_checkable
class Pieces(Protocol):
    """An encoder that tells into how many pieces its tokenizer cuts words."""

    def pieces(self, words: Sequence[str], /) -> tuple[int, int]:
        """Return the number of pieces of these words, and how many of the pieces are not in its vocabulary."""


@runtime_checkable
class HasTokenizer(Protocol):
    """A model with a tokenizer of the transformers package, such as a SentenceTransformer."""

    @property
    def tokenizer(self) -> Any:
        """The tokenizer."""


def knowledge(encoder: object, texts: Sequence[Sequence[str]]) -> float:
    """Return how well the encoder knows the language of the texts, from 0 (not at all) to 1.

    texts: as words. An encoder whose tokenizer cannot be asked is taken to know it.
    """
    if not isinstance(encoder, Pieces | HasTokenizer):
        return 1.0
    words = _sample(texts)
    pieces, unknown = encoder.pieces(words) if isinstance(encoder, Pieces) else _cut(encoder.tokenizer, words)
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
    """Return the number of pieces of the words and of the unknown ones among them; 0 if the tokenizer is of another
    kind."""
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
