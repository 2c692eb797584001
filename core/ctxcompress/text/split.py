"""The part of a text that fits, when the whole does not: cut at lines or words, inside a word only if that must be."""

import re
from bisect import bisect_left
from collections.abc import Callable

__all__ = ["longest_prefix", "whole_graphemes"]

# Each matches wherever it is tried, so that no text is searched twice.
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_WORD = re.compile(r"\s*+\S++|\s++")
# A character with what belongs to it: marks, variation selectors, emoji modifiers and what a zero-width joiner
# ties to it; flags as pairs; CRLF. That covers what of Unicode's extended grapheme clusters (UAX 29) is in common use.
_EXTEND = (
    r"[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06ed"
    r"\u0711\u0730-\u074a\u07a6-\u07b0\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963\u0981-\u0983\u09bc-\u09cd"
    r"\u0a01-\u0a03\u0a3c-\u0a51\u0abc-\u0acd\u0b3c-\u0b57\u0bbe-\u0bcd\u0c3e-\u0c56\u0cbc-\u0cd6\u0d3b-\u0d4d\u0dca-\u0ddf"
    r"\u0e31\u0e33-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb3-\u0ebc\u0ec8-\u0ece\u0f71-\u0f84\u102b-\u103e\u1160-\u11ff\u17b4-\u17d3"
    r"\u1ab0-\u1aff\u1dc0-\u1dff\u200c\u20d0-\u20ff\u3099\u309a\ufe00-\ufe0f\ufe20-\ufe2f\U0001f3fb-\U0001f3ff"
    r"\U000e0020-\U000e007f\U000e0100-\U000e01ef]"
)
_GRAPHEME = re.compile(
    rf"\r\n|[\U0001f1e6-\U0001f1ff]{{2}}|[\s\S]{_EXTEND}{{0,64}}(?:\u200d[\s\S]?{_EXTEND}{{0,64}}){{0,64}}"
)


def longest_prefix(text: str, *, fits: Callable[[int], bool], lines: bool, skip: int = 0) -> int:
    """The length of the longest beginning of `text` for which `fits(length)` holds, 0 if none does.

    It ends at a line's end if `lines` is set and one line fits, else between words, and only where
    not even the first word fits, and nothing stands before it, between graphemes. `fits` is asked O(log(length)) times.

    skip: how many characters at the beginning are worth nothing alone, such as an opening fence. A
    beginning with nothing but these and white space counts as none.
    """
    indented = text[skip : skip + 1].isspace()  # it may be the indentation alone that the first word is too long with
    for pattern in (*[_LINE] * lines, _WORD, *[_GRAPHEME] * (not indented)):
        length = _longest(pattern, text, fits)
        if text[skip:length].strip():
            return length
    return 0


def whole_graphemes(text: str, most: int) -> int:
    """The length of the longest beginning of `text` with at most so many characters that ends between graphemes."""
    end = 0
    for match in _GRAPHEME.finditer(text):
        if match.end() > most:
            break
        end = match.end()
    return end


def _longest(pattern: re.Pattern[str], text: str, fits: Callable[[int], bool]) -> int:
    """Pieces are looked at in growing numbers, so that a text far too long is not read to its end."""
    ends = [0]
    for match in pattern.finditer(text):
        ends.append(match.end())
        if len(ends) & (len(ends) - 1) == 0 and not fits(ends[-1]):
            break
    return ends[bisect_left(ends, True, lo=1, key=lambda end: not fits(end)) - 1]
