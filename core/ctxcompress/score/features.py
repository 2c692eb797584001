"""Named features of segments: how well their words match the query, and what stands beside them. They mean the same in
every kind of text: shares, ranks and relative scores rather than counts.

An answer often shares no word with the query, because the question before it has them all. So a segment gains when
the units around it match the query. A unit is a turn with all its parts, and in any other text a segment.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

import numpy as np
from numpy.typing import NDArray

from ctxcompress.data.passages import Kind
from ctxcompress.data.table import Floats, Integers
from ctxcompress.query.focus import QUESTION_MARKS
from ctxcompress.score.corpus import Corpus, of_kinds
from ctxcompress.score.matches import (
    Matches,
    Occurrences,
    bm25,
    contained,
    counted,
    log_odds,
    ranks,
    relative,
    stacked,
    summed,
)
from ctxcompress.text.words import Terms

__all__ = ["FEATURES", "TURNS", "features", "is_conversation", "relevance", "scores_of_rank_bm25", "turn_features"]

_SECTION_WEIGHT = 2.5
_CLASSES = {"rank_bm25": "BM25Okapi", "rank_bm25l": "BM25L", "rank_bm25plus": "BM25Plus"}
_MOST_TERMS = 100
"""The package reads all segments for each term of the query: no more terms than this are scored."""


def relevance(matches: Matches) -> Floats:
    """Return the score of every segment, shape (segments,), at least 0; all 0 if nothing matches."""
    section = relative(matches.together())[matches.section_of]
    return combined(relative(matches.alone()), section, *matches.coverage())


def combined(alone: Floats, section: Floats, in_body: Floats, in_label_alone: Floats) -> Floats:
    """Return the score of every segment.

    alone, section: BM25 of each segment and of its section, relative to the best. in_body, in_label_alone: see
    `Matches.coverage`.
    """
    return alone + _SECTION_WEIGHT * section + relative(in_body + 0.5 * in_label_alone)


def scores_of_rank_bm25(
    scorer: str, words: Sequence[Sequence[str]], query: Mapping[str, float], terms: Terms
) -> Floats:
    """Return the scores that a class of the package rank-bm25 gives, less the lowest one, as it gives scores below 0.

    words: of each segment. query: term -> weight. The package sees terms, and no title or heading.
    """
    import rank_bm25  # an optional dependency

    of_word = terms.of_words(word for of_segment in words for word in of_segment)
    segments = [[term for word in of_segment for term in of_word[word]] for of_segment in words]
    scores = np.zeros(len(segments))
    if any(segments):
        model = getattr(rank_bm25, _CLASSES[scorer])(segments)
        for term in islice(filter(model.idf.__contains__, query), _MOST_TERMS):
            scores += query[term] * model.get_scores([term])
        scores -= scores.min()
    return scores


FEATURES = (
    "combined",  # the score of `scorer="bm25"`, relative to the best
    "alone",  # BM25 of the unit, relative to the best
    "unit_before",  # the same of the unit before
    "unit_after",  # the same of the unit after
    "unit_covered_with_before",  # share of the query's weight in the unit and in the unit before
    "covered_around",  # share of the query's weight in the unit, the three before and the three after
    "label_covers",  # share of the query's weight in the segment's own label: speaker, keys, first cell
    "covered_rank",  # 1 / rank by the query's weight in the segment
    "covered_with_label",  # share of that weight in the segment, its title and headings
    "covered_by_section",  # and in all of its section
    "section_rank",  # 1 / rank by BM25 of the section with title and headings
    "heading_precise",  # share of the innermost heading's words that the query has
    "heading_fits",  # product of that and the share of the query's weight in this heading
    "first",  # whether it is the first of its passage
    "length",  # log of the number of words, relative to the median
    "short",  # fewer than five words
)
"""The rows of `features`, in order."""
_ROWS = frozenset((Kind.TABLE, Kind.RECORD))
"""Kinds whose segments are no sequence: the row above says nothing about a row. So it is with definitions in code."""
_REACH = 3
"""The number of units on each side whose terms count as around."""


def features(corpus: Corpus, matches: Matches) -> Floats:
    """Return one row per name in FEATURES and one column per segment."""
    weight = matches.weight
    section_of = matches.section_of
    alone, together = relative(matches.alone()), matches.together()
    in_body, in_label_alone = matches.coverage()
    section = relative(together)[section_of]
    return stacked(
        [
            relative(combined(alone, section, in_body, in_label_alone)),
            *_neighbour_rows(corpus.once(Units.of), matches, alone, in_body / weight),
            matches.covered(matches.own) / weight if corpus.own else np.zeros(in_body.size),
            1 / (1 + ranks(in_body)),
            (in_body + in_label_alone) / weight,
            (matches.covered(matches.section) / weight)[section_of],
            (1 / (1 + ranks(together)))[section_of],
            *_heading_rows(corpus, matches),
            corpus.table.begins,
            np.log(matches.lengths / _median(matches.lengths)),
            matches.lengths < 6,
        ]
    )


def _median(values: Floats) -> float:
    """Return the median, as np.median does, with a tenth of its overhead for short arrays."""
    ascending = np.sort(values)
    return float(ascending[(values.size - 1) // 2] + ascending[values.size // 2]) / 2


def _heading_rows(corpus: Corpus, matches: Matches) -> list[Floats]:
    """Return two rows with one column per segment: how well the innermost heading above it matches the query."""
    found = matches.name
    precise = np.minimum(np.bincount(found.unit, minlength=found.units) / corpus.name_sizes, 1.0)
    fits = matches.covered(found) / matches.weight * precise
    return [row[matches.section_of] for row in (precise, fits)]


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
        rows, continues = table.is_source | of_kinds(table, _ROWS), ~table.begins
        continues[1:] &= ~(rows[1:] & rows[:-1])
        if Kind.TURN not in table.kinds:
            return cls(np.arange(rows.size), continues)
        both, starts = corpus.turns[1:] & corpus.turns[:-1], np.ones(rows.size, dtype=bool)
        blocks, titles = np.array(table.block), [corpus.titles[document] for document in table.document]
        starts[1:] = begins | ~both | (blocks[1:] != blocks[:-1])
        is_same = np.array([one == other for one, other in pairwise(titles)], dtype=bool)  # an empty list has floats
        continues[1:] |= begins & both & is_same
        return cls(np.cumsum(starts) - 1, continues[starts])

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


def _neighbour_rows(units: Units, matches: Matches, own: Floats, covered: Floats) -> list[Floats]:
    """Return the rows from "alone" to "covered_around". own: the first of segments. covered: share of the
    query's weight in each segment.
    """
    number, size, body, idf = units.number, units.continues.size, matches.body, matches.idf
    if size < number.size:  # else each segment is a unit
        body = counted(body.keys(number[body.unit]), size, body.terms, body.times)
        own = relative(bm25(body, summed(matches.lengths, number, size), idf))
        covered = matches.covered(body) / matches.weight
    twice = contained(body.keys(body.unit - 1), body.keys()) & units.continues[body.unit]
    in_both = summed(idf[body.term] * twice, body.unit, size)
    rows = (
        own,
        units.before(own),
        units.after(own),
        covered + units.before(covered) - in_both / matches.weight,
        _covered_around(units, body, idf) / matches.weight,
    )
    return [row[number] for row in rows] if size < number.size else list(rows)


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
    "answers",  # root of the probability of the turn before if that asks
    "asks",  # whether the turn asks
)
"""The rows of `turn_features`, in order."""


def turn_features(corpus: Corpus, probability: Floats) -> Floats:
    """Return one row per name in TURNS and one column per segment.

    probability: of each segment so far. A long turn of several segments has the probability of the best of them.
    """
    units = corpus.once(Units.of)
    of_turns, asking = np.zeros((2, units.continues.size))
    np.maximum.at(of_turns, units.number, probability)
    asking[units.number[[any(map(text.__contains__, QUESTION_MARKS)) for text in corpus.table.texts]]] = 1.0
    said = np.sqrt(of_turns)
    before = units.before(said)
    rows = (before, units.before(before), units.before(asking * said), asking)
    return stacked([log_odds(probability), *(row[units.number] for row in rows)])


def is_conversation(corpus: Corpus) -> bool:
    """Tell whether most segments are turns."""
    return 2 * corpus.table.kind.count(Kind.TURN) > len(corpus.table.segments)
