"""What must be kept together so that what is kept can be understood."""

import re
from collections.abc import Sequence

from ctxcompress.select.candidates import Candidates
from ctxcompress.types import Kind

__all__ = ["Coherence"]


_ANNOUNCED = frozenset((Kind.LIST_ITEM, Kind.TABLE, Kind.CODE))
_ANNOUNCING = re.compile(r"[:\uff1a][*_`]*\s*$")


class Coherence:
    """Companions of segments: a row's header, a fence, what announces a list, text under a heading, an opening.

    Openings are items too, so that they are paid for once: the item of passage p is the number of segments plus p.
    """

    __slots__ = ("_above", "_announcement", "_best_under", "_candidates", "_segments")

    def __init__(self, candidates: Candidates, order: Sequence[int]) -> None:
        """order: the segments from the best to the worst."""
        self._candidates = candidates
        self._segments = len(candidates.segments)
        self._above = candidates.headings_above()
        self._announcement = _announcements(candidates)
        self._best_under: dict[int, int] = {}
        for number in order:
            if candidates.segments[number][0] is not Kind.HEADING:
                self._best_under.setdefault(self._above[number], number)

    def companions(self, item: int) -> list[int] | None:
        """What must be kept with an item; None for a heading that nothing kept or to be kept stands right under."""
        if item >= self._segments:
            return []
        needed = self._candidates.needs(item)
        needed.append(self._segments + self._candidates.passage[item])
        if self._announcement[item] >= 0:
            needed.append(self._announcement[item])
        if self._candidates.segments[item][0] is Kind.HEADING:
            under = self._best_under.get(item)
            if under is None:
                return None
            needed += [under, *self._candidates.needs(under)]
        return needed


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
