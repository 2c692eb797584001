"""What stands beside what: the turns of a conversation, and the sentences of a text.

An answer often shares no word with the query, because the question before it has them all. So a segment gains when
the units around it match the query. A unit is a turn with all its parts, and in any other text a segment.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ctxcompress.data.passages import Kind
from ctxcompress.data.table import Floats, Integers, SegmentTable
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.score.corpus import Corpus
from ctxcompress.score.occurrences import Occurrences, bm25, contained, merged, relative, stacked, summed

__all__ = ["NEIGHBOURS", "TURNS", "Units", "is_conversation", "neighbour_rows", "turn_features", "unit_rows"]

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
_TURN = Kind.TURN  # ten times as fast as an attribute of an enum
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
    """The number of each segment's unit, from 0."""
    continues: NDArray[np.bool_]
    """Whether each unit belongs to the same text or conversation as the unit before."""

    @classmethod
    def of(cls, corpus: Corpus) -> "Units":
        """Find the units. Turns of several documents with the same title are one conversation."""
        table, begins = corpus.table, corpus.table.begins[1:]
        rows, turns = table.is_source | _of_kinds(table, _ROWS), _of_kinds(table, (_TURN,))
        both = turns[1:] & turns[:-1]
        starts, continues = np.ones(turns.size, dtype=bool), ~table.begins
        continues[1:] &= ~(rows[1:] & rows[:-1])
        if both.any():
            blocks, titles = np.array(table.block), [corpus.titles[document] for document in table.document]
            starts[1:] = begins | ~both | (blocks[1:] != blocks[:-1])
            continues[1:] |= begins & both & [one == other for one, other in pairwise(titles)]
        return cls(np.cumsum(starts) - 1, continues[starts])

    @property
    def are_segments(self) -> bool:
        """Whether each segment is the unit of its number."""
        return self.number.size == self.continues.size

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


def _of_kinds(table: SegmentTable, kinds: Collection[Kind]) -> NDArray[np.bool_]:
    if table.kinds.isdisjoint(kinds):
        return np.zeros(len(table.segments), dtype=bool)
    return np.fromiter((kind in kinds for kind in table.kind), bool, len(table.segments))


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
    return [
        own,
        units.before(own),
        units.after(own),
        covered,
        covered + units.before(covered) - _in_both(units, body, idf) / weight,
        relative(units.around(own)),
        _covered_around(units, body, idf) / weight,
    ]


def _in_both(units: Units, body: Occurrences, idf: Floats) -> Floats:
    """Sum up the weight of the terms that are in a unit and in the unit before."""
    twice = contained(body.keys(body.unit - 1), body.keys()) & units.continues[body.unit]
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


TURNS = (
    "judged",  # the log odds of its probability so far
    "turn_before",  # root of the probability of the turn before
    "turn_before_that",  # the same of the turn before that
    "turn_after",  # the same of the turn after
    "answers",  # root of the probability of the turn before if that asks
    "asks",  # whether the turn asks
)
"""The rows of `turn_features`, in order."""
_MARK = lazy_regex(r"[?\uff1f\u061f]")


def turn_features(corpus: Corpus, probability: Floats) -> Floats:
    """Return one row per name in TURNS and one column per segment.

    probability: of each segment so far. A long turn of several segments has the probability of the best of them.
    """
    units = corpus.once(Units.of)
    of_turns, asking = np.zeros(units.continues.size), _asks(corpus.texts, units)
    np.maximum.at(of_turns, units.number, probability)
    said, judged = np.sqrt(of_turns), np.clip(probability, 1e-9, 1 - 1e-9)
    before = units.before(said)
    rows = (before, units.before(before), units.after(said), units.before(asking * said), asking)
    return stacked([np.log(judged / (1 - judged)), *(row[units.number] for row in rows)])


def _asks(texts: Sequence[str], units: Units) -> Floats:
    """Return 1 for each unit that asks, else 0."""
    found = np.zeros(units.continues.size)
    marked = np.array([_MARK.search(text) is not None for text in texts], dtype=bool)
    found[units.number[marked]] = 1.0
    return found


def is_conversation(corpus: Corpus) -> bool:
    """Tell whether most segments are turns."""
    return 2 * int(_of_kinds(corpus.table, (_TURN,)).sum()) > len(corpus.segments)
