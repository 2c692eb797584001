"""Arithmetic on ascending, disjoint spans of one text, and the gap markers between them."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ctxcompress.data.passages import Marker, Span

__all__ = ["Gap", "intersection", "inverse", "joined", "markers_for", "merged", "shown", "spans_of", "stripped"]


class Gap(NamedTuple):
    """A part that was cut out of a text: characters ``[start, end)``, up to the white space before what follows."""

    start: int
    end: int
    mark: str
    """The gap marker, without a line end."""
    separator: str
    """The white space between the gap marker and the text beside it."""
    apart: str
    """The gap marker for when the text right before the gap is not kept, such as the signature of a body."""


def inverse(spans: Sequence[Span], length: int) -> tuple[Span, ...]:
    """Return the parts of a text of `length` characters that the spans do not cover."""
    found = []
    begin = 0
    for start, end in spans:
        if begin < start:
            found.append(Span(begin, start))
        begin = end
    if begin < length:
        found.append(Span(begin, length))
    return tuple(found)


def intersection(one: Sequence[Span], other: Sequence[Span]) -> tuple[Span, ...]:
    """Return the parts that both cover."""
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
    """Return the spans without empty ones, and with adjacent ones joined."""
    found: list[Span] = []
    for span in spans:
        if found and found[-1].end == span.start:
            found[-1] = Span(found[-1].start, span.end)
        elif span.start < span.end:
            found.append(span)
    return tuple(found)


def stripped(spans: Sequence[Span], text: str) -> tuple[Span, ...]:
    """Return the spans without white space at the beginning of the first one and the end of the last one.

    The indentation of the first line stays. Spans at either end that hold only white space are removed.
    """
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
    """Return the text of the spans, with the markers between them."""
    parts = [text[start:end] for start, end in spans]
    for before, marker in reversed(markers):
        parts.insert(before, marker)
    return "".join(parts)


def spans_of(gaps: Iterable[Gap]) -> tuple[Span, ...]:
    """Return the gaps as spans."""
    return tuple(Span(gap.start, gap.end) for gap in gaps)


def markers_for(spans: Sequence[Span], gaps: Sequence[Gap]) -> tuple[Marker, ...]:
    """Return the gap markers between the spans of a text that has these gaps. Both are in order.

    Two spans have a marker between them if a gap lies between them. A marker comes before the first span if a gap ends
    there, and after the last span if a gap begins there.
    """
    found: list[Marker] = []
    number = 0
    for gap in gaps:
        while number < len(spans) and spans[number].start < gap.end:
            number += 1
        marker = _marker(gap, spans, number)
        if marker and marker.text and not (found and found[-1].before == number):
            found.append(marker)
    return tuple(found)


def _marker(gap: Gap, spans: Sequence[Span], number: int) -> Marker | None:
    """Return the marker for a gap, or None if no span touches it. number: the first span after the gap."""
    if not spans:
        return None
    if number == 0:
        return Marker(0, gap.mark + gap.separator) if spans[0].start == gap.end else None
    adjoins = spans[number - 1].end == gap.start
    if number < len(spans) or adjoins:
        return Marker(number, gap.separator + (gap.mark if adjoins else gap.apart))
    return None


def merged(markers: Sequence[Marker], others: Sequence[Marker]) -> tuple[Marker, ...]:
    """Return both in order. Where both have a marker, the one that stands for a function's body wins: code needs it."""
    if not (markers and others):
        return tuple(markers or others)
    taken = {marker.before for marker in markers}
    bodies = {other.before for other in others if other.text.strip() == "..."}
    bodies -= {marker.before for marker in markers if marker.text.strip() == "..."}
    stay = [marker for marker in markers if marker.before not in bodies]
    more = [other for other in others if other.before in bodies or other.before not in taken]
    return tuple(sorted((*stay, *more), key=lambda marker: marker.before))
