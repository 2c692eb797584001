"""Previews, with the best sentence of each passage, and lines about passages with low scores."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ctxcompress.data.passages import Kind, Passage, Span
from ctxcompress.data.table import Floats, SegmentTable
from ctxcompress.errors import BudgetTooSmall
from ctxcompress.select.kept_first import Match
from ctxcompress.select.layout import Layout, Shown
from ctxcompress.select.oversize import opening_fence
from ctxcompress.select.selection import Selection
from ctxcompress.text.lines import longest_prefix

__all__ = ["Lines", "preview_line", "previews"]

_LONGEST = 200
"""Characters of a passage's best sentence."""
_SHARE = 0.1
"""The share of the budget that is reserved for lines. A line has 35 to 50 tokens: with a smaller share, a budget of
500 tokens would have none."""


class _Line(NamedTuple):
    """What a line of a preview shows of its passage."""

    document: int
    span: Span


def previews(
    table: SegmentTable,
    values: Floats,
    relevance: Mapping[int, float],
    layout: Layout,
    budget: int,
    unlikely: Collection[int] = (),
    matches: Sequence[Match] = (),
    *,
    keeps_best: bool = True,
) -> Selection:
    """Select the best sentence of each passage, for as many of the most relevant passages as fit.

    A passage with matches comes before all others, and its line shows the first match. Raises BudgetTooSmall if the
    lines of these passages do not fit.

    values: of each segment. relevance: of each passage. unlikely: the numbers of the segments that the query hardly
    needs; passages that have nothing else are left out. keeps_best: whether the best of them stays if all would go.
    """
    first = _first_matches(table, layout, matches)
    best = _best_sentences(table, values, relevance, layout, set(unlikely), keeps_best=keeps_best)
    lines = {**best, **first}
    ranked = sorted(lines, key=lambda passage: (passage not in first, -relevance[passage], passage))
    shown: list[_Line] = []
    separator = layout.count(layout.separator)
    room = budget + separator
    for passage in ranked:
        cost = layout.count(layout.compose({lines[passage].document: (lines[passage].span,)}).text) + separator
        if cost <= room:
            room -= cost
            shown.append(lines[passage])
    selection = _composed(shown, layout)
    while selection.tokens > budget:
        shown.pop()
        selection = _composed(shown, layout)
    _check_all_shown(first, shown, layout, budget)
    return selection


def _best_sentences(
    table: SegmentTable,
    values: Floats,
    relevance: Mapping[int, float],
    layout: Layout,
    unlikely: Collection[int],
    *,
    keeps_best: bool,
) -> dict[int, _Line]:
    """Return the best sentence of each passage that is likely; if none is, that of the most relevant one, or none."""
    headers = {need for number in range(len(table.segments)) for need in table.needs(number)}
    best: dict[int, int] = {}
    lines: dict[int, _Line] = {}
    order = np.argsort(-values, kind="stable").tolist()
    for number in sorted(order, key=lambda number: number in headers or table.kind[number] is Kind.HEADING):
        passage, span = table.passage[number], _beginning(table, number, layout)
        if span.start < span.end and passage not in best:
            best[passage], lines[passage] = number, _Line(table.document[number], span)
    shown = [passage for passage, number in best.items() if number not in unlikely]
    if not shown and keeps_best:
        shown = sorted(best, key=lambda passage: (-relevance[passage], passage))[:1]
    return {passage: lines[passage] for passage in shown}


def _first_matches(table: SegmentTable, layout: Layout, matches: Iterable[Match]) -> dict[int, _Line]:
    """Return the sentence with the first match of each passage, or the match where that is too long."""
    found: dict[int, _Line] = {}
    for match in matches:
        number = match.segments.start
        shown = _beginning(table, number, layout)
        if not shown.start <= match.span.start <= match.span.end <= shown.end:
            shown = match.span
        found.setdefault(table.passage[number], _Line(match.document, shown))
    return found


def _check_all_shown(first: Mapping[int, _Line], shown: Collection[_Line], layout: Layout, budget: int) -> None:
    if missing := [line for line in first.values() if line not in shown]:
        tokens = _composed(list(first.values()), layout).tokens
        raise BudgetTooSmall(
            f"{len(missing)} of {len(first)} passages with what must_keep names have no room for a preview line in "
            f"max_tokens={budget}; give at least {tokens} tokens, or narrower patterns",
            tokens,
        )


def preview_line(passage: Passage, text: str, relevance: float) -> str:
    """Return the line of a preview: the id, relevance, title and headings, and the text with spaces for line breaks."""
    label = " › ".join(filter(None, (passage.title, *(passage.header_path or ()))))
    return " ".join(f"[{passage.id}] ({relevance:.2f}) {label}{': ' if label and text else ''}{text}".split())


def _composed(shown: Iterable[_Line], layout: Layout) -> Selection:
    spans: dict[int, list[Span]] = {}
    for document, span in sorted(shown):
        spans.setdefault(document, []).append(span)
    return Selection.of({document: tuple(of_document) for document, of_document in spans.items()}, layout)


def _beginning(table: SegmentTable, number: int, layout: Layout) -> Span:
    """Return the span of a segment to show: the first line of code or a sentence, shortened, and within one passage."""
    segment, text = table.segments[number], table.texts[number]
    text = text[: layout.documents[table.document[number]].passage_end(segment.start) - segment.start]
    start = opening_fence(text) if segment.kind is Kind.CODE else 0
    start += len(text[start:]) - len(text[start:].lstrip())
    body = text[start:]
    if segment.kind is Kind.CODE:
        body = body.partition("\n")[0]
    length = longest_prefix(body, fits=lambda length: length <= _LONGEST, lines=False)
    length = len(body[:length].rstrip())
    return Span(segment.start + start, segment.start + start + length)


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines about passages with low scores."""

    texts: Mapping[int, str]
    """Number of a passage -> its line."""
    order: Sequence[int]
    """The numbers of these passages, the best first."""

    def reserve(self, layout: Layout, budget: int) -> int:
        """Count the tokens of the lines that fit into their share of the budget."""
        room = int(_SHARE * (budget - layout.tokens("")))
        return sum(self._fitting(layout, room).values())

    def beside(self, selection: Selection, layout: Layout, budget: int) -> Selection:
        """Return the selection with the lines that still fit."""
        is_first = not (selection.text or layout.before)
        room = budget - selection.tokens + (layout.count(layout.separator) if is_first else 0)
        shown = {passage: self.texts[passage] for passage in self._fitting(layout, room)}
        while shown:
            composed = replace(layout, lines=shown).compose(selection.spans)
            tokens = layout.tokens(composed.text)
            if tokens <= budget:
                return replace(selection, composed=composed, tokens=tokens)
            shown.popitem()  # together they cost more than separately
        return selection

    def _fitting(self, layout: Layout, room: int) -> dict[int, int]:
        """Return passage -> the cost of its line, for the best lines that fit into `room` tokens."""
        costs: dict[int, int] = {}
        for passage in self.order:
            cost = layout.cost_of(Shown(passage, self.texts[passage], is_line=True, relevance=0.0))
            if cost <= room:
                room -= cost
                costs[passage] = cost
        return costs
