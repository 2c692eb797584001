"""Greedy knapsack over items that may need one another.

Taking items by falling value and density is Dantzig's heuristic, O(n log n); with items that are
small against the room it comes close to the optimum.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Costs", "Knapsack", "rank"]

_PATIENCE = 48
"""Items in a row that may turn out too big for what is left of the room before it counts as full."""


def rank(values: NDArray[np.float64], sizes: NDArray[np.float64], *, density: float) -> list[int]:
    """Item numbers from the best to the worst, by ``value / size**density``; equal ones in their order.

    density 0 ranks by value alone, 1 by value per token.
    """
    order: list[int] = np.argsort(-values / np.maximum(sizes, 1.0) ** density, kind="stable").tolist()
    return order


class Costs(Protocol):
    """What items cost. Exact costs may be dear to find out, so that they are asked for late."""

    def __call__(self, item: int) -> int:
        """The exact cost of an item."""

    def at_least(self, item: int) -> float:
        """A cost that an item is hardly below, at no effort."""


@dataclass(slots=True)
class Knapsack:
    """What is packed so far, and the room that is left."""

    room: int
    cost: Costs
    companions: Callable[[int, set[int]], Sequence[int] | None]
    """What must be packed with an item, given what is packed; None if it cannot be packed."""
    kept: set[int] = field(default_factory=set)

    def fill(self, order: Sequence[int]) -> bool:
        """Packs what fits, in this order; whether that was anything."""
        before = len(self.kept)
        misses = 0
        for item in order:
            if self.room <= 0 or misses > _PATIENCE:
                break
            if item not in self.kept:
                misses = 0 if self._add(item) else misses + 1
        return len(self.kept) > before

    def _add(self, item: int) -> bool:
        if self.cost.at_least(item) > self.room:
            return False
        companions = self.companions(item, self.kept)
        if companions is None:
            return False
        wanted = {item, *companions} - self.kept
        cost = sum(map(self.cost, wanted))
        if cost > self.room:
            return False
        self.kept |= wanted
        self.room -= cost
        return True
