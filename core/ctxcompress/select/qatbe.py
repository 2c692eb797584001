"""QATBE, query-aware token-budgeted extraction: the segments that are worth most, within a hard budget."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ctxcompress.documents import Spans
from ctxcompress.select.candidates import Candidates
from ctxcompress.select.coherence import Coherence
from ctxcompress.select.costs import SegmentCosts
from ctxcompress.select.knapsack import Knapsack
from ctxcompress.select.layout import Layout
from ctxcompress.select.novelty import Novelty
from ctxcompress.select.oversize import best_alone, best_split
from ctxcompress.select.ranking import Floats, beside_others, gains, ranked
from ctxcompress.select.structure import Structure

__all__ = ["Selection", "select"]

_REFILLS = 2


@dataclass(frozen=True, slots=True)
class Selection:
    """What was chosen."""

    spans: Spans
    """Document number -> what is kept of it, for the documents of which something is."""
    duplicates: Spans
    """Document number -> what is left out of it because the same text is kept elsewhere."""
    text: str
    """What is kept, as composed."""
    tokens: int
    """Of the final text: what stands before included."""

    @classmethod
    def everything(cls, layout: Layout) -> "Selection":
        """All there is, not counted yet."""
        return cls(layout.everything, {}, layout.compose(layout.everything), 0)


def select(
    structure: Structure,
    values: Floats,
    layout: Layout,
    budget: int,
    known: Collection[int] = (),
    *,
    counts: Sequence[int] | None = None,
) -> Selection:
    """Chooses segments so that ``layout.tokens(text) <= budget``, whatever it counts.

    Greedy by value and density, then what still fits, then what is better than what stands in its place. A
    heading is kept only with text under it, and before what is worse than that; what announces a block only with
    some of it, a table's row only with its header, a part of a fence only with its fence. The same sentence is
    kept once, and what mostly repeats what is kept only after all else. If the best segment alone
    is over the budget, the longest beginning of it that fits is kept; if it cannot fit together with
    what it needs, it is kept without. Where something stands before, neither is done, but for a segment that is over
    the whole budget where there is room for more than a few words of it.

    values: what each segment is worth, shape (segments,). One that is worth less than 0 is kept only where
    another needs it, or where it is the best. known: segments that the reader has already, which are kept only where
    another needs them. counts: the tokens of all of them (see costs), if they are known.
    """
    candidates = structure.candidates
    free = budget - layout.tokens("")
    ranking = [number for number in ranked(structure, values) if number not in known]
    has_room = not layout.before or free >= _worth_filling(budget)
    split = best_split(candidates, ranking, layout, budget) if has_room else None
    forced: list[int] = []
    if split is not None:
        candidates, first, added = split
        values = np.insert(values, first + 1, np.zeros(added))
        structure, counts, forced = Structure(candidates), None, [first]
        left_out = {first, *(number + added * (number > first) for number in known)}
        ranking = [first, *(number for number in ranked(structure, values) if number not in left_out)]
    order, twins = _without_duplicates(ranking, structure)
    alone, values = values, beside_others(structure, values, order)
    if values is not alone:
        order = [*forced, *(number for number in _again(structure, values, order) if number not in forced)]
    companions = Coherence(structure, order).companions
    worth = values.tolist()  # a list's numbers are compared faster
    order = [number for number in order if worth[number] >= 0] or order[:1]
    packing = _Packing(candidates, order, [*gains(values), *[0.0] * len(layout.passages)], twins, layout, budget)
    cost = SegmentCosts(candidates, layout, counts)
    room = free + layout.count(layout.separator)
    while room > 0:
        knapsack = Knapsack(room, cost, companions, Novelty(structure.runs, layout.before))
        if not knapsack.fill(order) or not knapsack.kept.issuperset(forced):
            break
        selection = packing.composed(knapsack.kept)
        if selection.tokens <= budget:
            selection, knapsack = packing.refilled(selection, knapsack)
            return selection if forced else packing.exchanged(selection, knapsack)
        # Together the parts cost more than one by one: again, with less room.
        room -= max(selection.tokens - budget, 1 if room > free - 8 else room // 8)
    spans = {} if layout.before else best_alone(candidates, ranking, layout, budget)
    text = layout.compose(spans)
    return Selection(spans, {}, text, layout.tokens(text))


@dataclass(frozen=True, slots=True)
class _Packing:
    """What does not change from one attempt to pack to the next."""

    candidates: Candidates
    order: Sequence[int]
    gains: Sequence[float]
    twins: Mapping[int, int]
    layout: Layout
    budget: int

    def composed(self, items: Collection[int]) -> Selection:
        """The selection of these items."""
        kept = {item for item in items if item < len(self.candidates.segments)}
        spans = self.layout.spans(self.candidates, kept)
        text = self.layout.compose(spans)
        duplicates = self.candidates.spans(number for number, twin in sorted(self.twins.items()) if twin in kept)
        return Selection(spans, duplicates, text, self.layout.tokens(text))

    def refilled(self, selection: Selection, knapsack: Knapsack) -> tuple[Selection, Knapsack]:
        """Both with what still fits, now that it is known what the selection really costs."""
        for _ in range(_REFILLS):
            room = self.budget - selection.tokens
            if room < _worth_filling(self.budget):
                break
            fuller = knapsack.copy(room)
            refilled = self.composed(fuller.kept) if fuller.fill(self.order) else None
            if refilled is None or refilled.tokens > self.budget:
                break
            selection, knapsack = refilled, fuller
        return selection, knapsack

    def exchanged(self, selection: Selection, knapsack: Knapsack) -> Selection:
        """The selection with what is better than what stands in its place."""
        if not knapsack.is_coarse:
            return selection
        better = knapsack.copy(self.budget - selection.tokens)
        if not better.exchange(self.order, self.gains):
            return selection
        better.fill(self.order)
        exchanged = self.composed(better.kept)
        return exchanged if exchanged.tokens <= self.budget else selection


def _again(structure: Structure, values: Floats, order: Sequence[int]) -> list[int]:
    """The same segments in the order of these values."""
    may = set(order)
    return [number for number in ranked(structure, values) if number in may]


def _worth_filling(budget: int) -> int:
    """Tokens left over that are worth another round: a short sentence's, and more in a big budget."""
    return 6 + budget // 100


def _without_duplicates(order: list[int], structure: Structure) -> tuple[list[int], dict[int, int]]:
    """The order without segments whose text a better one has; and for those, which one."""
    best: dict[str, int] = {}
    twins: dict[int, int] = {}
    if structure.same:
        for number in order:
            text = structure.same.get(number)
            if text is not None and best.setdefault(text, number) != number:
                twins[number] = best[text]
    return [number for number in order if number not in twins] if twins else order, twins
