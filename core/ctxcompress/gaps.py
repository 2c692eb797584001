"""Places where something of a passage was cut out, and the markers that are shown there."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ctxcompress.passages import Marker, Span

__all__ = ["Gap", "markers_for", "merged", "spans_of"]


class Gap(NamedTuple):
    """What was cut out: characters ``[start, end)`` of a text, up to the white space before what follows."""

    start: int
    end: int
    mark: str
    """What is shown in its place, without a line end."""
    separator: str
    """The white space that parts the mark from what stands around it."""
    apart: str
    """What is shown where what stood right before the gap is not kept: of a body without its signature."""


def spans_of(gaps: Iterable[Gap]) -> tuple[Span, ...]:
    """What was cut out, as spans."""
    return tuple(Span(gap.start, gap.end) for gap in gaps)


def markers_for(spans: Sequence[Span], gaps: Sequence[Gap]) -> tuple[Marker, ...]:
    """The markers between these spans (in order) of a text with these gaps (in order).

    There is one between two spans if a gap is between them, and one before the first or after the last span if a gap
    ends or begins right there.
    """
    found: list[Marker] = []
    number = 0
    for gap in gaps:
        while number < len(spans) and spans[number].start < gap.end:
            number += 1
        marker = _marker(gap, spans, number)
        if marker and not (found and found[-1].before == number):
            found.append(marker)
    return tuple(found)


def merged(markers: Sequence[Marker], others: Sequence[Marker]) -> tuple[Marker, ...]:
    """Both in order; where both have one in a place, the one that stands for a body, which has to be there."""
    if not (markers and others):
        return tuple(markers or others)
    taken = {marker.before for marker in markers}
    bodies = {other.before for other in others if other.text.strip() == "..."}
    bodies -= {marker.before for marker in markers if marker.text.strip() == "..."}
    stay = [marker for marker in markers if marker.before not in bodies]
    more = [other for other in others if other.before in bodies or other.before not in taken]
    return tuple(sorted((*stay, *more), key=lambda marker: marker.before))


def _marker(gap: Gap, spans: Sequence[Span], number: int) -> Marker | None:
    """number: of the first span after the gap."""
    if not spans:
        return None
    if number == 0:
        return Marker(0, gap.mark + gap.separator) if spans[0].start == gap.end else None
    adjoins = spans[number - 1].end == gap.start
    if number < len(spans) or adjoins:
        return Marker(number, gap.separator + (gap.mark if adjoins else gap.apart))
    return None
