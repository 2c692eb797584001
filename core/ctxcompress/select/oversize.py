"""Oversize segments: the part of the best segment that fits where the whole segment is over the budget."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice, pairwise

from ctxcompress.data.documents import Spans
from ctxcompress.data.passages import Kind, Segment, Span
from ctxcompress.data.table import SegmentTable
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.select.layout import Layout, stripped_end
from ctxcompress.text.lines import after_marks, is_between_graphemes, longest_prefix

__all__ = ["best_alone", "best_split", "opening_fence"]

_Way = Callable[[SegmentTable, int, Layout, int], Iterator[Spans]]
"""(table, number of a segment, layout, budget) -> parts of the segment that may be kept alone."""

_TRIES = 8
"""The number of segments to try."""
_SOURCE_TRIES = 64
"""The number of segments to try before a statement of source code or a record is split."""
_WORD_TRIES = 64
"""The number of segments to try before a word is split."""
_MOST_WORDS = 64
"""The number of words of a segment to try one by one."""
_WORD = lazy_regex(r"\S++")
_LETTER = lazy_regex(r"\w")
_MOST_TOKENS = 4
"""The most tokens of one character: the bytes of its UTF-8 encoding."""
_FENCES = ("```", "~~~")
_ESCAPED = lazy_regex(r"\\.")
_FENCE_LINE = lazy_regex(r"^[ \t>]*+(?:`{3}|~{3})[^\n]*+\n?", re.MULTILINE)


def best_split(
    table: SegmentTable, ranking: Sequence[int], layout: Layout, budget: int
) -> tuple[SegmentTable, int, int] | None:
    """Split the best segment if it alone is over the budget.

    Returns the candidates with the segment split, the number of the part that fits, and the number of added segments.
    Returns None if the segment fits, or if not even its first word does: then another segment is kept whole, or what
    `best_alone` finds. With content before, only a segment over the whole budget is split: others can be added later.
    """
    found = (number for number in ranking if table.kind[number] is not Kind.HEADING)
    best = next(found, None)
    if best is None or (len(table.texts[best]) * _MOST_TOKENS <= budget and not table.needs(best)):
        return None  # it fits, whatever its tokens
    tries = _SOURCE_TRIES if _is_formal(table, best) else _TRIES
    formal: list[int] = []
    for number in chain((best,), islice(found, tries - 1)):
        text_alone = _alone(table, number, layout)
        if layout.tokens(text_alone) <= budget:
            return None
        if layout.before and layout.count(text_alone) <= budget:
            continue
        if not _is_formal(table, number):
            return _split(table, number, layout, budget)
        formal.append(number)
    if not formal:
        return None
    # Nothing fits. The rows and values of data are alike, so the best one says most.
    is_data = table.kind[formal[0]] is Kind.RECORD
    return _split(table, formal[0 if is_data else -1], layout, budget)


def _split(table: SegmentTable, number: int, layout: Layout, budget: int) -> tuple[SegmentTable, int, int] | None:
    """Split a segment after the longest beginning that fits, as `best_split` does; None if not even a word fits."""
    segment, text = table.segments[number], table.texts[number]
    tail = segment.start + _closing_fence(text)
    index = table.document[number]
    fits = _fits(_beginning(layout.documents[index].text, segment, tail, index), layout, budget)
    if segment.kind is Kind.RECORD and not _is_formal(table, number):
        fits = _fits_within_quotes(table, number, layout, budget)
    opening, lines = _opening(segment, text), segment.kind is Kind.CODE
    beginning = text[: tail - segment.start]
    # With content before, a word that is over the whole budget has no other chance.
    whole_words = not layout.before
    length = longest_prefix(beginning, fits=fits, lines=lines, skip=opening, whole_words=whole_words)
    if not length:
        return None
    pieces = table.split(number, segment.start + length, tail)
    return pieces, number, len(pieces.segments) - len(table.segments)


def _alone(table: SegmentTable, number: int, layout: Layout) -> str:
    """Return the text of a segment and what it needs, as the final text shows it."""
    return layout.compose(layout.spans(table, {number, *table.needs(number)})).text


def _fits_within_quotes(table: SegmentTable, number: int, layout: Layout, budget: int) -> Callable[[int], bool]:
    """Return whether that many characters of a string fit, with the quotes and brackets around them."""
    start, end = table.segments[number].start, table.segments[number].end
    return lambda length: layout.tokens(_alone(table.split(number, start + length, end), number, layout)) <= budget


def _is_formal(table: SegmentTable, number: int) -> bool:
    """Return whether a part of a segment is of little use: source code and data follow a grammar, but not the text
    within a string, whose quotes are other segments."""
    if table.kind[number] is not Kind.RECORD:
        return table.unit[number] is not None
    return not any(_ESCAPED.sub("", table.texts[other]).count('"') % 2 for other in table.needs(number))


def _headings_last(table: SegmentTable, ranking: Sequence[int]) -> Iterator[int]:
    yield from (number for number in ranking if table.kind[number] is not Kind.HEADING)
    yield from (number for number in ranking if table.kind[number] is Kind.HEADING)


def best_alone(table: SegmentTable, ranking: Sequence[int], layout: Layout, budget: int) -> Spans:
    """Return the best segment alone, for budgets too small for anything else; empty if not one character fits.

    The segment is whole with what it needs, or else only the beginning of its text. A heading is used only if there is
    nothing else. A word is split only if no first word of the segments fits, and no other word of the best ones.
    """
    texts = list(islice(_headings_last(table, ranking), _WORD_TRIES))
    records = (number for number in texts if table.kind[number] is Kind.RECORD)
    tries: Iterator[tuple[int, _Way]] = chain(
        ((number, _whole) for number in records),
        *(((number, _whole), (number, _beginnings)) for number in texts),
        ((number, _words) for number in texts[:_TRIES]),
        ((number, _characters) for number in texts[:_TRIES]),
    )
    for number, way in tries:
        for spans in way(table, number, layout, budget):
            if spans and layout.tokens(layout.compose(spans).text) <= budget:
                return spans
    return {}


def _whole(table: SegmentTable, number: int, layout: Layout, _: int) -> Iterator[Spans]:
    yield layout.spans(table, {number, *table.needs(number)})


def _beginnings(
    table: SegmentTable, number: int, layout: Layout, budget: int, *, whole_words: bool = True
) -> Iterator[Spans]:
    """Yield the longest beginning of a segment that fits, without its fence; then without its list or heading marks,
    too."""
    text = table.texts[number]
    for start, end in _between_fences(text):
        start += len(text[start:end]) - len(text[start:end].lstrip())
        for place in dict.fromkeys((start, after_marks(text[:end], start))):
            begin = _grapheme_start(text, place)
            yield _longest_from(begin, end, table, number, layout, budget, whole_words=whole_words)


def _words(table: SegmentTable, number: int, layout: Layout, budget: int) -> Iterator[Spans]:
    """Yield what fits from each word after the first one on."""
    text = table.texts[number]
    words = ((found, end) for start, end in _between_fences(text) for found in _WORD.finditer(text, start, end))
    for found, end in islice(words, 1, _MOST_WORDS):
        if _LETTER.search(found.group()):
            start = _grapheme_start(text, found.start())
            yield _longest_from(start, end, table, number, layout, budget, whole_words=True)


def _between_fences(text: str) -> list[tuple[int, int]]:
    """Return where the text between the fences of a code block begins and ends, which may be fences that it shows; all
    of a text that begins with no fence."""
    fences = [found.span() for found in _FENCE_LINE.finditer(text)] if opening_fence(text) else [(0, 0)]
    return [(start, end) for (_, start), (end, _) in pairwise([*fences, (len(text), 0)])]


def _grapheme_start(text: str, place: int) -> int:
    """Return where the first grapheme of a word begins: a space may carry a mark."""
    return place - (not is_between_graphemes(text, place))


def _characters(table: SegmentTable, number: int, layout: Layout, budget: int) -> Iterator[Spans]:
    return _beginnings(table, number, layout, budget, whole_words=False)


def _longest_from(
    start: int, end: int, table: SegmentTable, number: int, layout: Layout, budget: int, *, whole_words: bool
) -> Spans:
    """Return the longest beginning of ``text[start:end]`` of a segment that fits; empty if none does."""
    segment, index = table.segments[number], table.document[number]
    inner = segment._replace(start=segment.start + start, end=segment.start + end)
    beginning = _beginning(layout.documents[index].text, inner, inner.end, index)
    fits = _fits(beginning, layout, budget)
    length = longest_prefix(table.texts[number][start:end], fits=fits, lines=False, whole_words=whole_words)
    return beginning(length) if length else {}


def _beginning(text: str, segment: Segment, tail: int, index: int) -> Callable[[int], Spans]:
    """Return length -> the spans for that many characters of a segment and the text after `tail`, as `assemble` makes
    them."""
    end = stripped_end(text, tail, segment.end)
    closing = (Span(stripped_end(text, segment.start, tail), end),) if tail < end else ()

    def spans(length: int) -> Spans:
        return {index: (Span(segment.start, stripped_end(text, segment.start, segment.start + length)), *closing)}

    return spans


def _fits(spans: Callable[[int], Spans], layout: Layout, budget: int) -> Callable[[int], bool]:
    return lambda length: layout.tokens(layout.compose(spans(length)).text) <= budget


def _opening(segment: Segment, text: str) -> int:
    """Return where the text of a segment begins, after its opening fence or its speaker."""
    is_turn = segment.kind is Kind.TURN and segment.label and text.startswith(segment.label)
    return len(segment.label) if is_turn else opening_fence(text)


def opening_fence(text: str) -> int:
    """Return where the line of the opening fence of `text` ends; 0 if there is none."""
    marker, line_end = text.lstrip(" \t>")[:3], text.find("\n") + 1
    is_code_span = marker == "```" and "`" in text[:line_end].lstrip(" \t>`")
    return line_end if marker in _FENCES and not is_code_span else 0


def _closing_fence(text: str) -> int:
    """Return where the closing fence of `text` begins; the end of `text` if there is none."""
    marker = text.lstrip(" \t>")[:3]
    begin = text.rstrip().rfind("\n") + 1
    closed = marker in _FENCES and begin and text[begin:].lstrip(" \t>").startswith(marker)
    return begin if closed else len(text)
