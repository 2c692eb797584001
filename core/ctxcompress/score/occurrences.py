"""Where terms occur: parallel arrays, and what is computed from them, such as BM25."""

from collections.abc import Mapping
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ctxcompress.data.table import Floats, Integers

__all__ = ["Occurrences", "bm25", "contained", "counted", "inverse_frequency", "merged", "ranks", "relative", "summed"]

_NO_NUMBERS: Integers = np.zeros(0, np.intp)
_NO_TIMES: Floats = np.zeros(0)
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

    def document_frequency(self) -> Integers:
        """Count the units that each term occurs in, shape (terms,)."""
        return np.bincount(self.term, minlength=self.terms)


def counted(counts: Mapping[int, int], units: int, terms: int) -> Occurrences:
    """Sort the counts, so that sums do not depend on the order in which words were found."""
    if not counts:
        return Occurrences(_NO_NUMBERS, _NO_NUMBERS, _NO_TIMES, units, terms)
    keys = np.fromiter(counts.keys(), np.intp, len(counts))
    times = np.fromiter(counts.values(), float, len(counts))
    order = keys.argsort()
    unit, term = np.divmod(keys[order], terms)
    return Occurrences(unit, term, times[order], units, terms)


def merged(found: Occurrences) -> Occurrences:
    """Return the occurrences with each (unit, term) pair at most once."""
    keys = found.unit * found.terms + found.term
    order = keys.argsort(kind="stable")
    ordered = keys[order]
    starts = np.flatnonzero(np.concatenate((_FIRST_IS_NEW[: keys.size], ordered[1:] != ordered[:-1])))
    unit, term = np.divmod(ordered[starts], found.terms) if keys.size else (_NO_NUMBERS, _NO_NUMBERS)
    # These are whole numbers, so their sum does not depend on the order.
    times = np.add.reduceat(found.times[order], starts) if keys.size else _NO_TIMES
    return Occurrences(unit, term, times, found.units, found.terms)


def contained(keys: Integers, others: Integers) -> NDArray[np.bool_]:
    """Tell which of the keys are among the others, as np.isin does, with a tenth of its overhead for short arrays."""
    if not others.size:
        return np.zeros(keys.shape, dtype=bool)
    ordered = np.sort(others)
    nearest = ordered[np.minimum(np.searchsorted(ordered, keys), ordered.size - 1)]
    return np.equal(nearest, keys)


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
    norm = k1 * (1 - b + b * lengths / lengths.mean())
    gain = idf[found.term] * found.times * (k1 + 1) / (found.times + norm[found.unit])
    return summed(gain, found.unit, found.units)


def summed(values: Floats, by: Integers, size: int) -> Floats:
    """Sum up the values that have the same number in `by`, shape (size,)."""
    return cast(Floats, np.bincount(by, weights=values, minlength=size))


def relative(values: Floats) -> Floats:
    """Divide the values by the greatest one, if that is positive."""
    best = values.max(initial=0.0)
    return values / best if best > 0 else values


def ranks(values: Floats) -> Floats:
    """Return for each value how many are greater: 0 for the greatest, the same for equal ones."""
    ascending = np.sort(values)
    return (values.size - np.searchsorted(ascending, values, side="right")).astype(float)
