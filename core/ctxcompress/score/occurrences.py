"""Where terms occur: parallel arrays, and what is computed from them, such as BM25."""

from collections.abc import Sequence
from itertools import chain, count
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ctxcompress.data.table import Floats, Integers

__all__ = [
    "Concordance",
    "Found",
    "Occurrences",
    "bm25",
    "contained",
    "counted",
    "deviation",
    "inverse_frequency",
    "merged",
    "ranks",
    "relative",
    "stacked",
    "standardized",
    "summed",
]


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


_FIRST_IS_NEW = np.ones(1, dtype=bool)


class Occurrences(NamedTuple):
    """Where query terms occur: parallel arrays, each (unit, term) pair at most once."""

    unit: Integers
    """The number of the segment, section or passage, 0 to `units` - 1."""
    term: Integers
    """The number of the query term, 0 to `terms` - 1."""
    times: Floats
    """How often the term occurs in the unit."""
    units: int
    terms: int

    def keys(self, unit: Integers | None = None) -> Integers:
        """Return one number for each (unit, term) pair. unit: other units than these, if it is given."""
        return (self.unit if unit is None else unit) * self.terms + self.term

    def document_frequency(self) -> Integers:
        """Count the units that each term occurs in, shape (terms,)."""
        return np.bincount(self.term, minlength=self.terms)


def counted(keys: Integers, units: int, terms: int) -> Occurrences:
    """Return the occurrences of terms in units. keys: unit * `terms` + term of each, in any order, equal ones again."""
    ordered = np.sort(keys)
    starts = _starts(ordered)
    times = np.empty(starts.size)
    times[:-1], times[-1:] = starts[1:] - starts[:-1], keys.size - starts[-1:]
    return Occurrences(*np.divmod(ordered[starts], max(terms, 1)), times, units, terms)


def merged(keys: Integers, times: Floats, units: int, terms: int) -> Occurrences:
    """Return the occurrences of terms in units, each (unit, term) pair once.

    keys: as in `counted`. times: how often each key counts.
    """
    if not keys.size:
        return Occurrences(keys, keys, times, units, terms)
    order = keys.argsort()
    ordered = keys[order]
    starts = _starts(ordered)
    # These are whole numbers, so their sum does not depend on the order.
    total = np.add.reduceat(times[order], starts)
    return Occurrences(*np.divmod(ordered[starts], terms), total, units, terms)


def _starts(ordered: Integers) -> Integers:
    """Return the places of the first of equal keys, which stand together."""
    return np.flatnonzero(np.concatenate((_FIRST_IS_NEW[: ordered.size], ordered[1:] != ordered[:-1])))


def contained(keys: Integers, others: Integers) -> NDArray[np.bool_]:
    """Tell which of the keys are among the others, as np.isin does, with a tenth of its overhead for short arrays.

    others: in ascending order.
    """
    if not others.size:
        return np.zeros(keys.shape, dtype=bool)
    return np.equal(others[np.minimum(others.searchsorted(keys), others.size - 1)], keys)


def inverse_frequency(found: Occurrences) -> Floats:
    """Return log(1 + (N - df + 0.5) / (df + 0.5)). Unlike Okapi's idf it is never negative: a term that nearly every
    passage has still counts a little."""
    frequency = found.document_frequency()
    return np.log1p((found.units - frequency + 0.5) / (frequency + 0.5))


def bm25(found: Occurrences, lengths: Floats, idf: Floats, *, k1: float = 1.5, b: float = 0.75) -> Floats:
    """Return the BM25 score of every unit, shape (units,).

    lengths: words of each unit, shape (units,). idf: weight of each term, shape (terms,).
    """
    if not found.unit.size:
        return np.zeros(found.units)
    needed = k1 * (1 - b + b * lengths / (lengths.sum() / lengths.size))
    gain = idf[found.term] * found.times * (k1 + 1) / (found.times + needed[found.unit])
    return summed(gain, found.unit, found.units)


def summed(values: Floats, by: Integers, size: int) -> Floats:
    """Sum up the values that have the same number in `by`, shape (size,)."""
    return cast(Floats, np.bincount(by, weights=values, minlength=size))


def relative(values: Floats) -> Floats:
    """Divide the values by the greatest one, if that is positive."""
    best = np.maximum.reduce(values, initial=0.0)
    return values / best if best > 0 else values


def ranks(values: Floats) -> Floats:
    """Return for each value how many are greater: 0 for the greatest, the same for equal ones."""
    return (values.size - np.sort(values).searchsorted(values, side="right")).astype(float)


def stacked(rows: Sequence[NDArray[Any]]) -> Floats:
    """Stack the rows into one array, as np.stack does, with a fifth of its overhead for short rows."""
    return np.concatenate(rows, dtype=float).reshape(len(rows), -1)


def deviation(values: Floats) -> float:
    """Return the standard deviation, as np.std does, with less overhead for short arrays."""
    mean = np.add.reduce(values) / values.size
    apart = values - mean
    return float(np.sqrt(np.add.reduce(apart * apart) / values.size))


def standardized(values: Floats) -> Floats:
    """Return the values in standard deviations from their mean; all 0 if they are equal."""
    scaled = values / (np.abs(values).max(initial=0.0) or 1.0)  # so that no square overflows or underflows
    spread = deviation(scaled) if scaled.size else 0.0
    return (scaled - scaled.mean()) / spread if spread > 1e-9 else np.zeros(values.shape)
