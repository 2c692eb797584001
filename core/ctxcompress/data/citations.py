"""Find a quote in kept texts, and the characters of the original text that it came from."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from ctxcompress.data.passages import places
from ctxcompress.lazy_regex import lazy_regex

__all__ = ["Origins", "Place", "find_quote"]

_ELLIPSIS = lazy_regex(r"\[(?:\.{3}|\u2026)\]|\.{3,}+|\u2026")
_MARKS = "\"'\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb\u300c\u300d` \t\r\n"
_ESCAPE = lazy_regex(r"^(\s*+)\\(?=\\*+[\[*])", re.MULTILINE)
_WORD = lazy_regex(r"\S++")
_BETWEEN = "\n\n"


class Place(NamedTuple):
    """Characters ``[start, end)`` of one of several texts."""

    number: int
    start: int
    end: int


def find_quote(texts: Sequence[str], quote: str) -> Iterator[tuple[Place, ...]]:
    """Yield each occurrence of a quote in consecutive texts, as one place for each text that it runs through.

    Any run of white space matches any other. A quote that does not occur as it is may have quotation marks around it,
    dots for parts that were dropped from it (the parts between them are then found once, in order), or what formats add
    to texts: a backslash before a line, or "&lt;". Linear in the texts.
    """
    folded_texts = _FoldedTexts(texts)
    bare = quote.strip(_MARKS)
    unescaped = _ESCAPE.sub(r"\1", bare).replace("&lt;", "<")
    for parts in ([quote], [bare], _ELLIPSIS.split(bare), [unescaped]):
        found = list(folded_texts.find([folded for part in parts if (folded := " ".join(part.split()))]))
        if found:
            for ranges in found:
                yield tuple(place for start, end in ranges for place in folded_texts.places(start, end))
            return


class Origins:
    """Maps the characters of a kept text to those of its original text."""

    def __init__(self, kept: str, spans: Sequence[tuple[int, int]], markers: Sequence[tuple[int, str]]) -> None:
        """kept: the texts of the spans, with the markers between them. markers: (number of the next span, text)."""
        self._kept, self._spans = kept, spans
        marked = Counter[int]()
        for before, marker in markers:
            marked[before] += len(marker)
        sizes = [end - start for start, end in spans]
        begins = accumulate((size + marked[number] for number, size in enumerate(sizes, 1)), initial=marked[0])
        self._begins = list(begins)[: len(spans)]

    def at(self, start: int, end: int) -> tuple[tuple[int, int, str], ...]:
        """Return the parts of the original text that characters ``[start, end)`` come from: (start, end, text)."""
        found = []
        for number in range(max(bisect_right(self._begins, start) - 1, 0), len(self._begins)):
            begin = self._begins[number]
            if begin >= end:
                break
            origin = self._spans[number][0] - begin
            first, last = max(start, begin), min(end, self._spans[number][1] - origin)
            if first < last:
                found.append((origin + first, origin + last, self._kept[first:last]))
        return tuple(found)


class _FoldedTexts:
    """Consecutive texts, joined with single spaces between all words."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._sizes = [len(text) for text in texts]
        self._starts = list(accumulate((size + len(_BETWEEN) for size in self._sizes[:-1]), initial=0))
        joined = _BETWEEN.join(texts)
        words = [match.span() for match in _WORD.finditer(joined)]
        self._folded = " ".join(joined[start:end] for start, end in words)
        self._begins = [start for start, _ in words]
        self._folded_begins = list(accumulate((end - start + 1 for start, end in words[:-1]), initial=0))

    def find(self, parts: Sequence[str]) -> Iterator[list[tuple[int, int]]]:
        """Yield each occurrence of a single part, or the first occurrence of several parts in order."""
        if len(parts) == 1:
            yield from ([(start, start + len(parts[0]))] for start in places(parts[0], self._folded))
            return
        ranges: list[tuple[int, int]] = []
        for part in parts:
            start = self._folded.find(part, ranges[-1][1] if ranges else 0)
            if start < 0:
                return
            ranges.append((start, start + len(part)))
        if ranges:
            yield ranges

    def places(self, start: int, end: int) -> Iterator[Place]:
        """Yield the place in each text that a range of the folded text covers."""
        first, last = self._joined_offset(start), self._joined_offset(end - 1) + 1
        for number in range(bisect_right(self._starts, first) - 1, len(self._sizes)):
            begin = self._starts[number]
            if begin >= last:
                return
            inner = max(first, begin) - begin, min(last - begin, self._sizes[number])
            if inner[0] < inner[1]:
                yield Place(number, *inner)

    def _joined_offset(self, folded_offset: int) -> int:
        word = bisect_right(self._folded_begins, folded_offset) - 1
        return self._begins[word] + folded_offset - self._folded_begins[word]
