"""QATBE, query-aware token-budgeted extraction: the segments that are worth most, within a hard budget."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctxcompress.documents import Spans
from ctxcompress.select.candidates import Candidates
from ctxcompress.select.coherence import Coherence
from ctxcompress.select.costs import SegmentCosts
from ctxcompress.select.knapsack import Knapsack, rank
from ctxcompress.select.layout import Layout
from ctxcompress.select.novelty import Novelty
from ctxcompress.select.oversize import best_alone, best_split
from ctxcompress.select.structure import Structure

__all__ = ["Selection", "select"]

_DENSITY = 0.15
_SOURCE_DENSITY = 0.075
"""The same of source code: a function is needed whole, however long it is."""
_USUAL = 30
"""Tokens of a sentence: where one of prose and one of source code are worth as much, that long, they are equal."""
_CHARACTERS_PER_TOKEN = 4.0
_REFILLS = 2

Floats = NDArray[np.float64]


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

    Greedy by value and density, then what still fits. A heading is kept only with text under it, a
    table's row only with its header, a part of a fence only with its fence. The same sentence is
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
    ranking = [number for number in _ranked(structure, values) if number not in known]
    has_room = not layout.before or free >= _worth_filling(budget)
    split = best_split(candidates, ranking, layout, budget) if has_room else None
    if split is not None:
        candidates, first, added = split
        values = np.insert(values, first + 1, np.zeros(added))
        structure, counts = Structure(candidates), None
        left_out = {first, *(number + added * (number > first) for number in known)}
        ranking = [first, *(number for number in _ranked(structure, values) if number not in left_out)]
    order, twins = _without_duplicates(ranking, structure)
    coherence = Coherence(structure, order)
    worth = values.tolist()  # a list's numbers are compared faster
    order = [number for number in order if worth[number] >= 0] or order[:1]
    cost = SegmentCosts(candidates, layout, counts)
    room = free + layout.count(layout.separator)
    while room > 0:
        knapsack = Knapsack(room, cost, coherence.companions, Novelty(structure.runs, layout.before))
        if not knapsack.fill(order) or (split and ranking[0] not in knapsack.kept):
            break
        selection = _composed(candidates, knapsack.kept, twins, layout)
        if selection.tokens <= budget:
            return _refilled(selection, candidates, knapsack, order, twins, layout, budget)
        # Together the parts cost more than one by one: again, with less room.
        room -= max(selection.tokens - budget, 1 if room > free - 8 else room // 8)
    spans = {} if layout.before else best_alone(candidates, ranking, layout, budget)
    text = layout.compose(spans)
    return Selection(spans, {}, text, layout.tokens(text))


def _refilled(
    selection: Selection,
    candidates: Candidates,
    knapsack: Knapsack,
    order: Sequence[int],
    twins: dict[int, int],
    layout: Layout,
    budget: int,
) -> Selection:
    """The selection with what still fits, now that it is known what it really costs."""
    for _ in range(_REFILLS):
        knapsack.room = budget - selection.tokens
        if knapsack.room < _worth_filling(budget) or not knapsack.fill(order):
            break
        fuller = _composed(candidates, knapsack.kept, twins, layout)
        if fuller.tokens > budget:
            break
        selection = fuller
    return selection


def _worth_filling(budget: int) -> int:
    """Tokens left over that are worth another round: a short sentence's, and more in a big budget."""
    return 6 + budget // 100


def _composed(candidates: Candidates, items: set[int], twins: dict[int, int], layout: Layout) -> Selection:
    kept = {item for item in items if item < len(candidates.segments)}
    spans = layout.spans(candidates, kept)
    text = layout.compose(spans)
    duplicates = candidates.spans(number for number, twin in sorted(twins.items()) if twin in kept)
    return Selection(spans, duplicates, text, layout.tokens(text))


def _ranked(structure: Structure, values: Floats) -> list[int]:
    """The segments that can be chosen, from the best to the worst."""
    densities = np.where(structure.source, _SOURCE_DENSITY, _DENSITY)
    ranking = rank(values * _USUAL**densities, structure.characters / _CHARACTERS_PER_TOKEN, density=densities)
    return [number for number in ranking if structure.stands[number]]


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
