"""Graphemes, what a reader takes for one character: Unicode's extended grapheme clusters (UAX 29), by regex."""

import re
from collections.abc import Iterator

import regex

__all__ = ["ends_of_graphemes", "is_between_graphemes", "whole_graphemes"]

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
