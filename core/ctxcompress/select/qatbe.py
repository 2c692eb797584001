"""QATBE, query-aware token-budgeted extraction: the segments that are worth most, within a hard budget."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from ctxcompress.select.assemble import stripped_end
from ctxcompress.select.candidates import Candidates
from ctxcompress.select.coherence import Coherence
from ctxcompress.select.costs import SegmentCosts
from ctxcompress.select.knapsack import Knapsack, rank
from ctxcompress.select.layout import Layout, Spans
from ctxcompress.select.novelty import Novelty
from ctxcompress.select.split import longest_prefix
from ctxcompress.types import Kind, Segment, Span

__all__ = ["Selection", "select"]

_DENSITY = 0.15
_CHARACTERS_PER_TOKEN = 4.0
_REFILLS = 2
_SPLIT_TRIES = 8
_ONCE = frozenset((Kind.PARAGRAPH, Kind.LIST_ITEM, Kind.QUOTE))
_SHORTEST_DUPLICATE = 40
_FENCES = ("```", "~~~")

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
    table's row only with its header, a part of a fence only with its fence. The same sentence is
    kept once, and what mostly repeats what is kept only after all else. If the best segment alone
    is over the budget, the longest beginning of it that fits is kept; if it cannot fit together with
    what it needs, it is kept without.

    values: what each segment is worth, shape (segments,), at least 0.
    """
    ranking = _ranked(candidates, values)
    split = _best_split(candidates, ranking, layout, budget)
    if split is not None:
        candidates, first, added = split
        values = np.insert(values, first + 1, np.zeros(added))
        ranking = [first, *(number for number in _ranked(candidates, values) if number != first)]
    order, twins = _without_duplicates(ranking, candidates)
    coherence = Coherence(candidates, order)
    cost = SegmentCosts(candidates, layout)
    room = budget + layout.count(layout.separator)
    while room > 0:
        knapsack = Knapsack(room, cost, coherence.companions, Novelty(candidates.texts))
        if not knapsack.fill(order) or (split and ranking[0] not in knapsack.kept):
            break
        selection = _composed(candidates, knapsack.kept, twins, layout)
        if selection.tokens <= budget:
            return _refilled(selection, candidates, knapsack, order, twins, layout, budget)
        # Together the parts cost more than one by one: again, with less room.
        room -= max(selection.tokens - budget, 1 if room > budget - 8 else room // 8)
    return _best_alone(candidates, ranking, layout, budget)


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
    duplicates: dict[int, list[Span]] = {}
    for number, twin in sorted(twins.items()):
        if twin in kept:
            segment = candidates.segments[number]
            duplicates.setdefault(candidates.passage[number], []).append(Span(segment.start, segment.end))
    return Selection(spans, {p: tuple(s) for p, s in duplicates.items()}, text, layout.count(text))


def _ranked(candidates: Candidates, values: Floats) -> list[int]:
    """The segments with something in them, from the best to the worst. Fences come with what they are around."""
    sizes = np.fromiter(map(len, candidates.texts), float, len(candidates.texts)) / _CHARACTERS_PER_TOKEN
    return [number for number in rank(values, sizes, density=_DENSITY) if not _is_bare(candidates, number)]


def _is_bare(candidates: Candidates, number: int) -> bool:
    text = candidates.texts[number]
    return text.isspace() or (candidates.segments[number][0] is Kind.CODE and not text[_opening_fence(text) :].strip())


def _without_duplicates(order: Sequence[int], candidates: Candidates) -> tuple[list[int], dict[int, int]]:
    """The order without segments whose text a better one has; and for those, which one."""
    best: dict[str, int] = {}
    twins: dict[int, int] = {}
    for number in order:
        text = candidates.texts[number]
        if len(text) >= _SHORTEST_DUPLICATE and candidates.segments[number][0] in _ONCE:
            first = best.setdefault(text.strip(), number)
            if first != number:
                twins[number] = first
    return [number for number in order if number not in twins], twins


def _best_split(
    candidates: Candidates, ranking: Sequence[int], layout: Layout, budget: int
) -> tuple[Candidates, int, int] | None:
    """If the best segment alone is over the budget: the candidates with it split, the number of the part that fits
    and how many there are more than before. None if it fits, or if nothing fits at all."""
    texts = (number for number in ranking if candidates.segments[number][0] is not Kind.HEADING)
    for number in islice(texts, _SPLIT_TRIES):
        alone = layout.spans(candidates, {number, *candidates.needs(number)})
        if layout.count(layout.compose(alone)) <= budget:
            return None
        segment, text = candidates.segments[number], candidates.texts[number]
        tail = segment.start + _closing_fence(text)
        index = candidates.passage[number]
        fits = _fits(_beginning(layout.texts[index], segment, tail, index), layout, budget)
        opening, lines = _opening_fence(text), segment.kind is Kind.CODE
        length = longest_prefix(text[: tail - segment.start], fits=fits, lines=lines, skip=opening)
        if length:
            pieces = candidates.split(number, segment.start + length, tail)
            return pieces, number, len(pieces.segments) - len(candidates.segments)
    return None


def _best_alone(candidates: Candidates, ranking: Sequence[int], layout: Layout, budget: int) -> Selection:
    """The best segment, whole with what it needs or else the beginning of its text without; a heading only if there
    is nothing else. For budgets so small that nothing can be kept as it should be."""
    texts = sorted(ranking, key=lambda number: candidates.segments[number][0] is Kind.HEADING)
    for number in texts[:_SPLIT_TRIES]:
        whole = layout.spans(candidates, {number, *candidates.needs(number)})
        for spans in (whole, _beginning_alone(candidates, number, layout, budget)):
            tokens = layout.count(text := layout.compose(spans))
            if spans and tokens <= budget:
                return Selection(spans, {}, text, tokens)
    return _NOTHING


def _beginning_alone(candidates: Candidates, number: int, layout: Layout, budget: int) -> Spans:
    """The longest beginning of a segment's text, without a fence around it, that fits; empty if none does."""
    segment, index, text = candidates.segments[number], candidates.passage[number], candidates.texts[number]
    start, end = _opening_fence(text), _closing_fence(text)
    inner = segment._replace(start=segment.start + start, end=segment.start + end)
    beginning = _beginning(layout.texts[index], inner, inner.end, index)
    length = longest_prefix(text[start:end], fits=_fits(beginning, layout, budget), lines=False)
    return beginning(length) if length else {}


def _beginning(text: str, segment: Segment, tail: int, index: int) -> Callable[[int], Spans]:
    """What is emitted of a passage of which only so many characters of one segment, and what is after `tail`, are
    kept: as `assemble` would have it."""
    end = stripped_end(text, tail, segment.end)
    closing = (Span(stripped_end(text, segment.start, tail), end),) if tail < end else ()

    def spans(length: int) -> Spans:
        return {index: (Span(segment.start, stripped_end(text, segment.start, segment.start + length)), *closing)}

    return spans


def _fits(spans: Callable[[int], Spans], layout: Layout, budget: int) -> Callable[[int], bool]:
    return lambda length: layout.count(layout.compose(spans(length))) <= budget


def _opening_fence(text: str) -> int:
    """Where the line of an opening fence at the beginning of `text` ends; 0 if there is none."""
    fenced = text.lstrip(" \t>")[:3] in _FENCES
    return text.find("\n") + 1 or len(text) if fenced else 0


def _closing_fence(text: str) -> int:
    """Where the closing fence of a fenced block begins; the end of `text` if it is none or has none."""
    marker = text.lstrip(" \t>")[:3]
    begin = text.rstrip().rfind("\n") + 1
    closed = marker in _FENCES and begin and text[begin:].lstrip(" \t>").startswith(marker)
    return begin if closed else len(text)
