"""What the text of a passage consists of: kept segments with their scores, what is left out, and markers."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ctxcompress.passages import Span
from ctxcompress.render.facts import Scored
from ctxcompress.spans import joined
from ctxcompress.types import Decision, KeptPassage, Reason

__all__ = ["Part", "parts_of"]


class Part(NamedTuple):
    """A piece of what is shown of a passage."""

    text: str
    reason: Reason | None = None
    """Why it is left out; None for what is kept."""
    score: float | None = None
    """Of the segment, or of the best one in what is left out; None where that is not known."""
    is_marker: bool = False
    """Whether it stands for what is left out, and is not of the passage."""


def parts_of(text: str, kept: KeptPassage | None, dropped: Iterable[Decision], scores: Sequence[Scored]) -> list[Part]:
    """The parts in the order of the text. Without markers they are the text."""
    found: list[tuple[Span, Sequence[Part]]] = []
    for decision in dropped:
        for start, end in joined(decision.spans):
            found.append((Span(start, end), [Part(text[start:end], decision.reason, _best(start, end, scores))]))
    if kept is not None and not kept.metadata_only:
        markers = {before: Part(mark, is_marker=True) for before, mark in kept.markers}
        for number, span in enumerate(kept.spans):
            before = [markers[number]] if number in markers else []
            found.append((span, [*before, *_kept(text, span, scores)]))
        if found and len(kept.spans) in markers:
            found.append((Span(*[kept.spans[-1].end] * 2), [markers[len(kept.spans)]]))
    return [part for _, parts in sorted(found, key=lambda pair: pair[0]) for part in parts]


def _kept(text: str, span: Span, scores: Sequence[Scored]) -> Iterator[Part]:
    """The segments that a kept span consists of."""
    start = span.start
    for (begin, end), score in _within(span.start, span.end, scores):
        if start < begin:
            yield Part(text[start:begin])
        yield Part(text[max(start, begin) : min(end, span.end)], score=score)
        start = min(end, span.end)
    if start < span.end:
        yield Part(text[start : span.end])


def _best(start: int, end: int, scores: Sequence[Scored]) -> float | None:
    return max((score for _, score in _within(start, end, scores)), default=None)


def _within(start: int, end: int, scores: Sequence[Scored]) -> Iterator[Scored]:
    """The segments that have something in common with these characters."""
    first = bisect_right(scores, start, key=lambda scored: scored.span.end)
    while first < len(scores) and scores[first].span.start < end:
        yield scores[first]
        first += 1
