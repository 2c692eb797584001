"""What the reader has already, in a context that is built step by step."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ctxcompress.passages import Passage, Span
from ctxcompress.spans import joined
from ctxcompress.types import KeptPassage

__all__ = ["Promised"]


@dataclass(frozen=True, slots=True)
class Promised:
    """What the reader has already."""

    text: str = ""
    parts: Sequence[KeptPassage] = ()
    """What that text consists of."""

    def passages(self) -> list[Passage]:
        """The parts as passages. An embedding says nothing of a part."""
        return [
            part.original if part.untouched else replace(part.original, text=part.text, embedding=None)
            for part in self.parts
        ]

    def spans(self, items: Sequence[Passage]) -> dict[int, tuple[Span, ...]]:
        """Number of an item whose text came before -> the spans of it that were promised."""
        of_text: dict[str, list[Span]] = {}
        for part in self.parts:
            of_text.setdefault(part.original.text, []).extend(part.spans)
        return {number: joined(sorted(of_text[item.text])) for number, item in enumerate(items) if item.text in of_text}
