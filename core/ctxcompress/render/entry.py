"""What a format has to show of a passage, and what every format can do."""

from dataclasses import dataclass
from typing import Protocol

from ctxcompress.passages import Marker, Passage, Span
from ctxcompress.types import KeptPassage

__all__ = ["Entry", "Renderer"]


@dataclass(frozen=True, slots=True)
class Entry:
    """What is shown of a passage."""

    number: int
    """Its position in the final text, from 1."""
    passage: Passage
    text: str
    index: int
    """Position of the passage in the input, from 0."""
    spans: tuple[Span, ...]
    markers: tuple[Marker, ...]
    relevance: float
    is_line: bool
    """Whether the text is about the passage, of which nothing is kept."""
    tokens: int = 0
    """Of the text; 0 where they are not counted yet."""

    @classmethod
    def of(cls, number: int, part: KeptPassage) -> "Entry":
        """The entry of a kept passage."""
        return cls(
            number,
            part.original,
            part.text,
            part.index,
            part.spans,
            part.markers,
            part.relevance,
            part.metadata_only,
            part.tokens,
        )


class Renderer(Protocol):
    """One format: the final text is the opening, the entries joined by the separator, and the closing.

    No text, path, heading or question can look like another entry's beginning, or like the end of its own. What is
    done to an entry does not depend on the others, and takes time in proportion to it.
    """

    @property
    def separator(self) -> str:
        """What stands between two entries."""

    @property
    def opening(self) -> str:
        """What stands before the first entry."""

    @property
    def closing(self) -> str:
        """What stands after the last entry."""

    def entry(self, entry: Entry) -> str:
        """A passage as it stands in the final text."""
