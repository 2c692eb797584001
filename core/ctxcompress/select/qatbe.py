"""QATBE, query-aware token-budgeted extraction: the segments that are worth most, within a hard budget."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctxcompress.select.candidates import Candidates
from ctxcompress.select.coherence import Coherence
from ctxcompress.select.knapsack import Knapsack, rank
from ctxcompress.select.layout import Layout, Spans
from ctxcompress.select.split import longest_prefix
from ctxcompress.types import Kind, Span

__all__ = ["Selection", "select"]

_DENSITY = 0.15
_CHARACTERS_PER_TOKEN = 4.0
_REFILLS = 2
_SLACK = 4
"""Tokens left over that are not worth another round."""
_SPLIT_TRIES = 8
_UNREPEATABLE = frozenset((Kind.PARAGRAPH, Kind.LIST_ITEM, Kind.QUOTE))
_SHORTEST_DUPLICATE = 40

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Selection:
    """What was chosen."""

    spans: Spans
    """Passage number -> what is kept of it, for the passages of which something is."""
    duplicates: Spans
    """Passage number -> what is left out of it because the same text is kept elsewhere."""
    text: str
    """What is kept, as composed."""
    tokens: int


_NOTHING = Selection({}, {}, "", 0)


def select(candidates: Candidates, values: Floats, layout: Layout, budget: int) -> Selection:
    """Chooses segments so that ``layout.count(text) <= budget``, whatever `count` counts.

    Greedy by value and density, then what still fits. A heading is kept only with text under it, a
    table's row only with its header, a part of a fence only with its fence. The same text is kept
    once. If the best segment alone is over the budget, the longest beginning of it that fits is kept.

    values: what each segment is worth, shape (segments,), at least 0.
    """
    candidates, values = _with_best_split(candidates, values, layout, budget)
    order, twins = _without_duplicates(_ranked(candidates, values), candidates)
    coherence = Coherence(candidates, order)
    cost = _Costs(candidates, layout)
    room = budget + layout.count(layout.separator)
    while room > 0:
        knapsack = Knapsack(room, cost, coherence.companions)
        if not knapsack.fill(order):
            break
        selection = _composed(candidates, knapsack.kept, twins, layout)
        if selection.tokens <= budget:
            return _refilled(selection, candidates, knapsack, order, twins, layout, budget)
        # Together the parts cost more than one by one: again, with less room.
        room -= max(selection.tokens - budget, 1 if room > budget - 8 else room // 8)
    return _NOTHING


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
        if knapsack.room < _SLACK or not knapsack.fill(order):
            break
        fuller = _composed(candidates, knapsack.kept, twins, layout)
        if fuller.tokens > budget:
            break
        selection = fuller
    return selection


def _composed(candidates: Candidates, items: set[int], twins: dict[int, int], layout: Layout) -> Selection:
    kept = {item for item in items if item < len(candidates.segments)}
    spans = layout.spans(candidates, kept)
    text = layout.compose(spans)
    duplicates: dict[int, list[Span]] = {}
    for number, twin in sorted(twins.items()):
        if twin in kept:
            segment = candidates.segments[number]
            duplicates.setdefault(candidates.passage[number], []).append(Span(segment.start, segment.end))
    return Selection(spans, {p: tuple(s) for p, s in duplicates.items()}, text, layout.count(text))


class _Costs:
    """Tokens of an item, counted when its turn comes and remembered: most segments are never counted."""

    __slots__ = ("_candidates", "_known", "_layout")

    def __init__(self, candidates: Candidates, layout: Layout) -> None:
        self._candidates, self._layout = candidates, layout
        self._known: dict[int, int] = {}

    def __call__(self, item: int) -> int:
        known = self._known.get(item)
        if known is None:
            known = self._known[item] = self._counted(item)
        return known

    def _counted(self, item: int) -> int:
        texts = self._candidates.texts
        if item >= len(texts):
            return self._layout.opening(item - len(texts))
        # A space after it is a part of the next word's token, a line end is not.
        return self._layout.count(texts[item].rstrip(" "))


def _ranked(candidates: Candidates, values: Floats) -> list[int]:
    """The segments with something in them, from the best to the worst."""
    sizes = np.fromiter(map(len, candidates.texts), float, len(candidates.texts)) / _CHARACTERS_PER_TOKEN
    return [number for number in rank(values, sizes, density=_DENSITY) if not candidates.texts[number].isspace()]


def _without_duplicates(order: Sequence[int], candidates: Candidates) -> tuple[list[int], dict[int, int]]:
    """The order without segments whose text a better one has; and for those, which one."""
    best: dict[str, int] = {}
    twins: dict[int, int] = {}
    for number in order:
        text = candidates.texts[number]
        if len(text) >= _SHORTEST_DUPLICATE and candidates.segments[number][0] in _UNREPEATABLE:
            first = best.setdefault(text.strip(), number)
            if first != number:
                twins[number] = first
    return [number for number in order if number not in twins], twins


def _with_best_split(
    candidates: Candidates, values: Floats, layout: Layout, budget: int
) -> tuple[Candidates, Floats]:
    """The same, unless the best segment alone is over the budget: then with the part of it that fits ranked first."""
    texts = [n for n in _ranked(candidates, values) if candidates.segments[n][0] is not Kind.HEADING]
    for number in texts[:_SPLIT_TRIES]:
        alone = layout.spans(candidates, {number, *candidates.needs(number)})
        if layout.count(layout.compose(alone)) <= budget:
            break
        segment, index = candidates.segments[number], candidates.passage[number]
        tail = _closing_fence(candidates.texts[number]) + segment.start
        closing = (Span(tail, segment.end),) if tail < segment.end else ()

        def fits(length: int, index: int = index, start: int = segment.start, closing: Spans | tuple[Span, ...] = closing) -> bool:
            return layout.count(layout.compose({index: (Span(start, start + length), *closing)})) <= budget

        length = longest_prefix(candidates.texts[number][: tail - segment.start], fits=fits, lines=segment[0] is Kind.CODE)
        if length:
            pieces = candidates.split(number, segment.start + length, tail)
            rest = np.insert(values, number + 1, np.zeros(len(pieces.segments) - len(candidates.segments)))
            rest[number] = 100.0 * values.max() + 1.0
            return pieces, rest
    return candidates, values


def _closing_fence(text: str) -> int:
    """Where the closing fence of a fenced block begins; the end of `text` if it is none or has none."""
    marker = text.lstrip(" \t>")[:3]
    begin = text.rstrip().rfind("\n") + 1
    closed = marker in ("```", "~~~") and begin and text[begin:].lstrip(" \t>").startswith(marker)
    return begin if closed else len(text)
