"""Lines, list markers, graphemes and invisible characters: where a text can be cut, and how it is shortened."""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise, takewhile

import regex

from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.text.words import WITHOUT_SPACES

__all__ = [
    "BREAKS",
    "EQUAL_DIGITS",
    "INVISIBLE",
    "LONGEST_MARKER",
    "after_marks",
    "are_wrapped",
    "ends_sentence",
    "is_between_graphemes",
    "is_marker",
    "longest_prefix",
    "marker_at_end",
    "one_line",
    "replace_surrogates",
    "shortened",
    "shortened_path",
    "spelled",
    "split_lines",
    "whole_graphemes",
]

INVISIBLE = (
    r"\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    r"\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Control characters, direction marks and Unicode's Default_Ignorable_Code_Point, for a set in a regular expression."""

EQUAL_DIGITS = str.maketrans("123456789", "000000000")
"""For `str.translate`: all digits become 0."""

BREAKS = r"\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
"""Every character that some program treats as a line end, for a set in a regular expression."""

_ENDED = lazy_regex(
    r"[.!?\u2026\u3002\uff01\uff1f\uff61\u061f\u06d4\u0964\u0965\u1362\u104a\u104b\u17d4]"
    r"[\"')\]*_`\u2019\u201c\u201d\u00bb\u203a\u300d\u300f\uff09]*+(?:\[\w{1,3}\])*+\Z"
)
"""The end of a sentence, with closing quotation marks, brackets and the numbers of notes."""
_LONGEST_END = 8
"""The characters in which it is looked for."""
_FULL, _SMALL = 0.8, 0.3
"""The least share of wrapped lines that have no room for the next word, and that begin small."""
_OPENING = "-([{<'`\""
_SURROGATE = lazy_regex(r"[\ud800-\udfff]")
_LINE = lazy_regex(r"[^\n]*\n|[^\n]+")
_MARKER = (
    r"(?:[-*+\u2022\u2023\u25e6\u2013]|[*_]{0,3}\(?(?:\d{1,9}(?:\.\d{1,3}){0,4}|[A-Za-z]|[ivxIVX]{1,5})[.)][*_]{0,3})"
)
_SPACE = r"[^\S\n]"
_MARKERS = rf"(?:{_SPACE}|>)*+(?:{_MARKER}{_SPACE}+){{0,3}}{_MARKER}\s*+\Z"
_MARKER_ALONE = lazy_regex(_MARKERS)
_MARKER_AT_END = lazy_regex(rf"^{_MARKERS}", re.MULTILINE)
_LEADING_MARKS = lazy_regex(rf"(?:\s*+(?:#{{1,6}}+|[>|]|{_MARKER})(?=\s))*+\s*+")
LONGEST_MARKER = 24
"""The most characters of a list marker, including the white space around it."""
# Both patterns match at every position, so no text is searched twice.
_WORD = lazy_regex(rf"\s*+(?:[{WITHOUT_SPACES}]|[^\s{WITHOUT_SPACES}]++)|\s++")
_PART = regex.compile(r"\s*+(?:\w++|\W)")
"""A part of a word, as of an address: letters or one sign. Unlike in `re`, \\w has combining marks here."""
_GRAPHEME_LOOKBACK = 64
"""How many characters back a grapheme is searched for. The boundaries of longer graphemes may be wrong."""
# Two flags of a row are matched explicitly: \X returns to the first flag for each one, which takes quadratic time.
_GRAPHEME = regex.compile(r"\p{Regional_Indicator}{2}(?=\p{Regional_Indicator})|\X")
_PUNCTUATION = r"!-~\u2010-\u2027\u3001-\u3011\uff01-\uff1f"
_SURELY_BETWEEN = lazy_regex(
    rf"(?:[^\S\r]|[{_PUNCTUATION}\u0964\u061f])(?:[^\W\u0e33\u0eb3\uff9e\uff9f]|[{_PUNCTUATION}])"
)
"""White space or punctuation, and then a character that begins a grapheme. Nearly all cuts are at such places."""
_MOST_SHOWN = 2_000
"""The most characters of a text that `one_line` reads."""


def replace_surrogates(text: str, character: str) -> str:
    """Return `text` with a character in place of each lone surrogate, which UTF-8 cannot encode."""
    try:
        text.encode()  # faster than a search, and nearly always all there is to do
    except UnicodeEncodeError:
        return _SURROGATE.sub(character, text)
    return text


def split_lines(text: str) -> list[str]:
    """Return the lines of `text` with their line ends; joined they are exactly `text`.

    Unlike `str.splitlines`, it does not split at form feeds or Unicode separators.
    """
    return _LINE.findall(text)


def are_wrapped(lines: Sequence[str]) -> bool:
    """Tell whether these are lines of wrapped prose: they end where the next word would not fit, or where a sentence
    ends, and some begin with a small letter. The first one may lack its beginning."""
    lines = [line.expandtabs().rstrip() for line in lines]
    width = max(map(len, lines))
    pairs = [(line, below.strip().partition(" ")[0]) for line, below in pairwise(lines)]
    full = 1 + sum(len(line) + 1 + len(word) > width or ends_sentence(line) for line, word in pairs[1:])
    small = sum(word.lstrip(_OPENING)[:1].islower() for _, word in pairs)
    return full >= _FULL * len(pairs) and small >= _SMALL * len(pairs)


def is_marker(text: str) -> bool:
    """Return whether `text` is nothing but the marker of a list item or a numbered section: "2.", "a)", "-"."""
    return len(text) <= LONGEST_MARKER and _MARKER_ALONE.match(text) is not None


def marker_at_end(text: str, start: int, end: int) -> int:
    """Return where the marker begins if the last line of ``text[start:end]`` is only a marker, else `end`."""
    tail = max(start, end - LONGEST_MARKER)
    found = _MARKER_AT_END.search(text[tail:end])
    return tail + found.start() if found and (found.start() or tail == start) else end


def after_marks(text: str, start: int = 0) -> int:
    """Return where the words begin after the markers of headings, quotes, tables and lists at `start`.

    Returns `start` if only markers follow.
    """
    found = _LEADING_MARKS.match(text, start)
    return found.end() if found and found.end() < len(text) else start


def ends_of_graphemes(text: str) -> Iterator[int]:
    """Return the end offset of each grapheme of `text`."""
    return _ends(_GRAPHEME, text)


def is_between_graphemes(text: str, position: int) -> bool:
    """Return whether `position` is a grapheme boundary, so that a cut there splits no grapheme."""
    if not 0 < position < len(text):
        return True
    if _SURELY_BETWEEN.match(text, position - 1):
        return True
    start = position - 1
    while start and not text[start].isascii() and position - start < _GRAPHEME_LOOKBACK:
        start -= 1
    # The text after the next character does not matter and may be very long.
    return any(match.end() == position for match in _GRAPHEME.finditer(text, start, position + 1))


def whole_graphemes(text: str, most: int) -> int:
    """Return the length of the longest prefix of `text` with whole graphemes and at most `most` characters."""
    return max(takewhile(most.__ge__, ends_of_graphemes(text)), default=0)


def one_line(text: str) -> str:
    """Return `text` on one line: white space collapsed, invisible characters and direction marks removed.

    Only the beginning of a very long text is returned.
    """
    kept = (" " if c.isspace() else c for c in text[:_MOST_SHOWN] if c.isspace() or unicodedata.category(c)[0] != "C")
    return " ".join("".join(kept).split())


def shortened(text: str, length: int) -> str:
    """Return `text` truncated to `length` characters, between words where possible and never inside a grapheme."""
    if len(text) <= length:
        return text
    end = whole_graphemes(text, length - 1)
    between = text.rfind(" ", 0, end)
    return text[: between if between > length // 2 else end] + "…"


def shortened_path(path: str, length: int) -> str:
    """Return `path` truncated to `length` characters at its beginning, because the file name says most."""
    return path if len(path) <= length else "…" + path[1 - length :]


def spelled(word: str) -> str:
    """Return a regular expression for `word` that allows invisible characters between its letters."""
    return rf"[{INVISIBLE}]*+".join(map(re.escape, word))


def longest_prefix(
    text: str, *, fits: Callable[[int], bool], lines: bool, skip: int = 0, whole_words: bool = False
) -> int:
    """Return the length of the longest prefix of `text` for which `fits(length)` is true, or 0 if there is none.

    With `lines`, the prefix ends at a line end if one line fits. Otherwise it ends between words. If not even the
    first word fits, `whole_words` is off and nothing precedes the word, the cut is at a sign within the word, or else
    between graphemes. Scripts without spaces between words are cut between graphemes. The prefix never ends with a
    list marker whose text is dropped. `fits` is called O(log(length)) times.

    skip: number of leading characters that are worthless alone, such as an opening fence. The markers of list items,
    quotes and headings are worthless too. A prefix of nothing but these and white space counts as none.
    """
    content = after_marks(text, skip)
    indented = text[skip : skip + 1].isspace()  # perhaps the first word would fit without its indentation
    ways: list[Iterator[int]] = [_ends(_LINE, text)] * lines + [_ends(_WORD, text)]
    if not (whole_words or indented):
        ways += [_ends(_PART, text), ends_of_graphemes(text)]
    for ends in ways:
        length = _longest(ends, text, fits)
        length = marker_at_end(text, 0, length) if length < len(text) else length
        if text[content:length].strip():
            return length
    return 0


def _ends(pattern: "re.Pattern[str] | regex.Pattern[str]", text: str) -> Iterator[int]:
    return (match.end() for match in pattern.finditer(text))


def _longest(ends: Iterable[int], text: str, fits: Callable[[int], bool]) -> int:
    """Return the last of `ends` that fits and splits no grapheme, or 0.

    `fits` is tried after 1, 3, 7, ... pieces, so a text that is far too long is not read to its end.
    """
    found = [0]
    for end in ends:
        found.append(end)
        if len(found) & (len(found) - 1) == 0 and not fits(end):
            break
    found = [end for end in found if is_between_graphemes(text, end)]
    return found[bisect_left(found, True, lo=1, key=lambda end: not fits(end)) - 1]


def ends_sentence(text: str) -> bool:
    """Tell whether a text ends a sentence, whatever white space follows."""
    return _ENDED.search(text.rstrip()[-_LONGEST_END:]) is not None
