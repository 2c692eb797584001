"""Arithmetic on ascending, disjoint spans of one text."""

from collections.abc import Iterable, Sequence

from ctxcompress.passages import Marker, Span

__all__ = ["intersection", "inverse", "joined", "shown", "stripped"]


def inverse(spans: Sequence[Span], length: int) -> tuple[Span, ...]:
    """What of a text of `length` characters the spans leave out."""
    if not spans:
        return (Span(0, length),) if length else ()
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


def joined(spans: Iterable[Span]) -> tuple[Span, ...]:
    """The same without empty spans, and adjacent ones as one."""
    found: list[Span] = []
    for span in spans:
        if found and found[-1].end == span.start:
            found[-1] = Span(found[-1].start, span.end)
        elif span.start < span.end:
            found.append(span)
    return tuple(found)


def stripped(spans: Sequence[Span], text: str) -> tuple[Span, ...]:
    """The same without white space where the first one begins and the last one ends, but for the indentation of the
    first line; without spans that are nothing else there."""
    ends = [(start, end) for start, end in spans]
    while ends and not text[slice(*ends[0])].strip():
        del ends[0]
    while ends and not text[slice(*ends[-1])].strip():
        del ends[-1]
    if ends:
        start, end = ends[0]
        begin = end - len(text[start:end].lstrip())
        line = text.rfind("\n", max(start - 1, 0), begin) + 1
        ends[0] = max(line, start) if line or not start else begin, end
        start, end = ends[-1]
        ends[-1] = start, start + len(text[start:end].rstrip())
    return tuple(Span(start, end) for start, end in ends)


def shown(text: str, spans: Sequence[Span], markers: Sequence[Marker] = ()) -> str:
    """The text of the spans, with the markers in their places."""
    parts = [text[start:end] for start, end in spans]
    for before, marker in reversed(markers):
        parts.insert(before, marker)
    return "".join(parts)
