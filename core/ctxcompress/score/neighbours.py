"""What stands beside what: the turns of a conversation, and the sentences of a text.

An answer often shares no word with the query, because the question before it has them all. So a segment gains when
the units around it match the query. A unit is a turn with all its parts, and in any other text a segment.
"""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ctxcompress.data.metadata import as_number
from ctxcompress.data.passages import Kind, Passage
from ctxcompress.data.table import Floats, Integers, SegmentTable
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.score.occurrences import Occurrences, bm25, contained, merged, relative, summed

__all__ = ["NEIGHBOURS", "SpokenOrder", "Units", "neighbour_rows", "spoken_order", "unit_rows"]

_NUMBERS = ("turn", "turn_id", "turn_index", "message_index", "index", "position", "seq", "sequence", "order")
_TIMES = ("timestamp", "created_at", "sent_at", "datetime", "date", "time", "ts")
_DIGITS = lazy_regex(r"\d{1,15}")
_NEAR = 2.0
"""How much greater the number of a turn may be that follows another: one between them may not have been retrieved."""
_PAUSE = 3_600.0
"""Seconds: after a longer pause, a turn does not follow the one before."""
_EPOCH = 1e11
"""Greater numbers are milliseconds since 1970."""

_Key = tuple[float, ...]


class SpokenOrder(NamedTuple):
    """The order of documents, some of which are turns."""

    documents: Sequence[int]
    """Their numbers, in the order in which they were spoken. What is no turn keeps its place."""
    follows: Sequence[bool]
    """For each place in that order, whether the document may follow the one before."""

    @classmethod
    def as_they_are(cls, documents: int) -> "SpokenOrder":
        """Return the order in which the documents are given. documents: their number."""
        return cls(range(documents), [True] * documents)


def spoken_order(passages: Sequence[Passage], turns: Sequence[int]) -> SpokenOrder | None:
    """Return the order of the passages; None if nothing tells it.

    turns: the numbers of the passages that are turns. Those with the same title belong to one conversation.
    """
    conversations: dict[str | None, list[int]] = {}
    for number in turns:
        conversations.setdefault(passages[number].title, []).append(number)
    documents, follows = list(range(len(passages))), [True] * len(passages)
    is_told = False
    for places in conversations.values():
        keys, reach = _keys([passages[place] for place in places]) if len(places) > 1 else ({}, 0.0)
        if keys:
            is_told = True
            spoken = sorted(keys)
            for place, key in zip(places, spoken, strict=True):
                documents[place] = places[keys[key]]
            for place, (one, other) in zip(places[1:], pairwise(spoken), strict=True):
                follows[place] = one[:-1] == other[:-1] and other[-1] - one[-1] <= reach
    return SpokenOrder(documents, follows) if is_told else None


def _keys(passages: Sequence[Passage]) -> tuple[Mapping[_Key, int], float]:
    """Return key -> position of the passage, and how far apart the keys of neighbours may be; no keys if nothing
    orders all of the passages."""
    for names, reach in ((_NUMBERS, _NEAR), (_TIMES, _PAUSE)):
        for name in filter(passages[0].metadata.__contains__, names):
            numbers = [_number(passage.metadata.get(name)) for passage in passages]
            if None not in numbers and len(set(numbers)) == len(numbers):
                return {(number,): place for place, number in enumerate(numbers) if number is not None}, reach
    ids = [str(passage.id) for passage in passages]
    keys = {tuple(map(float, _DIGITS.findall(name))): place for place, name in enumerate(ids)}
    are_alike = len({_DIGITS.sub("#", name) for name in ids}) == 1
    return (keys, _NEAR) if are_alike and len(keys) == len(passages) else ({}, 0.0)


def _number(value: object) -> float | None:
    """Return a number or a time as a number, times in seconds."""
    number = as_number(value)
    if isinstance(value, str) and _DIGITS.fullmatch(value.strip()):
        number = float(value)
    elif isinstance(value, str | datetime):
        return _seconds(value)
    return number / 1_000 if number is not None and number > _EPOCH else number


