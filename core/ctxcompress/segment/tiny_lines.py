"""Segments of large texts whose lines are tiny: lists of words or numbers, rows of braces, headings without text.

How it works: a line of a few characters says too little to be a segment of its own, and a large text has very many of
them. So neighbouring lines share a segment of about the length of a sentence. The structure that such a text may have
is not looked for: that would cost far more than the text is worth.
"""

import json
from itertools import pairwise

import numpy as np

from ctxcompress.data.passages import Kind, Segment

__all__ = ["tiny_line_segments"]

_LARGE = 100_000
"""The least characters of a text whose lines are counted."""
_TINY = 12
"""The most characters of a line, on average."""
_TOGETHER = 100
"""Lines that begin within this many characters share a segment."""
_LINE_END = ord("\n")


def tiny_line_segments(text: str) -> list[Segment]:
    """Return the segments of a large text of tiny lines, or none of any other text, or of one value of JSON."""
    if len(text) <= _LARGE or text.count("\n") * _TINY <= len(text) or _is_json(text):
        return []
    characters = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    ends = np.flatnonzero(characters == _LINE_END) + 1
    is_last = np.diff(ends // _TOGETHER, append=-1) != 0
    bounds = dict.fromkeys((0, *ends[is_last].tolist(), len(text)))
    return [Segment(Kind.PARAGRAPH, start, end, number) for number, (start, end) in enumerate(pairwise(bounds))]


def _is_json(text: str) -> bool:
    """Tell whether the text is one list or one object."""
    if text.lstrip()[:1] not in ("[", "{"):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
