"""BM25 over the terms of one query.

Okapi BM25 as Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), give it,
with the parameters of the rank_bm25 package. `okapi_idf` is that package's weight of a term; the scorers
weigh with one that is never negative (see matches).
"""

from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "Integers", "Occurrences", "bm25", "okapi_idf", "summed"]

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]


class Occurrences(NamedTuple):
    """Where query terms occur: parallel arrays, each (unit, term) pair at most once."""

    unit: Integers
    """Which segment or passage, 0 to `units` - 1."""
    term: Integers
    """Which query term, 0 to `terms` - 1."""
    times: Floats
    """How often."""
    units: int
    terms: int

    def document_frequency(self) -> Integers:
        """In how many units each term occurs, shape (terms,)."""
        return np.bincount(self.term, minlength=self.terms)


def okapi_idf(document_frequency: Integers, documents: int, *, floor: float) -> Floats:
    """log((N - df + 0.5) / (df + 0.5)), and `floor` where that is negative: terms in over half of the units."""
    idf = np.log((documents - document_frequency + 0.5) / (document_frequency + 0.5))
    return np.where(idf < 0, floor, idf)


def bm25(found: Occurrences, lengths: Floats, idf: Floats, *, k1: float = 1.5, b: float = 0.75) -> Floats:
    """The score of every unit, shape (units,).

    lengths: words of each unit, shape (units,). idf: weight of each term, shape (terms,).
    """
    if not found.unit.size:
        return np.zeros(found.units)
    norm = k1 * (1 - b + b * lengths / lengths.mean())
    gain = idf[found.term] * found.times * (k1 + 1) / (found.times + norm[found.unit])
    return summed(gain, found.unit, found.units)


def summed(values: Floats, by: Integers, size: int) -> Floats:
    """The sums of the values that have the same number in `by`, shape (size,)."""
    return cast(Floats, np.bincount(by, weights=values, minlength=size))
