"""The contents of a passage's header (path, title, headings, score), and the guard against text that forges one."""

from dataclasses import dataclass
from typing import Protocol

from ctxcompress.data.metadata import as_number
from ctxcompress.data.passages import Marker, Passage, Span
from ctxcompress.data.results import KeptPassage
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.text.lines import BREAKS, INVISIBLE, one_line, shortened, shortened_path

__all__ = ["Entry", "Guard", "Renderer", "known_score", "path_of", "score_of", "section_of", "title_of"]

_LONGEST = 120
"""Characters of a path or a title."""
_LONGEST_HEADING = 80
"""Characters."""
_MOST_HEADINGS = 8
_GREATEST = 1e6
"""Greater scores are written with an exponent."""
_SIGN = lazy_regex(r"\\*+(?:[§>]|\(-?+\d[\d.e+-]*+\))")
"""A word that could be mistaken for a part of the header itself."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One passage as it is shown."""

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
    """Whether the text is a line about the passage, of which nothing is kept."""
    tokens: int = 0
    """Of the text; 0 if not counted yet."""

    @classmethod
    def of(cls, number: int, part: KeptPassage) -> "Entry":
        """Return the entry of a kept passage."""
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
    """One format. The final text is the opening, the entries joined by the separator, and the closing.

    No text, path, heading or query can look like the beginning of another entry or the end of its own. Each entry is
    rendered independently of the others, in time linear in its length.
    """

    @property
    def separator(self) -> str:
        """The text between two entries."""

    @property
    def opening(self) -> str:
        """The text before the first entry."""

    @property
    def closing(self) -> str:
        """The text after the last entry."""

    def entry(self, entry: Entry) -> str:
        """Return the passage as it appears in the final text."""


class Guard:
    """Puts a backslash before text that looks like a header at the beginning of a line.

    Invisible characters and backslashes may come before the look-alike. Removing one backslash from each line that
    looks like a header after backslashes gives the original text.
    """

    __slots__ = ("_anywhere", "_lines")

    def __init__(self, header: str, flags: int = 0) -> None:
        """header: a regular expression that takes linear time."""
        self._anywhere = lazy_regex(header, flags)  # a faster search than at the beginnings of lines
        self._lines = lazy_regex(rf"((?<![^{BREAKS}])(?:(?![{BREAKS}])[\s{INVISIBLE}])*+)(\\*+{header})", flags)

    def __call__(self, text: str) -> str:
        """Return the text with these backslashes."""
        return self._lines.sub(r"\1\\\2", text) if self._anywhere.search(text) else text


def path_of(passage: Passage) -> str:
    """Return the path or address of a passage.

    The document's id never replaces it: most ids are hashes, which cost many tokens and say nothing.
    """
    return _guarded(shortened_path(one_line(passage.file_path or ""), _LONGEST))


def title_of(passage: Passage) -> str:
    """Return the title of a passage; "" if it repeats the path."""
    return _guarded(shortened(one_line(passage.title or ""), _LONGEST)) if passage.title != passage.file_path else ""


def section_of(passage: Passage) -> str:
    """Return the heading path of a passage, the innermost headings if there are many: "Configuration > TLS"."""
    names = (one_line(str(name)) for name in (passage.header_path or ())[-_MOST_HEADINGS:])
    return " > ".join(_guarded(shortened(name, _LONGEST_HEADING)) for name in names if name)


def score_of(passage: Passage, decimals: int) -> str:
    """Return the retriever's score of a passage as text; "" if it is unknown.

    This is not the relevance: that comes from the scorer, is about the best segment and not the shown text, and is not
    comparable with the retriever's scores.
    """
    score = known_score(passage)
    return "" if score is None else f"{score:.{decimals}{'f' if abs(score) < _GREATEST else 'e'}}"


def known_score(passage: Passage) -> float | None:
    """Return the score as a float; None if it is not a finite number."""
    return as_number(passage.score)


def _guarded(name: str) -> str:
    """Put a backslash before each word that looks like a part of the header, backslashes before it included."""
    return " ".join(f"\\{word}" if _SIGN.fullmatch(word) else word for word in name.split(" "))
