"""From the segments that are kept to the spans of a passage, so that the spans' text can be read."""

from collections.abc import Sequence

from ctxcompress.types import Segment, Span

__all__ = ["assemble"]


def assemble(text: str, segments: Sequence[Segment], kept: Sequence[int]) -> tuple[Span, ...]:
    """The spans of `text` to emit for the kept segments (ascending numbers): ascending, without overlaps.

    Everything between two kept segments goes, except the white space right before the second one:
    it is what separates it from what stood before, be it a space, a line or a paragraph. White
    space at the end goes too, unless all of the text is kept.
    """
    if len(kept) == len(segments):
        return (Span(0, len(text)),) if text else ()
    spans: list[Span] = []
    for number in kept:
        _, start, end, *_ = segments[number]
        if spans and spans[-1].end < start:
            spans[-1] = Span(spans[-1].start, _stripped_end(text, *spans[-1]))
            gap = _stripped_end(text, spans[-1].end, start)
            spans.append(Span(gap, end))
        elif spans:
            spans[-1] = Span(spans[-1].start, end)
        else:
            spans.append(Span(start, end))
    if spans:
        spans[-1] = Span(spans[-1].start, _stripped_end(text, *spans[-1]))
    return tuple(span for span in spans if span.start < span.end)


def _stripped_end(text: str, start: int, end: int) -> int:
    """Where ``text[start:end]`` ends without the white space at its end."""
    return start + len(text[start:end].rstrip())
