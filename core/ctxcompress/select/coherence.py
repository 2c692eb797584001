"""What must be kept together so that what is kept can be understood."""

from collections.abc import Sequence

from ctxcompress.passages import Kind
from ctxcompress.select.structure import Structure

__all__ = ["Coherence"]


class Coherence:
    """Companions of segments: a row's header, a fence, what announces a list, text under a heading, an opening.

    Openings are items too, so that they are paid for once: the item of passage p is the number of segments plus p.
    """

    __slots__ = ("_announcement", "_candidates", "_of_headings", "_order", "_segments", "_structure")

    def __init__(self, structure: Structure, order: Sequence[int]) -> None:
        """order: the segments from the best to the worst."""
        self._structure, self._order = structure, order
        self._candidates = structure.candidates
        self._segments = len(structure.candidates.segments)
        self._announcement = structure.announcement
        self._of_headings: dict[int, int] | None = None

    def companions(self, item: int) -> list[int] | None:
        """What must be kept with an item; None for a heading that nothing kept or to be kept stands right under."""
        if item >= self._segments:
            return []
        needed = self._candidates.needs(item)
        needed.append(self._segments + self._candidates.passage[item])
        if self._announcement[item] >= 0:
            needed.append(self._announcement[item])
        if self._candidates.segments[item][0] is Kind.HEADING:
            under = self._best_under().get(item)
            if under is None:
                return None
            needed += [under, *self._candidates.needs(under)]
        return needed

    def _best_under(self) -> dict[int, int]:
        """Heading -> the best segment right under it. Looked for once there is a heading in question."""
        if self._of_headings is None:
            self._of_headings = {}
            for number in self._order:
                if self._candidates.segments[number][0] is not Kind.HEADING:
                    self._of_headings.setdefault(self._structure.above[number], number)
        return self._of_headings
