"""Where the words of a call stand: all places of many words are found at once.

A single search reads all words, in one pass that Python makes in C. For several searches, each word first gets a
number: the place where it occurs for the first time. That costs a little more than one search. Each further search is
then one operation of numpy on these numbers. Both find the same; tests/core/score/test_concordance.py compares them.
"""

from collections.abc import Collection, Sequence
from itertools import chain, compress, count, islice
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

    __slots__ = ("_begin", "_number", "_numbers", "_words")

    def __init__(self, texts: Sequence[Sequence[str]], *, several: bool) -> None:
        """texts: the words of each. several: whether words are looked for more than once."""
        self._words = list(chain.from_iterable(texts))
        self._begin = np.zeros(len(texts) + 1, np.intp)
        np.fromiter(map(len, texts), np.intp, len(texts)).cumsum(out=self._begin[1:])
        self._number: dict[str, int] = {}
        self._numbers: Integers | None = None
        if several:
            numbers = map(self._number.setdefault, self._words, count())
            self._numbers = np.fromiter(numbers, np.intp, len(self._words))

    @property
    def texts(self) -> int:
        """The number of texts."""
        return self._begin.size - 1

    def vocabulary(self) -> Collection[str]:
        """Return each word once."""
        return self._number.keys() or set(self._words)

    def find(self, words: Sequence[str], first: int = 0) -> Found:
        """Return all places of these words, which are different ones of the vocabulary.

        first: the number of the first text to look in; texts count from it.
        """
        begin = int(self._begin[first])
        if self._numbers is None:
            places, word = self._read(words, begin)
        else:
            places, word = self._looked_up(words, self._numbers, begin)
        text = self._begin.searchsorted(places, side="right") - 1
        return Found(text - first, places - self._begin[text], word)

    def _read(self, words: Sequence[str], begin: int) -> tuple[Integers, Integers]:
        """Return the places of these words from `begin` on, and which word it is, by reading all words."""
        number = dict(zip(words, count(), strict=False))
        those = islice(self._words, begin, None)
        places = list(compress(count(begin), map(number.__contains__, those)))
        return np.array(places, np.intp), np.array([number[self._words[place]] for place in places], np.intp)

    def _looked_up(self, words: Sequence[str], numbers: Integers, begin: int) -> tuple[Integers, Integers]:
        """Return what `_read` does, by the numbers of the words."""
        which = np.zeros(numbers.size, np.intp)
        which[[self._number[word] for word in words]] = np.arange(1, len(words) + 1)
        which = which[numbers[begin:]]
        places = np.flatnonzero(which)
        return places + begin, which[places] - 1
