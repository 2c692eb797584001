"""The structure of the candidates, whatever the query: announcements, headings, repeated texts and runs of words."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from ctxcompress.data.passages import Kind
from ctxcompress.data.table import Floats, SegmentTable
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.query.focus import REFERENCES
from ctxcompress.select.between_segments import OF_SENTENCES
from ctxcompress.select.oversize import opening_fence
from ctxcompress.select.repetition import SHORTEST_REPEATED, Runs
from ctxcompress.text.lines import EQUAL_DIGITS, ends_sentence, is_marker

__all__ = ["Structure"]

# A name is ten times as fast as an attribute of an enum.
_HEADING, _TABLE, _CODE, _TURN = Kind.HEADING, Kind.TABLE, Kind.CODE, Kind.TURN
_PARAGRAPH, _LIST_ITEM, _RECORD, _BOILERPLATE = Kind.PARAGRAPH, Kind.LIST_ITEM, Kind.RECORD, Kind.BOILERPLATE
_REPEATABLE = frozenset((_HEADING, _TABLE))
_ANNOUNCED = frozenset((Kind.LIST_ITEM, Kind.TABLE, Kind.CODE, Kind.RECORD))
"""The kinds that cannot be kept without their announcement."""
_SILENT = frozenset((Kind.HEADING, Kind.TABLE, Kind.CODE, Kind.RECORD))
"""The kinds that announce nothing. Headings have a rule of their own."""
_COLONS = (":", "\uff1a")
_EMPTY = (":", "|", "|-", "|+", ">", ">-", ">+")
"""The ends of lines of data whose value is in the lines below."""
_AFTER_COLON = "*_` \t\r\n"
_TITLES = frozenset((Kind.PARAGRAPH, Kind.LIST_ITEM))
"""The kinds that can be a title, and that have one if they are indented deeper."""
_TITLED = frozenset((Kind.LIST_ITEM, Kind.CODE))
"""The kinds that have the title of the line above in any case."""
_REFERRING = frozenset((Kind.PARAGRAPH, Kind.LIST_ITEM, Kind.QUOTE))
_REFERENCES = REFERENCES - {"das", "la", "lo"}
"""The words that refer to what was said before. At the beginning of a sentence the others are articles."""
_LONGEST_REFERENCE = 40
"""Characters, more than such a word has with the marks around it."""
_SELF_CONTAINED = 100
"""Characters: what a shorter text says depends on what stands around it. Twice, it says two things."""
_COPY = 0.3
"""What a copy of a short text is worth, relative to the best one: it is about something else, most likely less wanted.
Factors from 0.2 to 0.4 give the same."""
_BARS = " \t\r\n|"
_CLOSING = lazy_regex(r"[ \t>]*(?:`{3,}|~{3,})\s*")


class Structure:
    """Properties of each segment of the candidates, unless said otherwise."""

    def __init__(self, table: SegmentTable) -> None:
        self.table = table
        self.stands = _stands(table)
        """Whether the segment can be chosen. Fences and headers of tables are not: they come with what needs them."""
        self.same, self.copies = _repeated(table)
        """Number of a segment -> its text, for segments with the same text that is to be kept once; and the segments
        with the same short text each, which says something else in each place."""
        self.under = _under(table)
        """Number of a heading -> the segments right under it, up to the next one. A heading that is all that a document
        has is a text like others: some loaders make one document of each element."""
        above = [number for number in _announcing(table) if not _is_speaker(table, number)]
        self.announcement = _announcements(table, above)
        """The number of the sentence that announces the segment, or -1."""
        self.antecedent = _antecedents(table)
        """The number of the sentence that has what the first word of a sentence stands for, or -1."""
        self.announced = _announced(table, above)
        """Number of a segment that announces others -> these segments."""
        self.leading = {**_within(table, self.under), **self.announced}
        """Number of a heading -> the segments of its section, those under its sub-headings included, and number of a
        segment that announces others -> these: segments that must not be kept without some of the text that follows."""
        self.runs = Runs(table.texts)
        """The runs of words of each segment."""
        self.by_form = {number for number, kind in enumerate(table.kind) if kind not in OF_SENTENCES}
        """The segments that may be like others by their form."""

    def with_copies_lower(self, values: Floats) -> Floats:
        """Return the values. Of a short text that occurs again, all but the best one are worth less."""
        lowered = values.copy()
        for numbers in self.copies:
            best = max(numbers, key=values.__getitem__)
            others = [number for number in numbers if number != best]
            lowered[others] = np.minimum(values[others], _COPY * values[others])
        return lowered


def _under(table: SegmentTable) -> dict[int, range]:
    first, document = table.first, table.document
    headings = [n for n, kind in enumerate(table.kind) if kind is _HEADING and not table.is_lone(n)]
    return {
        number: range(number + 1, min(following, first[document[number] + 1]))
        for number, following in pairwise([*headings, len(table.segments)])
    }


def _within(table: SegmentTable, under: Mapping[int, range]) -> dict[int, range]:
    """Return number of a heading -> the segments of its section, those under its sub-headings included.

    under: see `Structure`.
    """
    found = dict(under)
    for number in reversed([*under]):  # a sub-heading comes before the heading above it
        last, path = table.first[table.document[number] + 1], table.heading[number]
        end = under[number].stop
        while path and end < last and end in found and table.heading[end][: len(path)] == path != table.heading[end]:
            end = found[end].stop
        found[number] = range(number + 1, end)
    return found


def _stands(table: SegmentTable) -> list[bool]:
    needed = {n for number, kind in enumerate(table.kind) if kind is _TABLE for n in table.needs(number)}
    texts, segments = table.texts, table.segments
    # A row that names a group says more, unless its name is all that it has.
    headers = {n for n in needed if not table.needs(n) or texts[n].strip(_BARS) == segments[n].label}
    headers |= _brackets(table)
    stands = [not text.isspace() for text in texts]
    for number in headers:
        stands[number] = False
    for number, segment in enumerate(table.segments):
        if segment.kind is _CODE:
            stands[number] &= not _is_bare_fence(texts[number])
        elif segment.kind is _TURN:
            stands[number] &= not _is_speaker(table, number)
        else:
            stands[number] &= not is_marker(texts[number])
    return stands


def _is_speaker(table: SegmentTable, number: int) -> bool:
    """Tell whether a segment is the speaker of a turn alone. It announces nothing."""
    segment = table.segments[number]
    return segment.kind is _TURN and table.texts[number].strip() == segment.label.strip()


def _brackets(table: SegmentTable) -> set[int]:
    """Return the opening and closing brackets of data, which need each other, the headers and parents of records."""
    records = [number for number, kind in enumerate(table.kind) if kind is _RECORD]
    texts = table.texts
    needs = {number: table.needs(number) for number in records if table.needed[number]}
    needed = {other for others in needs.values() for other in others}
    return {
        number
        for number in needed.intersection(records)
        if number not in needs
        or any(number in needs.get(other, ()) for other in needs[number])
        or texts[number].rstrip().endswith(_EMPTY)
    }


def _is_bare_fence(text: str) -> bool:
    return not text[opening_fence(text) :].strip() or _CLOSING.fullmatch(text) is not None


def _repeated(table: SegmentTable) -> tuple[dict[int, str], list[list[int]]]:
    """Return `Structure.same` and `Structure.copies`.

    Short sentences are copies even if their figures differ: of "The price is 30 euros." and "The price is 45 euros."
    one at most is what the question asks for, and a reader takes the other one for the same thing's price.
    """
    found: dict[int, list[int]] = {}
    for number, whole in enumerate(table.texts):
        kind = table.kind[number]
        if len(whole) >= SHORTEST_REPEATED and kind not in _REPEATABLE:
            text = whole.strip()
            is_short = len(text) < _SELF_CONTAINED and kind in OF_SENTENCES
            key = (table.document[number], text.translate(EQUAL_DIGITS)) if is_short else text
            found.setdefault(hash(key), []).append(number)
    groups = [(table.texts[numbers[0]].strip(), numbers) for numbers in found.values() if len(numbers) > 1]
    same = {n: text for text, numbers in groups if len(text) >= _SELF_CONTAINED for n in numbers}
    return same, [numbers for text, numbers in groups if len(text) < _SELF_CONTAINED]


def _announcing(table: SegmentTable) -> list[int]:
    """Return the segments that announce what follows: those that end with a colon, and titles."""
    return [
        number
        for number, text in enumerate(table.texts)
        if text.rstrip(_AFTER_COLON).endswith(_COLONS) or _is_title(table, number)
    ]


def _is_title(table: SegmentTable, number: int) -> bool:
    """Tell whether a segment ends its block, and no sentence, right above a list or code; or is a line of its own above
    what is indented deeper. An item is only above what is indented deeper."""
    first, end = table.first[table.document[number]], table.first[table.document[number] + 1]
    block, text = table.block[number], table.texts[number].strip()
    ends = number + 1 < end and table.block[number + 1] != block
    if not (ends and table.kind[number] in _TITLES and text) or ends_sentence(text):
        return False
    below, is_item = table.kind[number + 1], table.kind[number] is _LIST_ITEM
    is_line = "\n" not in text and (number == first or table.block[number - 1] != block)
    is_deeper = _indentation(table.texts[number + 1]) > _indentation(table.texts[number])
    return (is_line and is_deeper and below in _TITLES) or (below in _TITLED and (is_deeper or not is_item))


def _announcements(table: SegmentTable, above: Sequence[int]) -> list[int]:
    """Return, for each segment, the sentence or the list item right above that announces it, or -1.

    Only list items, tables and code have one, what is indented deeper, and what follows a label that is a passage of
    its own. Under a list item, only what is indented deeper has. above: see `_announcing`.
    """
    segments = table.segments
    found = [-1] * len(segments)
    for number in above:
        kind = segments[number].kind
        if kind not in _ANNOUNCED or kind is _LIST_ITEM:
            end = _end_of_run(table, number)
            found[number + 1 : end] = [number] * (end - number - 1)
        if _is_label(table, number):
            found[number + 1] = number
    return found


def _antecedents(table: SegmentTable) -> list[int]:
    """Return, for each sentence that begins with a word such as "it" or "this", the nearest one right before it that
    does not, under the same heading, or in the same item of a list; for each that goes on after boilerplate, such as
    the foot of a page, where it begins; -1 for all others."""
    found = [-1] * len(table.segments)
    for above, number in pairwise(n for n, kind in enumerate(table.kind) if kind is not _BOILERPLATE):
        kind, goes_on = table.kind[number], number > above + 1 and not ends_sentence(table.texts[above])
        if kind in _REFERRING and kind is table.kind[above] and (goes_on or _refers(table.texts[number])):
            places = (table.document, table.heading) if kind is _PARAGRAPH else (table.document, table.block)
            if all(place[above] == place[number] for place in places):
                found[number] = above if found[above] < 0 else found[above]
    return found


def _refers(text: str) -> bool:
    """Tell whether a sentence begins with a word that stands for something before it."""
    words = text.lstrip()[:_LONGEST_REFERENCE].split(None, 1)
    return bool(words) and words[0].strip(",.;:()").lower() in _REFERENCES


def _announced(table: SegmentTable, above: Sequence[int]) -> dict[int, range]:
    """Return number of a segment that announces a block -> the segments of the block.

    The block is the lists, tables and code right under it, and what is indented deeper; for a list item only that. Else
    it is the next paragraph, or within a paragraph the next line, or the beginning of the next passage if the segment
    is a passage of its own. above: see `_announcing`.
    """
    found: dict[int, range] = {}
    for number in above:
        if table.kind[number] not in _SILENT:
            end = _end_of_run(table, number)
            if end == number + 1:
                end = _end_of_paragraph(table, number)
            if _is_label(table, number):
                end = number + 2
            if end > number + 1:
                found[number] = range(number + 1, end)
    return found


def _is_label(table: SegmentTable, number: int) -> bool:
    """Tell whether a segment that ends with a colon is a passage of its own before another one."""
    return number + 1 < len(table.segments) and table.is_lone(number)


def _end_of_run(table: SegmentTable, number: int) -> int:
    """Return where the list items, tables and code right under a segment end, and what is indented deeper. Under a list
    item, the next one that is not indented deeper ends them."""
    end, last, is_deeper = table.first[table.document[number] + 1], number + 1, False
    depth, is_item = _indentation(table.texts[number]), table.kind[number] is _LIST_ITEM
    while last < end:
        kind = table.kind[last]
        if table.block[last] != table.block[last - 1]:
            is_deeper = _indentation(table.texts[last]) > depth
        goes_on = kind is _BOILERPLATE or (kind in _ANNOUNCED and not (is_item and kind is _LIST_ITEM))
        if not (is_deeper or goes_on):
            break
        last += 1
    return last


def _end_of_paragraph(table: SegmentTable, number: int) -> int:
    """Return where the paragraph right under a segment ends, or within a paragraph, where its next line ends; right
    after the segment if there is none. A line of a log announces only an indented line."""
    end, last = table.first[table.document[number] + 1], number + 1
    if last == end or table.kind[last] is _HEADING:
        return last
    block = table.block[last]
    if table.kind[number] is Kind.LOG:
        return last + table.texts[last][:1].isspace()
    if block == table.block[number]:
        return last + 1
    while last < end and table.block[last] == block:
        last += 1
    return last


def _indentation(text: str) -> int:
    return len(text) - len(text.lstrip())
