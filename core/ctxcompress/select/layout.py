"""The layout of the final text: spans, markers, separators and order of passages, and what they cost in tokens."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

from ctxcompress.config.options import Order
from ctxcompress.data.documents import Document, Spans
from ctxcompress.data.passages import Gap, Marker, Span, markers_for, merged, shown
from ctxcompress.data.table import SegmentTable
from ctxcompress.select.between_segments import assemble
from ctxcompress.text.tokens import TokenCounter

__all__ = ["Arrange", "Composed", "Elide", "Layout", "Shown", "arrangement"]

Arrange = Callable[[Iterable[int]], Sequence[int]]
"""numbers of passages -> the same in the order in which they are shown."""
Elide = Callable[[int, Sequence[Span], bool], Sequence[tuple[int, str]]]
"""(number of a document, its kept spans, whether one span is all that is shown) -> (offset, text of the gap marker)."""
_Inserts = Sequence[tuple[int, str]]
"""(Offset in a passage, text that is shown there), in order."""


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
    shown: Mapping[int, Shown]
    """Number of a passage -> what is shown of it, in the order in which passages are shown."""


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
    count: TokenCounter
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
    sources: Sequence[int] = ()
    """The passages that have a place in the final text even if nothing of them is kept."""

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

        A passage that is shown as a line has no spans, and one that only has its place.
        """
        found: Spans = {}
        for number, of_document in spans.items():
            found |= self.documents[number].of_passages(of_document)
        found = {**dict.fromkeys((*self.sources, *self.lines), ()), **found}
        return {passage: found[passage] for passage in self.arrange(found)}

    def compose(self, spans: Mapping[int, Sequence[Span]]) -> Composed:
        """Return what these spans of the documents add to the final text."""
        markers, spaces = self._inserts(spans)
        parts: dict[int, Shown] = {}
        for passage, of_passage in self.of_passages(spans).items():
            given = (
                markers.get(passage, ()),
                spaces.get(passage, ()),
                self.gaps.get(passage, ()),
                self.escapes.get(passage, ()),
            )
            parts[passage] = self._shown(passage, *(_marked(of_passage, *given) if any(given) else (of_passage, ())))
        text = self.separator.join(self.frame(position, part) for position, part in enumerate(parts.values()))
        return Composed(text, parts)

    def final(self, text: str) -> str:
        """Return the final text if `text` is added."""
        opening, closing = self.envelope
        return f"{opening}{self.separator.join(filter(None, (self.before, text)))}{closing}"

    def tokens(self, text: str) -> int:
        """Count the tokens of the final text if `text` is added."""
        return self.count(self.final(text))

    def opening(self, passage: int) -> int:
        """Count the tokens of the frame and the separator of a passage, unless it has its place in any case."""
        return 0 if passage in self.sources else self.cost_of(Shown(passage, ""))

    def cost_of(self, shown: Shown) -> int:
        """Count the tokens of what is shown of a passage, with its frame and the separator."""
        return self.count(self.frame(0, shown)) + self.count(self.separator)

    def _shown(self, passage: int, spans: tuple[Span, ...], markers: tuple[Marker, ...]) -> Shown:
        if passage in self.lines:
            return Shown(passage, self.lines[passage], is_line=True, relevance=0.0)
        text = shown(self.passages[passage], spans, markers)
        return Shown(passage, text, spans, markers, relevance=self.relevance.get(passage, 1.0))

    def _inserts(self, spans: Mapping[int, Sequence[Span]]) -> tuple[Mapping[int, _Inserts], Mapping[int, _Inserts]]:
        """Return by passage the gap markers between these spans of the documents, and white space of no passage."""
        markers: dict[int, list[tuple[int, str]]] = {}
        spaces: dict[int, list[tuple[int, str]]] = {}
        is_lone = not self.before and sum(map(len, spans.values())) == 1
        for number, of_document in spans.items():
            for passage, place, space in self.documents[number].spaces(of_document):
                spaces.setdefault(passage, []).append((place, space))
            for end, text in self.elide(number, of_document, is_lone):
                passage, (place, _), _ = self.documents[number].in_passage(end)
                markers.setdefault(passage, []).append((place, text))
        return markers, spaces


def _marked(
    spans: tuple[Span, ...], markers: _Inserts, spaces: _Inserts, gaps: Sequence[Gap], escapes: Sequence[int]
) -> tuple[tuple[Span, ...], tuple[Marker, ...]]:
    """Return the spans of a passage, split where something is shown within one, and all that is shown between them.

    White space comes before a marker that ends with some, and after others. escapes: see `Layout`.
    """
    parts = _split(spans, {*escapes, *(place for place, _ in markers)})
    starts, ends = [start for start, _ in parts], [end for _, end in parts]
    placed = [Marker(bisect_right(ends, place), text) for place, text in markers]
    texts = {marker.before: marker.text for marker in merged(placed, markers_for(parts, gaps))}
    for place, space in spaces:
        number = bisect_left(starts, place)
        if 0 < number < len(starts):
            marker = texts.get(number, "")
            texts[number] = space + marker if marker.endswith((" ", "\n")) else marker + space
    for place in escapes:
        number = bisect_left(starts, place)
        if starts[number : number + 1] == [place]:
            texts[number] = texts.get(number, "") + "\\"
    return parts, tuple(Marker(number, text) for number, text in sorted(texts.items()))


def _split(spans: tuple[Span, ...], places: Collection[int]) -> tuple[Span, ...]:
    """Return the spans, split at those of these places that are within one."""
    if not places:
        return spans
    found: list[Span] = []
    ordered = sorted(places)
    for start, end in spans:
        cuts = ordered[bisect_right(ordered, start) : bisect_left(ordered, end)]
        found += map(Span, (start, *cuts), (*cuts, end))
    return tuple(found)


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
