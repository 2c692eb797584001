"""Comments of whole lines: the sign that they begin with, and the parts of a long one."""

import re
from collections import Counter
from collections.abc import Iterator

from ctxcompress.code.lexing import LANGUAGES, UNKNOWN
from ctxcompress.lazy_regex import lazy_regex

__all__ = ["closed_lines", "comment_parts", "comment_sign", "is_disabled"]

_SIGN = lazy_regex(r"^[ \t]*+(#(?![!\[])|//|--(?=[ ])|;|%)", re.MULTILINE)
_DISABLED = lazy_regex(r"[ \t]*+(?:#|//|--|;|%)(?:(?=\w)|[ \t]*+[\w.-]++[ \t]*+=)")
_LINE = lazy_regex(r"[^\n]++(?:\n(?:[ \t]*+\r?\n)*+)?")
"""A line with the blank lines after it."""
_GOES_ON = lazy_regex(r"[ \t]*+(?:[.)\]}&|+]|[?:][ ])")
"""The beginning of a line that is invalid without the line above it."""
_WORD = lazy_regex(r"\w")
_LONG = 500
"""The most characters of a comment without code that is one part."""


def comment_sign(text: str, language: str) -> str:
    """Return what begins a comment in a language, or in most comments of the text if the language is unknown.

    language: a name that `source_language` returns.
    """
    if language in LANGUAGES:
        return LANGUAGES[language].comment
    return max(Counter(_SIGN.findall(text)).items(), key=lambda item: item[1], default=(UNKNOWN.comment, 0))[0]


def is_disabled(line: str) -> bool:
    """Tell whether a comment is a line of code that is turned off: its sign is right before a word, or it sets
    something."""
    return _DISABLED.match(line) is not None


def comment_parts(text: str, start: int, end: int, sign: str | tuple[str, ...]) -> list[int]:
    """Return where each part begins of the comment that stands at `start`. The last part belongs to the text below it.

    A part ends with code that is turned off, which the lines above it describe. In a comment with such code, and in a
    long one, it also ends with a line without a word. end: where the text below ends. sign: what begins a comment, or
    several signs.
    """
    begins, paragraphs, depth, stop = [start], [], 0, start
    for found in _LINE.finditer(text, start, end):
        line = found[0]
        if not line.lstrip().startswith(sign):
            break
        stop, is_code = found.end(), depth > 0 or is_disabled(line)
        depth = max(0, depth + _net(line)) if is_code else 0
        if is_code and not depth:
            begins.append(stop)
        elif not _WORD.search(line):
            paragraphs.append(stop)
    is_cut = len(begins) > 1 or stop - start > _LONG
    return sorted([*begins, *paragraphs]) if is_cut else begins


def closed_lines(text: str, start: int, end: int) -> Iterator[int]:
    """Yield where lines end between two offsets: not within a bracket that one of them opens, nor above a line that
    goes on from it."""
    depth = 0
    for found in _LINE.finditer(text, start, end):
        depth = max(0, depth + _net(found[0]))
        if not depth and not _GOES_ON.match(text, found.end()):
            yield found.end()


def _net(line: str) -> int:
    """Return how many more brackets a line opens than it closes."""
    return sum(map(line.count, "([{")) - sum(map(line.count, ")]}"))
