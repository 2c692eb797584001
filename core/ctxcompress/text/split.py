"""The part of a text that fits, when the whole does not: cut at lines or words, inside a word only if that must be."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator

import regex

from ctxcompress.text.graphemes import ends_of_graphemes, is_between_graphemes
from ctxcompress.text.lines import after_marks, marker_at_end
from ctxcompress.text.words import WITHOUT_SPACES

__all__ = ["longest_prefix"]

# Each matches wherever it is tried, so that no text is searched twice.
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
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
