"""The parts of a long docstring: its paragraphs, and the entries that describe one parameter each.

An entry is a line such as `size : int` (numpydoc), `size (int): How many.` (Google) or `:param size: How many.`
(Sphinx), with the lines about it, which are usually indented more.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from ctxcompress.lazy_regex import lazy_regex

__all__ = ["DocPart", "docstring_parts", "spaced"]

_NAME = r"[`*\"']{0,2}[A-Za-z_][\w.]*+[`\"']{0,2}"
_NAMES = rf"(?P<names>{_NAME}(?:[ \t]*+,[ \t]*+{_NAME})*+)"
_FIELD = r"[:@](?!type\b)(?:[a-z]++[ \t]++)?+(?P<field>[^:\n]++):"
_ENTRY = lazy_regex(rf"(?:{_FIELD}|{_NAMES}(?:[ \t]*+\([^)\n]*+\)++)?(?:[ \t]*+:|(?=[ \t]*+$)))(?!\S)")
"""The beginning of an entry: a field of Sphinx other than a type, or names with their type in parentheses."""
_HEADER = lazy_regex(r"[A-Z][A-Za-z ]*+:$")
_UNDERLINE = lazy_regex(r"(?:-{3,}+|={3,}+|~{3,}+)$")
_PARAGRAPH_END = lazy_regex(r"\n[ \t]*\r?\n\s*?(?=[ \t]*\S)")


class DocPart(NamedTuple):
    """A part of a docstring."""

    start: int
    end: int
    entry: str
    """The names that the entry that it is in describes; "" outside of entries."""
    is_later: bool
    """Whether it is a later paragraph of an entry."""


class _Line(NamedTuple):
    """A line of a docstring that is not blank."""

    start: int
    indent: int
    text: str
    """Without the white space around it."""
    is_first: bool
    """Whether the line before it is blank."""


def docstring_parts(text: str, start: int, end: int, most: int) -> Iterator[DocPart]:
    """Yield the parts of the lines of a docstring, which partition them.

    Each entry is a part. Paragraphs outside of entries, and those of a long entry, are put together as long as they fit
    `most` characters.
    """
    cuts = {start: "", **_entries(text, start, end)}
    for (begin, entry), stop in zip(cuts.items(), [*list(cuts)[1:], end], strict=True):
        ends = [match.end() for match in _PARAGRAPH_END.finditer(text, begin, stop)]
        bounds = [begin, *spaced([at for at in ends if at < stop], begin, most), stop]
        for first, last in pairwise(bounds):
            yield DocPart(first, last, entry, bool(entry) and first > begin)


def spaced(ends: Sequence[int], start: int, most: int) -> Iterator[int]:
    """Yield the paragraph ends to cut at, so that each piece has as many paragraphs as fit `most` characters."""
    for end, following in pairwise([*ends, math.inf]):
        if following - start > most:
            yield int(end)
            start = int(end)


def _entries(text: str, start: int, end: int) -> dict[int, str]:
    """Return where entries begin, each with its names, and where the text after them begins, with "", in order.

    The header of a list of entries belongs to the first one.
    """
    found: dict[int, str] = {}
    header, within = -1, -1  # the start of the header right above, the indentation of the entry that is open
    lines = list(_lines(text, start, end))
    for number, line in enumerate(lines):
        below = lines[number + 1] if number + 1 < len(lines) else line
        if within < 0 or line.indent <= within:
            may_begin = header >= 0 or line.is_first or line.indent == within or line.text[0] in ":@"
            names = _names(line, below) if may_begin else ""
            if names:
                found[line.start if header < 0 else header] = names
                within = line.indent
            elif within >= 0 and (line.is_first or line.indent < within):
                found[line.start] = ""
                within = -1
        header = _header(line, lines[number - 1] if number else line)
    return found


def _names(line: _Line, below: _Line) -> str:
    """Return the names at the beginning of a line if it begins an entry, else "".

    below: the next line that is not blank.
    """
    match = _ENTRY.match(line.text)
    if match is None or _HEADER.match(line.text) or _UNDERLINE.match(below.text):
        return ""
    return match["field"] or match["names"] if match[0].endswith(":") or below.indent > line.indent else ""


def _header(line: _Line, above: _Line) -> int:
    """Return where the header begins that ends with this line, or -1."""
    if _UNDERLINE.match(line.text):
        return above.start
    return line.start if _HEADER.match(line.text) else -1


def _lines(text: str, start: int, end: int) -> Iterator[_Line]:
    is_first = True
    for line in text[start:end].splitlines(keepends=True):
        bare = line.strip()
        if bare:
            yield _Line(start, len(line) - len(line.lstrip()), bare, is_first)
        is_first = not bare
        start += len(line)
