"""QATBE, query-aware token-budgeted extraction: selects the segments that are worth most within a hard budget."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np

from ctxcompress.data.documents import Spans
from ctxcompress.data.passages import Kind
from ctxcompress.data.table import Floats, SegmentTable
from ctxcompress.select.knapsack import Coherence, Costs, Knapsack, rank
from ctxcompress.select.layout import Composed, Layout
from ctxcompress.select.oversize import best_alone, best_split
from ctxcompress.select.placement import Placement
from ctxcompress.select.repetition import Novelty, Runs
from ctxcompress.select.structure import Structure

__all__ = ["Candidates", "Choices", "Packing", "Selection", "gains", "ranked", "select", "select_in_order"]

_DENSITY, _SOURCE_DENSITY = 0.15, 0.075
"""The exponents of size, see `rank`, of prose and source code: a function is needed whole, however long."""
_USUAL = 30
"""Tokens: at this size, prose and source code of the same value rank equal."""
_CHARACTERS_PER_TOKEN = 4.0
_HEADING = 0.7
"""The least value of a heading, relative to the best text right under it: a quarter of its odds. A higher value loses
evidence of manuals; a lower value loses headings."""
_LARGEST = 1e6
"""The greatest value, so that its fourth power does not overflow."""
_SAME_WORTH = 0.8
"""The least worth of a copy, relative to the best copy in its document, with which it can be kept in its place."""
_READ_ALONE = frozenset((Kind.CODE, Kind.RECORD))
"""The kinds that can be kept without the line that announces them."""
_EACH = 12
"""Tokens: for each so many of the room, one of the best segments is counted ahead, together with the others."""
_FILLS, _TRIES = 8, 24
"""The most times that room is filled, first all of it, then what is left over; the most tries for each."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The chosen spans and the text that they make."""

    spans: Spans
    """Document number -> its kept spans, for the documents that have some."""
    composed: Composed
    """The kept text."""
    tokens: int
    """Of the final text, with the content before."""
    duplicates: Spans = field(default_factory=dict)
    """Document number -> spans that are dropped because the same text is kept elsewhere."""
    orphans: Spans = field(default_factory=dict)
    """Document number -> spans that would fit, but are hardly needed and too short to be understood alone."""

    @classmethod
    def of(cls, spans: Spans, layout: Layout) -> "Selection":
        """Return a selection of these spans."""
        composed = layout.compose(spans)
        return cls(spans, composed, layout.tokens(composed.text))

    @property
    def text(self) -> str:
        """The text that the spans make."""
        return self.composed.text


def select(
    structure: Structure,
    values: Floats,
    layout: Layout,
    budget: int,
    known: Collection[int] = (),
    *,
    counts: Sequence[int] | None = None,
) -> Selection:
    """Choose segments so that ``layout.tokens(text) <= budget``.

    Segments are chosen greedily by value and density; then more that still fit. A heading is kept only with text under
    it, an announcement only with some of its block, the row of a table only with its header, and part of a fenced block
    only with its fence. The same sentence is kept once, and text that mostly repeats kept text comes last.

    If the best segment fits, but not with its announcement, it is kept alone. If it is over the budget, the longest
    beginning that fits is kept, without what it needs if that does not fit. With content before, this is done only for
    a segment over the whole budget, if there is room for more than a few words of it.

    values: of each segment, shape (segments,). A segment with a negative value is kept only if another needs it, or if
    it is the best. known: segments that were delivered before, which are kept only if another needs them. counts: the
    tokens of each segment, if known; see `counts_of`.
    """
    free, values = budget - layout.tokens(""), structure.with_copies_lower(values)
    ranking = ranked(structure, values, known)
    is_room = not layout.before or free >= _worth_filling(budget)
    split = best_split(structure.table, ranking, layout, budget) if is_room else None
    if split is None:
        candidates, forced = Candidates.of(structure, values, ranking), list[int]()
    else:
        candidates, forced, counts = _with_part(*split, values, known), [split[1]], None
    packing = Packing(candidates, layout, budget, counts)
    order = candidates.worth_choosing or candidates.order[:1]
    wanted = forced or _keepable_alone(candidates, order)
    found = packing.filled(order, free)
    if found is None or not found[1].issuperset(wanted):
        whole = packing.composed({*wanted, *chain.from_iterable(map(packing.table.needs, wanted))})
        if wanted and whole.tokens <= budget:  # together they cost less than separately
            return whole
    if found is not None and found[1].issuperset(forced):
        return found[0]
    return Selection.of({} if layout.before else best_alone(structure.table, ranking, layout, budget), layout)


def _keepable_alone(candidates: "Candidates", order: Sequence[int]) -> list[int]:
    """Return the best segment, if it can be read without what announces it, as code and records can. An item cannot:
    what announces it may say "not"."""
    leading, kind = candidates.structure.leading, candidates.structure.table.kind
    best = next((number for number in order if number not in leading), None)
    return [] if best is None or kind[best] not in _READ_ALONE else [best]


