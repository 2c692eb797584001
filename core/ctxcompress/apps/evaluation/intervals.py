"""Intervals of means by the bootstrap: how far a mean over these questions may be from that over all such questions."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["RESAMPLES", "Estimate", "Floats", "estimates"]

Floats = NDArray[np.float64]

RESAMPLES = 2_000
"""How many times the questions are drawn anew."""
_TAILS = (0.025, 0.975)


class Estimate(NamedTuple):
    """A mean over questions, with the 95 % interval of the bootstrap.

    If all values are equal, the interval is a point, however few questions there are.
    """

    mean: float
    low: float
    high: float


def estimates(values: Floats, seed: int) -> list[Estimate | None]:
    """Return the estimate of each column; None for a column without any value.

    values: shape (questions, columns), NaN where a question says nothing. All columns have the same draws, so that
    differences between them are paired.
    """
    known = ~np.isnan(values)
    told = np.flatnonzero(known.any(axis=0))
    if not told.size:
        return [None] * values.shape[1]
    chances = np.full(len(values), 1 / len(values))  # as many questions as there are, with replacement
    counts = np.random.default_rng(seed).multinomial(len(values), chances, size=RESAMPLES).astype(float)
    filled = np.where(known, values, 0.0)[:, told]
    sizes = counts @ known[:, told].astype(float)
    # A draw without any question that says something counts as nothing.
    means = np.divide(counts @ filled, sizes, out=np.full(sizes.shape, np.nan), where=sizes > 0)
    low, high = np.nanquantile(means, _TAILS, axis=0)
    mean = filled.sum(axis=0) / known[:, told].sum(axis=0)
    found: list[Estimate | None] = [None] * values.shape[1]
    for column, *numbers in zip(told, mean, low, high, strict=True):
        found[column] = Estimate(*map(float, numbers))
    return found
