"""Segments that are larger than the whole budget: the part of the best one that can be kept."""

from collections.abc import Callable, Sequence
from itertools import islice

from ctxcompress.documents import Spans
from ctxcompress.passages import Kind, Segment, Span
from ctxcompress.select.assemble import stripped_end
from ctxcompress.select.candidates import Candidates
from ctxcompress.select.layout import Layout
from ctxcompress.text.split import longest_prefix

__all__ = ["best_alone", "best_split", "opening_fence"]

_TRIES = 8
_SOURCE_TRIES = 64
"""Segments that are tried before a statement of source code is cut in two."""
_MOST_TOKENS = 4
"""Tokens that a character may be: the bytes of its UTF-8."""
_FENCES = ("```", "~~~")


def best_split(
    candidates: Candidates, ranking: Sequence[int], layout: Layout, budget: int
) -> tuple[Candidates, int, int] | None:
    """If the best segment alone is over the budget: the candidates with it split, the number of the part that fits
    and how many there are more than before. None if it fits, or if nothing fits at all.

    Where something stands before, only what is over the whole budget is split: anything else can come another time.
    """
    found = (number for number in ranking if candidates.segments[number][0] is not Kind.HEADING)
    texts = list(islice(found, 1))
    if texts and len(candidates.texts[texts[0]]) * _MOST_TOKENS <= budget and not candidates.needs(texts[0]):
        return None  # it need not be counted
    texts += islice(found, _SOURCE_TRIES - 1)
    texts = texts[: _TRIES if texts and candidates.segments[texts[0]].unit is None else _SOURCE_TRIES]
    for number in texts:
        alone = layout.spans(candidates, {number, *candidates.needs(number)})
        text_alone = layout.compose(alone)
        if layout.tokens(text_alone) <= budget:
            return None
        if candidates.segments[number].unit is not None and number != texts[-1]:
            continue  # a statement is not cut in two while there are others
        if layout.before and layout.count(text_alone) <= budget:
            continue
        segment, text = candidates.segments[number], candidates.texts[number]
        tail = segment.start + _closing_fence(text)
        index = candidates.document[number]
        fits = _fits(_beginning(layout.documents[index].text, segment, tail, index), layout, budget)
        opening, lines = opening_fence(text), segment.kind is Kind.CODE
        length = longest_prefix(text[: tail - segment.start], fits=fits, lines=lines, skip=opening)
        if length:
            pieces = candidates.split(number, segment.start + length, tail)
            return pieces, number, len(pieces.segments) - len(candidates.segments)
    return None


def best_alone(candidates: Candidates, ranking: Sequence[int], layout: Layout, budget: int) -> Spans:
    """The best segment, whole with what it needs or else the beginning of its text without; a heading only if there
    is nothing else. For budgets so small that nothing can be kept as it should be; empty if not one character fits."""
    texts = sorted(ranking, key=lambda number: candidates.segments[number][0] is Kind.HEADING)
    for number in texts[:_TRIES]:
        whole = layout.spans(candidates, {number, *candidates.needs(number)})
        for spans in (whole, _beginning_alone(candidates, number, layout, budget)):
            if spans and layout.tokens(layout.compose(spans)) <= budget:
                return spans
    return {}


def _beginning_alone(candidates: Candidates, number: int, layout: Layout, budget: int) -> Spans:
    """The longest beginning of a segment's text, without a fence around it, that fits; empty if none does."""
    segment, index, text = candidates.segments[number], candidates.document[number], candidates.texts[number]
    start, end = opening_fence(text), _closing_fence(text)
    start += len(text[start:end]) - len(text[start:end].lstrip())
    inner = segment._replace(start=segment.start + start, end=segment.start + end)
    beginning = _beginning(layout.documents[index].text, inner, inner.end, index)
    length = longest_prefix(text[start:end], fits=_fits(beginning, layout, budget), lines=False)
    return beginning(length) if length else {}


def _beginning(text: str, segment: Segment, tail: int, index: int) -> Callable[[int], Spans]:
    """What is emitted of a passage of which only so many characters of one segment, and what is after `tail`, are
    kept: as `assemble` would have it."""
    end = stripped_end(text, tail, segment.end)
    closing = (Span(stripped_end(text, segment.start, tail), end),) if tail < end else ()

    def spans(length: int) -> Spans:
        return {index: (Span(segment.start, stripped_end(text, segment.start, segment.start + length)), *closing)}

    return spans


def _fits(spans: Callable[[int], Spans], layout: Layout, budget: int) -> Callable[[int], bool]:
    return lambda length: layout.tokens(layout.compose(spans(length))) <= budget


def opening_fence(text: str) -> int:
    """Where the line of an opening fence at the beginning of `text` ends; 0 if there is none."""
    marker, line_end = text.lstrip(" \t>")[:3], text.find("\n") + 1
    is_code_span = marker == "```" and "`" in text[:line_end].lstrip(" \t>`")
    return line_end if marker in _FENCES and not is_code_span else 0


def _closing_fence(text: str) -> int:
    """Where the closing fence of a fenced block begins; the end of `text` if it is none or has none."""
    marker = text.lstrip(" \t>")[:3]
    begin = text.rstrip().rfind("\n") + 1
    closed = marker in _FENCES and begin and text[begin:].lstrip(" \t>").startswith(marker)
    return begin if closed else len(text)
