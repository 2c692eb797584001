"""What the decomposing retrievers of both frameworks have in common: the searches, and their results as one."""

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

from ctxcompress.errors import InputError
from ctxcompress.query.decompose import adecompose, decompose

__all__ = ["adecompose", "check_kind", "decompose", "fused"]

Item = TypeVar("Item")
_RANKS = 60
"""The constant of the publication; the greater it is, the more low ranks count."""


def check_kind(name: str, given: object, kinds: type | tuple[type, ...], remedy: str) -> None:
    """Raise InputError unless an argument is an object of the framework. remedy: what to give instead."""
    if not isinstance(given, kinds):
        raise InputError(f"{name} is a {type(given).__name__}; give {remedy}")


def fused(rankings: Sequence[Sequence[Item]], identity: Callable[[Item], Hashable]) -> list[Item]:
    """Return the items of all rankings, each once, the best first, by reciprocal rank fusion.

    Each rank of an item adds 1 / (60 + rank), where the first rank is 1 (Cormack, Clarke and Buettcher, SIGIR 2009).
    Of items with the same identity, the one with the best rank is returned; it counts once in each ranking. Of items
    with equal sums the one found earlier comes first. Scores are not used, because scores of different searches do not
    compare.
    """
    points: dict[Hashable, float] = {}
    best: dict[Hashable, tuple[int, Item]] = {}
    for ranking in rankings:
        seen: set[Hashable] = set()
        for rank, item in enumerate(ranking, 1):
            key = identity(item)
            if key in seen:
                continue
            seen.add(key)
            points[key] = points.get(key, 0.0) + 1 / (_RANKS + rank)
            if key not in best or rank < best[key][0]:
                best[key] = (rank, item)
    return [best[key][1] for key in sorted(points, key=lambda key: -points[key])]
