"""The segment table: every segment of every document, once, for the steps that score and select them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise, repeat

import numpy as np
from numpy.typing import NDArray

from ctxcompress.data.documents import Document, Spans
from ctxcompress.data.passages import Kind, Segment, Span

__all__ = ["SegmentTable", "number_sections"]


_LONG_PASSAGE = 3_000
"""Characters above which a passage is judged by section: more than a usual chunk, less than a page."""


def number_sections(passages: Sequence[Sequence[Segment]]) -> list[int]:
    """The section number of every segment of every passage, in order, counted from 0 over all of them.

    A short passage is one section. In a long one, and in code, segments under the same heading are one, and
    where there are no headings, those of one block.
    """
    numbers: list[int] = []
    section = -1
    for segments in passages:
        whole = not segments or segments[-1].end <= _LONG_PASSAGE
        code = Kind.CODE
        previous: object = -1
        for segment in segments:
            key = None if whole and segment.kind is not code else segment.heading or segment.block
            section += key != previous
            previous = key
            numbers.append(section)
    return numbers


@dataclass(frozen=True)  # without slots: the arrays are made when they are first asked for
class SegmentTable:
    """Parallel sequences, one entry a segment, in source order."""

    segments: Sequence[Segment]
    texts: Sequence[str]
    """Of the segments, white space after them included."""
    document: Sequence[int]
    """Which document each segment is of."""
    passage: Sequence[int]
    """Which passage each segment begins in."""
    first: Sequence[int]
    """Per document, the number of its first segment; and at the end the number of segments."""

    @cached_property
    def documents(self) -> NDArray[np.intp]:
        """The document of each segment, as an array."""
        return np.array(self.document, dtype=np.intp)

    @cached_property
    def lengths(self) -> NDArray[np.float64]:
        """The characters of each segment."""
        return np.fromiter(map(len, self.texts), float, len(self.texts))

    @cached_property
    def is_source(self) -> NDArray[np.bool_]:
        """Which segments are source code of a file or a chunk of one, not code in the middle of prose."""
        return np.array([segment.unit is not None for segment in self.segments], dtype=bool)

    @cached_property
    def sections(self) -> list[int]:
        """The section of each segment, ascending from 0: see `number_sections`."""
        return number_sections([self.segments[start:end] for start, end in pairwise(self.first)])

    @classmethod
    def of(cls, documents: Sequence[Document], segmented: Sequence[Sequence[Segment]]) -> "SegmentTable":
        """segmented: the segments of each document."""
        pairs = list(zip(documents, segmented, strict=True))
        return cls(
            segments=[segment for segments in segmented for segment in segments],
            texts=[document.text[segment[1] : segment[2]] for document, segments in pairs for segment in segments],
            document=[index for index, segments in enumerate(segmented) for _ in segments],
            passage=[passage for document, segments in pairs for passage in _passages(document, segments)],
            first=list(accumulate(map(len, segmented), initial=0)),
        )

    def needs(self, number: int) -> list[int]:
        """The segments without which this one must not be kept."""
        needs = self.segments[number][5]
        if not needs:
            return []
        base = self.first[self.document[number]]
        return [base + other for other in needs]

    def spans(self, numbers: Iterable[int]) -> Spans:
        """Document number -> the spans of those of these segments that it has, in order."""
        found: dict[int, list[Span]] = {}
        for number in numbers:
            segment = self.segments[number]
            found.setdefault(self.document[number], []).append(Span(segment.start, segment.end))
        return {document: tuple(spans) for document, spans in found.items()}

    def headings_above(self) -> list[int]:
        """For every segment the number of the heading that it stands under, for a heading of its parent; or -1."""
        if all(segment[0] is not Kind.HEADING for segment in self.segments):
            return [-1] * len(self.segments)
        above: list[int] = []
        for start, end in zip(self.first, self.first[1:], strict=False):
            path: list[int] = []
            for number in range(start, end):
                segment = self.segments[number]
                if segment[0] is Kind.HEADING:
                    del path[len(segment.heading) - 1 :]
                above.append(path[-1] if path else -1)
                if segment[0] is Kind.HEADING:
                    path.append(number)
        return above

    def split(self, number: int, cut: int, tail: int) -> "SegmentTable":
        """The same with one segment as up to three: its text before `cut`, which needs what is after `tail` (a
        closing fence; nothing if `tail` is the segment's end), and the rest in between, which needs both."""
        segment, text = self.segments[number], self.texts[number]
        local = number - self.first[self.document[number]]
        ends = [cut, *([tail] if tail < segment.end else []), segment.end]
        added = len(ends) - 1
        starts = [segment.start, *ends[:-1]]
        closing = (local + added,) if added == 2 else ()
        needs = [closing, (local, *closing), ()]
        pieces = [
            segment._replace(start=start, end=end, needs=_shifted(segment.needs, local, added) + more)
            for start, end, more in zip(starts, ends, needs, strict=False)
        ]
        end_of_document = self.first[self.document[number] + 1]
        begin_of_document = number - local
        others = [
            s._replace(needs=_shifted(s.needs, local, added)) for s in self.segments[begin_of_document:end_of_document]
        ]
        return replace(
            self,
            segments=[
                *self.segments[:begin_of_document],
                *others[:local],
                *pieces,
                *others[local + 1 :],
                *self.segments[end_of_document:],
            ],
            texts=[
                *self.texts[:number],
                *(text[a - segment.start : b - segment.start] for a, b in zip(starts, ends, strict=True)),
                *self.texts[number + 1 :],
            ],
            document=[*self.document[:number], *[self.document[number]] * added, *self.document[number:]],
            passage=[*self.passage[:number], *[self.passage[number]] * added, *self.passage[number:]],
            first=[begin + added if begin > number else begin for begin in self.first],
        )


def _passages(document: Document, segments: Sequence[Segment]) -> Iterable[int]:
    if document.is_passage:
        return repeat(document.pieces[0].passage, len(segments))
    return (document.passage_at(segment.start) for segment in segments)


def _shifted(needs: Sequence[int], local: int, added: int) -> tuple[int, ...]:
    return tuple(other + added if other > local else other for other in needs)
