"""How what is kept becomes the final text, and what that costs."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

from ctxcompress.config.options import Order
from ctxcompress.data.documents import Document, Spans
from ctxcompress.data.passages import Marker, Segment, Span
from ctxcompress.data.spans import Gap, joined, markers_for, merged, shown
from ctxcompress.data.table import SegmentTable

__all__ = [
    "Arrange",
    "Elide",
    "Layout",
    "SegmentCosts",
    "Shown",
    "arrangement",
    "assemble",
    "stripped_end",
    "tokens_of",
]


def assemble(text: str, segments: Sequence[Segment], kept: Sequence[int]) -> tuple[Span, ...]:
    """The spans of `text` to emit for the kept segments (ascending numbers): ascending, without overlaps.

    Everything between two kept segments goes, except the white space that separates the second one
    from what stood before it: before the segment itself within a block, before its block otherwise,
    be that a space, a line end or an empty line. White space at the end goes too, unless all of
    the text is kept.
    """
    if len(kept) == len(segments):
        return (Span(0, len(text)),) if text else ()
    spans: list[Span] = []
    previous = -1
    for number in kept:
        start, end = segments[number][1:3]
        if spans and number == previous + 1:
            spans[-1] = Span(spans[-1].start, end)
        else:
            if spans:
                spans[-1] = Span(spans[-1].start, stripped_end(text, *spans[-1]))
                spans.append(_separator(text, segments, previous, number, spans[-1].end))
            spans.append(Span(start, end))
        previous = number
    if spans:
        spans[-1] = Span(spans[-1].start, stripped_end(text, *spans[-1]))
    return joined(spans)


def _separator(text: str, segments: Sequence[Segment], previous: int, number: int, after: int) -> Span:
    """The white space before segment `number` or before its block, if the previous one is of another."""
    first = number
    if segments[previous].block != segments[number].block:
        while segments[first - 1].block == segments[number].block:
            first -= 1
    end = segments[first].start
    return Span(stripped_end(text, after, end), end)


def stripped_end(text: str, start: int, end: int) -> int:
    """Where ``text[start:end]`` ends without the white space at its end."""
    return start + len(text[start:end].rstrip())


Arrange = Callable[[Iterable[int]], Sequence[int]]
"""From numbers of passages to the order in which they are shown."""

Elide = Callable[[int, Sequence[Span]], Sequence[tuple[int, str]]]
"""From the number of a document and what is kept of it to (the end of a span, the text of a marker after it)."""


class Shown(NamedTuple):
    """What is shown of a passage."""

    passage: int
    text: str
    spans: tuple[Span, ...] = ()
    markers: tuple[Marker, ...] = ()
    is_line: bool = False
    """Whether the text is a line that is shown in its place."""
    relevance: float = 1.0


@dataclass(frozen=True, slots=True)
class Layout:
    """The final text: what stands before, and each passage's kept text in its frame, joined by the separator, in an
    envelope."""

    documents: Sequence[Document]
    passages: Sequence[str]
    """The texts of the passages that the documents are made of."""
    separator: str
    frame: Callable[[int, Shown], str]
    """(position in what is added, from 0; what is shown of a passage) -> what the reader sees of it."""
    count: Callable[[str], int]
    arrange: Arrange = sorted
    elide: Elide = lambda _, __: ()
    envelope: tuple[str, str] = ("", "")
    """What stands before and after all."""
    before: str = ""
    """What the reader has already."""
    gaps: Mapping[int, Sequence[Gap]] = field(default_factory=dict)
    """Number of a passage -> what was cut out of it before."""
    escapes: Mapping[int, Sequence[int]] = field(default_factory=dict)
    """Number of a passage -> where in its text a backslash is shown, so that nothing there passes for ours."""
    relevance: Mapping[int, float] = field(default_factory=dict)
    """Of each passage, where it is known."""
    lines: Mapping[int, str] = field(default_factory=dict)
    """Number of a passage that is in no document -> a line that is shown in its place."""

    @property
    def everything(self) -> Spans:
        """Document number -> all of its text."""
        return {
            number: (document.pieces[0].span if document.is_passage else Span(0, len(document.text)),)
            for number, document in enumerate(self.documents)
        }

    def spans(self, table: SegmentTable, kept: Iterable[int]) -> Spans:
        """Document number -> the spans to emit of it, for every document with something to emit, in order."""
        document, first = table.document, table.first
        spans: Spans = {}
        for index, group in groupby(sorted(kept), key=document.__getitem__):
            begin, end = first[index], first[index + 1]
            local = [number - begin for number in group]
            found = assemble(self.documents[index].text, table.segments[begin:end], local)
            if found:
                spans[index] = found
        return spans

    def of_passages(self, spans: Mapping[int, Sequence[Span]]) -> Spans:
        """Passage number -> its spans, from those of the documents; in the order in which they are shown. There are no
        spans of what is shown as a line."""
        found: Spans = {}
        for number, of_document in spans.items():
            found.update(self.documents[number].of_passages(of_document))
        found |= dict.fromkeys(self.lines, ())
        return {passage: found[passage] for passage in self.arrange(found)}

    def shown(self, spans: Mapping[int, Sequence[Span]]) -> dict[int, tuple[tuple[Span, ...], tuple[Marker, ...]]]:
        """Passage number -> its spans and the markers between them, for these spans of the documents; in the order in
        which passages are shown."""
        places: dict[int, list[tuple[int, str]]] = {}
        for number, of_document in spans.items():
            for end, text in self.elide(number, of_document):
                passage, (place, _), _ = self.documents[number].in_passage(end)
                places.setdefault(passage, []).append((place, text))
        return {
            passage: _with_escapes(
                *_with_markers(of_passage, places.get(passage, ()), self.gaps.get(passage, ())),
                self.escapes.get(passage, ()),
            )
            for passage, of_passage in self.of_passages(spans).items()
        }

    def compose(self, spans: Mapping[int, Sequence[Span]]) -> str:
        """What these spans of the documents add to the final text."""
        parts = self.shown(spans)
        shown = (
            self._line(passage) if passage in self.lines else self._shown(passage, text, *parts[passage])
            for passage, text in self.texts(parts).items()
        )
        return self.separator.join(self.frame(position, of_passage) for position, of_passage in enumerate(shown))

    def texts(self, parts: Mapping[int, tuple[tuple[Span, ...], tuple[Marker, ...]]]) -> dict[int, str]:
        """Passage number -> what is shown of it, without its frame. parts: its spans and markers."""
        return {
            passage: self.lines.get(passage) or shown(self.passages[passage], *of_passage)
            for passage, of_passage in parts.items()
        }

    def final(self, text: str) -> str:
        """The final text, if this is what is added."""
        opening, closing = self.envelope
        return f"{opening}{self.separator.join(filter(None, (self.before, text)))}{closing}"

    def tokens(self, text: str) -> int:
        """The tokens of the final text, if this is what is added."""
        return self.count(self.final(text))

    def opening(self, passage: int) -> int:
        """Tokens that a passage costs before any of its text: its frame and the separator."""
        return self.cost_of(Shown(passage, ""))

    def cost_of(self, shown: Shown) -> int:
        """Tokens of what is shown of a passage, counted apart: with its frame and the separator."""
        return self.count(self.frame(0, shown)) + self.count(self.separator)

    def _shown(self, passage: int, text: str, spans: tuple[Span, ...], markers: tuple[Marker, ...]) -> Shown:
        return Shown(passage, text, spans, markers, relevance=self.relevance.get(passage, 1.0))

    def _line(self, passage: int) -> Shown:
        return Shown(passage, self.lines[passage], is_line=True, relevance=0.0)


def _with_markers(
    spans: tuple[Span, ...], places: Sequence[tuple[int, str]], gaps: Sequence[Gap]
) -> tuple[tuple[Span, ...], tuple[Marker, ...]]:
    """The spans, cut where markers stand within them, and the markers: those in these places, and those of gaps."""
    if not places:
        return spans, markers_for(spans, gaps)
    inner = {place for place, _ in places}
    parts: list[Span] = []
    for start, end in spans:
        for cut in sorted(place for place in inner if start < place < end):
            parts.append(Span(start, cut))
            start = cut
        parts.append(Span(start, end))
    ends = [end for _, end in parts]
    markers = [Marker(bisect_right(ends, place), text) for place, text in places]
    return tuple(parts), merged(markers, markers_for(parts, gaps))


def _with_escapes(
    spans: tuple[Span, ...], markers: tuple[Marker, ...], places: Sequence[int]
) -> tuple[tuple[Span, ...], tuple[Marker, ...]]:
    """The spans, cut in these places of the text, and the markers, with a backslash in each place that is kept."""
    if not places:
        return spans, markers
    parts: list[Span] = []
    moved: dict[int, int] = {}
    for number, (start, end) in enumerate(spans):
        moved[number] = len(parts)
        for place in places[bisect_right(places, start) : bisect_left(places, end)]:
            parts.append(Span(start, place))
            start = place
        parts.append(Span(start, end))
    moved[len(spans)] = len(parts)
    texts = {moved[marker.before]: marker.text for marker in markers}
    known = frozenset(places)
    for number, part in enumerate(parts):
        if part.start in known:
            texts[number] = texts.get(number, "") + "\\"
    return tuple(parts), tuple(Marker(number, text) for number, text in sorted(texts.items()))


_MARGIN = 0.6
"""How much less than its length makes expect a segment may cost: what looks too long by more is not counted."""


def tokens_of(text: str, count: Callable[[str], int]) -> int:
    """The tokens of a segment's text: a space after it is a part of the next word's token, a line end is not."""
    return count(text.rstrip(" "))


class SegmentCosts:
    """Tokens of a segment, or of a passage's opening, counted when its turn comes and remembered.

    Most segments of a long text are never counted.
    """

    __slots__ = ("_candidates", "_characters", "_counts", "_known", "_layout", "_tokens")

    def __init__(self, table: SegmentTable, layout: Layout, counts: Sequence[int] | None = None) -> None:
        """counts: what `tokens_of` says of every segment, if that is known."""
        self._candidates, self._layout = table, layout
        self._counts = counts
        self._known: dict[int, int] = {}
        self._characters, self._tokens = 0, 0

    def __call__(self, item: int) -> int:
        """The tokens of segment `item`, or of the opening of passage `item` - (number of segments)."""
        known = self._known.get(item)
        if known is None:
            known = self._known[item] = self._counted(item)
        return known

    def at_least(self, item: int) -> float:
        """The tokens that a segment's length makes expect after what was counted so far, with a margin."""
        if item in self._known:
            return self._known[item]
        if not self._characters:
            return 0.0
        return _MARGIN * len(self._candidates.texts[item]) * self._tokens / self._characters

    def _counted(self, item: int) -> int:
        texts = self._candidates.texts
        if item >= len(texts):
            return self._layout.opening(item - len(texts))
        tokens = tokens_of(texts[item], self._layout.count) if self._counts is None else self._counts[item]
        self._characters += len(texts[item])
        self._tokens += tokens
        return tokens


def arrangement(order: Order, relevance: Mapping[int, float]) -> Arrange:
    """How to arrange passages of that relevance: as they came, from the best to the worst, or the best at both ends.

    The last is for readers who overlook what stands in the middle: Liu et al., "Lost in the middle" (2023).
    """
    if order == "source":
        return sorted

    def by_relevance(passages: Iterable[int]) -> list[int]:
        ranked = sorted(passages, key=lambda passage: (-relevance.get(passage, 0.0), passage))
        return ranked if order == "relevance" else ranked[::2] + ranked[1::2][::-1]

    return by_relevance
