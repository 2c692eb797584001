"""The input: passages, the pieces they are cut into, and arithmetic on spans of a text. All types are immutable."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from ctxcompress.lazy_regex import lazy_regex

__all__ = [
    "Gap",
    "Kind",
    "Marker",
    "Node",
    "NodeKind",
    "Passage",
    "Segment",
    "Span",
    "intersection",
    "inverse",
    "joined",
    "markers_for",
    "merged",
    "places",
    "shown",
    "spans_of",
    "stripped",
    "walk",
    "with_needs",
]

_PLACE = lazy_regex(r"(\.\w+)#[^/\\]*\Z")


@dataclass(frozen=True, slots=True)
class Passage:
    """One retrieved chunk. `score` is the retriever's score; None means unknown."""

    id: str
    text: str
    score: float | None = field(default=None, kw_only=True)
    doc_id: str | None = field(default=None, kw_only=True)
    file_path: str | None = field(default=None, kw_only=True)
    header_path: tuple[str, ...] | None = field(default=None, kw_only=True)
    title: str | None = field(default=None, kw_only=True)
    metadata: Mapping[str, object] = field(default_factory=dict, kw_only=True)
    embedding: Sequence[float] | None = field(default=None, kw_only=True)

    @property
    def file_name(self) -> str | None:
        """The path without a place in the file, such as `#L10-L42`, else the title: its extension tells the format."""
        name = self.file_path or self.title
        return _PLACE.sub(r"\1", name) if name and "#" in name else name


class Span(NamedTuple):
    """Half-open character offsets ``[start, end)`` into a passage's original text."""

    start: int
    end: int


class Marker(NamedTuple):
    """A gap marker: text that shows where something was dropped. In source code it is a line of its own, in prose it is
    dots in brackets. Where tags of HTML part two texts, it has the white space between them."""

    before: int
    """The number of the span that follows the marker; the number of spans if the marker is at the end."""
    text: str
    """The marker with the line break or space before it; at the beginning of a text, with the one after it."""


class Kind(StrEnum):
    """The type of a segment."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST_ITEM = "list_item"
    TABLE = "table"
    CODE = "code"
    QUOTE = "quote"
    METADATA = "metadata"
    BOILERPLATE = "boilerplate"
    """What no reader sees: comments, front matter, definitions of links; and the title and the navigation of HTML."""
    TURN = "turn"
    """What one speaker says at once in a conversation, or a part of it."""
    LOG = "log"
    """A line of a log, of a traceback or of build output, or a part of a diff."""
    RECORD = "record"
    """A record or a value of data such as JSON, CSV or YAML."""


class NodeKind(StrEnum):
    """The type of a node in the outline of a source file."""

    FUNCTION = "function"
    METHOD = "method"
    CLASS = "class"
    TYPE = "type"
    """Interfaces, structs, enums, type aliases, traits, schemas."""
    NAMESPACE = "namespace"
    """Modules, namespaces and blocks that implement something for a type."""
    IMPORTS = "imports"
    CONSTANT = "constant"
    """A variable or a constant outside of functions."""
    DOC = "doc"
    """The docstring of the enclosing definition or file."""
    STATEMENT = "statement"
    """Anything else: statements, comments that stand alone, blank lines."""
    RECORD = "record"
    """A value, a list or an object of data such as JSON."""


class Segment(NamedTuple):
    """The smallest piece that is kept or dropped as one: a sentence, a table row, a function, a heading.

    The segments of a text partition it: they are in order, without gaps or overlaps. White space belongs to the segment
    before it. A named tuple rather than a dataclass because a long page has hundreds of them.
    """

    kind: Kind
    start: int
    end: int
    block: int
    """The number of its paragraph, list item, table or code block, from 0."""
    heading: tuple[str, ...] = ()
    """Its heading path, outermost heading first. The last entry of a heading's path is the heading itself."""
    needs: tuple[int, ...] = ()
    """The numbers of the segments of the same text that must be kept with it: a row's table header,
    the fence around a line of code, the signature of a function."""
    unit: NodeKind | None = None
    """The type of its node if it is source code; None for prose, and for code within prose."""
    label: str = ""
    """The words that say whose it is, as a heading does: the speaker of a turn, the keys above a record, the first cell
    of a row, the parameter that a docstring describes, the constants that are defined. If the text of a turn begins
    with its label, these characters are not counted as words of the text."""


class Node(NamedTuple):
    """One part of a source file: characters `start` to `end` of a text, in whole lines.

    A node includes the decorators and comments above it, and the blank lines after it. A named tuple rather than a
    dataclass because there may be one for each of a million lines.
    """

    kind: NodeKind
    start: int
    end: int
    name: str = ""
    """The name that it defines, such as `Future.result` for a method; empty if it defines nothing."""
    signature: int = -1
    """The start of the line that declares it, after decorators and comments; -1 if it defines nothing."""
    body: int = -1
    """The start of its body, which is the end of its signature; -1 if it has no body that could be cut."""
    tail: int = -1
    """The end of its body and the start of what closes it: `end` if nothing does; -1 if `body` is -1."""
    children: tuple["Node", ...] = ()
    """The nodes of its body, which partition the body."""


