"""Where a quote stands in texts."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

__all__ = ["Place", "find_quote"]

_ELLIPSIS = re.compile(r"\[(?:\.{3}|\u2026)\]|\.{3,}+|\u2026")
_MARKS = "\"'\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb\u300c\u300d` \t\r\n"
_BETWEEN = "\n\n"


class Place(NamedTuple):
    """Characters ``[start, end)`` of one of several texts."""

    number: int
    start: int
    end: int


def find_quote(texts: Sequence[str], quote: str) -> Iterator[tuple[Place, ...]]:
    """Each place where a quote stands in texts that follow one another: its part in each text that it goes over.

    White space counts as white space, however much there is. Quotation marks around the quote, and dots for what was
    left out of it, may be the quoter's: what is between them then stands in this order, at the first place it does.
    """
    joined = _BETWEEN.join(texts)
    starts = list(accumulate((len(text) + len(_BETWEEN) for text in texts[:-1]), initial=0))
    for parts in ([quote], [quote.strip(_MARKS)], _ELLIPSIS.split(quote.strip(_MARKS))):
        found = list(_found(joined, [words for part in parts if (words := part.split())]))
        if found:
            for ranges in found:
                yield tuple(place for start, end in ranges for place in _places(texts, starts, start, end))
            return


def _found(text: str, parts: Sequence[Sequence[str]]) -> Iterator[list[tuple[int, int]]]:
    """Each place of the only part; or the first one of several, each after the one before."""
    patterns = [re.compile(r"\s++".join(map(re.escape, words))) for words in parts]
    if len(patterns) == 1:
        yield from ([match.span()] for match in patterns[0].finditer(text))
        return
    ranges: list[tuple[int, int]] = []
    for pattern in patterns:
        match = pattern.search(text, ranges[-1][1] if ranges else 0)
        if match is None:
            return
        ranges.append(match.span())
    if ranges:
        yield ranges


def _places(texts: Sequence[str], starts: Sequence[int], start: int, end: int) -> Iterator[Place]:
    for number in range(bisect_right(starts, start) - 1, len(texts)):
        begin = starts[number]
        if begin >= end:
            return
        first, last = max(start, begin), min(end, begin + len(texts[number]))
        if first < last:
            yield Place(number, first - begin, last - begin)
