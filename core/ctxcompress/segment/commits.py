"""Segments of what `git log` prints: messages of commits, each of which needs the hash, author and date above it."""

import re
from collections.abc import Iterator
from itertools import pairwise

from ctxcompress.data.passages import Kind, Segment
from ctxcompress.lazy_regex import lazy_regex

__all__ = ["commit_segments"]

_COMMIT = lazy_regex(
    r"^commit [0-9a-f]{7,64}\b[^\n]*+\n(?=(?:[A-Z][A-Za-z]++: [^\n]*+\n){1,8}[ \t]*\r?\n)", re.MULTILINE
)
_HEAD_END = lazy_regex(r"\n[ \t]*\r?\n(?:[ \t]*\r?\n)*")
_LONG = 500
"""The most characters of a message that is one segment. A longer one is cut at its paragraphs."""


def commit_segments(text: str) -> list[Segment]:
    """Return the segments of the output of `git log`, none of any other text. They partition the text."""
    starts = [found.start() for found in _COMMIT.finditer(text)] if "commit " in text else []
    if not starts:
        return []
    segments = [Segment(Kind.LOG, 0, starts[0], 0)] if starts[0] else []
    for block, (start, end) in enumerate(pairwise((*starts, len(text))), 1):
        head = _HEAD_END.search(text, start, end)
        body = head.end() if head else end
        header = len(segments)
        segments.append(Segment(Kind.LOG, start, body, block))
        parts = _parts(text, body, end)
        segments += [Segment(Kind.LOG, first, last, block, (), (header,)) for first, last in parts]
    return segments


def _parts(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each part of a message."""
    if end - start > _LONG:
        for found in _HEAD_END.finditer(text, start, end):
            yield start, found.end()
            start = found.end()
    if start < end:
        yield start, end
