"""Oversize segments: the part of the best segment that fits where the whole segment is over the budget."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, pairwise

from ctxcompress.data.documents import Spans
from ctxcompress.data.passages import Kind, Segment, Span
from ctxcompress.data.table import SegmentTable
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.select.between_segments import is_within_quotes, stripped_end
from ctxcompress.select.layout import Layout
from ctxcompress.text.lines import after_marks, is_between_graphemes, longest_prefix

__all__ = ["best_alone", "best_split", "opening_fence"]

_TRIES = 8
"""The number of segments to try."""
_MANY_TRIES = 64
"""The same before a statement of source code, a record or a word is split; and of words of a segment, one by one."""
_OF_LINES = frozenset((Kind.CODE, Kind.LOG))
"""The kinds that are split where a line ends, if one line fits: "return false" is not "return"."""
_WORD = lazy_regex(r"\S++")
_LETTER = lazy_regex(r"\w")
_FENCES = ("```", "~~~")
_FENCE_LINE = lazy_regex(r"^[ \t>]*+(?:`{3}|~{3})[^\n]*+\n?", re.MULTILINE)


def best_split(
    table: SegmentTable, ranking: Sequence[int], layout: Layout, budget: int
) -> tuple[SegmentTable, int] | None:
    """Split the best segment if it alone is over the budget.

    Returns the candidates with the segment split, and the number of the part that fits. Returns None if the segment
    fits, or if not even its first word does: then another segment is kept whole, or what `best_alone` finds. With
    content before, only a segment over the whole budget is split: others can be added later.
    """
    found = (_Lone(table, number, layout, budget) for number in ranking if table.kind[number] is not Kind.HEADING)
    best = next(found, None)
    if best is None or best.fits_surely:
        return None
    tries = _MANY_TRIES if best.is_formal else _TRIES
    formal: list[_Lone] = []
    for lone in chain((best,), islice(found, tries - 1)):
        text = layout.compose(lone.whole).text
        if layout.tokens(text) <= budget:
            return None
        if layout.before and layout.count(text) <= budget:
            continue
        if not lone.is_formal:
            return lone.split()
        formal.append(lone)
    if not formal:
        return None
    # Nothing fits. The rows and values of data are alike, so the best one says most.
    is_data = formal[0].segment.kind is Kind.RECORD
    return formal[0 if is_data else -1].split()


def best_alone(table: SegmentTable, ranking: Sequence[int], layout: Layout, budget: int) -> Spans:
    """Return the best segment alone, for budgets too small for anything else; empty if not one character fits.

    The segment is whole with what it needs, or else only the beginning of its text. A heading is used only if there is
    nothing else. A word is split only if no first word of the segments fits, and no other word of the best ones.
    """
    headings_last = sorted(ranking, key=lambda number: table.kind[number] is Kind.HEADING)
    texts = [_Lone(table, number, layout, budget) for number in headings_last[:_MANY_TRIES]]
    best = texts[:_TRIES]
    tries = chain(
        ((lone, (lone.whole,)) for lone in texts if lone.segment.kind is Kind.RECORD),
        ((lone, chain((lone.whole, lone.under_header), lone.beginnings())) for lone in texts),
        ((lone, lone.words()) for lone in best),
        ((lone, lone.beginnings(whole_words=False)) for lone in best),
    )
    return next((spans for lone, parts in tries for spans in parts if spans and lone.fits(spans)), {})


@dataclass(frozen=True, slots=True)
class _Lone:
    """A segment that is to be kept alone, or a part of it."""

    table: SegmentTable
    number: int
    layout: Layout
    budget: int

    @property
    def segment(self) -> Segment:
        """Its entry in the table."""
        return self.table.segments[self.number]

    @property
    def text(self) -> str:
        """Its text, with the white space after it."""
        return self.table.texts[self.number]

    @property
    def whole(self) -> Spans:
        """The spans of all of it and of what it needs."""
        return self.layout.spans(self.table, {self.number, *self.table.needs(self.number)})

    @property
    def under_header(self) -> Spans:
        """The spans of a row and its header, without the rows that say what its empty cells mean; empty for others."""
        if self.segment.kind is not Kind.TABLE:
            return {}
        headers = (number for number in self.table.needs(self.number) if not self.table.needs(number))
        return self.layout.spans(self.table, {self.number, *headers})

    @property
    def is_formal(self) -> bool:
        """Whether a part of it is of little use: source code and data follow a grammar, but not the text within a
        string, whose quotes are other segments."""
        if self.segment.kind is not Kind.RECORD:
            return self.segment.unit is not None
        around = [self.table.texts[other] for other in self.table.needs(self.number)]
        is_tagged = any(text.lstrip().startswith("<") for text in around) and not self.text.lstrip().startswith("<")
        return not is_tagged and not is_within_quotes(self.table, self.number)

    @property
    def fits_surely(self) -> bool:
        """Whether it fits alone, whatever its tokens: none is shorter than a byte."""
        if self.layout.sources or self.table.needs(self.number):
            return False
        around = self.layout.tokens("") + self.layout.opening(self.table.passage[self.number])
        return around + len(self.text.encode(errors="replace")) <= self.budget

    def fits(self, spans: Spans) -> bool:
        """Tell whether these spans of its document fit alone."""
        return self.layout.tokens(self.layout.compose(spans).text) <= self.budget

    def split(self) -> tuple[SegmentTable, int] | None:
        """Split it after the longest beginning that fits, as `best_split` does; None if not even a word fits."""
        segment, closing = self.segment, _closing_fence(self.text)
        is_string = segment.kind is Kind.RECORD and not self.is_formal
        is_lines = segment.kind is Kind.RECORD and not is_string
        is_turn = segment.kind is Kind.TURN and segment.label and self.text.startswith(segment.label)
        length = longest_prefix(
            self.text[:closing],
            fits=self._fits_within_quotes if is_string else lambda length: self.fits(self._part(0, length, closing)),
            lines=segment.kind in _OF_LINES or is_lines,
            skip=len(segment.label) if is_turn else opening_fence(self.text),
            # With content before, a word that is over the whole budget has no other chance.
            whole_words=not self.layout.before,
        )
        if not length:
            return None
        length = _before_open_quote(self.text, length) if is_lines else length
        return self.table.split(self.number, segment.start + length, segment.start + closing), self.number

    def beginnings(self, *, whole_words: bool = True) -> Iterator[Spans]:
        """Yield the longest beginning that fits, without its fence; then without its list or heading marks, too."""
        text = self.text
        for start, end in _between_fences(text):
            start += len(text[start:end]) - len(text[start:end].lstrip())
            for place in dict.fromkeys((start, after_marks(text[:end], start))):
                yield self._longest(place, end, whole_words=whole_words)

    def words(self) -> Iterator[Spans]:
        """Yield what fits from each word after the first one on."""
        text = self.text
        words = ((found, end) for start, end in _between_fences(text) for found in _WORD.finditer(text, start, end))
        for found, end in islice(words, 1, _MANY_TRIES):
            if _LETTER.search(found.group()):
                yield self._longest(found.start(), end, whole_words=True)

    def _longest(self, start: int, end: int, *, whole_words: bool) -> Spans:
        """Return the longest part of the text from an offset on that fits; empty if none does."""
        start -= not is_between_graphemes(self.text, start)  # a space may carry a mark
        length = longest_prefix(
            self.text[start:end],
            fits=lambda length: self.fits(self._part(start, start + length)),
            lines=self.segment.kind in _OF_LINES,
            whole_words=whole_words,
        )
        return self._part(start, start + length) if length else {}

    def _part(self, start: int, end: int, closing: int | None = None) -> Spans:
        """Return the spans of a part of the text and of what closes it, if something does, as `assemble` makes them."""
        text, begin = self.text, self.segment.start
        closing = len(text) if closing is None else closing
        parts = [(start, stripped_end(text, start, end))]
        if (last := stripped_end(text, closing, len(text))) > closing:
            parts.append((stripped_end(text, 0, closing), last))
        return {self.table.document[self.number]: tuple(Span(begin + first, begin + end) for first, end in parts)}

    def _fits_within_quotes(self, length: int) -> bool:
        """Tell whether that many characters of a string fit, with the quotes and brackets around them."""
        start, end = self.segment.start, self.segment.end
        part = replace(self, table=self.table.split(self.number, start + length, end))
        return self.fits(part.whole)


def _before_open_quote(text: str, length: int) -> int:
    """Return where the line of a quotation mark begins that is open after so many characters, as in a cell of several
    lines; `length` if there is none, or no line before."""
    is_open = text.count('"', 0, length) % 2
    return (text.rfind("\n", 0, text.rfind('"', 0, length)) + 1 if is_open else 0) or length


def _between_fences(text: str) -> list[tuple[int, int]]:
    """Return where the text between the fences of a code block begins and ends, which may be fences that it shows; all
    of a text that begins with no fence."""
    fences = [found.span() for found in _FENCE_LINE.finditer(text)] if opening_fence(text) else [(0, 0)]
    return [(start, end) for (_, start), (end, _) in pairwise([*fences, (len(text), 0)])]


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
