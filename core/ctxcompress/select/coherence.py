"""What must be kept together so that what is kept can be understood."""

from collections.abc import Container, Sequence
from functools import cached_property

from ctxcompress.passages import Kind
from ctxcompress.select.structure import Structure

__all__ = ["Coherence"]

_Group = dict[int, None]
"""Segments, to be gone through in their order or asked whether one is among them."""


class Coherence:
    """Companions of segments: a row's header, a fence, what announces a list, text under a heading, what is announced,
    an opening.

    Openings are items too, so that they are paid for once: the item of passage p is the number of segments plus p.
    """

    def __init__(self, structure: Structure, order: Sequence[int]) -> None:
        """order: the segments that may be chosen, from the best to the worst."""
        self._structure, self._order = structure, order
        self._candidates = structure.candidates
        self._announcement, self._leading = structure.announcement, structure.leading
        self._segments = len(structure.candidates.segments)
        self._announced: dict[int, _Group] = {}

    def companions(self, item: int, kept: Container[int]) -> list[int] | None:
        """All that must be kept with an item, and what that needs; None where that is nothing that may be chosen.

        Of what stands right under a heading, and of what is announced, one that is kept will do, else it is the best.
        """
        found = [item]
        for number in found:  # which grows
            if number >= self._segments:  # an opening needs nothing
                continue
            found += [other for other in self._directly(number) if other not in found]
            if number in self._leading and not self._add_follower(found, number, kept):
                return None
        return found[1:]

    def _directly(self, item: int) -> list[int]:
        """What a segment cannot be kept without, whatever else is kept."""
        needed = [*self._candidates.needs(item), self._segments + self._candidates.passage[item]]
        announcement = self._announcement[item]
        return needed if announcement < 0 else [*needed, announcement]

    def _add_follower(self, found: list[int], item: int, kept: Container[int]) -> bool:
        """Adds one of what must follow a heading or an announcement, if none of it is there; returns whether there is
        anything."""
        group = self._group(item)
        if group and group.keys().isdisjoint(found):
            found.append(next(filter(kept.__contains__, group), next(iter(group))))
        return bool(group)

    def _group(self, item: int) -> _Group:
        """What a heading or an announcement must have one of, from the best to the worst."""
        if self._candidates.segments[item][0] is Kind.HEADING:
            return self._under.get(item, {})
        if item not in self._announced:
            block = self._structure.announced[item]
            ranked = sorted(self._places.keys() & block, key=self._places.__getitem__)
            self._announced[item] = dict.fromkeys(ranked)
        return self._announced[item]

    @cached_property
    def _places(self) -> dict[int, int]:
        return {number: place for place, number in enumerate(self._order)}

    @cached_property
    def _under(self) -> dict[int, _Group]:
        """Heading -> what stands right under it."""
        under: dict[int, _Group] = {}
        headings = self._structure.heading
        for number in self._order:
            if number in headings:
                under.setdefault(headings[number], {})[number] = None
        return under
