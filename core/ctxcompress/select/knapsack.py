"""A greedy knapsack over segments that may need one another, what each of them needs, and what it costs.

Taking items in the order of value and density is Dantzig's heuristic, in O(n log n). It comes close to the optimum if
items are small compared with the room.

The openings of passages are items, too, so that each is paid for once: that of passage p has the number of segments
plus p.
"""

from collections.abc import Collection, Container, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, takewhile

import numpy as np
from numpy.typing import NDArray

from ctxcompress.data.passages import Kind
from ctxcompress.data.table import SegmentTable
from ctxcompress.select.layout import Layout
from ctxcompress.select.placement import Placement
from ctxcompress.select.repetition import Novelty, Repeats
from ctxcompress.select.structure import Structure
from ctxcompress.text.tokens import TokenCounter

__all__ = ["LIKELY", "PATIENCE", "Coherence", "Costs", "Knapsack", "counts_of", "rank"]

PATIENCE = 48
"""After this number of items in a row that do not fit, the knapsack counts as full."""
_MOST_REPEATS = 1_000
"""Items that are put aside as repeats at most: of 50,000 records that are nearly alike, no more are looked at."""
LIKELY = 0.012
"""The least probability of an item that is packed for its own sake; others fill up what is left. Sources, contracts and
encyclopedias keep as much or more with 0.008 to 0.025. It is what `adaptive=True` means, too."""
_MARGIN = 0.6
"""The share of the expected cost that a segment is assumed to have at least; one too long even so is not counted."""
_SHORTEST_ALONE = 40
"""Characters: of a shorter piece a reader cannot tell what it belongs to."""
_CHEAP = 0.25
"""The share of the room left that may go to a heading or sentence that explains an item."""
_NOTHING: Set[int] = frozenset()


def rank(values: NDArray[np.float64], sizes: NDArray[np.float64], *, density: float | NDArray[np.float64]) -> list[int]:
    """Return the item numbers from the best to the worst by ``value / size**density``; equal ones keep their order.

    density: 0 ranks by value alone, 1 by value per token; one for all items, or one for each.
    """
    order: list[int] = np.argsort(-values / np.maximum(sizes, 1.0) ** density, kind="stable").tolist()
    return order


class Costs:
    """The tokens of items, counted on demand and cached: most segments of a long text are never counted."""

    def __init__(self, table: SegmentTable, layout: Layout, counts: Sequence[int] | None = None) -> None:
        """counts: `counts_of` the segments, if known."""
        self._texts, self._layout, self._counts = table.texts, layout, counts
        self._known: dict[int, int] = {}
        self._characters, self._tokens = 0, 0

    def __call__(self, item: int) -> int:
        """Return the tokens of an item."""
        known = self._known.get(item)
        if known is None:
            known = self._known[item] = self._counted(item)
        return known

    def ahead(self, segments: Sequence[int]) -> None:
        """Count these segments together, and the separator, if they are not known."""
        if self._counts is None:
            texts = map(_counted_of, map(self._texts.__getitem__, segments))
            self._layout.count.ahead(chain((self._layout.separator,), texts))

    def at_least(self, item: int) -> float:
        """Estimate the tokens of a segment from its length and the counts so far, with a margin."""
        if item in self._known:
            return self._known[item]
        if not self._characters:
            return 0.0
        return _MARGIN * len(self._texts[item]) * self._tokens / self._characters

    def _counted(self, item: int) -> int:
        if item >= len(self._texts):
            return self._layout.opening(item - len(self._texts))
        text = self._texts[item]
        tokens = self._layout.count(_counted_of(text)) if self._counts is None else self._counts[item]
        self._characters += len(text)
        self._tokens += tokens
        return tokens


def counts_of(texts: Sequence[str], count: TokenCounter) -> list[int]:
    """Count the tokens of each segment."""
    return count.of_all(list(map(_counted_of, texts)))


def _counted_of(text: str) -> str:
    """Return a text without spaces at the end: these belong to the token of the next word."""
    return text.rstrip(" ")


