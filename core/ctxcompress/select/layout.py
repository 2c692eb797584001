"""The layout of the final text: spans, markers, separators and order of passages, and what they cost in tokens."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

from ctxcompress.config.options import Order
from ctxcompress.data.documents import Document, Spans
from ctxcompress.data.passages import Gap, Kind, Marker, Segment, Span, joined, markers_for, merged, shown
from ctxcompress.data.table import SegmentTable
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.text.tokens import TokenCounter

__all__ = [
    "Arrange",
    "Composed",
    "Elide",
    "Layout",
    "SegmentCosts",
    "Shown",
    "arrangement",
    "assemble",
    "is_closing",
    "stripped_end",
    "tokens_of",
]

Arrange = Callable[[Iterable[int]], Sequence[int]]
"""numbers of passages -> the same in the order in which they are shown."""
Elide = Callable[[int, Sequence[Span], bool], Sequence[tuple[int, str]]]
"""(number of a document, its kept spans, whether one span is all that is shown) -> (offset, text of the gap marker)."""
_RECORD = Kind.RECORD
_BLANK = lazy_regex(r"(?:\s|\\[nrt])*+")
"""White space, which is escaped in JSON text within a string."""
_MARGIN = 0.6
"""The share of the expected cost that a segment is assumed to have at least; one too long even so is not counted."""


class Shown(NamedTuple):
    """The text that is shown of a passage."""

    passage: int
    text: str
    spans: tuple[Span, ...] = ()
    markers: tuple[Marker, ...] = ()
    is_line: bool = False
    """Whether the text is a line about the passage."""
    relevance: float = 1.0


class Composed(NamedTuple):
    """What spans of the documents add to the final text."""

    text: str
    parts: Mapping[int, tuple[tuple[Span, ...], tuple[Marker, ...]]]
    """Number of a passage -> its spans and markers: see `Layout.shown`."""
    texts: Mapping[int, str]
    """Number of a passage -> its text without its frame."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The form of the final text: an envelope around the earlier content and the kept passages, each in its frame, with
    separators in between."""

    documents: Sequence[Document]
    passages: Sequence[str]
    """The texts of the passages that the documents are made of."""
    separator: str
    frame: Callable[[int, Shown], str]
    """(position among the added passages, from 0; what is shown of a passage) -> the text with its header."""
    count: Callable[[str], int]
    arrange: Arrange = sorted
    elide: Elide = lambda *_: ()
    envelope: tuple[str, str] = ("", "")
    """The text before everything and the text after everything."""
    before: str = ""
    """The content that was delivered before."""
    delivered_runs: Callable[[], Collection[int]] = frozenset
    """Returns the hashes of the runs of words of that content."""
    gaps: Mapping[int, Sequence[Gap]] = field(default_factory=dict)
    """Number of a passage -> the gaps left by truncation."""
    escapes: Mapping[int, Sequence[int]] = field(default_factory=dict)
    """Number of a passage -> places in its text where a backslash is shown, so that the text cannot forge a line."""
    relevance: Mapping[int, float] = field(default_factory=dict)
    """Of each passage, if known."""
    lines: Mapping[int, str] = field(default_factory=dict)
    """Number of a passage that is in no document -> the line that is shown in its place."""

    @property
    def everything(self) -> Spans:
        """Document number -> the span of its whole text."""
        return {number: (Span(0, len(document.text)),) for number, document in enumerate(self.documents)}

    def spans(self, table: SegmentTable, kept: Iterable[int]) -> Spans:
        """Return document number -> the spans of its kept segments, for the documents that have some, in order."""
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
        """Return passage number -> its spans, from those of the documents, in the order in which passages are shown.

        A passage that is shown as a line has no spans.
        """
        found: Spans = {}
        for number, of_document in spans.items():
            found |= self.documents[number].of_passages(of_document)
        found |= dict.fromkeys(self.lines, ())
        return {passage: found[passage] for passage in self.arrange(found)}

    def shown(self, spans: Mapping[int, Sequence[Span]]) -> dict[int, tuple[tuple[Span, ...], tuple[Marker, ...]]]:
        """Return passage number -> its spans and the gap markers between them, from the spans of the documents, in the
        order in which passages are shown."""
        places: dict[int, list[tuple[int, str]]] = {}
        spaces: dict[int, list[tuple[int, str]]] = {}
        is_lone = not self.before and sum(map(len, spans.values())) == 1
        for number, of_document in spans.items():
            for passage, place, space in self.documents[number].spaces(of_document):
                spaces.setdefault(passage, []).append((place, space))
            for end, text in self.elide(number, of_document, is_lone):
                passage, (place, _), _ = self.documents[number].in_passage(end)
                places.setdefault(passage, []).append((place, text))
        if not (places or spaces or self.gaps or self.escapes):
            return {passage: (of_passage, ()) for passage, of_passage in self.of_passages(spans).items()}
        return {
            passage: _with_escapes(
                *_with_spaces(
                    *_with_markers(of_passage, places.get(passage, ()), self.gaps.get(passage, ())),
                    spaces.get(passage, ()),
                ),
                self.escapes.get(passage, ()),
            )
            for passage, of_passage in self.of_passages(spans).items()
        }

    def compose(self, spans: Mapping[int, Sequence[Span]]) -> Composed:
        """Return what these spans of the documents add to the final text."""
        parts = self.shown(spans)
        texts = {
            passage: self.lines.get(passage) or shown(self.passages[passage], *of_passage)
            for passage, of_passage in parts.items()
        }
        entries = (
            self._line(passage) if passage in self.lines else self._shown(passage, text, *parts[passage])
            for passage, text in texts.items()
        )
        text = self.separator.join(self.frame(position, entry) for position, entry in enumerate(entries))
        return Composed(text, parts, texts)

    def final(self, text: str) -> str:
        """Return the final text if `text` is added."""
        opening, closing = self.envelope
        return f"{opening}{self.separator.join(filter(None, (self.before, text)))}{closing}"

    def tokens(self, text: str) -> int:
        """Count the tokens of the final text if `text` is added."""
        return self.count(self.final(text))

    def opening(self, passage: int) -> int:
        """Count the tokens that a passage costs without any of its text: of its frame and the separator."""
        return self.cost_of(Shown(passage, ""))

    def cost_of(self, shown: Shown) -> int:
        """Count the tokens of what is shown of a passage, with its frame and the separator."""
        return self.count(self.frame(0, shown)) + self.count(self.separator)

    def _shown(self, passage: int, text: str, spans: tuple[Span, ...], markers: tuple[Marker, ...]) -> Shown:
        return Shown(passage, text, spans, markers, relevance=self.relevance.get(passage, 1.0))

    def _line(self, passage: int) -> Shown:
        return Shown(passage, self.lines[passage], is_line=True, relevance=0.0)


def _with_markers(
    spans: tuple[Span, ...], places: Sequence[tuple[int, str]], gaps: Sequence[Gap]
) -> tuple[tuple[Span, ...], tuple[Marker, ...]]:
    """Return the spans, split where a marker is within one, and the markers at these places and at the gaps."""
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


def _with_spaces(
    spans: tuple[Span, ...], markers: tuple[Marker, ...], spaces: Sequence[tuple[int, str]]
) -> tuple[tuple[Span, ...], tuple[Marker, ...]]:
    """Return the spans, and the markers with this white space: before one that ends with some, after others."""
    texts = {marker.before: marker.text for marker in markers}
    starts = [start for start, _ in spans]
    for place, space in spaces:
        number = bisect_left(starts, place)
        if 0 < number < len(starts):
            marker = texts.get(number, "")
            texts[number] = space + marker if marker.endswith((" ", "\n")) else marker + space
    return spans, tuple(Marker(number, text) for number, text in sorted(texts.items()))


def _with_escapes(
    spans: tuple[Span, ...], markers: tuple[Marker, ...], places: Sequence[int]
) -> tuple[tuple[Span, ...], tuple[Marker, ...]]:
    """Return the spans, split at these places of the text, and the markers with a backslash at each kept place."""
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


def assemble(text: str, segments: Sequence[Segment], kept: Sequence[int]) -> tuple[Span, ...]:
    """Return the spans of `text` for the kept segments, in order and without overlaps.

    Of the text between two kept segments only the white space before the second one stays: the white space before the
    segment itself within a block, else before its block. It can be a space, a line break or an empty line. White space
    at the end is dropped unless the whole text is kept. kept: ascending numbers.

    In data, the white space after an opening bracket stays, and the comma before a closing bracket is dropped with the
    values after it.
    """
    if len(kept) == len(segments):
        return (Span(0, len(text)),) if text else ()
    if len(kept) == 1:
        start, end = segments[kept[0]].start, segments[kept[0]].end
        return joined([Span(start, stripped_end(text, start, end))])
    spans: list[Span] = []
    previous = -1
    for number in kept:
        start, end = segments[number].start, segments[number].end
        if spans and number == previous + 1:
            spans[-1] = Span(spans[-1].start, end)
        else:
            if spans and not _is_opened(segments, previous, number):
                spans[-1] = Span(spans[-1].start, stripped_end(text, *spans[-1]))
                if segments[number].kind is _RECORD and is_closing(segments, number):
                    spans[-1] = Span(spans[-1].start, _without_comma(text, *spans[-1]))
                spans.append(_separator(text, segments, previous, number, spans[-1].end))
            spans.append(Span(start, end))
        previous = number
    if spans:
        spans[-1] = Span(spans[-1].start, stripped_end(text, *spans[-1]))
    return joined(spans)


def _separator(text: str, segments: Sequence[Segment], previous: int, number: int, after: int) -> Span:
    """Return the white space before segment `number`, or before its block if the previous segment is in another one.
    After the speaker of a turn it is the white space after the speaker."""
    first = number
    if segments[previous].kind is Kind.TURN and previous in segments[number].needs:
        return Span(after, segments[previous].end)
    if segments[previous].block != segments[number].block:
        while segments[first - 1].block == segments[number].block:
            first -= 1
    end = segments[first].start
    begin = stripped_end(text, after, end)
    if "\n" not in text[begin:end] and (blank := text.rfind("\n\n", after, begin)) >= 0:
        return Span(blank, blank + 2)  # so that no sentence goes on in the line of another paragraph
    return Span(begin, end)


def _is_opened(segments: Sequence[Segment], previous: int, number: int) -> bool:
    """Return whether a record directly follows the opening bracket or the header that it needs, with the white space
    after that."""
    segment = segments[number]
    return segment.kind is _RECORD and previous in segment.needs and not is_closing(segments, number)


def is_closing(segments: Sequence[Segment], number: int) -> bool:
    """Return whether a record is a closing bracket: it and an earlier segment need each other."""
    return any(other < number and number in segments[other].needs for other in segments[number].needs)


def _without_comma(text: str, start: int, end: int) -> int:
    """Return where ``text[start:end]`` ends without a comma at its end, or `end` if there is none."""
    comma = text.rfind(",", start, end)
    return comma if comma > start and _BLANK.fullmatch(text, comma + 1, end) else end


def stripped_end(text: str, start: int, end: int) -> int:
    """Return where ``text[start:end]`` ends without the white space at its end."""
    return start + len(text[start:end].rstrip())


def arrangement(order: Order, relevance: Mapping[int, float]) -> Arrange:
    """Return how to arrange passages with this relevance: in input order, best first, or the best at both ends.

    The last is for language models that overlook the middle of a text: Liu et al., "Lost in the middle" (2023).
    """
    if order == "source":
        return sorted

    def by_relevance(passages: Iterable[int]) -> list[int]:
        ranked = sorted(passages, key=lambda passage: (-relevance.get(passage, 0.0), passage))
        return ranked if order == "relevance" else ranked[::2] + ranked[1::2][::-1]

    return by_relevance


class SegmentCosts:
    """The token counts of segments and of the openings of passages, computed on demand and cached.

    Most segments of a long text are never counted.
    """

    __slots__ = ("_candidates", "_characters", "_counts", "_known", "_layout", "_tokens")

    def __init__(self, table: SegmentTable, layout: Layout, counts: Sequence[int] | None = None) -> None:
        """counts: `tokens_of` each segment, if known."""
        self._candidates, self._layout = table, layout
        self._counts = counts
        self._known: dict[int, int] = {}
        self._characters, self._tokens = 0, 0

    def __call__(self, item: int) -> int:
        """Return the tokens of segment `item`, or of the opening of passage `item` - (number of segments)."""
        known = self._known.get(item)
        if known is None:
            known = self._known[item] = self._counted(item)
        return known

    def at_least(self, item: int) -> float:
        """Estimate the tokens of a segment from its length and the counts so far, with a margin."""
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


def counts_of(texts: Sequence[str], count: TokenCounter) -> list[int]:
    """Count the tokens of each segment's text: see `tokens_of`."""
    return count.of_all([text.rstrip(" ") for text in texts])


def tokens_of(text: str, count: Callable[[str], int]) -> int:
    """Count the tokens of a segment's text, without spaces at the end: these belong to the token of the next word."""
    return count(text.rstrip(" "))