def _seconds(value: str | datetime) -> float | None:
    """Return a time in seconds since 1970, or None if it is none or too far away."""
    try:
        return (datetime.fromisoformat(value.strip()) if isinstance(value, str) else value).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


NEIGHBOURS = (
    "alone",  # BM25 of the unit, relative to the best
    "unit_before",  # the same of the unit before
    "unit_after",  # the same of the unit after
    "unit_covered",  # share of the query's weight in the unit
    "unit_covered_with_before",  # and in the unit before
    "around",  # BM25 of the units around it, less the further away, relative to the best
    "covered_around",  # share of the query's weight in the unit, the three before and the three after
)
"""The rows of `neighbour_rows`, in order."""
_TURN, _BOILERPLATE = Kind.TURN, Kind.BOILERPLATE  # ten times as fast as attributes of an enum
_ROWS = frozenset((Kind.TABLE, Kind.RECORD))
"""Kinds whose segments are no sequence: the row above says nothing about a row. So it is with definitions in code."""
_HALVED = 4
"""The number of units further away at which BM25 counts half."""
_REACH = 3
"""The number of units on each side whose terms count as around."""


@dataclass(frozen=True, slots=True)
class Units:
    """The units of a segment table."""

    number: Integers
    """The number of each segment's unit, from 0 in the order of the text, or in which turns were spoken."""
    continues: NDArray[np.bool_]
    """Whether each unit belongs to the same text or conversation as the unit before."""
    spreads: NDArray[np.bool_]
    """Whether the units around gain from what each unit says: not from boilerplate."""

    @classmethod
    def of(cls, table: SegmentTable, titles: Sequence[str], told: SpokenOrder | None = None) -> "Units":
        """Find the units. Turns of several documents with the same title are one conversation.

        titles: of each document. told: the order in which the documents were spoken, if it is known.
        """
        if _TURN in table.kinds:
            return cls._of_turns(table, titles, told)
        rows, continues, size = table.is_source, ~table.begins, len(table.segments)
        if not table.kinds.isdisjoint(_ROWS):
            rows = rows | _of_kinds(table, _ROWS)
        continues[1:] &= ~(rows[1:] & rows[:-1])
        is_quiet = _BOILERPLATE in table.kinds
        spreads = ~_of_kinds(table, (_BOILERPLATE,)) if is_quiet else np.ones(size, dtype=bool)
        return cls(np.arange(size), continues, spreads)

    @classmethod
    def _of_turns(cls, table: SegmentTable, titles: Sequence[str], told: SpokenOrder | None) -> "Units":
        order = told or SpokenOrder.as_they_are(len(titles))
        places = np.argsort(order.documents)
        spoken = np.argsort(places[table.documents], kind="stable")  # the segments in the order of the conversation
        documents = table.documents[spoken]
        begins = np.diff(documents, prepend=-1) != 0
        turns, rows = _of_kinds(table, (_TURN,))[spoken], (table.is_source | _of_kinds(table, _ROWS))[spoken]
        blocks = np.fromiter((segment[3] for segment in table.segments), np.intp, spoken.size)[spoken]
        both = turns & np.concatenate(([False], turns[:-1]))
        starts = begins | ~(both & (np.diff(blocks, prepend=-1) == 0))
        same = np.array([False, *(titles[a] == titles[b] for a, b in pairwise(documents.tolist()))])
        continues = ~begins & ~(rows & np.concatenate(([False], rows[:-1])))
        continues |= begins & both & same & np.array(order.follows)[places[documents]]
        number = np.empty(spoken.size, dtype=np.intp)
        number[spoken] = np.cumsum(starts) - 1
        return cls(number, continues[starts], ~_of_kinds(table, (_BOILERPLATE,))[spoken][starts])

    @property
    def are_segments(self) -> bool:
        """Whether each segment is the unit of its number."""
        return self.number.size == self.continues.size and bool((self.number[1:] > self.number[:-1]).all())

    def before(self, values: Floats) -> Floats:
        """Return for each unit the value of the unit before, 0 if there is none."""
        shifted = np.zeros(values.size)
        np.multiply(values[:-1], self.continues[1:], out=shifted[1:])
        return shifted

    def after(self, values: Floats) -> Floats:
        """Return for each unit the value of the unit after, 0 if there is none."""
        shifted = np.zeros(values.size)
        np.multiply(values[1:], self.continues[1:], out=shifted[:-1])
        return shifted

    def around(self, values: Floats) -> Floats:
        """Sum up the values of all units of the text, each less the further away it is."""
        numbers, continues = values.tolist(), self.continues.tolist()
        kept = 0.5 ** (1 / _HALVED)
        total = 0.0
        found = []
        for value, is_next in zip(numbers, continues, strict=True):
            total = total * kept + value if is_next else value
            found.append(total)
        total = 0.0
        for place in range(len(numbers) - 1, -1, -1):
            found[place] += total
            total = (total + numbers[place]) * kept if continues[place] else 0.0
        return np.array(found)


