"""Where segments stand among the headings that are shown: below their own, or below that of another section."""

from bisect import bisect_left, insort
from collections.abc import Collection, Iterable, Sequence
from copy import copy

from ctxcompress.data.passages import Kind
from ctxcompress.data.table import SegmentTable

__all__ = ["Placement"]


class Placement:
    """The headings that are shown, and the segments that are shown without theirs."""

    def __init__(self, table: SegmentTable) -> None:
        self._table = table
        self._shown: list[int] = []
        """The headings, in order."""
        self._headless: set[int] = set()

    def copy(self) -> "Placement":
        """Return an independent placement with the same segments."""
        copied = copy(self)
        copied._shown, copied._headless = list(self._shown), set(self._headless)
        return copied

    def take(self, items: Collection[int]) -> None:
        """Show these segments, too."""
        for heading in self._headings_of(items):
            insort(self._shown, heading)
        segments = (n for n in (*items, *self._headless) if n < len(self._table.segments))
        self._headless = {number for number in segments if self._lacks_heading(number, ())}

    def misplaces(self, items: Collection[int]) -> bool:
        """Tell whether one of these segments would stand below the heading of another section, or one of them would be
        such a heading above a segment that is shown."""
        added = sorted(self._headings_of(items))
        several = (*items, *self._headless) if added else items
        return any(self._is_below_another(n, added) for n in several if n < len(self._table.segments))

    def _headings_of(self, items: Iterable[int]) -> list[int]:
        kind = self._table.kind
        return [n for n in items if n < len(kind) and kind[n] is Kind.HEADING]

    def _lacks_heading(self, number: int, added: Sequence[int]) -> bool:
        above = self._table.above[number]
        return above >= 0 and above not in added and _last_before(self._shown, above + 1) != above

    def _is_below_another(self, number: int, added: Sequence[int]) -> bool:
        """Tell whether the nearest heading before a segment is none of its own."""
        if not self._lacks_heading(number, added):
            return False
        nearest, document = max(_last_before(self._shown, number), _last_before(added, number)), self._table.document
        is_beside = nearest >= 0 and document[nearest] == document[number]
        return is_beside and nearest not in self._table.headings_of(number)


def _last_before(numbers: Sequence[int], number: int) -> int:
    """Return the last of some ascending numbers that is less; -1 if none is."""
    place = bisect_left(numbers, number)
    return numbers[place - 1] if place else -1
