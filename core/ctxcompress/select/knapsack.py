"""Greedy knapsack over items that may need one another.

Taking items by falling value and density is Dantzig's heuristic, O(n log n); with items that are
small against the room it comes close to the optimum.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Costs", "Knapsack", "Repeats", "rank"]

_PATIENCE = 48
"""Items in a row that may turn out too big for what is left of the room before it counts as full."""
_FRESH = 0.85
"""Share of an item that must be new for it to be packed in its turn."""


def rank(values: NDArray[np.float64], sizes: NDArray[np.float64], *, density: float | NDArray[np.float64]) -> list[int]:
    """Item numbers from the best to the worst, by ``value / size**density``; equal ones in their order.

    density 0 ranks by value alone, 1 by value per token; one for all, or one for each.
    """
    order: list[int] = np.argsort(-values / np.maximum(sizes, 1.0) ** density, kind="stable").tolist()
    return order


class Costs(Protocol):
    """What items cost. Exact costs may be dear to find out, so that they are asked for late."""

    def __call__(self, item: int) -> int:
        """The exact cost of an item."""

    def at_least(self, item: int) -> float:
        """A cost that an item is hardly below, at no effort."""


class Repeats(Protocol):
    """Tells how much of items is in the knapsack already."""

    def share(self, items: Collection[int]) -> float:
        """The share of the items that is new, 0 to 1."""

    def take(self, items: Collection[int]) -> None:
        """The items are in the knapsack from now on."""


@dataclass(slots=True)
class Knapsack:
    """What is packed so far, and the room that is left."""

    room: int
    cost: Costs
    companions: Callable[[int], Sequence[int] | None]
    """What must be packed with an item; None if it cannot be packed."""
    novelty: Repeats
    kept: set[int] = field(default_factory=set)

    def fill(self, order: Sequence[int]) -> bool:
        """Packs what fits, in this order, and what mostly repeats what is in only after all others.

        Returns whether that was anything.
        """
        before = len(self.kept)
        repeats: list[int] = []
        self._fill(order, repeats)
        self._fill(repeats, None)
        return len(self.kept) > before

    def _fill(self, order: Sequence[int], repeats: list[int] | None) -> None:
        misses = 0
        for item in order:
            if self.room <= 0 or misses > _PATIENCE:
                return
            if item in self.kept:
                continue
            if self.cost.at_least(item) > self.room:  # most items, once the budget is nearly full
                misses += 1
                continue
            wanted, cost = self._wanted(item)
            if not wanted:
                misses += 1
            elif repeats is not None and self.novelty.share(wanted) < _FRESH:
                repeats.append(item)
            else:
                misses = 0
                self.kept.update(wanted)
                self.novelty.take(wanted)
                self.room -= cost

    def _wanted(self, item: int) -> tuple[Collection[int], int]:
        """An item and what it needs, as far as that is not in yet, and what they cost; nothing if that does not fit."""
        companions = self.companions(item)
        if companions is None:
            return (), 0
        wanted = {item, *companions}.difference(self.kept)
        cost = sum(map(self.cost, wanted))
        return (wanted, cost) if cost <= self.room else ((), 0)
