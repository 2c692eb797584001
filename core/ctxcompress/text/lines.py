"""Lines as editors, Markdown and compilers see them, and the marks that lists begin them with."""

import re

__all__ = ["LONGEST_MARKER", "after_marks", "is_marker", "marker_at_end", "split_lines"]

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_MARKER = (
    r"(?:[-*+\u2022\u2023\u25e6\u2013]|[*_]{0,3}\(?(?:\d{1,9}(?:\.\d{1,3}){0,4}|[A-Za-z]|[ivxIVX]{1,5})[.)][*_]{0,3})"
)
_MARKERS = rf"[ \t>]*(?:{_MARKER}[ \t]+){{0,3}}{_MARKER}\s*+\Z"
_ALONE = re.compile(_MARKERS)
_AT_END = re.compile(rf"^{_MARKERS}", re.MULTILINE)
_MARKS = re.compile(rf"(?:\s*+(?:#{{1,6}}+|[>|]|{_MARKER})(?=\s))*+\s*+")
LONGEST_MARKER = 24
"""Characters of a marker with the white space around it."""


def split_lines(text: str) -> list[str]:
    """The lines of `text` with their ends; together exactly `text`. Unlike `str.splitlines`, it takes form feeds and
    Unicode's separators for characters of a line."""
    return _LINE.findall(text)


def is_marker(text: str) -> bool:
    """Whether there is nothing but what a list item or a numbered section begins with: "2.", "a)", "-"."""
    return len(text) <= LONGEST_MARKER and _ALONE.match(text) is not None


def marker_at_end(text: str, start: int, end: int) -> int:
    """Where the marker begins that the last line of ``text[start:end]`` is nothing but; `end` if it is not."""
    tail = max(start, end - LONGEST_MARKER)
    found = _AT_END.search(text[tail:end])
    return tail + found.start() if found and (found.start() or tail == start) else end


def after_marks(text: str, start: int = 0) -> int:
    """Where the words begin after the markers of headings, quotes, tables and lists that a text begins with from
    `start` on; `start` if it is nothing else."""
    found = _MARKS.match(text, start)
    return found.end() if found and found.end() < len(text) else start
