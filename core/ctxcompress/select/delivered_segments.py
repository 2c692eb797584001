"""Delivered segments: candidates whose text was already delivered to the language model, word for word."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from ctxcompress.data.documents import Spans, documents_as_they_are
from ctxcompress.data.passages import Kind, Segment, Span, intersection, joined
from ctxcompress.data.table import SegmentTable
from ctxcompress.select.layout import Layout
from ctxcompress.select.selection import Selection

__all__ = ["Delivered", "all_unknown", "delivered_segments", "unit_texts", "unknown"]

_SHORTEST = 12
"""Characters: a shorter text, such as "yes" in a list, may be repeated."""
_BY_BLOCK = frozenset((Kind.TABLE, Kind.CODE))
"""Two tables may have the same row, and two functions the same statement. So a table or a code block is delivered only
as a whole; a sentence is on its own."""


@dataclass(frozen=True, slots=True)
class Delivered:
    """The candidates that were delivered before."""

    numbers: Collection[int] = frozenset()
    """Of the segments."""
    spans: Spans = field(default_factory=dict)
    """Number of a passage -> the spans of its text that were delivered."""

    def without(self, numbers: Iterable[int]) -> "Delivered":
        """Return the same without these segments, which have more than what was delivered."""
        return replace(self, numbers=frozenset(self.numbers).difference(numbers)) if self.numbers else self


def delivered_segments(
    table: SegmentTable, layout: Layout, delivered: Collection[str], had: Mapping[int, Sequence[Span]]
) -> Delivered:
    """Find the candidates that were delivered before.

    A heading counts as delivered if all text under it was.
    delivered: the texts of the delivered segments, see `unit_texts`. had: number of a passage that was delivered in
    part -> the spans that were; a segment within such a passage counts if any of its text was delivered.
    """
    by_text = {number for numbers, text in _units(table) if text in delivered for number in numbers}
    by_place = {number: found for number, found in _delivered_in_part(table, layout, had) if number not in by_text}
    by_text |= _headings(table, by_text | by_place.keys())
    spans: dict[int, list[Span]] = {}
    for part in chain([layout.of_passages(table.spans(sorted(by_text)))], by_place.values()):
        for passage, of_part in part.items():
            spans.setdefault(passage, []).extend(of_part)
    return Delivered(by_text | by_place.keys(), {passage: joined(sorted(found)) for passage, found in spans.items()})


def unit_texts(text: str, segments: Sequence[Segment]) -> list[str]:
    """Return what is compared of a text: its sentences, whole tables and code blocks, with normalized white space."""
    return [unit for _, unit in _units(SegmentTable.of(documents_as_they_are([text]), [segments]))]


def unknown(table: SegmentTable, known: Collection[int]) -> list[int]:
    """Return the segments that were not delivered, and the delivered ones that they need."""
    others = [number for number in range(len(table.segments)) if number not in known]
    return sorted({*others, *(need for number in others for need in table.needs(number))})


def all_unknown(table: SegmentTable, known: Delivered, layout: Layout) -> Selection:
    """Select everything that was not delivered, whether it fits or not."""
    if known.numbers:
        return Selection.of(layout.spans(table, unknown(table, known.numbers)), layout)
    return Selection.of(layout.everything, layout)


def _headings(table: SegmentTable, known: Collection[int]) -> set[int]:
    """Return the headings that have only delivered text under them."""
    above = table.headings_above()
    of_known, of_others = set[int](), set[int]()
    for number, segment in enumerate(table.segments):
        if segment.kind is not Kind.HEADING:
            (of_known if number in known else of_others).update(_headings_of(above, number))
    return of_known - of_others


def _headings_of(above: Sequence[int], number: int) -> Iterator[int]:
    while (number := above[number]) >= 0:
        yield number


def _units(table: SegmentTable) -> Iterator[tuple[list[int], str]]:
    """Yield (numbers of segments, text with normalized white space) of sentences, whole tables and code blocks."""
    blocks: dict[tuple[int, int], list[int]] = {}
    for number, (segment, document) in enumerate(zip(table.segments, table.document, strict=True)):
        if segment.kind in _BY_BLOCK:
            blocks.setdefault((document, segment.block), []).append(number)
        elif segment.kind is not Kind.HEADING:
            yield from _long_enough([number], table)
    for numbers in blocks.values():
        yield from _long_enough(numbers, table)


def _long_enough(numbers: list[int], table: SegmentTable) -> Iterator[tuple[list[int], str]]:
    text = " ".join("".join(table.texts[number] for number in numbers).split())
    if len(text) >= _SHORTEST:
        yield numbers, text


def _delivered_in_part(
    table: SegmentTable, layout: Layout, had: Mapping[int, Sequence[Span]]
) -> Iterator[tuple[int, Spans]]:
    """Yield (number of a segment, its delivered spans by passage) for segments that were delivered in part."""
    for number, segment in enumerate(table.segments if had else ()):
        document = layout.documents[table.document[number]]
        of_segment = document.of_passages((Span(segment.start, segment.end),))
        found = {passage: intersection(spans, had[passage]) for passage, spans in of_segment.items() if passage in had}
        texts = (layout.passages[passage][start:end] for passage, spans in found.items() for start, end in spans)
        if segment.kind is not Kind.HEADING and any(text.strip() for text in texts):
            yield number, found
