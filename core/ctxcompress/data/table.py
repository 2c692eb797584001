"""The segment table: all segments of all documents, for the steps that score and select them."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate, pairwise, repeat

import numpy as np
from numpy.typing import NDArray

from ctxcompress.data.documents import Document, Spans
from ctxcompress.data.passages import Kind, NodeKind, Segment, Span

__all__ = ["Floats", "Integers", "SegmentTable"]

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]

_HEADING, _CODE = Kind.HEADING, Kind.CODE  # ten times as fast as attributes of an enum
_ROWS, _BETWEEN_CELLS = frozenset((Kind.TABLE, Kind.RECORD)), "|\t;,"
_LONG_PASSAGE = 3_000
"""Longer passages, in characters, have several sections: the limit is above a usual chunk and below a page."""


_COLUMNS = ("kind", "start", "end", "block", "heading", "needed", "unit", "label")
"""The fields of segments, in their order."""


@dataclass(frozen=True)  # without slots: the arrays are made when they are first asked for
class SegmentTable:
    """Parallel sequences with one entry for each segment, in source order."""

    segments: Sequence[Segment]
    texts: Sequence[str]
    """The text of each segment, with the white space after it."""
    document: Sequence[int]
    """The number of each segment's document."""
    passage: Sequence[int]
    """The number of the passage in which each segment begins."""
    first: Sequence[int]
    """The number of each document's first segment, then the number of all segments."""

    kind: Sequence[Kind] = field(init=False, repr=False, compare=False)
    """The kind of each segment."""
    start: Sequence[int] = field(init=False, repr=False, compare=False)
    """Where each segment begins in its document."""
    end: Sequence[int] = field(init=False, repr=False, compare=False)
    """Where each segment ends in its document."""
    block: Sequence[int] = field(init=False, repr=False, compare=False)
    """The block of each segment in its document."""
    heading: Sequence[tuple[str, ...]] = field(init=False, repr=False, compare=False)
    """The headings above each segment, outermost first."""
    unit: Sequence[NodeKind | None] = field(init=False, repr=False, compare=False)
    """The type of the node of each segment, None in prose."""
    label: Sequence[str] = field(init=False, repr=False, compare=False)
    """Whose each segment is: see `Segment.label`."""
    needed: Sequence[tuple[int, ...]] = field(init=False, repr=False, compare=False)
    """What each segment needs, as numbers in its document; see `needs`."""

    def __post_init__(self) -> None:
        columns = zip(*self.segments, strict=True) if self.segments else repeat(())
        vars(self).update(zip(_COLUMNS, columns, strict=False))

    @cached_property
    def kinds(self) -> frozenset[Kind]:
        """The kinds of the segments."""
        return frozenset(self.kind)

    @cached_property
    def documents(self) -> NDArray[np.intp]:
        """The number of each segment's document, as an array."""
        return np.array(self.document, dtype=np.intp)

    @cached_property
    def begins(self) -> NDArray[np.bool_]:
        """Whether each segment is the first of its document."""
        begins = np.ones(self.documents.size, dtype=bool)
        np.not_equal(self.documents[1:], self.documents[:-1], out=begins[1:])
        return begins

    @cached_property
    def lengths(self) -> NDArray[np.float64]:
        """The length of each segment in characters."""
        return np.fromiter(map(len, self.texts), float, len(self.texts))

    @cached_property
    def is_source(self) -> NDArray[np.bool_]:
        """Whether each segment is part of a source file, and not code within prose."""
        return np.array([unit is not None for unit in self.unit], dtype=bool)

    @cached_property
    def sections(self) -> list[int]:
        """The section number of each segment, counted from 0 across all documents.

        A short document is one section. In long ones, and in code, a section is the segments under one heading, or one
        block if there is no heading. Of a table that a splitter cut, each row without the header is a section: the rows
        beside it, and those below the header, say as little about it as others.
        """
        numbers: list[int] = []
        section = -1
        for first, end in pairwise(self.first):
            is_short = first == end or self.end[end - 1] <= _LONG_PASSAGE
            are_rows = self._are_rows(first, end)
            previous: object = -1
            for number in range(first, end):
                is_one = is_short and self.kind[number] is not _CODE
                key = None if is_one else self.heading[number] or self.block[number]
                section += are_rows or key != previous
                previous = key
                numbers.append(section)
        return numbers

    def _are_rows(self, first: int, end: int) -> bool:
        """Tell whether these segments are rows of a table without its header: each has cells, and needs nothing."""
        if any(self.kind[number] not in _ROWS or self.needed[number] for number in range(first, end)):
            return False
        return any(all(sign in text for text in self.texts[first:end]) for sign in _BETWEEN_CELLS)

    @classmethod
    def of(cls, documents: Sequence[Document], segmented: Sequence[Sequence[Segment]]) -> "SegmentTable":
        """Build the table.

        segmented: the segments of each document.
        """
        texts = [document.text for document in documents]
        return cls(
            segments=[segment for segments in segmented for segment in segments],
            texts=[text[part[1] : part[2]] for text, parts in zip(texts, segmented, strict=True) for part in parts],
            document=[index for index, segments in enumerate(segmented) for _ in segments],
            passage=[
                document.passage if document.is_passage else document.passage_at(part.start)
                for document, segments in zip(documents, segmented, strict=True)
                for part in segments
            ],
            first=list(accumulate(map(len, segmented), initial=0)),
        )

    def needs(self, number: int) -> list[int]:
        """Return the numbers of the segments that must be kept with this one."""
        needs = self.needed[number]
        if not needs:
            return []
        base = self.first[self.document[number]]
        return [base + other for other in needs]

    def is_lone(self, number: int) -> bool:
        """Tell whether a segment is all of its document."""
        document = self.document[number]
        return self.first[document + 1] - self.first[document] == 1

    def spans(self, numbers: Iterable[int]) -> Spans:
        """Return the spans of these segments by document number."""
        found: dict[int, list[Span]] = {}
        for number in numbers:
            segment = self.segments[number]
            found.setdefault(self.document[number], []).append(Span(segment.start, segment.end))
        return {document: tuple(spans) for document, spans in found.items()}

    def segment_at(self, document: int, place: int) -> int:
        """Return the number of the segment with the character before an offset of a document; at 0, its first one."""
        return bisect_left(self.end, place, self.first[document], self.first[document + 1])

    @cached_property
    def above(self) -> list[int]:
        """The number of the heading above each segment, or -1. Above a heading is its parent heading."""
        if _HEADING not in self.kinds:
            return [-1] * len(self.segments)
        above: list[int] = []
        for start, end in zip(self.first, self.first[1:], strict=False):
            path: list[int] = []
            for number in range(start, end):
                is_heading = self.kind[number] is _HEADING
                if is_heading:
                    del path[len(self.heading[number]) - 1 :]
                above.append(path[-1] if path else -1)
                if is_heading:
                    path.append(number)
        return above

    def headings_of(self, number: int) -> Iterator[int]:
        """Yield the headings above a segment, the innermost first."""
        while (number := self.above[number]) >= 0:
            yield number

    def split(self, number: int, cut: int, tail: int) -> "SegmentTable":
        """Return the table with one segment split into two or three.

        The first part ends at `cut`. The last part begins at `tail` and closes the first one, as a closing fence does.
        There is none if `tail` is the end of the segment. The first part needs the last, the middle one needs both.
        """
        end, local = self.segments[number].end, number - self.first[self.document[number]]
        closing = (local + 2,) if tail < end else ()
        table, firsts = self.cut({number: (cut, tail) if closing else (cut,)}, needs_all=False)
        segments = list(table.segments)
        for part, needs in zip(range(number, firsts[number + 1]), (closing, (local, *closing), ()), strict=False):
            segments[part] = segments[part]._replace(needs=segments[part].needs + needs)
        return replace(table, segments=segments)

    def cut(self, cuts: Mapping[int, Sequence[int]], *, needs_all: bool = True) -> "tuple[SegmentTable, list[int]]":
        """Return the table with segments cut into parts, and for each segment the number of its first part.

        Each part needs what its segment needed. cuts: number of a segment -> the ascending offsets in the document's
        text at which it is cut. needs_all: whether what needed the segment needs all its parts, or only the first.
        """
        sizes = [len(cuts.get(number, ())) + 1 for number in range(len(self.segments))]
        firsts = list(accumulate(sizes, initial=0))
        segments: list[Segment] = []
        texts: list[str] = []
        for number, (segment, text) in enumerate(zip(self.segments, self.texts, strict=True)):
            base = firsts[self.first[self.document[number]]]
            needs = tuple(
                part - base
                for other in self.needs(number)
                for part in range(firsts[other], firsts[other + 1] if needs_all else firsts[other] + 1)
            )
            ends = [segment.start, *cuts.get(number, ()), segment.end]
            for start, end in pairwise(ends):
                segments.append(segment._replace(start=start, end=end, needs=needs))
                texts.append(text[start - segment.start : end - segment.start])
        table = SegmentTable(
            segments=segments,
            texts=texts,
            document=[of for of, size in zip(self.document, sizes, strict=True) for _ in range(size)],
            passage=[of for of, size in zip(self.passage, sizes, strict=True) for _ in range(size)],
            first=[firsts[number] for number in self.first],
        )
        return table, firsts
