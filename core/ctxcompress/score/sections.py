"""The wider unit that a segment is judged in: its passage, or in a long page its section."""

from collections.abc import Sequence

from ctxcompress.passages import Kind, Segment

__all__ = ["number_sections"]

_LONG_PASSAGE = 3_000
"""Characters above which a passage is judged by section: more than a usual chunk, less than a page."""


def number_sections(passages: Sequence[Sequence[Segment]]) -> list[int]:
    """The section number of every segment of every passage, in order, counted from 0 over all of them.

    A short passage is one section. In a long one, and in code, segments under the same heading are one, and
    where there are no headings, those of one block.
    """
    numbers: list[int] = []
    section = -1
    for segments in passages:
        whole = not segments or segments[-1].end <= _LONG_PASSAGE
        code = Kind.CODE
        previous: object = -1
        for segment in segments:
            key = None if whole and segment.kind is not code else segment.heading or segment.block
            section += key != previous
            previous = key
            numbers.append(section)
    return numbers
