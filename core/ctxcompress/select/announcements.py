"""Lines that announce what follows with a colon at their end, and what they announce.

A list says the opposite of what it means without its "Never do the following:"; "Results follow here:" says something
else where other text follows.
"""

from collections.abc import Sequence

from ctxcompress.passages import Kind
from ctxcompress.select.candidates import Candidates

__all__ = ["announced", "announcements", "with_colon"]

_ANNOUNCED = frozenset((Kind.LIST_ITEM, Kind.TABLE, Kind.CODE))
"""What cannot be kept without its announcement."""
_SILENT = frozenset((Kind.HEADING, Kind.TABLE, Kind.CODE))
"""What announces nothing: headings have a rule of their own."""
_COLONS = (":", "\uff1a")
_AFTER_COLON = "*_` \t\r\n"


def with_colon(candidates: Candidates) -> list[int]:
    """The segments that end with a colon."""
    return [
        number
        for number, text in enumerate(candidates.texts)
        if (":" in text or "\uff1a" in text) and text.rstrip(_AFTER_COLON).endswith(_COLONS)
    ]


def announcements(candidates: Candidates, colons: Sequence[int]) -> list[int]:
    """For every list item, table and piece of code the sentence right above that announces it, or -1. colons: the
    segments that end with one."""
    segments = candidates.segments
    found = [-1] * len(segments)
    for number in colons:
        if segments[number][0] not in _ANNOUNCED:
            for other in range(number + 1, _end_of_run(candidates, number)):
                found[other] = number
    return found


def announced(candidates: Candidates, colons: Sequence[int]) -> dict[int, range]:
    """Number of a segment that announces a block -> the segments of the block: the list, the table and the code right
    under it, for a list item what of that is indented deeper, else the next paragraph, or in the middle of one the next
    line. colons: the segments that end with one."""
    found: dict[int, range] = {}
    for number in colons:
        if candidates.segments[number][0] not in _SILENT:
            end = _end_of_run(candidates, number)
            if end == number + 1:
                end = _end_of_paragraph(candidates, number)
            elif candidates.segments[number][0] is Kind.LIST_ITEM:
                end = _end_of_deeper(candidates, number, end)
            if end > number + 1:
                found[number] = range(number + 1, end)
    return found


def _end_of_run(candidates: Candidates, number: int) -> int:
    """Where the list items, tables and pieces of code right under a segment end."""
    end, last = candidates.first[candidates.document[number] + 1], number + 1
    while last < end and candidates.segments[last][0] in _ANNOUNCED:
        last += 1
    return last


def _end_of_deeper(candidates: Candidates, number: int, end: int) -> int:
    """Where what is indented deeper than a list item ends, of a run that ends there."""
    depth = _indentation(candidates.texts[number])
    kinds, texts = candidates.segments, candidates.texts
    deeper = range(number + 1, end)
    return next((n for n in deeper if kinds[n][0] is Kind.LIST_ITEM and _indentation(texts[n]) <= depth), end)


def _end_of_paragraph(candidates: Candidates, number: int) -> int:
    """Where the paragraph right under a segment ends, or if the segment is of it, what comes next in it; right under
    the segment if there is none."""
    end, last = candidates.first[candidates.document[number] + 1], number + 1
    if last == end or candidates.segments[last][0] is Kind.HEADING:
        return last
    block = candidates.segments[last].block
    if block == candidates.segments[number].block:
        return last + 1
    while last < end and candidates.segments[last].block == block:
        last += 1
    return last


def _indentation(text: str) -> int:
    return len(text) - len(text.lstrip())
