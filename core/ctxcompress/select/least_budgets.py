"""The least budget from which on each segment is kept, without a selection for every budget."""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import accumulate

from ctxcompress.data.table import Floats
from ctxcompress.select.knapsack import PATIENCE, Knapsack
from ctxcompress.select.layout import Layout, SegmentCosts
from ctxcompress.select.selection import Coherence, beside_others, ranked, without_duplicates
from ctxcompress.select.structure import Structure

__all__ = ["least_budgets"]

_UNLIMITED = 10**12


def least_budgets(
    structure: Structure, values: Floats, layout: Layout, counts: Sequence[int], budgets: Sequence[int], total: int
) -> list[int]:
    """Return for each segment the least of the budgets from which on it is kept, and `total` if that is none of them.

    Segments are chosen as `select` does it first: by value and density, each with what it needs, then more that still
    fit. It is told from one order and from counts, so it is an estimate: no text is composed, nothing chosen is
    exchanged, and text that repeats other text in part counts like new text.

    counts: the tokens of each segment. budgets: ascending; those from `total` on are not looked at.
    """
    cost = SegmentCosts(structure.table, layout, counts)
    order, adjusted = _order(structure, values)
    knapsack = Knapsack(_UNLIMITED, cost, Coherence(structure, order).companions, _AllNew())
    knapsack.fill([number for number in order if adjusted[number] >= 0] or order[:1])
    steps = _Steps(knapsack.chosen, cost)
    spent = layout.tokens("") - layout.count(layout.separator)
    least, above = [total] * len(counts), total
    for budget in reversed([budget for budget in budgets if budget < total]):
        for number in steps.within(budget - spent):
            if number < len(counts) and least[number] <= above:
                least[number] = budget
        above = budget
    return least


def _order(structure: Structure, values: Floats) -> tuple[list[int], Sequence[float]]:
    """Return the segments that can be chosen, from the best to the worst, without duplicates, and the values of all
    segments beside the others."""
    order, _ = without_duplicates(ranked(structure, values), structure, values)
    adjusted = beside_others(structure, values, order)
    may = set(order)
    return [number for number in ranked(structure, adjusted) if number in may], adjusted.tolist()


class _Steps:
    """The choices in an unlimited knapsack, one after the other."""

    def __init__(self, chosen: Mapping[int, Collection[int]], cost: SegmentCosts) -> None:
        """chosen: item -> it and all that it needs, in the order of the choices."""
        self._closures, self._cost = list(chosen.values()), cost
        self._added: list[list[int]] = []
        """What each choice adds to the ones before."""
        kept: set[int] = set()
        for closure in self._closures:
            self._added.append([item for item in closure if item not in kept])
            kept.update(closure)
        self._spent = list(accumulate(self._price(added) for added in self._added))

    def within(self, room: int) -> set[int]:
        """Return the items that are kept in this much room."""
        first = bisect_right(self._spent, room)
        kept = {item for added in self._added[:first] for item in added}
        room -= self._spent[first - 1] if first else 0
        misses = 0
        for closure in self._closures[first:]:
            if room <= 0 or misses > PATIENCE:
                break
            wanted = [item for item in closure if item not in kept]
            price = self._price(wanted)
            if price > room:
                misses += 1
                continue
            misses, room = 0, room - price
            kept.update(wanted)
        return kept

    def _price(self, items: Iterable[int]) -> int:
        return sum(map(self._cost, items))


class _AllNew:
    """Takes all text as new: see `knapsack.Repeats`."""

    def share(self, _: Collection[int], /) -> float:
        return 1.0

    def take(self, _: Collection[int], /) -> None:
        pass

    def copy(self) -> "_AllNew":
        return self

    def only(self, _: Collection[int], /) -> "_AllNew":
        return self
