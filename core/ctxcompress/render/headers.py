"""What a header says of a passage: where it is from, and what the retriever thought of it. It stays on one line."""

import math
import re
from dataclasses import dataclass
from numbers import Real
from typing import Protocol

from ctxcompress.data.passages import Marker, Passage, Span
from ctxcompress.data.results import KeptPassage
from ctxcompress.text.lines import BREAKS, INVISIBLE, one_line, shortened, shortened_path

__all__ = ["Entry", "Guard", "Renderer", "known_score", "path_of", "score_of", "section_of", "title_of"]

_LONGEST = 120
"""Characters of a path or a title."""
_LONGEST_HEADING = 80
_MOST_HEADINGS = 8
_GREATEST = 1e6
"""Scores up to which there are no powers of ten."""
_SIGN = re.compile(r"\\*+(?:[§>]|\(-?+\d[\d.e+-]*+\))")
"""A word that would be taken for a sign of the header itself."""


def path_of(passage: Passage) -> str:
    """The path or address of a passage.

    The document's id never stands in for it: it is a hash mostly, which costs much and tells a reader nothing.
    """
    return _guarded(shortened_path(one_line(passage.file_path or ""), _LONGEST))


def title_of(passage: Passage) -> str:
    """The title of a passage; empty where it is the path once more."""
    return _guarded(shortened(one_line(passage.title or ""), _LONGEST)) if passage.title != passage.file_path else ""


def section_of(passage: Passage) -> str:
    """The headings that a passage stands under, the innermost ones if there are many: "Configuration > TLS"."""
    names = (one_line(str(name)) for name in (passage.header_path or ())[-_MOST_HEADINGS:])
    return " > ".join(_guarded(shortened(name, _LONGEST_HEADING)) for name in names if name)


def score_of(passage: Passage, decimals: int) -> str:
    """What the retriever said of a passage; empty where that is not known.

    Not the relevance, which the scorer gives: of the segment that fits best, not of the text that is shown, and not
    comparable with scores that readers know from the retriever.
    """
    score = known_score(passage)
    return "" if score is None else f"{score:.{decimals}{'f' if abs(score) < _GREATEST else 'e'}}"


def known_score(passage: Passage) -> float | None:
    """The score as a number of Python, where it is one that can be compared."""
    score = passage.score
    try:
        known = isinstance(score, Real) and not isinstance(score, bool) and math.isfinite(score)
        return float(score) if known and score is not None else None
    except OverflowError:
        return None


def _guarded(name: str) -> str:
    """With a backslash before each word that is a sign of the header, after any number of backslashes."""
    return " ".join(f"\\{word}" if _SIGN.fullmatch(word) else word for word in name.split(" "))


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


class Guard:
    """Puts a backslash before what looks like a header where a line begins, after what cannot be seen and any number of
    backslashes. Taking off one backslash from each line that looks so after one or more of them gives the text back.
    """

    __slots__ = ("_anywhere", "_lines")

    def __init__(self, header: str, flags: int = 0) -> None:
        """header: a regular expression that takes time in proportion to what it is tried on."""
        self._anywhere = re.compile(header, flags)  # found faster than the beginnings of lines
        self._lines = re.compile(rf"((?<![^{BREAKS}])(?:(?![{BREAKS}])[\s{INVISIBLE}])*+)(\\*+{header})", flags)

    def __call__(self, text: str) -> str:
        """The text with these backslashes."""
        return self._lines.sub(r"\1\\\2", text) if self._anywhere.search(text) else text
