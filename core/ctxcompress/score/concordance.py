"""The words of a call as numbers: one pass over the words, and then all places of many words are found at once.

A word's number is the place where it first occurs. What looks for words reads an array of these numbers, and not the
words, which lie scattered in memory: each pass over them costs as much as the numbers do.
"""

from collections.abc import Sequence
from itertools import chain, count
from typing import NamedTuple

import numpy as np

from ctxcompress.data.table import Integers

__all__ = ["Concordance", "Found"]


class Found(NamedTuple):
    """The places of some words, in the order of the texts: parallel arrays."""

    text: Integers
    """The number of the text."""
    place: Integers
    """The number of the word in the text, from 0."""
    word: Integers
    """The number of the word among those that were looked for."""


class Concordance:
    """Where each word of some texts stands."""

    __slots__ = ("_begin", "_numbers", "vocabulary")

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        """texts: the words of each."""
        words = list(chain.from_iterable(texts))
        self.vocabulary: dict[str, int] = {}
        """Word -> its number."""
        self._numbers: Integers = np.fromiter(map(self.vocabulary.setdefault, words, count()), np.intp, len(words))
        self._begin = np.zeros(len(texts) + 1, np.intp)
        np.fromiter(map(len, texts), np.intp, len(texts)).cumsum(out=self._begin[1:])

    @property
    def texts(self) -> int:
        """The number of texts."""
        return self._begin.size - 1

    def find(self, words: Sequence[str], first: int = 0) -> Found:
        """Return all places of these words, which are different ones of the vocabulary.

        first: the number of the first text to look in; texts count from it.
        """
        begin = self._begin[first]
        which = np.zeros(self._numbers.size, np.intp)
        which[[self.vocabulary[word] for word in words]] = np.arange(1, len(words) + 1)
        which = which[self._numbers[begin:]]
        found = which.nonzero()[0]
        places = found + begin
        text = self._begin.searchsorted(places, side="right") - 1
        return Found(text - first, places - self._begin[text], which[found] - 1)
