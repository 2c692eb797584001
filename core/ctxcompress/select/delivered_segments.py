"""What the reader has already: segments that would say again, word for word, what was promised before."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from ctxcompress.data.documents import Spans
from ctxcompress.data.passages import Kind, Span
from ctxcompress.data.spans import intersection, joined
from ctxcompress.data.table import SegmentTable
from ctxcompress.select.layout import Layout
from ctxcompress.select.qatbe import Selection

__all__ = ["Delivered", "all_unknown", "delivered_segments", "unknown"]

_SHORTEST = 12
"""Characters of what is known by its text: a list may say "yes" more often."""
_BY_BLOCK = frozenset((Kind.TABLE, Kind.CODE))
"""A row stands in two tables and a statement in two functions: only all of a table or of a piece of code is known by
its text, a sentence is by itself."""


@dataclass(frozen=True, slots=True)
class Delivered:
    """Segments that are known."""

    numbers: Collection[int] = frozenset()
    spans: Spans = field(default_factory=dict)
    """Number of a passage -> what of its text the reader has."""


def delivered_segments(
    table: SegmentTable, layout: Layout, delivered: SegmentTable, had: Mapping[int, Sequence[Span]]
) -> Delivered:
    """What of the candidates the reader has.

    delivered: the segments of what was promised. had: number of a passage whose text came before -> the spans of it
    that were promised; by them a segment is known of which a part was. A heading is known where all under it is.
    """
    texts = {text for _, text in _units(delivered)}
    by_text = {number for numbers, text in _units(table) if text in texts for number in numbers}
    by_place = {number: found for number, found in _places(table, layout, had) if number not in by_text}
    by_text |= _headings(table, by_text | by_place.keys())
    spans: dict[int, list[Span]] = {}
    for part in chain([layout.of_passages(table.spans(sorted(by_text)))], by_place.values()):
        for passage, of_part in part.items():
            spans.setdefault(passage, []).extend(of_part)
    return Delivered(by_text | by_place.keys(), {passage: joined(sorted(found)) for passage, found in spans.items()})


def unknown(table: SegmentTable, known: Collection[int]) -> list[int]:
    """The segments that are not known, and those of the known that they cannot be read without."""
    others = [number for number in range(len(table.segments)) if number not in known]
    return sorted({*others, *(need for number in others for need in table.needs(number))})


def all_unknown(table: SegmentTable, known: Delivered, layout: Layout) -> Selection:
    """All that the reader does not have, whether it fits or not."""
    if known.numbers:
        spans = layout.spans(table, unknown(table, known.numbers))
        return Selection(spans, {}, text := layout.compose(spans), layout.tokens(text))
    whole = Selection.everything(layout)
    return replace(whole, tokens=layout.tokens(whole.text))


def _headings(table: SegmentTable, known: Collection[int]) -> set[int]:
    """The headings with known text under them and no other."""
    above = table.headings_above()
    of_known, of_others = set[int](), set[int]()
    for number, segment in enumerate(table.segments):
        if segment.kind is not Kind.HEADING:
            (of_known if number in known else of_others).update(_chain(above, number))
    return of_known - of_others


def _chain(above: Sequence[int], number: int) -> Iterator[int]:
    while (number := above[number]) >= 0:
        yield number


def _units(table: SegmentTable) -> Iterator[tuple[list[int], str]]:
    """(numbers, text but for its white space) of sentences, and of whole tables and pieces of code."""
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


def _places(table: SegmentTable, layout: Layout, had: Mapping[int, Sequence[Span]]) -> Iterator[tuple[int, Spans]]:
    """(number of a segment, what of it was promised) for those of which something was."""
    for number, segment in enumerate(table.segments if had else ()):
        document = layout.documents[table.document[number]]
        of_segment = document.of_passages((Span(segment.start, segment.end),))
        found = {passage: intersection(spans, had[passage]) for passage, spans in of_segment.items() if passage in had}
        texts = (layout.passages[passage][start:end] for passage, spans in found.items() for start, end in spans)
        if segment.kind is not Kind.HEADING and any(text.strip() for text in texts):
            yield number, found
