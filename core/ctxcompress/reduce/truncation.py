"""The most telling parts of a text that is too long: its head, its tail, and what matters most in between.

Of source code these are signatures before bodies, public ones before private ones, from the whole breadth of the file;
of prose the sentences that the question asks for.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf

from ctxcompress.code.elision import PROSE, Marks
from ctxcompress.data.passages import Marker, Node, Segment, Span
from ctxcompress.data.spans import Gap, markers_for
from ctxcompress.reduce.importance import Part, Rank, parts_of_code, parts_of_lines, parts_of_prose, parts_of_words
from ctxcompress.text.lines import whole_graphemes

__all__ = [
    "Cut",
    "Importance",
    "no_question",
    "truncated",
    "truncated_at_character",
    "truncated_head",
    "truncated_plainly",
    "truncated_prose",
]

Importance = Callable[[str], float]
"""How much the question asks for a text, 0 for not at all."""

_EDGE = 0.3
"""Share of the result that is the beginning of the text, and share that is its end."""
_MIDDLE = 0.4
"""Share that what the question asks for takes before all else."""
_DECLARED = ((Rank.MODULE, 0.15), (Rank.PUBLIC, inf), (Rank.MODULE, _EDGE), (Rank.TYPE, inf), (Rank.PRIVATE, inf))
"""What comes first of what a file declares at its top, and the share of the room that it may take."""
_STRETCHES = 8
"""Into how many stretches a file is divided, for what is shown of it to come from all of them."""


@dataclass(frozen=True, slots=True)
class Cut:
    """What is kept of a text."""

    spans: tuple[Span, ...]
    """In order. None where nothing is short enough: a single word, or one longer than all that is wanted."""
    gaps: tuple[Gap, ...]
    """What is between them, before the first and after the last one."""

    @property
    def markers(self) -> tuple[Marker, ...]:
        """What is shown in the place of the gaps."""
        return markers_for(self.spans, self.gaps)


def no_question(_: str) -> float:
    """The importance of every text where nothing is asked."""
    return 0.0


def truncated(
    text: str, nodes: Sequence[Node], max_length: int, *, marker: Marks, importance: Importance = no_question
) -> Cut:
    """What of source code is kept in at most `max_length` characters, its markers included.

    Whole lines, and code that parses if `text` does: what is kept of a body comes with the signature and with what
    closes the body, and a marker stands for a body of which nothing is kept. In this order, as far as there is room:
    what the question names, up to 40 % of the room; the signatures at the top of the file, public ones first, and of
    scripts exports and imports before types; the first and the last 30 %; signatures within classes; the rest.

    Without an outline (`nodes` is empty), or where no part of it is short enough, lines that begin as definitions do
    take the place of the signatures, and what is kept need not parse. Where no line is short enough, it is words.
    importance: called once for each part and each name.
    """
    if len(text) <= max_length:
        return _whole(text)
    parts = parts_of_code(text, nodes, marker) if nodes else parts_of_lines(text)
    filling = _Filling(text, parts, marker, max_length)
    _fill(filling, importance)
    if filling.kept or not nodes:
        return filling.cut() if filling.kept else _of_words(text, max_length)
    return truncated(text, (), max_length, marker=marker, importance=importance)


def truncated_prose(
    text: str, segments: Sequence[Segment], max_length: int, *, importance: Importance = no_question
) -> Cut:
    """What of prose is kept in at most `max_length` characters, its markers included: whole segments with all that they
    need. What the question asks for, up to 40 %; the first and the last 30 %; then what it asks for again."""
    if len(text) <= max_length:
        return _whole(text)
    filling = _Filling(text, parts_of_prose(text, segments, max_length), PROSE, max_length)
    _fill(filling, importance)
    return filling.cut() if filling.kept else _of_words(text, max_length)


def truncated_plainly(text: str, segments: Sequence[Segment], max_length: int, *, marker: Marks) -> Cut:
    """The beginning and the end of a text, about as much of each, in at most `max_length` characters with the marker
    between them. segments: of prose; without any it is cut at lines."""
    if len(text) <= max_length:
        return _whole(text)
    filling = _Filling(text, parts_of_prose(text, segments, max_length) or parts_of_lines(text), marker, max_length)
    _plain(filling)
    return filling.cut() if filling.kept else _of_words(text, max_length)


def truncated_head(
    text: str, nodes: Sequence[Node], segments: Sequence[Segment], max_length: int, *, marker: Marks
) -> Cut:
    """The beginning of a text in at most `max_length` characters, its marker included: whole parts of source code or
    segments of prose; words where these are not half as long as that, and stand in nothing that would be cut open.
    nodes: the outline of source code. segments: of prose."""
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


def truncated_at_character(text: str, max_length: int, *, marker: Marks) -> Cut:
    """The beginning of a text in at most `max_length` characters, its marker included, be it in the middle of a word,
    but not of a grapheme."""
    end = whole_graphemes(text, max_length - len(marker.gap))
    if len(text) <= max_length or not text[:end].strip():
        return _whole(text)
    return Cut((Span(0, end),), (Gap(end, len(text), marker.gap, "", marker.gap),))


def _whole(text: str) -> Cut:
    return Cut((Span(0, len(text)),) if text else (), ())


def _of_words(text: str, max_length: int) -> Cut:
    filling = _Filling(text, parts_of_words(text), PROSE, max_length)
    _plain(filling)
    return filling.cut()


def _plain(filling: "_Filling") -> None:
    numbers = range(len(filling.parts))
    filling.add_run(numbers, filling.max_length / 2)
    filling.add_run(reversed(numbers), filling.max_length)


def _fill(filling: "_Filling", importance: Importance) -> None:
    """Keeps what matters most, as far as there is room."""
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
    filling.add_run(numbers, most * _EDGE)
    filling.add_run(reversed(numbers), most * _EDGE)
    filling.add_all(sorted(heads, key=lambda n: (-asked[n], parts[n].depth, parts[n].rank or Rank.PUBLIC)))
    filling.add_all(sorted(numbers, key=lambda n: (-asked[n], parts[n].depth, n)))


def _add_asked(filling: "_Filling", named: Sequence[float], asked: Sequence[float]) -> None:
    """Keeps what the question names, with its body, and then what else it asks for, up to a share of the room."""
    most = filling.max_length * _MIDDLE
    for number in sorted((n for n, value in enumerate(named) if value), key=lambda n: (-named[n], n)):
        if filling.length > most or not filling.add(number):
            continue
        filling.add_all(range(number + 1, filling.parts[number].last + 1), most)
    filling.add_all(sorted((n for n, value in enumerate(asked) if value), key=lambda n: (-asked[n], n)), most)


def _add_declared(filling: "_Filling") -> None:
    """Keeps what the file declares at its top, of each rank from all of its breadth."""
    for rank, share in _DECLARED:
        numbers = [n for n, part in enumerate(filling.parts) if part.depth == 0 and part.rank is rank]
        filling.add_all(_in_breadth(numbers, filling), filling.length + share * filling.max_length)


def _in_breadth(numbers: Sequence[int], filling: "_Filling") -> list[int]:
    """The parts in an order that takes the shortest of every stretch of the text in turn, then the next."""
    parts, stretch = filling.parts, len(filling.text) / _STRETCHES
    ranks: dict[int, int] = {}
    order = []
    for number in sorted(numbers, key=lambda number: (parts[number].end - parts[number].start, number)):
        place = int(parts[number].start / stretch)
        order.append((ranks.setdefault(place, 0), place, number))
        ranks[place] += 1
    return [number for _, _, number in sorted(order)]


class _Filling:
    """The parts that are kept so far, and how long they are with the markers between them."""

    def __init__(self, text: str, parts: Sequence[Part], marks: Marks, max_length: int) -> None:
        self.text, self.parts, self.max_length = text, parts, max_length
        self.kept: list[int] = []
        self.length = 0
        self._marks = marks
        self._is_kept = [False] * len(parts)
        indent = max((len(part.indent) for part in parts), default=0)
        self._longest_marks = 2 * (len(marks.gap) + indent + 2)

    def add_all(self, numbers: Iterable[int], most: float = inf) -> None:
        """Keeps each of the parts that has room, in at most so many characters altogether."""
        for number in numbers:
            self.add(number, most)

    def add_run(self, numbers: Iterable[int], most: float) -> None:
        """Keeps the parts one after the other until they are that long, but for those that alone would be."""
        length = 0
        for number in numbers:
            size = self.parts[number].end - self.parts[number].start
            if length + size <= most and self.add(number):
                length += size
            elif size <= most:
                return

    def add(self, number: int, most: float = inf) -> bool:
        """Keeps a part with all that it needs, if there is room; whether it is kept."""
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
        """What is kept, as spans, and what is left out between them."""
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
        """The part and what it needs, directly or not, without what is kept."""
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
        """How many characters are shown between two kept parts that follow each other; -1 and the number of parts are
        the ends of the text."""
        gap = self._gap(before, after)
        inner = after < len(self.parts)
        if gap is not None:
            return len(gap.mark) + len(gap.separator) + (self.parts[after].start - gap.end if inner else 0)
        return self.parts[after].start - self.parts[before].end if inner and before >= 0 else 0

    def _gap(self, before: int, after: int) -> Gap | None:
        """What is left out between two kept parts that follow each other; None for nothing but white space."""
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
        """The white space that parts a part from what stands before it: of code a line end, of prose all there is."""
        end = self.parts[number].start
        start = self.parts[number - 1].end if number else 0
        if self._marks is not PROSE:
            start = max(start, end - (2 if self.text.startswith("\r\n", end - 2) else 1))
        return self.text[start:end]
