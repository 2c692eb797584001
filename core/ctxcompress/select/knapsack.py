"""A greedy knapsack over items that may need one another, with exchanges that improve the greedy choice.

Taking items in the order of value and density is Dantzig's heuristic, in O(n log n). It comes close to the optimum if
items are small compared with the room. When the room is nearly full, it takes small items that happen to fit, where a
better item could be. So the best missed items are then tried in the place of others.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, takewhile
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["PATIENCE", "Costs", "Knapsack", "Repeats", "rank"]

PATIENCE = 48
"""After this number of items in a row that do not fit, the knapsack counts as full."""
_FRESH, _PARTLY_NEW = 0.85, 0.3
"""An item with a smaller share of new text is packed after all others, with a third of it new, before unlikely ones."""
_LIKELY = 0.012
"""The least probability of an item that is packed for its own sake; others fill up what is left. Sources, contracts and
encyclopedias keep as much or more with 0.008 to 0.025. It is what `adaptive=True` means, too."""
_FEW = 8
"""Exchanges are made for at most this number of chosen items."""
_EXCHANGES = 8
"""The most exchanges."""
_TRIED = 4
"""The number of missed items that are tried: those that gain most."""
_LEAST = 0.01
"""The least gain that is worth an exchange."""
_TINY = 1e-9
_NOTHING: frozenset[int] = frozenset()


def rank(values: NDArray[np.float64], sizes: NDArray[np.float64], *, density: float | NDArray[np.float64]) -> list[int]:
    """Return the item numbers from the best to the worst by ``value / size**density``; equal ones keep their order.

    density: 0 ranks by value alone, 1 by value per token; one for all items, or one for each.
    """
    order: list[int] = np.argsort(-values / np.maximum(sizes, 1.0) ** density, kind="stable").tolist()
    return order


class Costs(Protocol):
    """The costs of items. Exact costs may be expensive to compute, so they are asked for late."""

    def __call__(self, item: int) -> int:
        """Return the exact cost of an item."""

    def at_least(self, item: int) -> float:
        """Return a cheap estimate that the cost of an item is rarely below."""


class Repeats(Protocol):
    """A record of the kept text, to tell how much of an item is new."""

    def share(self, items: Collection[int]) -> float:
        """Return the share of the items that is new, 0 to 1."""

    def take(self, items: Collection[int]) -> None:
        """Add the items to the kept ones."""

    def copy(self) -> "Repeats":
        """Return an independent record of the same items."""

    def only(self, items: Collection[int]) -> "Repeats":
        """Return a record of only these items."""


@dataclass(slots=True)
class Knapsack:
    """The items that are packed so far, and the room that is left."""

    room: int
    cost: Costs
    companions: Callable[[int, Container[int]], Collection[int] | None]
    """(item, kept items) -> all that must be kept with the item, directly or not; None if it cannot be packed."""
    novelty: Repeats
    kept: set[int] = field(default_factory=set)
    chosen: dict[int, frozenset[int]] = field(default_factory=dict)
    """Item that was chosen -> it and its companions; together these are the kept items, besides the fixed ones."""
    fixed: frozenset[int] = frozenset()
    """Kept items that no exchange removes."""

    def fill(self, order: Sequence[int], chances: Sequence[float] = ()) -> bool:
        """Pack the items that fit, in this order, and tell whether any were packed.

        The order is one of worth for each token, so a short item may come before one that is needed more likely. Those
        that repeat packed ones come after all others. If a third of one is new and likely needed, it comes before
        the first item that is not.

        chances: the probability that each item is needed, if known.
        """
        before = len(self.kept)
        repeats: list[int] = []
        likely = [*takewhile(lambda item: not chances or chances[item] >= _LIKELY, order)]
        self._fill(likely, repeats)
        news = {n: self.novelty.share((n,)) for n in repeats if chances}
        self._fill([n for n, share in news.items() if share >= _PARTLY_NEW and share * chances[n] >= _LIKELY], None)
        self._fill(order[len(likely) :], repeats)
        self._fill(repeats, None)
        return len(self.kept) > before

    def exchange(self, order: Sequence[int], gains: Sequence[float]) -> bool:
        """Replace chosen items with the best missed ones while this raises the total gain, and tell whether it did.

        Afterwards none of the best missed items with new text could replace one chosen item, or the chosen items with
        the least gain per cost, for a higher total. If many items are chosen, each is small compared with the room, and
        nothing is done. gains: of every item, 0 or more.
        """
        number = 0
        while number < _EXCHANGES and self.is_coarse and self._exchange(order, gains):
            number += 1
        return number > 0

    def copy(self, room: int) -> "Knapsack":
        """Return an independent knapsack with the same items and this room left."""
        novelty, kept, chosen = self.novelty.copy(), set(self.kept), dict(self.chosen)
        return Knapsack(room, self.cost, self.companions, novelty, kept, chosen, self.fixed)

    @property
    def is_coarse(self) -> bool:
        """Whether so few items are chosen that an exchange may gain something."""
        return len(self.chosen) <= _FEW

    def _fill(self, order: Sequence[int], repeats: list[int] | None) -> None:
        kept, at_least, misses = self.kept, self.cost.at_least, 0
        for item in order:
            if item in kept:
                continue
            if self.room <= 0 or misses > PATIENCE:
                return
            # The estimate is too much for most items once the budget is nearly full.
            closure = self._closure(item) if at_least(item) <= self.room else None
            wanted = closure - kept if closure else _NOTHING
            cost = sum(map(self.cost, wanted))
            if closure is None or cost > self.room:
                misses += 1
            elif repeats is not None and self.novelty.share(wanted) < _FRESH:
                repeats.append(item)
            else:
                misses = 0
                self._pack(item, closure, wanted, cost)

    def _closure(self, item: int) -> frozenset[int] | None:
        """Return an item with all that it needs; None if it cannot be packed."""
        companions = self.companions(item, self.kept)
        return None if companions is None else frozenset((item, *companions))

    def _pack(self, item: int, closure: frozenset[int], wanted: frozenset[int], cost: int) -> None:
        """Pack an item with what it needs. wanted: the part of the closure that is not kept yet."""
        self.room -= cost
        self.novelty.take(wanted)
        self.kept |= wanted
        self.chosen[item] = closure - self.fixed

    def _exchange(self, order: Sequence[int], gains: Sequence[float]) -> bool:
        """Pack the best missed item that gains more than the items it replaces, and tell whether there was one."""
        places = _Places(self.chosen, self.cost, gains)
        missed = [item for item in order[: len(self.kept) + PATIENCE] if item not in self.kept]
        for item in sorted(missed, key=lambda item: -gains[item])[:_TRIED]:
            if places.least_loss(self.cost.at_least(item) - self.room) >= gains[item]:
                continue  # so for most items, and cheap to find out
            closure = self._closure(item)
            if closure is None:
                continue
            wanted = closure.difference(self.kept)
            cost, gain = sum(map(self.cost, wanted)), sum(gains[other] for other in wanted)
            removed = places.instead(closure, cost - self.room, gain)
            if removed is not None and self.novelty.share(wanted) >= _FRESH:
                self._remove(removed, closure)
                self._pack(item, closure, wanted, cost)
                return True
        return False

    def _remove(self, removed: Sequence[int], closure: frozenset[int]) -> None:
        """Remove chosen items, except what others or the closure need."""
        for item in removed:
            del self.chosen[item]
        out = self.kept.difference(closure, self.fixed, *self.chosen.values())
        self.room += sum(map(self.cost, out))
        self.kept -= out
        self.novelty = self.novelty.only(self.kept)


class _Places:
    """The room and the loss from removing chosen items."""

    __slots__ = ("_chosen", "_cost", "_freed", "_gains", "_lost", "_order", "_uses", "_weights")

    def __init__(self, chosen: Mapping[int, frozenset[int]], cost: Costs, gains: Sequence[float]) -> None:
        self._chosen, self._cost, self._gains = chosen, cost, gains
        uses = self._uses = Counter(chain.from_iterable(chosen.values()))
        self._weights = {item: sum(cost(other) / uses[other] for other in chosen[item]) for item in chosen}
        """Item -> its cost with its share of the costs of what it needs together with others."""
        losses = {item: gains[item] if uses[item] == 1 else 0.0 for item in chosen}
        self._order = sorted(chosen, key=lambda item: losses[item] / (self._weights[item] or 1.0))
        self._freed = list(accumulate((self._weights[item] for item in self._order), initial=0.0))
        self._lost = list(accumulate((losses[item] for item in self._order), initial=0.0))

    def least_loss(self, room: float) -> float:
        """Return a lower bound of the loss for this much room, as if items could be divided."""
        place = bisect_left(self._freed, room - _TINY)
        if place == 0:
            return 0.0
        if place == len(self._freed):
            return float("inf")
        share = (room - self._freed[place - 1]) / (self._freed[place] - self._freed[place - 1])
        return self._lost[place - 1] + share * (self._lost[place] - self._lost[place - 1])

    def instead(self, closure: frozenset[int], room: int, gain: float) -> Sequence[int] | None:
        """Return the items to remove for this much more room; None if the loss is not below the gain.

        That is a single item, or the items with the least gain per cost, whichever loses less.
        """
        if room <= 0:
            return ()
        if self.least_loss(room) >= gain - _LEAST:
            return None
        singles = ([item] for item in self._order if self._weights[item] >= room - _TINY)
        ways = [
            removed for removed in (*singles, self._least_useful(closure, room)) if self._room(removed, closure) >= room
        ]
        best = min(ways, key=lambda removed: self._loss(removed, closure), default=None)
        return best if best is not None and self._loss(best, closure) < gain - _LEAST else None

    def _least_useful(self, closure: frozenset[int], room: int) -> list[int]:
        """Return the items with the least gain per cost that make enough room, without any that could stay."""
        number = bisect_left(self._freed, room - _TINY)
        while number < len(self._order) and self._room(self._order[:number], closure) < room:
            number += 1
        removed = self._order[:number]
        for item in sorted(removed, key=lambda item: -self._gains[item]):
            others = [other for other in removed if other != item]
            if self._room(others, closure) >= room:
                removed = others
        return removed

    def _room(self, removed: Sequence[int], closure: frozenset[int]) -> int:
        return sum(map(self._cost, self._unneeded(removed, closure)))

    def _loss(self, removed: Sequence[int], closure: frozenset[int]) -> float:
        return sum(self._gains[item] for item in self._unneeded(removed, closure))

    def _unneeded(self, removed: Sequence[int], closure: frozenset[int]) -> list[int]:
        """Return the items that nothing needs once these are removed."""
        uses = Counter(chain.from_iterable(self._chosen[item] for item in removed))
        return [item for item, times in uses.items() if times == self._uses[item] and item not in closure]
