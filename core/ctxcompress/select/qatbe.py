"""QATBE, query-aware token-budgeted extraction: the segments that are worth most, within a hard budget."""

from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ctxcompress.data.documents import Spans
from ctxcompress.data.table import SegmentTable
from ctxcompress.select.knapsack import Knapsack, Novelty, rank
from ctxcompress.select.layout import Layout, SegmentCosts
from ctxcompress.select.oversize import best_alone, best_split
from ctxcompress.select.structure import Structure

__all__ = ["Coherence", "Floats", "Selection", "beside_others", "gains", "ranked", "select"]

_DENSITY = 0.15
_SOURCE_DENSITY = 0.075
"""The same of source code: a function is needed whole, however long it is."""
_USUAL = 30
"""Tokens of a sentence: where one of prose and one of source code are worth as much, that long, they are equal."""
_CHARACTERS_PER_TOKEN = 4.0
_HEADING = 0.5
"""What a heading is worth at least, relative to the best text right under it: a sixteenth of its odds. With more, it
costs evidence in documentation; with less, it is missing more often."""
_LARGEST = 1e6

Floats = NDArray[np.float64]


def ranked(structure: Structure, values: Floats) -> list[int]:
    """The segments that can be chosen, from the best to the worst."""
    densities = np.where(structure.table.is_source, _SOURCE_DENSITY, _DENSITY)
    ranking = rank(values * _USUAL**densities, structure.table.lengths / _CHARACTERS_PER_TOKEN, density=densities)
    stands = structure.stands
    return [number for number in ranking if stands[number]]


def beside_others(structure: Structure, values: Floats, order: Sequence[int]) -> Floats:
    """What segments are worth together with those that they are read with.

    A heading says what the text under it is about: it is worth half of the best one, or more. What announces a block
    cannot be kept without some of it: where the best of that is worth less, it is worth their geometric mean. What is
    worth nothing stays so. order: the segments that may be chosen.
    """
    if not structure.leading:
        return values
    may = np.zeros(len(values))
    may[order] = np.maximum(values[order], 0.0)
    alone, worth = may.tolist(), values.tolist()  # a list's numbers are faster to come by
    for number, block in structure.under.items():
        if block and worth[number] > 0:
            worth[number] = max(worth[number], _HEADING * max(alone[block.start : block.stop]))
    for number, block in structure.announced.items():
        of_block = max(alone[block.start : block.stop])
        if worth[number] > of_block:
            worth[number] = (worth[number] * of_block) ** 0.5
    return np.array(worth)


def gains(values: Floats) -> list[float]:
    """The probability that each segment is needed: what it is worth is the fourth root of its odds."""
    odds = np.clip(values, 0, _LARGEST) ** 4
    probability: list[float] = (odds / (1 + odds)).tolist()
    return probability


_Group = dict[int, None]
"""Segments, to be gone through in their order or asked whether one is among them."""


class Coherence:
    """Companions of segments: a row's header, a fence, what announces a list, text under a heading, what is announced,
    an opening.

    Openings are items too, so that they are paid for once: the item of passage p is the number of segments plus p.
    """

    def __init__(self, structure: Structure, order: Sequence[int]) -> None:
        """order: the segments that may be chosen, from the best to the worst."""
        self._order = order
        self._candidates = structure.table
        self._announcement, self._leading = structure.announcement, structure.leading
        self._segments = len(structure.table.segments)
        self._groups: dict[int, _Group] = {}

    def companions(self, item: int, kept: Container[int]) -> list[int] | None:
        """All that must be kept with an item, and what that needs; None where that is nothing that may be chosen.

        Of what stands right under a heading, and of what is announced, one that is kept will do, else it is the best.
        """
        found = [item]
        for number in found:  # which grows
            if number >= self._segments:  # an opening needs nothing
                continue
            found += [other for other in self._directly(number) if other not in found]
            if number in self._leading and not self._add_follower(found, number, kept):
                return None
        return found[1:]

    def _directly(self, item: int) -> list[int]:
        """What a segment cannot be kept without, whatever else is kept."""
        needed = [*self._candidates.needs(item), self._segments + self._candidates.passage[item]]
        announcement = self._announcement[item]
        return needed if announcement < 0 else [*needed, announcement]

    def _add_follower(self, found: list[int], item: int, kept: Container[int]) -> bool:
        """Adds one of what must follow a heading or an announcement, if none of it is there; returns whether there is
        anything."""
        group = self._group(item)
        if group and group.keys().isdisjoint(found):
            found.append(next(filter(kept.__contains__, group), next(iter(group))))
        return bool(group)

    def _group(self, item: int) -> _Group:
        """What a heading or an announcement must have one of, from the best to the worst."""
        if item not in self._groups:
            block = filter(self._places.__contains__, self._leading[item])
            self._groups[item] = dict.fromkeys(sorted(block, key=self._places.__getitem__))
        return self._groups[item]

    @cached_property
    def _places(self) -> dict[int, int]:
        return {number: place for place, number in enumerate(self._order)}


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
    table = structure.table
    free = budget - layout.tokens("")
    ranking = [number for number in ranked(structure, values) if number not in known]
    has_room = not layout.before or free >= _worth_filling(budget)
    split = best_split(table, ranking, layout, budget) if has_room else None
    forced: list[int] = []
    if split is not None:
        table, first, added = split
        values = np.insert(values, first + 1, np.zeros(added))
        structure, counts, forced = Structure(table), None, [first]
        left_out = {first, *(number + added * (number > first) for number in known)}
        ranking = [first, *(number for number in ranked(structure, values) if number not in left_out)]
    order, twins = _without_duplicates(ranking, structure)
    alone, values = values, beside_others(structure, values, order)
    if values is not alone:
        order = [*forced, *(number for number in _again(structure, values, order) if number not in forced)]
    companions = Coherence(structure, order).companions
    worth = values.tolist()  # a list's numbers are compared faster
    order = [number for number in order if worth[number] >= 0] or order[:1]
    packing = _Packing(table, order, [*gains(values), *[0.0] * len(layout.passages)], twins, layout, budget)
    cost = SegmentCosts(table, layout, counts)
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
    spans = {} if layout.before else best_alone(table, ranking, layout, budget)
    text = layout.compose(spans)
    return Selection(spans, {}, text, layout.tokens(text))


@dataclass(frozen=True, slots=True)
class _Packing:
    """What does not change from one attempt to pack to the next."""

    table: SegmentTable
    order: Sequence[int]
    gains: Sequence[float]
    twins: Mapping[int, int]
    layout: Layout
    budget: int

    def composed(self, items: Collection[int]) -> Selection:
        """The selection of these items."""
        kept = {item for item in items if item < len(self.table.segments)}
        spans = self.layout.spans(self.table, kept)
        text = self.layout.compose(spans)
        duplicates = self.table.spans(number for number, twin in sorted(self.twins.items()) if twin in kept)
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