class Coherence:
    """What must be kept together: a segment with all that it needs, and short pieces only beside what they belong to.

    A segment may need the header of a row, a fence, the announcement of a list, text under a heading, some of an
    announced block, and the opening of its passage.
    """

    def __init__(self, structure: Structure, order: Sequence[int]) -> None:
        """order: the segments that may be chosen, from the best to the worst."""
        self._order, self._table = order, structure.table
        self._announcement, self._leading = structure.announcement, structure.leading
        self._above, self._antecedent = structure.table.above, structure.antecedent
        self._segments = len(structure.table.segments)
        self._groups: dict[int, dict[int, None]] = {}

    def companions(self, item: int, kept: Container[int]) -> list[int] | None:
        """Return all that must be kept with an item, directly or indirectly; None if the item cannot be chosen.

        A heading or an announcement needs one segment that follows it: a kept one, else the best. One that another
        segment needs has that segment.
        """
        if not self._table.needed[item] and self._announcement[item] < 0 and item not in self._leading:
            return [self._segments + self._table.passage[item]]  # so for most segments
        found, known, needed = [item], {item}, set[int]()
        for number in found:  # it grows
            if number >= self._segments:  # an opening needs nothing
                continue
            directly = self._directly(number)
            needed.update(directly)
            more = [other for other in directly if other not in known]
            if number in self._leading and number not in needed:
                group = self._group(number)
                if not group:
                    return None
                # Without a new set of both: in a chain of labels that would take squared time.
                if group.keys().isdisjoint(known) and group.keys().isdisjoint(more):
                    more.append(next(filter(kept.__contains__, group), next(iter(group))))
            found += more
            known.update(more)
        return found[1:]

    def explaining(self, item: int, kept: Container[int]) -> Iterator[list[int]]:
        """Yield what explains an item and is not kept, each with all that it needs."""
        for other in self._explanations(item, kept):
            companions = self.companions(other, kept)
            if companions is not None:
                yield [other, *companions]

    def is_headless(self, items: Collection[int], kept: Container[int]) -> bool:
        """Tell whether these segments are short and lack a heading: "No." would answer the question of another one."""
        return self._is_short(items) and any(self._table.kind[n] is Kind.HEADING for n in self._missing(items, kept))

    def is_orphan(self, items: Collection[int], kept: Container[int]) -> bool:
        """Tell whether a reader lacks what explains these segments, or whether they are too short to be understood
        alone and stand beside no kept one. A whole document is none, however short.
        """
        if next(self._missing(items, kept), None) is not None:
            return True
        beside = (self._has_neighbour(n, kept) or self._table.is_lone(n) for n in items if n < self._segments)
        return self._is_short(items) and not any(beside)

    def _is_short(self, items: Iterable[int]) -> bool:
        return sum(len(self._table.texts[n].strip()) for n in items if n < self._segments) < _SHORTEST_ALONE

    def _missing(self, items: Collection[int], kept: Container[int]) -> Iterator[int]:
        return (other for item in items for other in self._explanations(item, kept) if other not in items)

    def openings(self, items: Iterable[int]) -> Iterator[int]:
        """Yield the openings that these items need."""
        return (self._segments + self._table.passage[item] for item in items if item < self._segments)

    def _has_neighbour(self, number: int, kept: Container[int]) -> bool:
        """Tell whether something is kept that a segment belongs to: what it needs or leads, or one beside it. After a
        blank line only what is as short belongs to it, as a value to its label: a signature does not to a mail."""
        table = self._table
        first, end = table.first[table.document[number]], table.first[table.document[number] + 1]
        beside = (other for other in (number - 1, number + 1) if first <= other < end)
        joined = (other for other in beside if self._is_short([other]) or not self._is_parted(min(other, number)))
        return any(other in kept for other in (*joined, *table.needs(number), *self._leading.get(number, ())))

    def _is_parted(self, number: int) -> bool:
        """Tell whether a blank line follows a segment."""
        text = self._table.texts[number]
        return text.count("\n", len(text.rstrip())) > 1

    def _explanations(self, item: int, kept: Container[int]) -> Iterator[int]:
        """Yield what makes an item easier to read, and is not kept: the heading above, so that it does not stand below
        an earlier one, and the sentence that has what its first word stands for."""
        for other in (self._above[item], self._antecedent[item]) if item < self._segments else ():
            if other >= 0 and other not in kept and other in self._places:
                yield other

    def _directly(self, item: int) -> list[int]:
        """Return what a segment always needs."""
        needed = [*self._table.needs(item), self._segments + self._table.passage[item]]
        announcement = self._announcement[item]
        return needed if announcement < 0 else [*needed, announcement]

    def _group(self, item: int) -> dict[int, None]:
        """Return the segments of which a heading or an announcement needs one, the best first: an ordered set."""
        if item not in self._groups:
            places, segments = self._places, self._table.segments
            block = [n for n in self._leading[item] if n in places and segments[n].kind is not Kind.HEADING]
            self._groups[item] = dict.fromkeys(sorted(block, key=places.__getitem__))
        return self._groups[item]

    @cached_property
    def _places(self) -> dict[int, int]:
        return {number: place for place, number in enumerate(self._order)}


