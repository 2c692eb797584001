"""Greedy knapsack over items that may need one another, and exchanges where the greedy choice was not the best.

Taking items by falling value and density is Dantzig's heuristic, O(n log n); with items that are
small against the room it comes close to the optimum. Where the room is nearly full it takes what happens to fit: small
items, of which a few stand where a better one could. So missed items are tried again in the place of others.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import accumulate, chain
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Costs", "Knapsack", "Novelty", "Repeats", "Runs", "rank"]

_PATIENCE = 48
"""Items in a row that may turn out too big for what is left of the room before it counts as full."""
_FRESH = 0.85
"""Share of an item that must be new for it to be packed in its turn."""
_FEW = 8
"""Chosen items up to which exchanges are made."""
_EXCHANGES = 8
"""At most."""
_TRIED = 4
"""Items left out that are tried: those that gain most."""
_LEAST = 0.01
"""What an exchange must gain to be worth its time."""
_TINY = 1e-9
_NOTHING: frozenset[int] = frozenset()


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

    def copy(self) -> "Repeats":
        """Return what tells the same, and goes on by itself."""

    def only(self, items: Collection[int]) -> "Repeats":
        """Return what tells the same of a knapsack with these items and no others."""


@dataclass(slots=True)
class Knapsack:
    """What is packed so far, and the room that is left."""

    room: int
    cost: Costs
    companions: Callable[[int, Container[int]], Collection[int] | None]
    """From an item and what is kept to all that must be kept with it, what that needs included; None if it cannot be
    packed."""
    novelty: Repeats
    kept: set[int] = field(default_factory=set)
    chosen: dict[int, frozenset[int]] = field(default_factory=dict)
    """Items that were packed for themselves -> they and their companions: together these are what is kept."""

    def fill(self, order: Sequence[int]) -> bool:
        """Packs what fits, in this order, and what mostly repeats what is in only after all others.

        Returns whether that was anything.
        """
        before = len(self.kept)
        repeats: list[int] = []
        self._fill(order, repeats)
        self._fill(repeats, None)
        return len(self.kept) > before

    def exchange(self, order: Sequence[int], gains: Sequence[float]) -> bool:
        """Packs the best of what is left out in the place of others, as long as what is gained by all that is kept
        rises. Returns whether it did.

        Afterwards none of the best items left out, if it says something new, could stand in the place of one chosen
        item, or of those that are worth least by their costs, for a gain. Where many items are chosen, each is small
        against the room, and nothing is done. gains: of every item, 0 or more.
        """
        number = 0
        while number < _EXCHANGES and self.is_coarse and self._exchange(order, gains):
            number += 1
        return number > 0

    def copy(self, room: int) -> "Knapsack":
        """The same, to be tried with other room."""
        return replace(self, room=room, kept=set(self.kept), chosen=dict(self.chosen), novelty=self.novelty.copy())

    @property
    def is_coarse(self) -> bool:
        """Whether so few items are chosen that exchanges may gain something."""
        return len(self.chosen) <= _FEW

    def _fill(self, order: Sequence[int], repeats: list[int] | None) -> None:
        misses = 0
        for item in order:
            if self.room <= 0 or misses > _PATIENCE:
                return
            if item in self.kept:
                continue
            closure = None
            if self.cost.at_least(item) <= self.room:  # not so for most items, once the budget is nearly full
                closure = self._closure(item)
            wanted = closure.difference(self.kept) if closure else _NOTHING
            cost = sum(map(self.cost, wanted))
            if closure is None or cost > self.room:
                misses += 1
            elif repeats is not None and self.novelty.share(wanted) < _FRESH:
                repeats.append(item)
            else:
                misses = 0
                self._pack(item, closure, wanted, cost)

    def _closure(self, item: int) -> frozenset[int] | None:
        """An item and all that it needs; None if it cannot be packed."""
        companions = self.companions(item, self.kept)
        return None if companions is None else frozenset((item, *companions))

    def _pack(self, item: int, closure: frozenset[int], wanted: frozenset[int], cost: int) -> None:
        """Packs an item with what it needs. wanted: what of that is not in yet."""
        self.room -= cost
        self.novelty.take(wanted)
        self.kept |= wanted
        self.chosen[item] = closure

    def _exchange(self, order: Sequence[int], gains: Sequence[float]) -> bool:
        """Packs the best item that gains more than what gives way to it."""
        places = _Places(self.chosen, self.cost, gains)
        left_out = [item for item in order[: len(self.kept) + _PATIENCE] if item not in self.kept]
        for item in sorted(left_out, key=lambda item: -gains[item])[:_TRIED]:
            if places.least_loss(self.cost.at_least(item) - self.room) >= gains[item]:
                continue  # most items, at no effort
            closure = self._closure(item)
            if closure is None:
                continue
            wanted = closure.difference(self.kept)
            cost, gain = sum(map(self.cost, wanted)), sum(gains[other] for other in wanted)
            gone = places.instead(closure, cost - self.room, gain)
            if gone is not None and self.novelty.share(wanted) >= _FRESH:
                self._take_out(gone, closure)
                self._pack(item, closure, wanted, cost)
                return True
        return False

    def _take_out(self, gone: Sequence[int], closure: frozenset[int]) -> None:
        """Takes chosen items out, but for what others or the closure need."""
        for item in gone:
            del self.chosen[item]
        out = self.kept.difference(closure, *self.chosen.values())
        self.room += sum(map(self.cost, out))
        self.kept -= out
        self.novelty = self.novelty.only(self.kept)


class _Places:
    """What would be gained and lost if chosen items were taken out."""

    __slots__ = ("_chosen", "_cost", "_freed", "_gains", "_lost", "_order", "_uses", "_weights")

    def __init__(self, chosen: Mapping[int, frozenset[int]], cost: Costs, gains: Sequence[float]) -> None:
        self._chosen, self._cost, self._gains = chosen, cost, gains
        uses = self._uses = Counter(chain.from_iterable(chosen.values()))
        self._weights = {item: sum(cost(other) / uses[other] for other in chosen[item]) for item in chosen}
        """The costs of items and of their share in what they need with others."""
        losses = {item: gains[item] if uses[item] == 1 else 0.0 for item in chosen}
        self._order = sorted(chosen, key=lambda item: losses[item] / (self._weights[item] or 1.0))
        self._freed = list(accumulate((self._weights[item] for item in self._order), initial=0.0))
        self._lost = list(accumulate((losses[item] for item in self._order), initial=0.0))

    def least_loss(self, room: float) -> float:
        """What is lost at least for so much room, parts of items included."""
        place = bisect_left(self._freed, room - _TINY)
        if place == 0:
            return 0.0
        if place == len(self._freed):
            return float("inf")
        share = (room - self._freed[place - 1]) / (self._freed[place] - self._freed[place - 1])
        return self._lost[place - 1] + share * (self._lost[place] - self._lost[place - 1])

    def instead(self, closure: frozenset[int], room: int, gain: float) -> Sequence[int] | None:
        """The items that give way to others, so that there is so much more room: one, or those that are worth least
        by their costs, whichever loses less; None where that is no less than the gain."""
        if room <= 0:
            return ()
        if self.least_loss(room) >= gain - _LEAST:
            return None
        singles = ([item] for item in self._order if self._weights[item] >= room - _TINY)
        ways = [gone for gone in (*singles, self._worst(closure, room)) if self._room(gone, closure) >= room]
        best = min(ways, key=lambda gone: self._loss(gone, closure), default=None)
        return best if best is not None and self._loss(best, closure) < gain - _LEAST else None

    def _worst(self, closure: frozenset[int], room: int) -> list[int]:
        """As many of the items that are worth least by their costs as make the room, and none that need not go."""
        number = bisect_left(self._freed, room - _TINY)
        while number < len(self._order) and self._room(self._order[:number], closure) < room:
            number += 1
        gone = self._order[:number]
        for item in sorted(gone, key=lambda item: -self._gains[item]):
            others = [other for other in gone if other != item]
            if self._room(others, closure) >= room:
                gone = others
        return gone

    def _room(self, gone: Sequence[int], closure: frozenset[int]) -> int:
        return sum(map(self._cost, self._out(gone, closure)))

    def _loss(self, gone: Sequence[int], closure: frozenset[int]) -> float:
        return sum(self._gains[item] for item in self._out(gone, closure))

    def _out(self, gone: Sequence[int], closure: frozenset[int]) -> list[int]:
        """What nothing needs any more without these."""
        uses = Counter(chain.from_iterable(self._chosen[item] for item in gone))
        return [item for item, times in uses.items() if times == self._uses[item] and item not in closure]


_N = 8
_NONE: frozenset[tuple[str, ...]] = frozenset()
_FACTOR = 6_364_136_223_846_793_005
"""Of a linear congruential generator whose numbers are spread well (Knuth)."""


class Runs:
    """The runs of eight words of each of some texts, found when they are asked for and remembered."""

    __slots__ = ("_known", "_repeating", "_texts")

    def __init__(self, texts: Sequence[str], *, lasting: bool = False) -> None:
        """lasting: whether they will be asked for again and again, so that it pays to look for repeats in all first."""
        self._texts = texts
        self._known: dict[int, frozenset[tuple[str, ...]]] = {}
        self._repeating = _repeating(texts) if lasting else None

    def repeated(self, item: int) -> frozenset[tuple[str, ...]]:
        """Those of a text among which are all that another text has, too: none for most texts, if that is known."""
        return self.of(item) if self._repeating is None or item in self._repeating else _NONE

    def of(self, item: int) -> frozenset[tuple[str, ...]]:
        """Those of a text; none of what is no text, which has a greater number."""
        runs = self._known.get(item)
        if runs is None:
            runs = self._known[item] = _runs(self._texts[item]) if item < len(self._texts) else _NONE
        return runs


class Novelty:
    """Remembers the runs of eight words of what is kept, to tell what would only repeat them.

    Texts shorter than eight words, and scripts without spaces, always count as new.
    """

    __slots__ = ("_before", "_repeated", "_runs", "_seen")

    def __init__(self, runs: Runs, before: str = "") -> None:
        """before: a text that was taken before."""
        self._before = _runs(before)
        self._runs = runs.of
        self._repeated = runs.of if before else runs.repeated
        self._seen = set(self._before)

    def copy(self) -> "Novelty":
        """Return the same, to go on by itself."""
        novelty = copy(self)
        novelty._seen = set(self._seen)
        return novelty

    def only(self, items: Collection[int]) -> "Novelty":
        """Return the same with these items taken, and no others."""
        novelty = copy(self)
        novelty._seen = set(self._before)
        novelty.take(items)
        return novelty

    def share(self, items: Collection[int]) -> float:
        """Share of the runs of the items' texts that are not in what was taken, 0 to 1."""
        if all(map(self._seen.isdisjoint, map(self._repeated, items))):
            return 1.0
        runs: set[tuple[str, ...]] = set().union(*map(self._runs, items))
        return len(runs - self._seen) / len(runs)

    def take(self, items: Collection[int]) -> None:
        """Counts the items' texts as kept from now on."""
        self._seen.update(*map(self._repeated, items))