def _with_part(table: SegmentTable, part: int, values: Floats, known: Collection[int]) -> "Candidates":
    """Return the candidates once the best segment is split, with its part that fits before all others.

    values, known: of the segments before the split.
    """
    added = len(table.segments) - len(values)
    structure, values = Structure(table), np.insert(values, part + 1, np.zeros(added))
    excluded = {part, *(number + added * (number > part) for number in known)}
    return Candidates.of(structure, values, [part, *ranked(structure, values, excluded)], (part,))


@dataclass(frozen=True, slots=True)
class Choices:
    """The segments and the budget, as `select` takes them."""

    structure: Structure
    values: Floats
    layout: Layout
    budget: int
    known: Collection[int] = ()
    counts: Sequence[int] | None = None

    @property
    def candidates(self) -> "Candidates":
        """The segments that can be chosen."""
        return Candidates.of(self.structure, self.values, ranked(self.structure, self.values, self.known))

    def selected(self) -> Selection:
        """Select by value alone."""
        return select(self.structure, self.values, self.layout, self.budget, self.known, counts=self.counts)


def select_in_order(choices: Choices, order: Sequence[int], others: Sequence[int]) -> Selection | None:
    """Choose these segments in this order, as far as they fit with what they need. Return None if none fits.

    Text that repeats kept text comes last. others: segments that are kept only if one of the order needs them, from the
    best to the worst.
    """
    structure, layout, first = choices.structure, choices.layout, dict[str, int]()
    for number in (*order, *others):
        first.setdefault(structure.same.get(number, ""), number)
    twins = ((number, first.get(text, number)) for number, text in structure.same.items() if structure.stands[number])
    duplicate_of = {number: twin for number, twin in twins if number != twin}
    order = [number for number in order if number not in duplicate_of]
    candidates = Candidates(structure, np.zeros(0), list(dict.fromkeys([*order, *others])), duplicate_of)
    packing = Packing(candidates, layout, choices.budget, choices.counts)
    found = packing.filled(order, choices.budget - layout.tokens(""))
    return found[0] if found is not None else None


class Candidates:
    """The segments that can be chosen, each text once."""

    def __init__(
        self, structure: Structure, values: Floats, order: Sequence[int], duplicate_of: Mapping[int, int]
    ) -> None:
        """values: of each segment, see `_beside_others`. order: from the best to the worst. duplicate_of: duplicate ->
        the segment that is kept for it."""
        self.structure, self.values, self.order, self.duplicate_of = structure, values, order, duplicate_of
        self.coherence = Coherence(structure, order)

    @classmethod
    def of(cls, structure: Structure, values: Floats, ranking: list[int], forced: Collection[int] = ()) -> "Candidates":
        """ranking: the segments from the best to the worst, by their own values. forced: those that come first."""
        order, duplicate_of = _without_duplicates(ranking, structure, values, forced)
        worth = _beside_others(structure, values, order)
        if worth is not values:
            may = set(order).difference(forced)
            order = [*forced, *(number for number in ranked(structure, worth) if number in may)]
        return cls(structure, worth, order, duplicate_of)

    @property
    def worth_choosing(self) -> list[int]:
        """Those of the order whose value is not negative."""
        worth = self.values.tolist()  # a list is faster to index
        return [number for number in self.order if worth[number] >= 0]


