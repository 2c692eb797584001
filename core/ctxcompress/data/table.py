"""All segments of all documents as one list to choose from, and what each of them cannot stand without."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, repeat

from ctxcompress.data.documents import Document, Spans
from ctxcompress.data.passages import Kind, Segment, Span

__all__ = ["SegmentTable"]


@dataclass(frozen=True, slots=True)
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