def _runs(text: str) -> frozenset[tuple[str, ...]]:
    words = text.lower().split()
    if len(words) < _N:
        return _NONE
    return frozenset(zip(*(words[shift:] for shift in range(_N)), strict=False))


def _repeating(texts: Sequence[str]) -> frozenset[int]:
    """The texts that may have a run that another one has. Runs that are the same have the same hash; of others that
    have, nothing is lost but time."""
    numbers: dict[str, int] = {}
    words = [text.lower().split() for text in texts]
    every = [numbers.setdefault(word, len(numbers)) for of_text in words for word in of_text]
    if len(every) < _N:
        return frozenset()
    ids = np.array(every, dtype=np.uint64)
    text_of = np.repeat(np.arange(len(texts)), [len(of_text) for of_text in words])
    runs = len(every) - _N + 1
    hashes = np.zeros(runs, dtype=np.uint64)
    for shift in range(_N):
        hashes = hashes * np.uint64(_FACTOR) + ids[shift : shift + runs]
    within = np.flatnonzero(text_of[:runs] == text_of[_N - 1 :])
    order = within[np.argsort(hashes[within], kind="stable")]
    same = hashes[order[1:]] == hashes[order[:-1]]
    return frozenset(text_of[order[1:][same]].tolist()) | frozenset(text_of[order[:-1][same]].tolist())
