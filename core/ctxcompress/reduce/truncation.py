"""Truncation of a long text to its beginning, its end and the most important parts in between.

In source code, signatures come before bodies and public names before private ones, from all over the file. In prose,
the sentences that the query asks for come first.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf

from ctxcompress.code.elision import PROSE, Marks
from ctxcompress.data.passages import Gap, Marker, Node, Segment, Span, markers_for
from ctxcompress.reduce.importance import Part, Rank, parts_of_code, parts_of_lines, parts_of_prose, parts_of_words

__all__ = [
    "Cut",
    "Importance",
    "no_question",
    "records_within",
    "truncated",
    "truncated_head",
    "truncated_prose",
]

Importance = Callable[[str], float]
"""How much the query asks for a text; 0 for not at all."""

_EDGE_SHARE = 0.3
"""The share of the result for the beginning of the text, and the share for its end."""
_ASKED_SHARE = 0.4
"""The share for what the query asks for, which comes first."""
_DECLARED = ((Rank.MODULE, 0.15), (Rank.PUBLIC, inf), (Rank.MODULE, _EDGE_SHARE), (Rank.TYPE, inf), (Rank.PRIVATE, inf))
"""The order in which top-level declarations are kept, with the share of the room for each rank."""
_STRETCHES = 8
"""The number of equal stretches of a file that declarations are taken from in turn."""


@dataclass(frozen=True, slots=True)
class Cut:
    """The kept spans of a text, and the gaps between them."""

    spans: tuple[Span, ...]
    """In order; empty if nothing is short enough, as in a text of one long word."""
    gaps: tuple[Gap, ...]
    """Between the spans, before the first and after the last one."""

    @property
    def markers(self) -> tuple[Marker, ...]:
        """The gap markers that are shown."""
        return markers_for(self.spans, self.gaps)


def no_question(_: str) -> float:
    """Return the importance of a text when there is no query: always 0."""
    return 0.0


def truncated(
    text: str, nodes: Sequence[Node], max_length: int, *, marker: Marks, importance: Importance = no_question
) -> Cut:
    """Truncate source code to at most `max_length` characters, gap markers included.

    Whole lines are kept, and the result parses if `text` does: a part of a body comes with the signature and the end of
    the body, and a marker stands for an empty body. While there is room, parts are kept in this order: what the query
    names, up to 40 % of the room; top-level signatures, public ones first, and in scripts exports and imports before
    types; the first and the last 30 %; signatures within classes; the rest.

    Without an outline (`nodes` is empty), or if no part is short enough, lines that look like definitions count as
    signatures, and the result need not parse. If no line is short enough, words are kept. importance: called once for
    each part and each name.
    """
    if len(text) <= max_length:
        return _whole(text)
    parts = parts_of_code(text, nodes, marker) if nodes else parts_of_lines(text)
    filling = _Filling(text, parts, marker, max_length)
    _fill(filling, importance)
    if filling.kept or not nodes:
        return filling.cut() if filling.kept else _cut_at_words(text, max_length)
    return truncated(text, (), max_length, marker=marker, importance=importance)


def truncated_prose(
    text: str, segments: Sequence[Segment], max_length: int, *, importance: Importance = no_question
) -> Cut:
    """Truncate prose to at most `max_length` characters, gap markers included.

    Whole segments are kept with all that they need: first what the query asks for, up to 40 %, then the first and the
    last 30 %, then more of what it asks for.
    """
    if len(text) <= max_length:
        return _whole(text)
    filling = _Filling(text, parts_of_prose(text, segments, max_length), PROSE, max_length)
    _fill(filling, importance)
    return filling.cut() if filling.kept else _cut_at_words(text, max_length)


def records_within(
    text: str, segments: Sequence[Segment], max_length: int, *, importance: Importance | None
) -> Sequence[int]:
    """Return the numbers of the segments of data that `truncated_prose` would keep, with room for what joins them.

    importance: None to keep only the beginning.
    """
    filling = _Filling(text, parts_of_prose(text, segments, max_length), PROSE, max_length)
    if importance is None:
        filling.add_run(range(len(filling.parts)), max_length)
    else:
        _fill(filling, importance)
    return filling.kept


def truncated_head(
    text: str, nodes: Sequence[Node], segments: Sequence[Segment], max_length: int, *, marker: Marks
) -> Cut:
    """Truncate a text to its beginning, in at most `max_length` characters, the marker included.

    Whole parts of source code or segments of prose are kept. If they fill less than half of the length, words are kept
    instead, unless this would cut through something that must be closed. nodes: the outline of source code. segments:
    of prose.
    """
    if len(text) <= max_length:
        return _whole(text)
    parts = parts_of_code(text, nodes, marker) if nodes else parts_of_prose(text, segments, max_length)
    filling = _Filling(text, parts, marker, max_length)
    filling.add_run(range(len(parts)), max_length)
    is_open = any(part.needs for part in filling.parts if part.start < max_length)
    if filling.length * 2 >= max_length or (filling.kept and is_open):
        return filling.cut()
    words = _Filling(text, parts_of_words(text), marker, max_length)
    words.add_run(range(len(words.parts)), max_length)
    return words.cut() if words.kept else _whole(text)


def _whole(text: str) -> Cut:
    return Cut((Span(0, len(text)),) if text else (), ())


def _cut_at_words(text: str, max_length: int) -> Cut:
    filling = _Filling(text, parts_of_words(text), PROSE, max_length)
    _fill_ends(filling)
    return filling.cut()


def _fill_ends(filling: "_Filling") -> None:
    numbers = range(len(filling.parts))
    filling.add_run(numbers, filling.max_length / 2)
    filling.add_run(reversed(numbers), filling.max_length)


def _fill(filling: "_Filling", importance: Importance) -> None:
    """Keep the most important parts while there is room."""
    parts, most = filling.parts, filling.max_length
    asked = [importance(filling.text[part.start : part.end]) for part in parts]
    if any(asked):
        named = [importance(part.name) if part.name else 0.0 for part in parts]
        _add_asked(filling, named, asked)
    outlined = any(part.last >= 0 for part in parts)
    numbers = range(len(parts))
    heads = [number for number in numbers if parts[number].defines]
    if outlined:
        _add_declared(filling)
    filling.add_run(numbers, most * _EDGE_SHARE)
    filling.add_run(reversed(numbers), most * _EDGE_SHARE)
    filling.add_all(sorted(heads, key=lambda n: (-asked[n], parts[n].depth, parts[n].rank or Rank.PUBLIC)))
    filling.add_all(sorted(numbers, key=lambda n: (-asked[n], parts[n].depth, n)))


def _add_asked(filling: "_Filling", named: Sequence[float], asked: Sequence[float]) -> None:
    """Keep what the query names, with its body, and then what else it asks for, up to a share of the room."""
    most = filling.max_length * _ASKED_SHARE
    for number in sorted((n for n, value in enumerate(named) if value), key=lambda n: (-named[n], n)):
        if filling.length > most or not filling.add(number):
            continue
        filling.add_all(range(number + 1, filling.parts[number].last + 1), most)
    filling.add_all(sorted((n for n, value in enumerate(asked) if value), key=lambda n: (-asked[n], n)), most)


def _add_declared(filling: "_Filling") -> None:
    """Keep top-level declarations, rank by rank, from all over the file."""
    for rank, share in _DECLARED:
        numbers = [n for n, part in enumerate(filling.parts) if part.depth == 0 and part.rank is rank]
        filling.add_all(_from_all_stretches(numbers, filling), filling.length + share * filling.max_length)


def _from_all_stretches(numbers: Sequence[int], filling: "_Filling") -> list[int]:
    """Order the parts: the shortest one of each stretch of the text in turn, then the next shortest."""
    parts, stretch = filling.parts, len(filling.text) / _STRETCHES
    ranks: dict[int, int] = {}
    order = []
    for number in sorted(numbers, key=lambda number: (parts[number].end - parts[number].start, number)):
        place = int(parts[number].start / stretch)
        order.append((ranks.setdefault(place, 0), place, number))
        ranks[place] += 1
    return [number for _, _, number in sorted(order)]


class _Filling:
    """The parts that are kept so far, and their length with the markers between them."""

    def __init__(self, text: str, parts: Sequence[Part], marks: Marks, max_length: int) -> None:
        self.text, self.parts, self.max_length = text, parts, max_length
        self.kept: list[int] = []
        self.length = 0
        self._marks = marks
        self._is_kept = [False] * len(parts)
        indent = max((len(part.indent) for part in parts), default=0)
        self._longest_marks = 2 * (len(marks.gap) + indent + 2)

    def add_all(self, numbers: Iterable[int], most: float = inf) -> None:
        """Keep each of the parts that fits, with at most this many characters altogether."""
        for number in numbers:
            self.add(number, most)

    def add_run(self, numbers: Iterable[int], most: float) -> None:
        """Keep the parts in order until one does not fit. A part that is longer than `most` alone is skipped."""
        length = 0
        for number in numbers:
            size = self.parts[number].end - self.parts[number].start
            if length + size <= most and self.add(number):
                length += size
            elif size <= most:
                return

    def add(self, number: int, most: float = inf) -> bool:
        """Keep a part with all that it needs if it fits, and tell whether it is kept."""
        room = min(most, self.max_length)
        part = self.parts[number]
        if self._is_kept[number]:
            return True
        if self.length + part.end - part.start > room + self._longest_marks:
            return False
        before, added = self.length, self._missing(number)
        for new in added:
            self._insert(new)
        if self.length <= room:
            return True
        for new in added:
            self._remove(new)
        self.length = before
        return False

    def cut(self) -> Cut:
        """Return the kept parts as spans with the gaps between them."""
        spans: list[Span] = []
        gaps: list[Gap] = []
        for before, number in pairwise([-1, *self.kept]):
            part, gap = self.parts[number], self._gap(before, number)
            if gap:
                gaps.append(gap)
            start = gap.end if gap else spans.pop().start if spans else part.start
            spans.append(Span(start, part.end))
        last = self._gap(self.kept[-1], len(self.parts)) if self.kept else None
        return Cut(tuple(spans), (*gaps, last) if last else tuple(gaps))

    def _missing(self, number: int) -> list[int]:
        """Return the part and all that it needs, directly or indirectly, without the kept parts."""
        found, waiting = {number}, [number]
        while waiting:
            for need in self.parts[waiting.pop()].needs:
                if need not in found and not self._is_kept[need]:
                    found.add(need)
                    waiting.append(need)
        return sorted(found)

    def _insert(self, number: int) -> None:
        place = bisect_left(self.kept, number)
        before = self.kept[place - 1] if place else -1
        after = self.kept[place] if place < len(self.kept) else len(self.parts)
        old = self._between(before, after) if self.kept else 0
        size = self.parts[number].end - self.parts[number].start
        self.length += size + self._between(before, number) + self._between(number, after) - old
        self.kept.insert(place, number)
        self._is_kept[number] = True

    def _remove(self, number: int) -> None:
        del self.kept[bisect_left(self.kept, number)]
        self._is_kept[number] = False

    def _between(self, before: int, after: int) -> int:
        """Return how many characters are shown between two neighbouring kept parts.

        The numbers -1 and len(parts) stand for the ends of the text.
        """
        gap = self._gap(before, after)
        inner = after < len(self.parts)
        if gap is not None:
            return len(gap.mark) + len(gap.separator) + (self.parts[after].start - gap.end if inner else 0)
        return self.parts[after].start - self.parts[before].end if inner and before >= 0 else 0

    def _gap(self, before: int, after: int) -> Gap | None:
        """Return the gap between two neighbouring kept parts; None if only white space is between them."""
        first, count = before + 1, len(self.parts)
        if first == after:
            return None
        indent = self.parts[first].indent
        is_body = before >= 0 and before < self.parts[before].last < after
        apart = indent + self._marks.gap
        mark = indent + self._marks.body if is_body else apart
        start = self.parts[before].end if before >= 0 else 0
        if after == count:
            return Gap(start, len(self.text), mark, self._space_before(first), apart)
        space = self._space_before(after)
        end = self.parts[after].start
        return Gap(start, end - len(space) if before >= 0 else end, mark, space, apart)

    def _space_before(self, number: int) -> str:
        """Return the white space before a part: in code one line break, in prose all of it."""
        end = self.parts[number].start
        start = self.parts[number - 1].end if number else 0
        if self._marks is not PROSE:
            start = max(start, end - (2 if self.text.startswith("\r\n", end - 2) else 1))
        return self.text[start:end]
