"""The input: passages, and the pieces they are cut into. All types are immutable."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

__all__ = ["Kind", "Marker", "Node", "NodeKind", "Passage", "Segment", "Span", "walk"]


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

    The segments of a text partition it: they are in order, without gaps or overlaps. White space
    belongs to the segment before it. A named tuple rather than a dataclass because a long page has
    hundreds of them.
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
    exported: bool = False
    """Whether other files are meant to use it."""
    children: tuple["Node", ...] = ()
    """The nodes of its body, which partition the body."""


def walk(nodes: Sequence[Node]) -> Iterator[Node]:
    """Yield each node, followed by the nodes within it."""
    for node in nodes:
        yield node
        yield from walk(node.children)
