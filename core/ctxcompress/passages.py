"""What goes in: passages, and the pieces that they are cut into. All immutable."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from ctxcompress.outline import NodeKind

__all__ = ["Kind", "Marker", "Passage", "Segment", "Span"]


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
