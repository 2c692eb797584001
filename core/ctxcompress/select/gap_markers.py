"""Gap markers in prose and logs: where part of a sentence, sentences of a paragraph, a heading or lines are missing."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ctxcompress.code.elision import GAP
from ctxcompress.data.passages import Kind, Span
from ctxcompress.data.table import SegmentTable
from ctxcompress.text.lines import ends_sentence

__all__ = ["gaps"]

_WITHOUT_SECTIONS = frozenset((Kind.HEADING, Kind.RECORD, Kind.LOG))
_OF_SENTENCES = frozenset((Kind.PARAGRAPH, Kind.LIST_ITEM, Kind.QUOTE, Kind.TURN))
_CLAUSE_SIGNS = (",", ";", ":")
_HYPHENS = "-\u2010\u00ad"
_LONG_LINE = 40
"""The least characters of a line of wrapped prose."""


def gaps(
    table: SegmentTable, document: int, spans: Sequence[Span], *, is_within: bool = False
) -> list[tuple[int, str]]:
    """Return a marker for each place where text is missing inside a sentence, or between two of a paragraph, if these
    spans of a document are kept, or where a heading is missing above what follows.

    Without it, two halves would read as a sentence that nobody wrote, "this" would stand for something else, or a
    sentence would be part of another section. A marker is (end of the span before it, or start of the one after it, its
    text). What is left of a segment that alone is over the budget has no marker before or after everything else: there
    is hardly room for words. is_within: whether there is none between whole sentences under one heading, and none
    between lines of a log.
    """
    number = table.first[document]
    if Kind.LOG in table.kinds and number < table.first[document + 1] and table.kind[number] is Kind.LOG:
        return [] if is_within else list(_line_gaps(table, document, spans))
    if table.kinds <= _WITHOUT_SECTIONS:
        return []  # nor has any of these sentences
    found: dict[int, str] = {}
    last, between = -1, ""
    for start, end in spans:
        text = _text(table, document, start, end)
        bare = text.lstrip()
        blank = text[: len(text) - len(bare)]
        between += blank
        is_new = start > 0 and last not in found
        first = start + len(blank)
        if is_new and _is_in_sentence(table, document, start, is_outer=last < 0):
            found[start] = _before(blank)
        elif start == 0 and bare[:1].islower() and _begins_in_sentence(table, document, spans):
            found[0] = f"{GAP} "
        elif is_new and bare and last > 0 and _is_under_other(table, document, last, first):
            found[start] = f"\n\n{GAP}" if blank.count("\n") == 1 else _before(blank)
        elif is_new and bare and last > 0 and not is_within and _goes_on(table, document, last, first, between):
            found[start] = _before(blank)
        if bare:
            last, between = end, ""
            if _is_in_sentence(table, document, end, is_outer=end == spans[-1].end):
                found[end] = f" {GAP}"
    return sorted(found.items())


def _begins_in_sentence(table: SegmentTable, document: int, spans: Sequence[Span]) -> bool:
    """Tell whether a passage was cut within a sentence before it came: it begins with the end of one in small letters.
    Whole passages stay as they are, and what is left of a segment has hardly room for words."""
    number, last = table.first[document], table.first[document + 1] - 1
    text = table.texts[number].rstrip()
    is_part = tuple(spans) != ((0, table.end[last]),) and spans[0].end >= len(text)
    return is_part and table.kind[number] in _OF_SENTENCES and ends_sentence(text)


def _before(blank: str) -> str:
    """Return the marker before a span that begins with this white space."""
    return f" {GAP}" if blank else f"{GAP} "


def _text(table: SegmentTable, document: int, start: int, end: int) -> str:
    """Return the text of a span, as far as the first segment with more than white space."""
    text, number = "", table.segment_at(document, start + 1)
    while start + len(text) < end and not text.strip():
        begin = table.start[number]
        text += table.texts[number][start + len(text) - begin : end - begin]
        number += 1
    return text


def _is_under_other(table: SegmentTable, document: int, last: int, start: int) -> bool:
    """Tell whether a span is under another heading than the text before it, and does not begin with a heading."""
    before, after = (table.segments[table.segment_at(document, place)] for place in (last, start + 1))
    return after[0] not in _WITHOUT_SECTIONS and before.heading != after.heading


def _goes_on(table: SegmentTable, document: int, last: int, start: int, between: str) -> bool:
    """Tell whether a span would read as going on from a sentence that it does not go on from.

    It would if it is the rest of a block, whose beginning was dropped. The beginning of a block would only on the same
    line. between: the white space between the two.
    """
    numbers = (table.segment_at(document, last), table.segment_at(document, start + 1))
    before, after = (table.segments[number] for number in numbers)
    text = table.texts[numbers[0]][: last - before.start]
    if after[0] not in _OF_SENTENCES:
        return False
    if numbers[1] > table.first[document] and table.block[numbers[1] - 1] == after.block:
        is_name = numbers[0] in table.needs(numbers[1])
        return not is_name and ends_sentence(table.texts[numbers[1] - 1])
    return ends_sentence(text) and "\n" not in text[len(text.rstrip()) :] + between


def _is_in_sentence(table: SegmentTable, document: int, place: int, *, is_outer: bool) -> bool:
    """Tell whether a sentence goes on after an offset of a document.

    After a line break it does only between words of a long line and the next one, or after a comma and the like with a
    small letter: other lines may be entries of a list. is_outer: whether only the end of a segment counts.
    """
    number = table.segment_at(document, place)
    segment, text = table.segments[number], table.texts[number]
    before, after = text[: place - segment.start], text[place - segment.start :]
    if segment.kind not in _OF_SENTENCES or ends_sentence(before):
        return False
    if before.strip() == segment.label.strip() or (is_outer and after.strip()):
        return False
    following = number + 1
    if not after.strip() and following < table.first[document + 1] and table.block[following] == segment.block:
        after += table.texts[following]
    bare = after.lstrip()
    is_new_line = "\n" in before[len(before.rstrip()) :] + after[: len(after) - len(bare)]
    if not bare or not is_new_line:
        return bool(bare)
    line = before.rstrip().rpartition("\n")[2]
    is_wrapped = len(line) >= _LONG_LINE and line.split()[-1].rstrip(_HYPHENS).isalpha() and bare[0].isalpha()
    return is_wrapped or (bare[0].islower() and line.endswith(_CLAUSE_SIGNS))


def _line_gaps(table: SegmentTable, document: int, spans: Sequence[Span]) -> Iterator[tuple[int, str]]:
    """Yield a marker on a line of its own for each place where lines of a log are missing."""
    for before, after in pairwise(span for span in spans if _text(table, document, *span).strip()):
        number, other = table.segment_at(document, before.end), table.segment_at(document, after.start + 1)
        rest = table.texts[number][before.end - table.start[number] :]
        if any(text.strip() for text in (rest, *table.texts[number + 1 : other])):
            yield before.end, ("\r\n" if rest.startswith("\r\n") else "\n") + GAP