@dataclass(slots=True)
class Knapsack:
    """The items that are packed so far, and the room that is left."""

    room: int
    cost: Costs
    coherence: Coherence
    novelty: Novelty
    placement: Placement
    kept: set[int] = field(default_factory=set)
    chosen: set[int] = field(default_factory=set)
    """The kept items that are no companions of others."""
    orphans: set[int] = field(default_factory=set)
    """The items that would have fitted, and were orphans at their turn."""

    def fill(self, order: Sequence[int], chances: Sequence[float] = ()) -> bool:
        """Pack the items that fit, in this order, and tell whether any were packed.

        The order is one of worth for each token, so a short item may come before one that is needed more likely. Those
        that repeat packed ones come later, see `Repeats`. An orphan that is not likely needed stays out: the room stays
        empty.

        chances: the probability that each item is needed, if known.
        """
        before = len(self.kept)
        likely = [*takewhile(lambda item: not chances or chances[item] >= LIKELY, order)]
        repeats = Repeats(self.novelty, chances, LIKELY)
        self._fill(repeats.in_turn(likely), repeats)
        self._fill(order[len(likely) :], repeats, no_orphans=True)
        self._fill(repeats.rest, None, no_orphans=True)
        return len(self.kept) > before

    def copy(self, room: int) -> "Knapsack":
        """Return an independent knapsack with the same items and this room left."""
        novelty, placement, kept, chosen = self.novelty.copy(), self.placement.copy(), set(self.kept), set(self.chosen)
        return Knapsack(room, self.cost, self.coherence, novelty, placement, kept, chosen, set(self.orphans))

    def _fill(self, order: Iterable[int], repeats: Repeats | None, *, no_orphans: bool = False) -> None:
        kept, at_least, misses = self.kept, self.cost.at_least, 0
        for item in order:
            if item in kept:
                continue
            if self.room <= 0 or misses > PATIENCE or (repeats and len(repeats) >= _MOST_REPEATS):
                return
            # The estimate is too much for most items once the budget is nearly full.
            wanted = self._wanted(item) if at_least(item) <= self.room else _NOTHING
            cost = sum(map(self.cost, wanted))
            if not wanted or cost > self.room:
                misses += 1
            elif no_orphans and kept and self.coherence.is_orphan(wanted, kept):
                self.orphans.add(item)
            elif self._is_misplaced(wanted):
                misses += 1
            elif repeats is not None and repeats.holds(item, wanted):
                continue
            else:
                misses = 0
                self.room -= cost
                self.novelty.take(wanted)
                self.placement.take(wanted)
                kept |= wanted
                self.chosen.add(item)

    def _wanted(self, item: int) -> Set[int]:
        """Return an item with what it needs, and what explains it if this is cheap; nothing if it cannot be chosen."""
        companions = self.coherence.companions(item, self.kept)
        if companions is None:
            return _NOTHING
        wanted = {item, *companions} - self.kept
        left = self.room - sum(map(self.cost, wanted))
        for explaining in self.coherence.explaining(item, self.kept):
            more = {*explaining} - self.kept - wanted
            cost = sum(map(self.cost, more))
            if cost <= (1 if self._is_misplaced(wanted) else _CHEAP) * left:
                wanted |= more
                left -= cost
        return wanted

    def _is_misplaced(self, items: Collection[int]) -> bool:
        """Tell whether these segments cannot be kept beside those that are, for want of a heading."""
        if not self.kept:
            return False
        return self.coherence.is_headless(items, self.kept) or self.placement.misplaces(items)