@dataclass(frozen=True, slots=True)
class Packing:
    """What all attempts to fill the budget have in common."""

    candidates: Candidates
    layout: Layout
    budget: int
    counts: Sequence[int] | None = None
    """The tokens of each segment, if known."""
    may_repeat: bool = False
    """Whether text that repeats kept text counts as new."""

    @property
    def table(self) -> SegmentTable:
        """All segments."""
        return self.candidates.structure.table

    def composed(self, items: Collection[int], orphans: Collection[int] = ()) -> Selection:
        """Return the selection of these items. orphans: those that stayed out for being that."""
        kept = {item for item in items if item < len(self.table.segments)}
        twins = sorted(self.candidates.duplicate_of.items())
        duplicates = self.table.spans(number for number, twin in twins if twin in kept)
        alone = self.table.spans(sorted(set(orphans) - kept))
        found = Selection.of(self.layout.spans(self.table, kept), self.layout)
        return replace(found, duplicates=duplicates, orphans=alone)

    def filled(self, order: Sequence[int], free: int, kept: Collection[int] = ()) -> tuple[Selection, set[int]] | None:
        """Return the selection of what fits besides the segments that are kept, in this order, and its items; None if
        nothing fits.

        Together the parts can cost less than separately, so the room that is left over is filled again. free: the
        tokens that are left.
        """
        found, chances, knapsack = None, gains(self.candidates.values), self._knapsack(free, kept, order)
        room = knapsack.room
        for _ in range(_FILLS):
            fuller = self._packed(knapsack, order, room, chances)
            if fuller is None:
                break
            found, knapsack = fuller
            room = self.budget - found.tokens
            if room < _worth_filling(self.budget):
                break
        return (found, knapsack.kept) if found is not None else None

    def _knapsack(self, free: int, kept: Collection[int], order: Sequence[int]) -> Knapsack:
        """Return a knapsack with these segments and so much room. The first text has no separator before it."""
        structure, coherence = self.candidates.structure, self.candidates.coherence
        runs = Runs(()) if self.may_repeat else structure.runs
        novelty = Novelty(runs, self.layout.delivered_runs(), structure.by_form)
        novelty.take(kept)
        costs = Costs(self.table, self.layout, self.counts)
        costs.ahead(order[: free // _EACH])
        room = free if kept else free + self.layout.count(self.layout.separator)
        placement = Placement(self.table)
        placement.take(kept)
        return Knapsack(room, costs, coherence, novelty, placement, {*kept, *coherence.openings(kept)})

    def _packed(
        self, knapsack: Knapsack, order: Sequence[int], room: int, chances: Sequence[float]
    ) -> tuple[Selection, Knapsack] | None:
        """Return the selection and the knapsack with more in it, as much as this room holds; None if nothing fits.

        If the parts cost more together than separately, less room is tried. A single one that does is left out.
        """
        left, less = list(order), 0
        for _ in range(_TRIES):
            fuller = knapsack.copy(room)
            if room <= 0 or not fuller.fill(left, chances):
                break
            selection = self.composed(fuller.kept, fuller.orphans)
            if selection.tokens <= self.budget:
                return selection, fuller
            added = fuller.chosen - knapsack.chosen
            if len(added) == 1:
                left.remove(*added)
            else:
                less = max(selection.tokens - self.budget, 2 * less)
                room = max(room - less, room // 2)
        return None


def _worth_filling(budget: int) -> int:
    """Return how many tokens left over are worth another round: a short sentence, or more in a large budget."""
    return 6 + budget // 100


def _without_duplicates(
    order: list[int], structure: Structure, values: Floats, forced: Collection[int] = ()
) -> tuple[list[int], dict[int, int]]:
    """Return the order without duplicates, and duplicate -> the segment that is kept for it.

    Of segments with the same text, the best one is kept, or an earlier one in its document worth nearly as much:
    otherwise text that is repeated on and on would be kept from somewhere in the middle. forced: segments that are kept
    in any case.
    """
    document = structure.table.document
    copies: dict[str, list[int]] = {}
    for number in order:
        if number in structure.same:
            copies.setdefault(structure.same[number], []).append(number)
    place: dict[int, int] = {}  # of the best copy -> the copy that is kept there
    duplicate_of: dict[int, int] = {}
    for numbers in copies.values():
        best = numbers[0]
        beside = (number for number in numbers if document[number] == document[best])
        alike = (number for number in beside if values[number] >= _SAME_WORTH * values[best])
        place[best] = kept = best if best in forced else min(alike, default=best)
        duplicate_of |= dict.fromkeys((number for number in numbers if number != kept), kept)
    gone = duplicate_of.keys() | place.values()
    without = [place.get(number, number) for number in order if number in place or number not in gone]
    return without, duplicate_of


def ranked(structure: Structure, values: Floats, known: Collection[int] = ()) -> list[int]:
    """Return the segments that can be chosen, without those that are known, from the best to the worst."""
    densities = np.where(structure.table.is_source, _SOURCE_DENSITY, _DENSITY)
    densities[values < 0] = 0.0  # divided by their size, the longest would be the best of them
    ranking = rank(values * _USUAL**densities, structure.table.lengths / _CHARACTERS_PER_TOKEN, density=densities)
    stands = structure.stands
    return [number for number in ranking if stands[number] and number not in known]


def _beside_others(structure: Structure, values: Floats, order: Sequence[int]) -> Floats:
    """Adjust the values of headings and announcements to the text that follows them.

    Neither can be kept without some of that text: if the best of it is worth less, they are worth the geometric mean. A
    heading is worth at least half of the best text of its section, sub-headings included. Values of 0 do not change.
    order: the segments that may be chosen.
    """
    if not structure.leading:
        return values
    may = np.zeros(len(values))
    may[order] = np.maximum(values[order], 0.0)
    alone, worth = may.tolist(), values.tolist()  # lists are faster to index
    for number, block in structure.leading.items():
        best, own = max(alone[block.start : block.stop], default=0.0), worth[number]
        if block and own > 0:
            least = _HEADING * best if number in structure.under else 0.0
            worth[number] = max(min(own, (own * best) ** 0.5), least)
    return np.array(worth)


def gains(values: Floats) -> list[float]:
    """Return the probability that each segment is needed. A value is the fourth root of the odds."""
    odds = np.clip(values, 0, _LARGEST) ** 4
    probability: list[float] = (odds / (1 + odds)).tolist()
    return probability