def _of_kinds(table: SegmentTable, kinds: Container[Kind]) -> NDArray[np.bool_]:
    return np.fromiter((segment[0] in kinds for segment in table.segments), bool, len(table.segments))


def neighbour_rows(units: Units, body: Occurrences, lengths: Floats, idf: Floats) -> list[Floats]:
    """Return one row per name in NEIGHBOURS and one column per segment.

    body: where the terms occur in the segments. lengths: the words of each segment. idf: the weight of each term.
    """
    number, size = units.number, units.continues.size
    body = merged(body.keys(number[body.unit]), body.times, size, body.terms)
    alone = relative(bm25(body, summed(lengths, number, size), idf))
    covered = summed(idf[body.term], body.unit, size) / (idf.sum() or 1.0)
    rows = unit_rows(units, body, alone, covered, idf)
    return [row[number] for row in rows]


def unit_rows(units: Units, body: Occurrences, own: Floats, covered: Floats, idf: Floats) -> list[Floats]:
    """Return one row per name in NEIGHBOURS and one column per unit.

    body: where the terms occur in the units. own, covered: the rows "alone" and "unit_covered".
    """
    weight = idf.sum() or 1.0
    spread, heard, heard_terms = body, own, covered
    if not units.spreads.all():
        spread, heard, heard_terms = _only(body, units.spreads), own * units.spreads, covered * units.spreads
    return [
        own,
        units.before(heard),
        units.after(heard),
        covered,
        covered + units.before(heard_terms) - _in_both(units, body, spread, idf) / weight,
        relative(units.around(heard)),
        _covered_around(units, spread, idf) / weight,
    ]


def _only(body: Occurrences, wanted: NDArray[np.bool_]) -> Occurrences:
    """Return the occurrences in some units. The units keep their numbers."""
    those = wanted[body.unit]
    return body._replace(unit=body.unit[those], term=body.term[those], times=body.times[those])


def _in_both(units: Units, body: Occurrences, spread: Occurrences, idf: Floats) -> Floats:
    """Sum up the weight of the terms that are in a unit and spread from the unit before."""
    twice = contained(body.keys(body.unit - 1), spread.keys()) & units.continues[body.unit]
    return summed(idf[body.term] * twice, body.unit, body.units)


def _covered_around(units: Units, body: Occurrences, idf: Floats) -> Floats:
    """Sum up the weight of the terms that occur around each unit. Each term counts once.

    The units of all texts stand on one line, so far apart between texts that nothing reaches from one to the next. An
    occurrence counts for the places that it reaches, but not for those that the one before it reaches already.
    """
    if not body.unit.size:
        return np.zeros(body.units)
    place = np.arange(body.units) + _REACH * np.cumsum(~units.continues)
    size = int(place[-1]) + 2 * _REACH + 2
    keys = np.sort(body.term * size + place[body.unit])
    term, there = np.divmod(keys, size)
    end = there + _REACH + 1
    begin = end - (2 * _REACH + 1)
    begin[1:] = end[1:] - np.minimum(keys[1:] - keys[:-1], 2 * _REACH + 1)
    weights = idf[term]
    changes = summed(weights, begin, size) - summed(weights, end, size)
    # Sums of the same weights in another order differ in the last digits: equal units must stay equal.
    return np.round(changes.cumsum()[place], 9)
