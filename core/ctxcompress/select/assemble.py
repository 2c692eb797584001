"""From the segments that are kept to the spans of a passage, so that the spans' text can be read."""

from collections.abc import Sequence

from ctxcompress.passages import Segment, Span
from ctxcompress.spans import joined

__all__ = ["assemble", "stripped_end"]


def assemble(text: str, segments: Sequence[Segment], kept: Sequence[int]) -> tuple[Span, ...]:
    """The spans of `text` to emit for the kept segments (ascending numbers): ascending, without overlaps.

    Everything between two kept segments goes, except the white space that separates the second one
    from what stood before it: before the segment itself within a block, before its block otherwise,
    be that a space, a line end or an empty line. White space at the end goes too, unless all of
    the text is kept.
    """
    if len(kept) == len(segments):
        return (Span(0, len(text)),) if text else ()
    spans: list[Span] = []
    previous = -1
    for number in kept:
        start, end = segments[number][1:3]
        if spans and number == previous + 1:
            spans[-1] = Span(spans[-1].start, end)
        else:
            if spans:
                spans[-1] = Span(spans[-1].start, stripped_end(text, *spans[-1]))
                spans.append(_separator(text, segments, previous, number, spans[-1].end))
            spans.append(Span(start, end))
        previous = number
    if spans:
        spans[-1] = Span(spans[-1].start, stripped_end(text, *spans[-1]))
    return joined(spans)


def _separator(text: str, segments: Sequence[Segment], previous: int, number: int, after: int) -> Span:
    """The white space before segment `number` or before its block, if the previous one is of another."""
    first = number
    if segments[previous].block != segments[number].block:
        while segments[first - 1].block == segments[number].block:
            first -= 1
    end = segments[first].start
    return Span(stripped_end(text, after, end), end)


def stripped_end(text: str, start: int, end: int) -> int:
    """Where ``text[start:end]`` ends without the white space at its end."""
    return start + len(text[start:end].rstrip())