def walk(nodes: Sequence[Node]) -> Iterator[Node]:
    """Yield each node, followed by the nodes within it."""
    for node in nodes:
        yield node
        yield from walk(node.children)


def with_needs(numbers: Iterable[int], needs: Callable[[int], Iterable[int]]) -> set[int]:
    """Return these numbers of segments with those of all that they need, directly or indirectly."""
    found = more = set(numbers)
    while more := {other for number in more for other in needs(number)} - found:
        found = found | more
    return found


class Gap(NamedTuple):
    """A part that was cut out of a text: characters ``[start, end)``, up to the white space before what follows."""

    start: int
    end: int
    mark: str
    """The gap marker, without a line end."""
    separator: str
    """The white space between the gap marker and the text beside it."""
    apart: str
    """The gap marker for when the text right before the gap is not kept, such as the signature of a body."""


def inverse(spans: Sequence[Span], length: int) -> tuple[Span, ...]:
    """Return the parts of a text of `length` characters that the spans do not cover."""
    found = []
    begin = 0
    for start, end in spans:
        if begin < start:
            found.append(Span(begin, start))
        begin = end
    if begin < length:
        found.append(Span(begin, length))
    return tuple(found)


def intersection(one: Sequence[Span], other: Sequence[Span]) -> tuple[Span, ...]:
    """Return the parts that both cover."""
    found = []
    i = j = 0
    while i < len(one) and j < len(other):
        start, end = max(one[i].start, other[j].start), min(one[i].end, other[j].end)
        if start < end:
            found.append(Span(start, end))
        if one[i].end < other[j].end:
            i += 1
        else:
            j += 1
    return tuple(found)


def joined(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return the spans without empty ones, and with adjacent ones joined."""
    found: list[Span] = []
    for span in spans:
        if found and found[-1].end == span.start:
            found[-1] = Span(found[-1].start, span.end)
        elif span.start < span.end:
            found.append(span)
    return tuple(found)


def stripped(spans: Sequence[Span], text: str) -> tuple[Span, ...]:
    """Return the spans without white space at the beginning of the first one and the end of the last one.

    The indentation of the first line stays. Spans at either end that hold only white space are removed.
    """
    ends = [(start, end) for start, end in spans]
    while ends and not text[slice(*ends[0])].strip():
        del ends[0]
    while ends and not text[slice(*ends[-1])].strip():
        del ends[-1]
    if ends:
        start, end = ends[0]
        begin = end - len(text[start:end].lstrip())
        line = text.rfind("\n", max(start - 1, 0), begin) + 1
        ends[0] = max(line, start) if line or not start else begin, end
        start, end = ends[-1]
        ends[-1] = start, start + len(text[start:end].rstrip())
    return tuple(Span(start, end) for start, end in ends)


def places(piece: str, text: str) -> Iterator[int]:
    """Yield where a piece, which is not empty, occurs in a text. Occurrences do not overlap."""
    start = text.find(piece)
    while start >= 0:
        yield start
        start = text.find(piece, start + len(piece))


def shown(text: str, spans: Sequence[Span], markers: Sequence[Marker] = ()) -> str:
    """Return the text of the spans, with the markers between them."""
    parts = [text[start:end] for start, end in spans]
    for before, marker in reversed(markers):
        parts.insert(before, marker)
    return "".join(parts)


def spans_of(gaps: Iterable[Gap]) -> tuple[Span, ...]:
    """Return the gaps as spans."""
    return tuple(Span(gap.start, gap.end) for gap in gaps)


def markers_for(spans: Sequence[Span], gaps: Sequence[Gap]) -> tuple[Marker, ...]:
    """Return the gap markers between the spans of a text that has these gaps. Both are in order.

    Two spans have a marker between them if a gap lies between them. A marker comes before the first span if a gap ends
    there, and after the last span if a gap begins there.
    """
    found: list[Marker] = []
    number = 0
    for gap in gaps:
        while number < len(spans) and spans[number].start < gap.end:
            number += 1
        marker = _marker(gap, spans, number)
        if marker and marker.text and not (found and found[-1].before == number):
            found.append(marker)
    return tuple(found)


def _marker(gap: Gap, spans: Sequence[Span], number: int) -> Marker | None:
    """Return the marker for a gap, or None if no span touches it. number: the first span after the gap."""
    if not spans:
        return None
    if number == 0:
        return Marker(0, gap.mark + gap.separator) if spans[0].start == gap.end else None
    adjoins = spans[number - 1].end == gap.start
    if number < len(spans) or adjoins:
        return Marker(number, gap.separator + (gap.mark if adjoins else gap.apart))
    return None


def merged(markers: Sequence[Marker], others: Sequence[Marker]) -> tuple[Marker, ...]:
    """Return both in order. Where both have a marker, the one that stands for a function's body wins: code needs it."""
    if not (markers and others):
        return tuple(markers or others)
    taken = {marker.before for marker in markers}
    bodies = {other.before for other in others if other.text.strip() == "..."}
    bodies -= {marker.before for marker in markers if marker.text.strip() == "..."}
    stay = [marker for marker in markers if marker.before not in bodies]
    more = [other for other in others if other.before in bodies or other.before not in taken]
    return tuple(sorted((*stay, *more), key=lambda marker: marker.before))
