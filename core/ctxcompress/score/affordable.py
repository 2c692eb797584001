"""What is worth comparing with the question where comparing everything costs too much."""

from collections.abc import Sequence

import numpy as np

from ctxcompress.score.bm25 import Floats, Integers
from ctxcompress.score.corpus import Corpus
from ctxcompress.score.features import standardized

__all__ = ["Allowance", "lengths", "promising"]

_SHARE = 0.185
"""Of the cost of comparing everything."""
_TEXT, _CALL = 20.0, 350.0
"""What a text and a call of the encoder cost beside the characters, in characters."""
_CALLS = 2
"""One for the question, one for the rest."""
_WORD_VECTORS = 150.0
"""What word vectors beside the encoder cost, in characters."""
_LONGEST = 1_000.0
"""Characters of which small models read no more."""
_MOST_WITHOUT_WORDS = 1_000
"""Texts of a kind that are compared at most where no word of the question occurs, which leaves all in doubt."""


class Allowance:
    """How much may be compared. The unit is what a character costs, and comparing all segments, bare, is the whole."""

    __slots__ = ("_everything", "_left")

    def __init__(self, segments: Sequence[str], query: str, *, everything: bool, word_vectors: bool) -> None:
        """everything: whether as good as everything may be compared. word_vectors: whether some compare, too."""
        spent = _CALLS * _CALL + len(query) + (_WORD_VECTORS if word_vectors else 0.0)
        self._left = _SHARE * float(_cost(lengths(segments)).sum()) - spent
        self._everything = everything

    def spend(self, sizes: Floats, share: float = 1.0, *, least: int = 0) -> int:
        """How many texts of these lengths, from the first on, may be compared for this share of what is left."""
        if self._everything:
            return min(sizes.size, _MOST_WITHOUT_WORDS)
        total = np.cumsum(_cost(sizes))
        number = int(np.searchsorted(total, share * self._left, side="right"))
        number = max(number, min(least, sizes.size))
        if number:
            self._left -= float(total[number - 1])
        return number


def lengths(texts: Sequence[str]) -> Floats:
    """In characters, shape (texts,)."""
    return np.fromiter(map(len, texts), float, len(texts))


def promising(corpus: Corpus, logits: Floats | None, of_passages: Floats) -> Integers:
    """The segments in the order in which they are worth comparing: by words, and by how close their passages are known
    to be.

    of_passages: NaN where it is not known.
    """
    known = np.flatnonzero(~np.isnan(of_passages))
    close = np.zeros(of_passages.size)
    close[known] = standardized(of_passages[known])
    worth = close[corpus.passage] + (0.0 if logits is None else standardized(logits))
    return np.argsort(-worth, kind="stable")


def _cost(sizes: Floats) -> Floats:
    """Of texts of so many characters. Every word looks at every other: long texts cost more than their share."""
    read = np.minimum(sizes, _LONGEST)
    return _TEXT + read + read**2 / _LONGEST
