"""What holds of candidates whatever they are worth: found out once, for as many questions as there are."""

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ctxcompress.passages import Kind
from ctxcompress.select.announcements import announced, announcements, with_colon
from ctxcompress.select.candidates import Candidates
from ctxcompress.select.novelty import Runs
from ctxcompress.select.oversize import opening_fence
from ctxcompress.text.lines import LONGEST_MARKER, is_marker

__all__ = ["Structure"]

_HEADING, _TABLE, _CODE = Kind.HEADING, Kind.TABLE, Kind.CODE  # a name is ten times as fast as an attribute of an enum
_REPEATABLE = frozenset((_HEADING, _TABLE))
_SHORTEST_DUPLICATE = 12
"""Characters of a text that is kept once: a list may say "yes" more often."""
_CLOSING = re.compile(r"[ \t>]*(?:`{3,}|~{3,})\s*")


class Structure:
    """Of each segment of the candidates, unless said otherwise."""

    __slots__ = (
        "announced",
        "announcement",
        "candidates",
        "characters",
        "heading",
        "leading",
        "runs",
        "same",
        "source",
        "stands",
    )

    def __init__(self, candidates: Candidates, *, lasting: bool = False) -> None:
        """lasting: whether it is for more than one question."""
        self.candidates = candidates
        self.characters: NDArray[np.float64] = np.fromiter(map(len, candidates.texts), float, len(candidates.texts))
        self.source = np.array([segment.unit is not None for segment in candidates.segments], dtype=bool)
        """Whether it is of source code."""
        self.stands = _stands(candidates)
        """Whether it is something to choose: fences come with what they are around, headers of tables with rows."""
        self.same = _same(candidates)
        """Number of a segment -> its text, for those whose text another one has too and that need be kept once."""
        headings = [number for number, segment in enumerate(candidates.segments) if segment[0] is _HEADING]
        self.heading = _under(candidates, headings)
        """Number of a segment -> the heading right above it, for those that are under one and are none themselves."""
        colons = with_colon(candidates)
        self.announcement = announcements(candidates, colons)
        """The number of the sentence that announces it, or -1."""
        self.announced = announced(candidates, colons)
        """Number of a segment that announces others -> those."""
        self.leading = {*headings, *self.announced}
        """What must not be kept without something of what follows it."""
        self.runs = Runs(candidates.texts, lasting=lasting)
        """Its runs of words."""


def _under(candidates: Candidates, headings: Sequence[int]) -> dict[int, int]:
    under: dict[int, int] = {}
    for number, following in zip(headings, [*headings[1:], len(candidates.segments)], strict=False):
        end = min(following, candidates.first[candidates.document[number] + 1])
        if number + 1 < end:
            under.update(dict.fromkeys(range(number + 1, end), number))
    return under


def _stands(candidates: Candidates) -> list[bool]:
    headers = {n for number, s in enumerate(candidates.segments) if s[0] is _TABLE for n in candidates.needs(number)}
    return [
        number not in headers and not (_is_bare_fence(text) if segment[0] is _CODE else _is_bare(text))
        for number, (segment, text) in enumerate(zip(candidates.segments, candidates.texts, strict=True))
    ]


def _is_bare(text: str) -> bool:
    return text.isspace() or (len(text) <= LONGEST_MARKER and is_marker(text))


def _is_bare_fence(text: str) -> bool:
    if "```" not in text and "~~~" not in text:
        return text.isspace()
    return not text[opening_fence(text) :].strip() or _CLOSING.fullmatch(text) is not None


def _same(candidates: Candidates) -> dict[int, str]:
    stripped = list(map(str.strip, candidates.texts))
    if len(set(stripped)) == len(stripped):
        return {}
    texts = {
        number: text
        for number, (segment, text) in enumerate(zip(candidates.segments, stripped, strict=True))
        if len(candidates.texts[number]) >= _SHORTEST_DUPLICATE and segment[0] not in _REPEATABLE
    }
    times = Counter(texts.values())
    return {number: text for number, text in texts.items() if times[text] > 1}
