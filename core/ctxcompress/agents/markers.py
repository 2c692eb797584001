"""Markers that say what was left out of a tool's result, handles to read it again, and why no document can forge one.

A marker is the last line of a result: "[… 120 lines left out (41-160): expand ctx-3f2a91c4]". Wherever a document has
something that looks like a handle, it is shown with a backslash: "ctx\\-3f2a91c4", or in JSON "ctx\\u002d3f2a91c4".
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ctxcompress.data.passages import Span
from ctxcompress.data.results import Compression
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.text.lines import INVISIBLE, spelled, split_lines, whole_graphemes

__all__ = [
    "PREFIX",
    "LeftOut",
    "Shorter",
    "guarded",
    "is_json",
    "lines_of",
    "marker_room",
    "shorter_marker",
    "without_marker",
]

PREFIX = "ctx-"
"""The beginning of every handle."""
_HYPHENS = r"\-\u2010-\u2015\u2212\ufe58\ufe63\uff0d"
_HANDLE = lazy_regex(
    rf"({spelled('ctx')}[{INVISIBLE}]*+\\*+)([{_HYPHENS}])(?=(?:[{INVISIBLE}]*+[0-9a-f]){{4}})", re.IGNORECASE
)
_MARKER = lazy_regex(
    rf"(?:\A|\n)\[… [^\[\]\n]{{1,200}} left out[^\[\]\n]{{0,100}}: expand ({PREFIX}[0-9a-f]{{8,64}})\]\Z"
)
_LONGEST_LINE = 500
"""Bytes. Longer lines count as several, so that any line can be read within a small budget."""
_MOST_RANGES = 3
"""How many ranges of lines a marker names: the longest ones."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """How much of a text was left out."""

    count: int
    unit: str
    """The singular, such as "line"."""
    ranges: tuple[tuple[int, int], ...] = ()
    """The first and last numbers of the lines, from 1."""
    tokens: int = 0
    """Given where the number of results says little, because most of them are shortened."""

    @classmethod
    def of_lines(cls, text: str, kept: Sequence[Span], first: int = 1) -> "LeftOut":
        """Return the lines of `text` of which nothing is kept. Blank lines do not count.

        first: the number of the first line.
        """
        ranges: list[tuple[int, int]] = []
        count, is_open, place = 0, False, 0
        for number, (start, end) in enumerate(lines_of(text), first):
            if not text[start:end].strip():
                continue
            while place < len(kept) and not _covers(text, kept[place], start, end) and kept[place].end <= end:
                place += 1
            if place < len(kept) and _covers(text, kept[place], start, end):
                is_open = False
                continue
            begin = ranges.pop()[0] if is_open else number
            ranges.append((begin, number))
            count, is_open = count + 1, True
        return cls(count, "line", tuple(ranges))

    @classmethod
    def of_compression(cls, result: Compression, first: int = 1) -> "LeftOut":
        """Return how much the compression of one text left out: records of a JSON list, else lines, else tokens.

        Tokens are given, too, where records are kept in part, or where long lines are read as several.

        first: the number of the first line.
        """
        (text,) = (passage.text for passage in result.input_passages())
        tokens = tokens_left_out(result.stats.original_tokens, result.tokens)
        original, kept = _json_list(text), _json_list(result.text)
        if records := cls.of_items(original, kept):
            return records if _are_whole(original, kept) else replace(records, tokens=tokens.count)
        lines = cls.of_lines(text, [span for part in result.passages for span in part.spans], first)
        if not lines.count:
            return tokens
        return replace(lines, tokens=tokens.count) if len(lines_of(text)) > len(split_lines(text)) else lines

    @classmethod
    def of_items(cls, original: object, kept: object) -> "LeftOut | None":
        """Return how many items of a list are missing; None if none is, or they are no lists."""
        if not isinstance(original, list) or not isinstance(kept, list) or len(kept) >= len(original):
            return None
        return cls(len(original) - len(kept), "record")

    def marker(self, handle: str) -> str:
        """Return the marker: one line that says how much was left out, and how to read it."""
        amounts = [_amount(self.count, self.unit), _amount(self.tokens, "token")]
        shown = ", ".join(filter(None, amounts))
        return f"[… {shown} left out{self._shown_ranges()}: expand {handle}]"

    def _shown_ranges(self) -> str:
        if not self.ranges:
            return ""
        longest = sorted(self.ranges, key=lambda ends: ends[0] - ends[1])[:_MOST_RANGES]
        shown = [str(first) if first == last else f"{first}-{last}" for first, last in sorted(longest)]
        return f" ({', '.join([*shown, '…'] if len(self.ranges) > len(longest) else shown)})"


@dataclass(frozen=True, slots=True)
class Shorter:
    """A shortened text, or a tool's result with less text."""

    content: Any
    original_tokens: int = 0
    compressed_tokens: int = 0
    left_out: LeftOut | None = None
    """What was left out, if it can be counted in something else than tokens."""

    def marker(self, handle: str) -> str:
        """Return the marker that says what was left out."""
        return (self.left_out or tokens_left_out(self.original_tokens, self.compressed_tokens)).marker(handle)


