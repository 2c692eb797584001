"""What holds of candidates whatever they are worth: found out once, for as many questions as there are."""

import re
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from ctxcompress.passages import Kind
from ctxcompress.select.candidates import Candidates
from ctxcompress.select.novelty import Runs
from ctxcompress.select.oversize import opening_fence
from ctxcompress.text.lines import is_marker

__all__ = ["Structure"]

_REPEATABLE = frozenset((Kind.HEADING, Kind.TABLE))
_SHORTEST_DUPLICATE = 12
"""Characters of a text that is kept once: a list may say "yes" more often."""
_ANNOUNCED = frozenset((Kind.LIST_ITEM, Kind.TABLE, Kind.CODE))
_ANNOUNCING = re.compile(r"[:\uff1a][*_`]*\s*$")
_CLOSING = re.compile(r"[ \t>]*(?:`{3,}|~{3,})\s*")


class Structure:
    """Of each segment of the candidates, unless said otherwise."""

    __slots__ = ("above", "announcement", "candidates", "characters", "runs", "same", "source", "stands")

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
        self.above = candidates.headings_above()
        """The number of the heading that it stands under, or -1."""
        self.announcement = _announcements(candidates)
        """The number of the sentence that announces it, or -1."""
        self.runs = Runs(candidates.texts, lasting=lasting)
        """Its runs of words."""


def _stands(candidates: Candidates) -> list[bool]:
    headers = {
        n for number, s in enumerate(candidates.segments) if s[0] is Kind.TABLE for n in candidates.needs(number)
    }
    return [
        number not in headers and not (_is_bare_fence(text) if segment[0] is Kind.CODE else _is_bare(text))
        for number, (segment, text) in enumerate(zip(candidates.segments, candidates.texts, strict=True))
    ]


def _is_bare(text: str) -> bool:
    return text.isspace() or is_marker(text)


def _is_bare_fence(text: str) -> bool:
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


def _announcements(candidates: Candidates) -> list[int]:
    """For every list item, table and piece of code the sentence right above that announces it with a colon, or -1.

    A list says the opposite of what it means without its "Never do the following:".
    """
    if all(segment[0] not in _ANNOUNCED for segment in candidates.segments):
        return [-1] * len(candidates.segments)
    found: list[int] = []
    last = -1
    for number, (segment, document) in enumerate(zip(candidates.segments, candidates.document, strict=True)):
        announced = segment[0] in _ANNOUNCED
        found.append(last if announced and last >= 0 and candidates.document[last] == document else -1)
        if not announced:
            last = number if _ANNOUNCING.search(candidates.texts[number], len(candidates.texts[number]) - 8) else -1
    return found
