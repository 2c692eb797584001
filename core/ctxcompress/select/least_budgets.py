"""The least budget from which on each segment is kept, without a selection for every budget."""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from ctxcompress.data.table import Floats
from ctxcompress.select.knapsack import PATIENCE
from ctxcompress.select.layout import Layout
from ctxcompress.select.selection import beside_others, ranked, without_duplicates
from ctxcompress.select.structure import Coherence, Structure

__all__ = ["least_budgets"]


def least_budgets(
    structure: Structure, values: Floats, layout: Layout, counts: Sequence[int], budgets: Sequence[int], total: int
) -> list[int]:
    """Return for each segment the least of the budgets from which on it is kept, and `total` if that is none of them.

    Segments are chosen as `select` begins: by value and density, each with what it needs, then more that still fit. All
    budgets share one order and the counts, so this is an estimate: no text is composed, nothing chosen is exchanged,
    and text that repeats other text in part counts like new text.

    counts: the tokens of each segment. budgets: ascending; those from `total` on are not looked at.
    """
    openings = [layout.opening(passage) for passage in range(len(layout.passages))]
    steps = _Steps.of(structure, values, [*counts, *openings])
    spent = layout.tokens("") - layout.count(layout.separator)
    below = [budget for budget in budgets if budget < total]
    tried, least = [*below, total], [total] * len(counts)
    places = [bisect_left(below, until + spent) for until in steps.until]
    for item, step in steps.step_of.items():
        if item < len(counts):
            least[item] = tried[places[step]]
    for budget, above in reversed(list(zip(below, tried[1:], strict=True))):
        for item in steps.fitting_in(budget - spent):
            if item < len(counts) and least[item] == above:
                least[item] = budget
    return least


@dataclass(frozen=True, slots=True)
class _Steps:
    """All choices, one after the other, as if there were room for everything."""

    closures: list[Collection[int]]
    """What is chosen, with all that it needs."""
    until: list[int]
    """The tokens of all choices up to this one."""
    least: list[int]
    """The tokens of what is chosen without what it needs."""
    step_of: dict[int, int]
    """Item -> the number of the first choice that has it."""
    costs: Sequence[int]
    """The tokens of every segment, then of the opening of every passage."""

    @classmethod
    def of(cls, structure: Structure, values: Floats, costs: Sequence[int]) -> "_Steps":
        order, _ = without_duplicates(ranked(structure, values), structure, values)
        adjusted = beside_others(structure, values, order)
        may, worth = set(order), adjusted.tolist()
        if adjusted is not values:
            order = [number for number in ranked(structure, adjusted) if number in may]
        companions, steps = Coherence(structure, order).companions, cls([], [], [], {}, costs)
        for number in [number for number in order if worth[number] >= 0] or order[:1]:
            if number not in steps.step_of and (needed := companions(number, steps.step_of)) is not None:
                steps.choose(number, (number, *needed))
        return steps

    def choose(self, number: int, closure: Collection[int]) -> None:
        """Add a choice."""
        step, tokens = len(self.closures), self.until[-1] if self.until else 0
        for item in closure:
            if item not in self.step_of:
                self.step_of[item] = step
                tokens += self.costs[item]
        self.until.append(tokens)
        self.least.append(self.costs[number])
        self.closures.append(closure)

    def fitting_in(self, room: int) -> Iterator[int]:
        """Yield what still fits into this much room after the first choices have filled it."""
        first = bisect_right(self.until, room)
        room -= self.until[first - 1] if first else 0
        extra: set[int] = set()
        misses = 0
        for closure, least in zip(self.closures[first:], self.least[first:], strict=True):
            if room <= 0 or misses > PATIENCE:
                return
            misses += 1
            if least > room:
                continue  # so for most
            wanted = {item for item in closure if self.step_of[item] >= first and item not in extra}
            price = sum([self.costs[item] for item in wanted])
            if price <= room:
                room, misses = room - price, 0
                extra.update(wanted)
                yield from wanted