def _are_whole(original: object, kept: object) -> bool:
    """Tell whether all that is kept of a list are whole items of it."""
    items = iter(original if isinstance(original, list) else ())
    return isinstance(kept, list) and all(item in items for item in kept)


def _amount(count: int, unit: str) -> str:
    return f"{count:,} {unit}{'' if count == 1 else 's'}" if count else ""


def _json_list(text: str) -> object:
    """Return the list that a text is in JSON; None for other text."""
    try:
        return json.loads(text) if text.lstrip().startswith("[") else None
    except (ValueError, RecursionError):
        return None


def tokens_left_out(original: int, kept: int) -> LeftOut:
    """Return the difference in tokens."""
    return LeftOut(max(original - kept, 1), "token")


def marker_room(count: Callable[[str], int]) -> int:
    """Return the number of tokens that nearly every marker fits into, with the line break before it."""
    longest = LeftOut(3_057, "line", ((111, 333), (400, 1_825), (2_000, 3_444), (4_000, 4_001)))
    return count("\n" + longest.marker(f"{PREFIX}0a1b2c3d"))


def without_marker(text: str) -> tuple[str, str]:
    """Return a result without the marker that ends it, and the handle of the marker; "" if there is none."""
    # Only the end is searched, so the time does not depend on the length of the text.
    found = _MARKER.search(text, max(text.rfind("\n"), 0))
    return (text[: found.start()], found[1]) if found else (text, "")


def shorter_marker(handle: str) -> str:
    """Return the marker of a result of which more has been left out since: it tells no lines."""
    return f"[… left out: expand {handle}]"


def guarded(text: str) -> str:
    """Return the text with a backslash in whatever looks like a handle, so that it cannot be mistaken for one.

    JSON stays the same JSON: there, the hyphen is written as an escape.
    """
    if not _HANDLE.search(text):
        return text
    if is_json(text):
        return _HANDLE.sub(lambda found: f"{found[1]}\\u{ord(found[2]):04x}", text)
    return _HANDLE.sub(r"\1\\\2", text)


def lines_of(text: str) -> list[Span]:
    """Return the lines of a text with their line ends. A very long line counts as several."""
    spans: list[Span] = []
    start = 0
    for line in split_lines(text):
        end = start + len(line)
        most = _LONGEST_LINE
        if 4 * len(line) > _LONGEST_LINE:
            most = _LONGEST_LINE * len(line) // len(line.encode("utf-8", "surrogatepass"))
        while end - start > most:
            cut = _cut(text, start, most)
            spans.append(Span(start, cut))
            start = cut
        spans.append(Span(start, end))
        start = end
    return spans


def _cut(text: str, start: int, most: int) -> int:
    """Return where to cut a long line: after white space, else between graphemes."""
    limit = start + most
    space = text.rfind(" ", start + most // 2, limit)
    return space + 1 if space >= 0 else start + (whole_graphemes(text[start:limit], most) or most)


def _covers(text: str, span: Span, start: int, end: int) -> bool:
    """Return whether a span has something of the line besides white space."""
    return bool(text[max(span.start, start) : min(span.end, end)].strip())


def is_json(text: str) -> bool:
    """Return whether a text is a JSON list or object, however deeply nested."""
    if not text.lstrip().startswith(("[", "{")):
        return False
    try:
        json.loads(text)
    except ValueError:
        return False
    except RecursionError:
        return True
    return True
