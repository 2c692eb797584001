"""What stands between kept segments: white space of the text, and in prose and logs a marker where text is missing."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ctxcompress.code.elision import GAP
from ctxcompress.data.passages import Kind, Segment, Span, joined
from ctxcompress.data.table import SegmentTable
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.text.lines import ends_sentence

__all__ = ["OF_SENTENCES", "assemble", "gaps", "is_within_quotes", "stripped_end"]

_RECORD, _CODE, _TURN, _LOG = Kind.RECORD, Kind.CODE, Kind.TURN, Kind.LOG  # ten times as fast as attributes of an enum
_MARGIN = " \t>"
_BLANK = lazy_regex(r"(?:\s|\\[nrt])*+")
"""White space, which is escaped in JSON text within a string."""
_ESCAPED = lazy_regex(r"\\.")
_WITHOUT_SENTENCES = frozenset((Kind.HEADING, Kind.TABLE, Kind.CODE, Kind.RECORD))
OF_SENTENCES = frozenset((Kind.PARAGRAPH, Kind.LIST_ITEM, Kind.QUOTE, Kind.TURN))


def assemble(text: str, segments: Sequence[Segment], kept: Sequence[int]) -> tuple[Span, ...]:
    """Return the spans of `text` for the kept segments, in order and without overlaps.

    Of the text between two kept segments only the white space before the second one stays: the white space before the
    segment itself within a block, else before its block. It can be a space, a line break or an empty line. White space
    at the end is dropped unless the whole text is kept. kept: ascending numbers.

    In data, the white space after an opening bracket stays, and the comma before a closing bracket is dropped with the
    values after it.
    """
    if len(kept) == len(segments):
        return (Span(0, len(text)),) if text else ()
    spans: list[Span] = []
    previous = -1
    for number in kept:
        start, end = segments[number].start, segments[number].end
        if spans and number == previous + 1:
            start = spans.pop().start
        elif spans and not _is_opened(segments, previous, number):
            begin, stop = spans.pop()
            stop = stripped_end(text, begin, stop)
            if segments[number].kind is _RECORD and _is_closing(segments, number):
                comma = text.rfind(",", begin, stop)
                stop = comma if comma > begin and _BLANK.fullmatch(text, comma + 1, stop) else stop
            spans += Span(begin, stop), _separator(text, segments, previous, number, stop)
        spans.append(Span(start, end))
        previous = number
    if spans:
        begin, stop = spans.pop()
        spans.append(Span(begin, stripped_end(text, begin, stop)))
    return joined(spans)


def _separator(text: str, segments: Sequence[Segment], previous: int, number: int, after: int) -> Span:
    """Return the white space before segment `number`, or before its block if the previous segment is in another one.
    After the speaker of a turn it is the white space after the speaker."""
    first = number
    if segments[previous].kind is _TURN and previous in segments[number].needs:
        return Span(after, segments[previous].end)
    if segments[previous].block != segments[number].block:
        while segments[first - 1].block == segments[number].block:
            first -= 1
    end = segments[first].start
    begin = stripped_end(text, after, end)
    if "\n" not in text[begin:end] and (blank := text.rfind("\n\n", after, begin)) >= 0:
        return Span(blank, blank + 2)  # so that no sentence goes on in the line of another paragraph
    return Span(begin, end)


def _is_opened(segments: Sequence[Segment], previous: int, number: int) -> bool:
    """Return whether a record directly follows the opening bracket or the header that it needs."""
    segment = segments[number]
    return segment.kind is _RECORD and previous in segment.needs and not _is_closing(segments, number)


def _is_closing(segments: Sequence[Segment], number: int) -> bool:
    """Return whether a record is a closing bracket: it and an earlier segment need each other."""
    return any(other < number and number in segments[other].needs for other in segments[number].needs)


def stripped_end(text: str, start: int, end: int) -> int:
    """Return where ``text[start:end]`` ends without the white space at its end."""
    return start + len(text[start:end].rstrip())


def gaps(
    table: SegmentTable, document: int, spans: Sequence[Span], is_lone: bool = False, *, is_within: bool = False
) -> list[tuple[int, str]]:
    """Return a marker for each place where text is missing before or after a sentence, if these spans of a document are
    kept, and one for each place where lines of a log are missing.

    So sentences without a marker between them stand beside each other in the source. Without it, two halves would read
    as a sentence that nobody wrote, "this" would stand for something else, or a condition would seem to be none.
    Between rows and fields there is none: they are read one by one. A marker is (offset in the document, its text).
    is_lone: whether one span is all that is shown. It stands beside nothing: only a sentence whose end is missing has a
    marker. is_within: whether all other sentences have none, either.
    """
    number, last = table.first[document], table.first[document + 1]
    if number == last:
        return []
    if table.kinds <= _WITHOUT_SENTENCES:
        return [] if is_within else list(_inner_gaps(table, document, spans))
    if table.kind[number] is _LOG:
        return [] if is_within else list(_line_gaps(table, document, spans))
    pieces = list(_pieces(table, document, spans))
    ends, starts = [0, *(end for _, end in pieces)], [*(start for start, _ in pieces), table.end[last - 1]]
    found: list[tuple[int, str]] = []
    for end, start in zip(ends, starts, strict=True) if pieces else ():
        if not (is_lone or is_within) or _is_in_sentence(table, document, end):
            found += _marker(table, document, end, start)
    if _CODE in table.kinds and not is_within:
        found = sorted([*found, *_inner_gaps(table, document, spans)])
    begins_within = pieces and pieces[0].start == 0 and table.texts[number][:1].islower()
    is_sentence = table.kind[number] in OF_SENTENCES and ends_sentence(table.texts[number])
    if found and begins_within and is_sentence:  # in the passage before it, in the source
        found.insert(0, (0, f"{GAP} "))
    return found


def _pieces(table: SegmentTable, document: int, spans: Sequence[Span]) -> Iterator[Span]:
    """Yield the spans with text, without the white space around it."""
    for start, end in spans:
        text = _text(table, document, start, end)
        if text.strip():
            begin = start + len(text) - len(text.lstrip())
            yield Span(begin, max(begin, end - _blank_before(table, document, end)))


def _text(table: SegmentTable, document: int, start: int, end: int) -> str:
    """Return the text of a span, as far as the first segment with more than white space."""
    text, number = "", table.segment_at(document, start + 1)
    while start + len(text) < end and not text.strip():
        begin = table.start[number]
        text += table.texts[number][start + len(text) - begin : end - begin]
        number += 1
    return text


def _blank_before(table: SegmentTable, document: int, place: int) -> int:
    """Count the white space at the end of a segment, or of its part before an offset."""
    number = table.segment_at(document, place)
    text = table.texts[number][: place - table.start[number]]
    return len(text) - len(text.rstrip())


def _is_in_sentence(table: SegmentTable, document: int, place: int) -> bool:
    """Tell whether a segment ends at an offset, in a sentence that goes on in its block."""
    number = table.segment_at(document, place)
    text, length = table.texts[number], place - table.start[number]
    is_followed = number + 1 < table.first[document + 1] and table.block[number + 1] == table.block[number]
    return place > 0 and is_followed and not text[length:].strip() and not ends_sentence(text[:length])


def _marker(table: SegmentTable, document: int, end: int, start: int) -> Iterator[tuple[int, str]]:
    """Yield a marker if text is missing between the end of a kept piece and the start of the next one: after the
    first of them, if it is a sentence, or else before the second."""
    if not _text(table, document, end, start).strip():
        return
    if end and table.kind[table.segment_at(document, end)] in OF_SENTENCES:
        yield end, f" {GAP}"
    elif start < table.end[table.first[document + 1] - 1]:
        number = table.segment_at(document, start + 1)
        if table.kind[number] is Kind.PARAGRAPH:
            yield start, f"{GAP} "
        elif table.kind[number] in OF_SENTENCES:
            yield start - _indentation(table, document, number, start), f"{GAP}\n"


def is_within_quotes(table: SegmentTable, number: int) -> bool:
    """Tell whether a segment is part of a string of data, whose quotes are other segments."""
    around = [table.texts[other] for other in table.needs(number)] if table.kind[number] is _RECORD else ()
    return any(_ESCAPED.sub("", text).count('"') % 2 for text in around)


def _inner_gaps(table: SegmentTable, document: int, spans: Sequence[Span]) -> Iterator[tuple[int, str]]:
    """Yield a marker for each place where text is missing between two pieces of one string of data, and on a line of
    its own where lines of a fence are: the output of one command would stand below another one."""
    for before, after in pairwise(_pieces(table, document, spans)):
        number, other = table.segment_at(document, before.end), table.segment_at(document, after.start + 1)
        if other <= number + 1:
            continue
        kind, is_one_block = table.kind[number], table.block[number] == table.block[other]
        if kind is _CODE and is_one_block and table.segments[number].unit is None:
            line = table.texts[number].rstrip().rpartition("\n")[2]
            margin = line[: len(line) - len(line.lstrip(_MARGIN))]  # so that it stays in its item or quote
            yield before.end, f"\n{margin}{GAP}"
        elif table.needs(number) == table.needs(other) and is_within_quotes(table, number):
            is_line = table.texts[number].endswith((r"\n", r"\t"))  # white space of JSON, which is not stripped
            yield before.end, f"{GAP} " if is_line else f" {GAP}"


def _indentation(table: SegmentTable, document: int, number: int, place: int) -> int:
    """Count the blanks before an offset of a segment in its line."""
    before = table.texts[number - 1] if number > table.first[document] else ""
    before += table.texts[number][: place - table.start[number]]
    return len(before) - len(before.rstrip(" \t"))


def _line_gaps(table: SegmentTable, document: int, spans: Sequence[Span]) -> Iterator[tuple[int, str]]:
    """Yield a marker on a line of its own for each place where lines of a log are missing."""
    for before, after in pairwise(_pieces(table, document, spans)):
        number, other = table.segment_at(document, before.end), table.segment_at(document, after.start + 1)
        rest = table.texts[number][before.end - table.start[number] :]
        if any(text.strip() for text in (rest, *table.texts[number + 1 : other])):
            yield before.end, ("\r\n" if rest.startswith("\r\n") else "\n") + GAP
