"""Previews, with the best sentence of each passage, and lines about passages with low scores."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ctxcompress.data.passages import Kind, Passage, Span
from ctxcompress.data.table import SegmentTable
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


def previews(
    table: SegmentTable,
    values: NDArray[np.float64],
    relevance: Mapping[int, float],
    layout: Layout,
    budget: int,
    unlikely: Collection[int] | None = None,
    *,
    keeps_best: bool = True,
) -> Selection:
    """Select the best sentence of each passage, for as many of the most relevant passages as fit.

    values: of each segment. relevance: of each passage. unlikely: the numbers of the segments that the query hardly
    needs; passages that have nothing else are left out. keeps_best: whether the best of them stays if all would go.
    """
    headers = {need for number in range(len(table.segments)) for need in table.needs(number)}
    best: dict[int, int] = {}
    order = np.argsort(-values, kind="stable").tolist()
    for number in sorted(order, key=lambda number: number in headers or table.segments[number][0] is Kind.HEADING):
        start, end = _beginning(table, number, layout)
        if start < end:
            best.setdefault(table.passage[number], number)
    ranked = sorted(best, key=lambda passage: (-relevance[passage], passage))
    if unlikely:
        hardly_needed = set(unlikely)
        likely = [passage for passage in ranked if best[passage] not in hardly_needed]
        ranked = likely or (ranked[:1] if keeps_best else [])
    shown: list[int] = []
    separator = layout.count(layout.separator)
    room = budget + separator
    for passage in ranked:
        line = {table.document[best[passage]]: (_beginning(table, best[passage], layout),)}
        cost = layout.count(layout.compose(line)) + separator
        if cost <= room:
            room -= cost
            shown.append(best[passage])
    selection = _composed(table, shown, layout)
    while selection.tokens > budget:
        shown.pop()
        selection = _composed(table, shown, layout)
    return selection


def preview_line(passage: Passage, text: str, relevance: float) -> str:
    """Return the line of a preview: the id, relevance, title and headings, and the text with spaces for line breaks."""
    label = " › ".join(filter(None, (passage.title, *(passage.header_path or ()))))
    return " ".join(f"[{passage.id}] ({relevance:.2f}) {label}{': ' if label and text else ''}{text}".split())


def _composed(table: SegmentTable, shown: Sequence[int], layout: Layout) -> Selection:
    spans: dict[int, list[Span]] = {}
    for number in sorted(shown):
        spans.setdefault(table.document[number], []).append(_beginning(table, number, layout))
    found = {document: tuple(of_document) for document, of_document in spans.items()}
    text = layout.compose(found)
    return Selection(found, {}, text, layout.tokens(text))


def _beginning(table: SegmentTable, number: int, layout: Layout) -> Span:
    """Return the span of a segment to show: the first line of code or a sentence, shortened, and within one passage."""
    segment, text = table.segments[number], table.texts[number]
    text = text[: layout.documents[table.document[number]].piece_end(segment.start) - segment.start]
    start = opening_fence(text) if segment.kind is Kind.CODE else 0
    start += len(text[start:]) - len(text[start:].lstrip())
    body = text[start:].rstrip()
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

    def beside(self, selection: Selection, layout: Layout, budget: int) -> tuple[Selection, Layout]:
        """Add the lines that still fit to a selection, and return it with its layout."""
        is_first = not (selection.text or layout.before)
        room = budget - selection.tokens + (layout.count(layout.separator) if is_first else 0)
        shown = {passage: self.texts[passage] for passage in self._fitting(layout, room)}
        while shown:
            fuller = replace(layout, lines=shown)
            text = fuller.compose(selection.spans)
            tokens = layout.tokens(text)
            if tokens <= budget:
                return replace(selection, text=text, tokens=tokens), fuller
            shown.popitem()  # together they cost more than separately
        return selection, layout

    def _fitting(self, layout: Layout, room: int) -> dict[int, int]:
        """Return passage -> the cost of its line, for the best lines that fit into `room` tokens."""
        costs: dict[int, int] = {}
        for passage in self.order:
            cost = layout.cost_of(Shown(passage, self.texts[passage], is_line=True, relevance=0.0))
            if cost <= room:
                room -= cost
                costs[passage] = cost
        return costs
