"""Passages that another one stands for: the same text, nearly the same words, the same meaning.

In each stage the passages are gone through from the best to the worst. One that is like a passage that leads a
cluster joins the best such cluster, any other leads a new one. So every member is like its leader itself: a chain of
copies, each a little different from the one before, does not become one cluster. Which is better does not depend on the
order in which passages come: the score decides, then the length, then the text.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ctxcompress.reduce.cosines import go_through
from ctxcompress.reduce.particulars import Particulars
from ctxcompress.reduce.shingles import MANY, Shingles

__all__ = ["copies", "near_copies", "preference", "same_meaning"]

_SHORTEST_COPY = 12
"""Characters: a list may say "yes" more often."""
_MOST_CANDIDATES = 8
"""Leaders that a passage is compared with, and that are looked up by one key, where there are many passages: all would
be the square of their number."""
_MOST_ALIKE = 32
"""Leaders with a close vector that a passage is compared with: there are embeddings that are all the same."""

_NONE: Mapping[int, int] = MappingProxyType({})

Leaders = dict[int, int]
"""Number of a passage -> number of the one that stands for it."""


def preference(
    texts: Sequence[str], standing: Sequence[float], ids: Sequence[str], neighbours: Mapping[int, int] = _NONE
) -> list[int]:
    """The numbers of passages from the best to the worst, whatever the order they came in.

    neighbours: of passages that have the same text, how many stand beside them that they overlap with. It decides
    which of them stays in its place.
    """
    return sorted(
        range(len(texts)),
        key=lambda n: (-standing[n], -len(texts[n]), texts[n], -neighbours.get(n, 0), len(ids[n]), ids[n]),
    )


def copies(texts: Sequence[str], order: Sequence[int]) -> Leaders:
    """Those with the same text but for white space."""
    first: dict[str, int] = {}
    leaders: Leaders = {}
    for number in order:
        if len(texts[number]) < _SHORTEST_COPY:
            continue
        folded = " ".join(texts[number].split())
        leader = first.setdefault(folded, number)
        if leader != number and len(folded) >= _SHORTEST_COPY:
            leaders[number] = leader
    return leaders


def near_copies(texts: Sequence[str], order: Sequence[int], threshold: float) -> Leaders:
    """Those whose shingles are as similar as the threshold says and that have the same particulars."""
    shingles, particulars = Shingles(texts), Particulars(texts)
    keys = shingles.keys(threshold)
    most = len(texts) if len(texts) <= MANY else _MOST_CANDIDATES
    leading: dict[int, list[int]] = {}  # a key -> the places in the order of the leaders that have it
    leaders: Leaders = {}
    for place, number in enumerate(order):
        found = [leader for key in keys[number] for leader in leading.get(key, ())]
        alike = set(found)
        for other in sorted(alike if len(alike) <= most else (one for one, _ in Counter(found).most_common(most))):
            leader = order[other]
            if shingles.similarity(number, leader) >= threshold and particulars.kept_by(leader, number):
                leaders[number] = leader
                break
        else:
            for key in keys[number]:
                places = leading.setdefault(key, [])
                if len(places) < most:
                    places.append(place)
    return leaders


def same_meaning(texts: Sequence[str], order: Sequence[int], vectors: NDArray[np.float64], threshold: float) -> Leaders:
    """Those whose vectors have at least this cosine and that have the same particulars.

    vectors: of length 1, shape (passages, dimensions).
    """
    particulars = Particulars(texts)
    leaders: Leaders = {}

    def joins(place: int, alike: Iterator[int]) -> bool:
        number = order[place]
        for leader in (order[other] for other in islice(alike, _MOST_ALIKE)):
            if particulars.kept_by(leader, number):
                leaders[number] = leader
                return True
        return False

    go_through(vectors[np.array(order, dtype=np.intp)], threshold, joins)
    return leaders
