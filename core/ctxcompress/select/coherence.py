"""What must be kept together: a segment with all that it needs, and short pieces only beside what they belong to."""

from collections.abc import Collection, Container, Sequence
from functools import cached_property

from ctxcompress.data.passages import Kind
from ctxcompress.select.structure import Structure

__all__ = ["Coherence"]

_SHORTEST_ALONE = 40
"""Characters: of a shorter piece a reader cannot tell what it belongs to."""
_Group = dict[int, None]
"""An ordered set of segments."""


class Coherence:
    """The companions of segments: the header of a row, a fence, the announcement of a list, text under a heading, some
    of an announced block, and the opening of a passage.

    Openings are items, too, so that each is paid for once: the item of passage p is the number of segments plus p.
    """

    def __init__(self, structure: Structure, order: Sequence[int]) -> None:
        """order: the segments that may be chosen, from the best to the worst."""
        self._order = order
        self._candidates = structure.table
        self._announcement, self._leading = structure.announcement, structure.leading
        self._segments = len(structure.table.segments)
        self._groups: dict[int, _Group] = {}

    def companions(self, item: int, kept: Container[int]) -> list[int] | None:
        """Return all that must be kept with an item, directly or indirectly; None if the item cannot be chosen.

        A heading or an announcement needs one segment that follows it: a kept one, else the best. One that another
        segment needs has that segment.
        """
        if not self._candidates.needed[item] and self._announcement[item] < 0 and item not in self._leading:
            return [self._segments + self._candidates.passage[item]]  # so for most segments
        found, needed = [item], set[int]()
        for number in found:  # it grows
            if number >= self._segments:  # an opening needs nothing
                continue
            directly = self._directly(number)
            needed.update(directly)
            found += [other for other in directly if other not in found]
            is_leading = number in self._leading and number not in needed
            if is_leading and not self._add_follower(found, number, kept):
                return None
        return found[1:]

    def is_orphan(self, items: Collection[int], kept: Container[int]) -> bool:
        """Tell whether these segments are too short to be understood alone, and stand beside no kept one.

        A whole document is none, however short.
        """
        table = self._candidates
        numbers = [number for number in items if number < self._segments]
        if sum(len(table.texts[number].strip()) for number in numbers) >= _SHORTEST_ALONE:
            return False
        return not any(self._has_neighbour(number, kept) or table.is_lone(number) for number in numbers)

    def _has_neighbour(self, number: int, kept: Container[int]) -> bool:
        """Tell whether something is kept that a segment belongs to: what it needs or leads, or one beside it under the
        same heading."""
        table = self._candidates
        first, end = table.first[table.document[number]], table.first[table.document[number] + 1]
        beside = (other for other in (number - 1, number + 1) if first <= other < end)
        under = (other for other in beside if table.heading[other] == table.heading[number])
        return any(other in kept for other in (*under, *table.needs(number), *self._leading.get(number, ())))

    def _directly(self, item: int) -> list[int]:
        """Return what a segment always needs."""
        needed = [*self._candidates.needs(item), self._segments + self._candidates.passage[item]]
        announcement = self._announcement[item]
        return needed if announcement < 0 else [*needed, announcement]

    def _add_follower(self, found: list[int], item: int, kept: Container[int]) -> bool:
        """Add a segment that follows a heading or an announcement, unless there is one already.

        Returns whether there is any.
        """
        group = self._group(item)
        if group and group.keys().isdisjoint(found):
            found.append(next(filter(kept.__contains__, group), next(iter(group))))
        return bool(group)

    def _group(self, item: int) -> _Group:
        """Return the segments of which a heading or an announcement needs one, from the best to the worst."""
        if item not in self._groups:
            places, segments = self._places, self._candidates.segments
            block = [n for n in self._leading[item] if n in places and segments[n].kind is not Kind.HEADING]
            self._groups[item] = dict.fromkeys(sorted(block, key=places.__getitem__))
        return self._groups[item]

    @cached_property
    def _places(self) -> dict[int, int]:
        return {number: place for place, number in enumerate(self._order)}
