"""A shortlist of very many passages: those that share words with the query, and their neighbours.

A budget has room for the best few of a hundred thousand passages. To analyse all of them takes far longer than to see
which have a word of the query, so that is looked for first, in all texts at once.

How it works: each term of the query is searched for as a string, without its last letters, which may be an ending. A
passage is worth the inverse document frequencies of the terms that it has (Robertson and Zaragoza 2009). It is also
worth a part of what its neighbours are, because an answer may share no word with the question some messages before it.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ctxcompress.data.table import Floats

__all__ = ["shortlist"]

_ENDING = 2
"""The letters at the end of a term that may differ in a text."""
_LEAST_LETTERS = 4
"""The least letters that are left of a term; a shorter one is looked for as it is."""
_FROM_NEIGHBOURS = {1: 0.5, 2: 0.25, 3: 0.125, -1: 0.25}
"""How many passages before it a neighbour stands -> the part of what it is worth that a passage is worth, too."""
_BETWEEN = "\n"


def shortlist(texts: Sequence[str], terms: Mapping[str, float], most: int) -> list[int]:
    """Return the numbers of at most so many texts, in order: those that are worth most by the terms that they have.

    Of texts that are worth the same, the first are on the list. terms: term of the query -> its weight.
    """
    lowered = [text.lower() for text in texts]
    joined = _BETWEEN.join(lowered)
    begins = np.cumsum([0, *(len(text) + len(_BETWEEN) for text in lowered)])[:-1]
    worth = np.zeros(len(texts))
    for piece, weight in _pieces(terms).items():
        places = np.fromiter(_places(joined, piece), np.intp)
        has = np.unique(begins.searchsorted(places, side="right") - 1)
        worth[has] += weight * np.log(1 + (len(texts) - has.size + 0.5) / (has.size + 0.5))
    best = np.argsort(-_with_neighbours(worth), kind="stable")[:most]
    return sorted(best.tolist())


def _pieces(terms: Mapping[str, float]) -> dict[str, float]:
    """Return what is searched for -> its weight."""
    found: dict[str, float] = {}
    for term, weight in terms.items():
        piece = term.lower()[: max(_LEAST_LETTERS, len(term) - _ENDING)]
        found[piece] = max(weight, found.get(piece, 0.0))
    return found


def _places(text: str, piece: str) -> Iterator[int]:
    at = text.find(piece)
    while at >= 0:
        yield at
        at = text.find(piece, at + len(piece))


def _with_neighbours(worth: Floats) -> Floats:
    most = max(_FROM_NEIGHBOURS)
    around = np.pad(worth, most)
    parts = (part * around[most - before : most - before + worth.size] for before, part in _FROM_NEIGHBOURS.items())
    found: Floats = worth + sum(parts)
    return found
