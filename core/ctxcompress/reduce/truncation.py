"""Truncation of a long text to its beginning, its end and the most important segments in between.

What the query asks for comes first. Of source code, signatures come before bodies and public names before private ones,
from all over the file.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import inf

from ctxcompress.data.passages import Gap, Kind, Marker, NodeKind, Segment, Span, markers_for, with_needs
from ctxcompress.lazy_regex import lazy_regex

__all__ = ["Cut", "truncated", "words_of"]

_EDGE_SHARE, _ASKED_SHARE = 0.3, 0.4
"""The shares of the result for the beginning and the end of a text each, and for what is asked for, first."""
_LEAST_STEP = 1 / 16
"""The share of the length by which at least the room shrinks if the gap markers take too much."""
_STRETCHES = 8
"""The number of equal stretches of a file that signatures are taken from in turn."""
_DEFINES = frozenset((NodeKind.FUNCTION, NodeKind.METHOD, NodeKind.CLASS, NodeKind.TYPE, NodeKind.NAMESPACE))
_WORD = lazy_regex(r"\s*+\S++\s*+|\s++")


@dataclass(frozen=True, slots=True)
class Cut:
    """The kept spans of a text, and the gaps between them."""

    spans: tuple[Span, ...]
    """In order; empty if nothing is short enough, as in a text of one long word."""
    gaps: tuple[Gap, ...] = ()
    """Between the spans, before the first and after the last one."""

    @property
    def markers(self) -> tuple[Marker, ...]:
        """The gap markers that are shown."""
        return markers_for(self.spans, self.gaps)

    def __len__(self) -> int:
        """Return how many characters are shown."""
        return sum(end - start for start, end in self.spans) + sum(len(marker.text) for marker in self.markers)


def truncated(
    segments: Sequence[Segment],
    max_length: int,
    cut_to: Callable[[Sequence[int]], Cut],
    *,
    asked: Sequence[float],
    is_head: bool = False,
) -> Cut:
    """Truncate a text to segments of at most `max_length` characters, gap markers included.

    Each segment is kept with all that it needs. While there is room, segments are kept in this order: what the query
    asks for, up to 40 % of the room; signatures at the top of a file by their rank; the first and the last 30 %;
    signatures within classes; the rest. cut_to: returns what is shown if the segments with these numbers are kept.
    asked: how much the query asks for each segment. is_head: whether only the beginning is kept.
    """
    room = float(max_length)
    while room > 0:
        filling = _Filling(segments, room)
        if is_head:
            filling.add_run(range(len(segments)), room)
        else:
            _fill(filling, asked)
        cut = cut_to(sorted(filling.kept))
        excess = len(cut) - max_length
        if excess <= 0:
            return cut
        room -= max(excess, _LEAST_STEP * max_length)
    return Cut(())


def words_of(text: str, segments: Sequence[Segment]) -> list[Segment]:
    """Return the words of a text as segments; a fenced block, which cannot be cut at a word, stays one."""
    words: list[Segment] = []
    for number, block in groupby(segments, key=lambda segment: segment.block):
        parts = list(block)
        start, end = parts[0].start, parts[-1].end
        if parts[0].kind is Kind.CODE and parts[0].unit is None:
            words.append(Segment(Kind.CODE, start, end, number))
        else:
            found = _WORD.finditer(text, start, end)
            words += (Segment(Kind.PARAGRAPH, match.start(), match.end(), number) for match in found)
    return words


def _fill(filling: "_Filling", asked: Sequence[float]) -> None:
    """Keep the most important segments while there is room."""
    segments, room = filling.segments, filling.room
    numbers = range(len(segments))
    ranked = sorted(numbers, key=lambda number: (-asked[number], len(segments[number].heading)))
    signatures = [number for number in ranked if segments[number].unit in _DEFINES]
    filling.add_all((number for number in ranked if asked[number]), _ASKED_SHARE * room)
    filling.add_all(_from_all_stretches(segments, [n for n in signatures if len(segments[n].heading) == 1]))
    filling.add_run(numbers, _EDGE_SHARE * room)
    filling.add_run(reversed(numbers), _EDGE_SHARE * room)
    filling.add_all(sorted(signatures, key=lambda number: _rank(segments[number])))
    filling.add_all(ranked)


def _from_all_stretches(segments: Sequence[Segment], numbers: Sequence[int]) -> list[int]:
    """Order signatures by their rank, and of equal rank the shortest one of each stretch of the text in turn."""
    stretch = segments[-1].end / _STRETCHES
    times = Counter[tuple[int, int]]()
    order = []
    for number in sorted(numbers, key=lambda number: segments[number].end - segments[number].start):
        rank, place = _rank(segments[number]), int(segments[number].start / stretch)
        order.append((rank, times[rank, place], place, number))
        times[rank, place] += 1
    return [number for *_, number in sorted(order)]


def _rank(segment: Segment) -> int:
    """Return 0 for a signature that others use, 1 for a type, which says little without its members, 2 for one with a
    leading underscore, for internal use."""
    name = segment.heading[-1] if segment.heading else ""
    return 2 if name.startswith("_") and not name.endswith("__") else int(segment.unit is NodeKind.TYPE)


class _Filling:
    """The segments that are kept so far."""

    def __init__(self, segments: Sequence[Segment], room: float) -> None:
        self.segments, self.room = segments, room
        self.kept: set[int] = set()
        self._length = 0

    def add_all(self, numbers: Iterable[int], most: float = inf) -> None:
        """Keep each of the segments that fits, with at most this many characters altogether."""
        for number in numbers:
            self._add(number, most)

    def add_run(self, numbers: Iterable[int], most: float) -> None:
        """Keep the segments in order until one does not fit. A segment that is longer than `most` alone is skipped."""
        length = 0
        for number in numbers:
            size = self._size(number)
            if length + size <= most and self._add(number):
                length += size
            elif size <= most:
                return

    def _add(self, number: int, most: float = inf) -> bool:
        """Keep a segment with all that it needs if it fits, and tell whether it is kept."""
        added = with_needs((number,), lambda other: self.segments[other].needs) - self.kept
        length = self._length + sum(map(self._size, added))
        if length > min(most, self.room):
            return number in self.kept
        self.kept |= added
        self._length = length
        return True

    def _size(self, number: int) -> int:
        return self.segments[number].end - self.segments[number].start
