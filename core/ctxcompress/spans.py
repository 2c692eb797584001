"""Arithmetic on ascending, disjoint spans of one text."""

from collections.abc import Sequence

from ctxcompress.types import Span

__all__ = ["intersection", "inverse"]


def inverse(spans: Sequence[Span], length: int) -> tuple[Span, ...]:
    """What of a text of `length` characters the spans leave out."""
    starts = [0, *(end for _, end in spans)]
    ends = [*(start for start, _ in spans), length]
    return tuple(Span(start, end) for start, end in zip(starts, ends, strict=True) if start < end)


def intersection(one: Sequence[Span], other: Sequence[Span]) -> tuple[Span, ...]:
    """What is in a span of both."""
    found = []
    i = j = 0
    while i < len(one) and j < len(other):
        start, end = max(one[i].start, other[j].start), min(one[i].end, other[j].end)
        if start < end:
            found.append(Span(start, end))
        if one[i].end < other[j].end:
            i += 1
        else:
            j += 1
    return tuple(found)
