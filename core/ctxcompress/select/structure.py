"""What holds of candidates whatever they are worth: found out once, for as many questions as there are."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from ctxcompress.data.passages import Kind
from ctxcompress.data.table import SegmentTable
from ctxcompress.select.knapsack import Runs
from ctxcompress.select.oversize import opening_fence
from ctxcompress.text.lines import LONGEST_MARKER, is_marker

__all__ = ["Structure", "announced", "announcements", "with_colon"]

_ANNOUNCED = frozenset((Kind.LIST_ITEM, Kind.TABLE, Kind.CODE))
"""What cannot be kept without its announcement."""
_SILENT = frozenset((Kind.HEADING, Kind.TABLE, Kind.CODE))
"""What announces nothing: headings have a rule of their own."""
_COLONS = (":", "\uff1a")
_AFTER_COLON = "*_` \t\r\n"


def with_colon(table: SegmentTable) -> list[int]:
    """The segments that end with a colon."""
    return [
        number
        for number, text in enumerate(table.texts)
        if (":" in text or "\uff1a" in text) and text.rstrip(_AFTER_COLON).endswith(_COLONS)
    ]


def announcements(table: SegmentTable, colons: Sequence[int]) -> list[int]:
    """For every list item, table and piece of code the sentence right above that announces it, or -1. colons: the
    segments that end with one."""
    segments = table.segments
    found = [-1] * len(segments)
    for number in colons:
        if segments[number][0] not in _ANNOUNCED:
            for other in range(number + 1, _end_of_run(table, number)):
                found[other] = number
    return found


def announced(table: SegmentTable, colons: Sequence[int]) -> dict[int, range]:
    """Number of a segment that announces a block -> the segments of the block: the list, the table and the code right
    under it, for a list item what of that is indented deeper, else the next paragraph, or in the middle of one the next
    line. colons: the segments that end with one."""
    found: dict[int, range] = {}
    for number in colons:
        if table.segments[number][0] not in _SILENT:
            end = _end_of_run(table, number)
            if end == number + 1:
                end = _end_of_paragraph(table, number)
            elif table.segments[number][0] is Kind.LIST_ITEM:
                end = _end_of_deeper(table, number, end)
            if end > number + 1:
                found[number] = range(number + 1, end)
    return found


def _end_of_run(table: SegmentTable, number: int) -> int:
    """Where the list items, tables and pieces of code right under a segment end."""
    end, last = table.first[table.document[number] + 1], number + 1
    while last < end and table.segments[last][0] in _ANNOUNCED:
        last += 1
    return last


def _end_of_deeper(table: SegmentTable, number: int, end: int) -> int:
    """Where what is indented deeper than a list item ends, of a run that ends there."""
    depth = _indentation(table.texts[number])
    kinds, texts = table.segments, table.texts
    deeper = range(number + 1, end)
    return next((n for n in deeper if kinds[n][0] is Kind.LIST_ITEM and _indentation(texts[n]) <= depth), end)


def _end_of_paragraph(table: SegmentTable, number: int) -> int:
    """Where the paragraph right under a segment ends, or if the segment is of it, what comes next in it; right under
    the segment if there is none."""
    end, last = table.first[table.document[number] + 1], number + 1
    if last == end or table.segments[last][0] is Kind.HEADING:
        return last
    block = table.segments[last].block
    if block == table.segments[number].block:
        return last + 1
    while last < end and table.segments[last].block == block:
        last += 1
    return last


def _indentation(text: str) -> int:
    return len(text) - len(text.lstrip())


_HEADING, _TABLE, _CODE = Kind.HEADING, Kind.TABLE, Kind.CODE  # a name is ten times as fast as an attribute of an enum
_REPEATABLE = frozenset((_HEADING, _TABLE))
_SHORTEST_DUPLICATE = 12
"""Characters of a text that is kept once: a list may say "yes" more often."""
_CLOSING = re.compile(r"[ \t>]*(?:`{3,}|~{3,})\s*")


class Structure:
    """Of each segment of the candidates, unless said otherwise."""

    __slots__ = (
        "announced",
        "announcement",
        "leading",
        "runs",
        "same",
        "stands",
        "table",
        "under",
    )

    def __init__(self, table: SegmentTable, *, lasting: bool = False) -> None:
        """lasting: whether it is for more than one question."""
        self.table = table
        self.stands = _stands(table)
        """Whether it is something to choose: fences come with what they are around, headers of tables with rows."""
        self.same = _same(table)
        """Number of a segment -> its text, for those whose text another one has too and that need be kept once."""
        self.under = _under(table)
        """Number of a heading -> the segments right under it, up to the next one."""
        colons = with_colon(table)
        self.announcement = announcements(table, colons)
        """The number of the sentence that announces it, or -1."""
        self.announced = announced(table, colons)
        """Number of a segment that announces others -> those."""
        self.leading = {**self.under, **self.announced}
        """Both: what must not be kept without something of what follows it."""
        self.runs = Runs(table.texts, lasting=lasting)
        """Its runs of words."""


def _under(table: SegmentTable) -> dict[int, range]:
    headings = [number for number, segment in enumerate(table.segments) if segment[0] is _HEADING]
    first, document = table.first, table.document
    return {
        number: range(number + 1, min(following, first[document[number] + 1]))
        for number, following in pairwise([*headings, len(table.segments)])
    }


def _stands(table: SegmentTable) -> list[bool]:
    headers = {n for number, s in enumerate(table.segments) if s[0] is _TABLE for n in table.needs(number)}
    texts = table.texts
    stands = [not text.isspace() for text in texts]
    for number in headers:
        stands[number] = False
    for number, segment in enumerate(table.segments):
        if segment[0] is _CODE:
            stands[number] &= not _is_bare_fence(texts[number])
        elif len(texts[number]) <= LONGEST_MARKER:
            stands[number] &= not is_marker(texts[number])
    return stands


def _is_bare_fence(text: str) -> bool:
    if "```" not in text and "~~~" not in text:
        return text.isspace()
    return not text[opening_fence(text) :].strip() or _CLOSING.fullmatch(text) is not None


def _same(table: SegmentTable) -> dict[int, str]:
    stripped = list(map(str.strip, table.texts))
    if len(set(stripped)) == len(stripped):
        return {}
    texts = {
        number: text
        for number, (segment, text) in enumerate(zip(table.segments, stripped, strict=True))
        if len(table.texts[number]) >= _SHORTEST_DUPLICATE and segment[0] not in _REPEATABLE
    }
    times = Counter(texts.values())
    return {number: text for number, text in texts.items() if times[text] > 1}
