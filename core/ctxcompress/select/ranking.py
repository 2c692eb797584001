"""In which order segments come into question, and what is gained by each."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ctxcompress.select.knapsack import rank
from ctxcompress.select.structure import Structure

__all__ = ["Floats", "beside_others", "gains", "ranked"]

_DENSITY = 0.15
_SOURCE_DENSITY = 0.075
"""The same of source code: a function is needed whole, however long it is."""
_USUAL = 30
"""Tokens of a sentence: where one of prose and one of source code are worth as much, that long, they are equal."""
_CHARACTERS_PER_TOKEN = 4.0
_HEADING = 0.5
"""What a heading is worth at least, relative to the best text right under it: a sixteenth of its odds. With more, it
costs evidence in documentation; with less, it is missing more often."""
_LARGEST = 1e6

Floats = NDArray[np.float64]


def ranked(structure: Structure, values: Floats) -> list[int]:
    """The segments that can be chosen, from the best to the worst."""
    densities = np.where(structure.source, _SOURCE_DENSITY, _DENSITY)
    ranking = rank(values * _USUAL**densities, structure.characters / _CHARACTERS_PER_TOKEN, density=densities)
    stands = structure.stands
    return [number for number in ranking if stands[number]]


def beside_others(structure: Structure, values: Floats, order: Sequence[int]) -> Floats:
    """What segments are worth together with those that they are read with.

    A heading says what the text under it is about: it is worth half of the best one, or more. What announces a block
    cannot be kept without some of it: where the best of that is worth less, it is worth their geometric mean. What is
    worth nothing stays so. order: the segments that may be chosen.
    """
    if not (structure.heading or structure.announced):
        return values
    may = np.zeros(len(values))
    may[order] = np.maximum(values[order], 0.0)
    best = np.zeros(len(values))
    under = list(structure.heading)
    np.maximum.at(best, list(structure.heading.values()), may[under])
    worth = np.where(values > 0, np.maximum(values, _HEADING * best), values).tolist()
    alone = may.tolist()  # a list's numbers are faster to come by
    for number, block in structure.announced.items():
        of_block = max(alone[block.start : block.stop])
        if worth[number] > of_block:
            worth[number] = (worth[number] * of_block) ** 0.5
    return np.array(worth)


def gains(values: Floats) -> list[float]:
    """The probability that each segment is needed: what it is worth is the fourth root of its odds."""
    odds = np.clip(values, 0, _LARGEST) ** 4
    probability: list[float] = (odds / (1 + odds)).tolist()
    return probability
