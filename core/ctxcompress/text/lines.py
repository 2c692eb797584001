"""Lines as editors, Markdown and compilers see them, and the marks that lists begin them with."""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator

import regex

from ctxcompress.text.words import WITHOUT_SPACES

__all__ = [
    "BREAKS",
    "INVISIBLE",
    "LONGEST_MARKER",
    "after_marks",
    "ends_of_graphemes",
    "is_between_graphemes",
    "is_marker",
    "longest_prefix",
    "marker_at_end",
    "one_line",
    "shortened",
    "shortened_path",
    "spelled",
    "split_lines",
    "whole_graphemes",
]

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


_LOOKED_BACK = 64
"""Characters from which it is found out whether a grapheme ends somewhere; of a longer one that may be told wrongly."""
# Two of a row of flags are matched here: \X goes back to the first of them for every one, and takes time by the square.
_GRAPHEME = regex.compile(r"\p{Regional_Indicator}{2}(?=\p{Regional_Indicator})|\X")
_PUNCTUATION = r"!-~\u2010-\u2027\u3001-\u3011\uff01-\uff1f"
_SURELY_BETWEEN = re.compile(
    rf"(?:[^\S\r]|[{_PUNCTUATION}\u0964\u061f])(?:[^\W\u0e33\u0eb3\uff9e\uff9f]|[{_PUNCTUATION}])"
)
"""White space or punctuation, and what begins a grapheme: nearly all places where texts are cut."""


def ends_of_graphemes(text: str) -> Iterator[int]:
    """Where each grapheme of `text` ends."""
    return (match.end() for match in _GRAPHEME.finditer(text))


def is_between_graphemes(text: str, position: int) -> bool:
    """Whether a cut here is within no grapheme."""
    if not 0 < position < len(text):
        return True
    if _SURELY_BETWEEN.match(text, position - 1):
        return True
    start = position - 1
    while start and not text[start].isascii() and position - start < _LOOKED_BACK:
        start -= 1
    # What comes after the next character does not matter, and may be very long.
    return any(match.end() == position for match in _GRAPHEME.finditer(text, start, position + 1))


def whole_graphemes(text: str, most: int) -> int:
    """The length of the longest beginning of `text` with at most so many characters that ends between graphemes."""
    end = 0
    for next_ in ends_of_graphemes(text):
        if next_ > most:
            break
        end = next_
    return end


_LOOKED_AT = 2_000
"""Characters at the beginning of which something is shown."""


def one_line(text: str) -> str:
    """The same on one line: white space folded, nothing that cannot be seen or that turns the direction around.

    Of a very long one the beginning.
    """
    kept = (" " if c.isspace() else c for c in text[:_LOOKED_AT] if c.isspace() or unicodedata.category(c)[0] != "C")
    return " ".join("".join(kept).split())


def shortened(text: str, length: int) -> str:
    """Cut between words, where that leaves something, and never in a grapheme."""
    if len(text) <= length:
        return text
    end = whole_graphemes(text, length - 1)
    between = text.rfind(" ", 0, end)
    return text[: between if between > length // 2 else end] + "…"


def shortened_path(path: str, length: int) -> str:
    """Cut where it begins: the file's name says most."""
    return path if len(path) <= length else "…" + path[1 - length :]


INVISIBLE = (
    r"\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    r"\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Controls, marks of direction, and what Unicode says may be ignored where it is shown (Default_Ignorable_Code_Point):
a set of a regular expression."""

BREAKS = r"\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
"""All that some reader takes for the end of a line."""


def spelled(word: str) -> str:
    """A regular expression for a word with anything between its letters that cannot be seen."""
    return rf"[{INVISIBLE}]*+".join(map(re.escape, word))


# Each matches wherever it is tried, so that no text is searched twice.
_WORD = re.compile(rf"\s*+(?:[{WITHOUT_SPACES}]|[^\s{WITHOUT_SPACES}]++)|\s++")
_PART = regex.compile(r"\s*+(?:\w++|\W)")
"""Of a word, such as an address: its letters, or one sign. Unlike those of `re`, these letters have their marks."""


def longest_prefix(
    text: str, *, fits: Callable[[int], bool], lines: bool, skip: int = 0, whole_words: bool = False
) -> int:
    """The length of the longest beginning of `text` for which `fits(length)` holds, 0 if none does.

    It ends at a line's end if `lines` is set and one line fits, else between words, and only where not even the first
    word fits, nothing stands before it and `whole_words` is not set, at a sign within the word or else between
    graphemes. It never ends with the marker of a list whose text is left out. Scripts without spaces between words are
    cut between graphemes. `fits` is asked O(log(length)) times.

    skip: how many characters at the beginning are worth nothing alone, such as an opening fence; so are what a list
    item, a quote or a heading begins with. A beginning with nothing but these and white space counts as none.
    """
    said = after_marks(text, skip)
    indented = text[skip : skip + 1].isspace()  # it may be the indentation alone that the first word is too long with
    ways: list[Iterator[int]] = [_ends(_LINE, text)] * lines + [_ends(_WORD, text)]
    if not (whole_words or indented):
        ways += [_ends(_PART, text), ends_of_graphemes(text)]
    for ends in ways:
        length = _longest(ends, text, fits)
        length = marker_at_end(text, 0, length) if length < len(text) else length
        if text[said:length].strip():
            return length
    return 0


def _ends(pattern: "re.Pattern[str] | regex.Pattern[str]", text: str) -> Iterator[int]:
    return (match.end() for match in pattern.finditer(text))


def _longest(ends: Iterable[int], text: str, fits: Callable[[int], bool]) -> int:
    """The last of these ends of pieces that is within no grapheme and fits; 0 if none does. Pieces are looked at in
    growing numbers, so that a text far too long is not read to its end."""
    found = [0]
    for end in ends:
        found.append(end)
        if len(found) & (len(found) - 1) == 0 and not fits(end):
            break
    found = [end for end in found if is_between_graphemes(text, end)]
    return found[bisect_left(found, True, lo=1, key=lambda end: not fits(end)) - 1]
