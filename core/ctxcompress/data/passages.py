"""What goes in: passages, and the pieces that they are cut into. All immutable."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

__all__ = ["Kind", "Marker", "Node", "NodeKind", "Passage", "Segment", "Span", "shifted", "walk"]


class NodeKind(StrEnum):
    """What a node of an outline is."""

    FUNCTION = "function"
    METHOD = "method"
    CLASS = "class"
    TYPE = "type"
    """Interfaces, structs, enums, type aliases, traits, schemas."""
    NAMESPACE = "namespace"
    """Modules, namespaces and blocks that implement something for a type."""
    IMPORTS = "imports"
    CONSTANT = "constant"
    """A variable or a constant that is not within a function."""
    DOC = "doc"
    """The docstring of what it stands in."""
    STATEMENT = "statement"
    """Anything else: statements, comments that stand alone, blank lines."""


class Node(NamedTuple):
    """Characters `start` to `end` of a text, whole lines: with the decorators and comments above it, and what separates
    it from what follows. A named tuple, because there may be one for each of a million lines."""

    kind: NodeKind
    start: int
    end: int
    name: str = ""
    """What it defines, as it is written: `Future.result` for a method, empty for what defines nothing."""
    signature: int = -1
    """Where the line begins that declares it, after decorators and comments; -1 for what defines nothing."""
    body: int = -1
    """Where its body begins: all before it belongs to the signature; -1 for what has no body that could be cut."""
    tail: int = -1
    """Where its body ends, and what closes it begins: `end` where nothing does; -1 where `body` is."""
    exported: bool = False
    """Whether it is declared to be used from elsewhere."""
    children: tuple["Node", ...] = ()
    """What the body consists of: the nodes partition it."""


def walk(nodes: Sequence[Node]) -> Iterator[Node]:
    """The nodes and all within them, in their order."""
    for node in nodes:
        yield node
        yield from walk(node.children)


def shifted(node: Node, by: int) -> Node:
    """The same node in a text that has so many characters more before it."""
    return node._replace(
        start=node.start + by,
        end=node.end + by,
        signature=node.signature + by if node.signature >= 0 else -1,
        body=node.body + by if node.body >= 0 else -1,
        tail=node.tail + by if node.tail >= 0 else -1,
        children=tuple(shifted(child, by) for child in node.children),
    )


class Span(NamedTuple):
    """Half-open character offsets ``[start, end)`` into a passage's original text."""

    start: int
    end: int


class Marker(NamedTuple):
    """What stands in a kept text for something that was left out there: a line of its own in source code, dots in
    brackets in prose."""

    before: int
    """The number of the span before which it stands; the number of spans at the end."""
    text: str
    """With the line break or the space before it, or after it at the beginning of a text."""


class Kind(StrEnum):
    """What a segment is."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST_ITEM = "list_item"
    TABLE = "table"
    CODE = "code"
    QUOTE = "quote"
    METADATA = "metadata"
    BOILERPLATE = "boilerplate"
    """What pages put around their text: bylines, cookie notices, navigation."""


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
    """Number of the paragraph, list item, table or code block it is a part of, from 0."""
    heading: tuple[str, ...] = ()
    """Texts of the headings it stands under, outermost first; a heading's own text is its last."""
    needs: tuple[int, ...] = ()
    """Indices of segments of the same text without which it cannot be read: a row's table header,
    the fence around a line of code, the signature of a function."""
    unit: NodeKind | None = None
    """What it is of a source file; None for prose, and for code in the middle of prose."""


@dataclass(frozen=True, slots=True)
class Passage:
    """One retrieved chunk. `score` is what the retriever said of it; None means unknown."""

    id: str
    text: str
    score: float | None = field(default=None, kw_only=True)
    doc_id: str | None = field(default=None, kw_only=True)
    file_path: str | None = field(default=None, kw_only=True)
    header_path: tuple[str, ...] | None = field(default=None, kw_only=True)
    title: str | None = field(default=None, kw_only=True)
    metadata: Mapping[str, object] = field(default_factory=dict, kw_only=True)
    embedding: Sequence[float] | None = field(default=None, kw_only=True)
