"""Named features of segments: how well their words match the query. They mean the same in every kind of text: shares,
ranks and relative scores rather than counts."""

from collections.abc import Mapping, Sequence
from itertools import islice

import numpy as np

from ctxcompress.data.table import Floats, Integers
from ctxcompress.score.corpus import Corpus
from ctxcompress.score.matches import Matches
from ctxcompress.score.neighbours import NEIGHBOURS, Units, neighbour_rows, unit_rows
from ctxcompress.score.occurrences import Occurrences, contained, ranks, relative, stacked, summed
from ctxcompress.text.words import Terms

__all__ = [
    "CONFIDENCE",
    "FEATURES",
    "combined",
    "confidence",
    "confidence_features",
    "features",
    "relevance",
    "scores_of_rank_bm25",
]

CONFIDENCE: Mapping[str, float] = {
    "terms": 1.62,  # log of 1 + the number of terms
    "found": 4.47,  # share of the terms that occur
    "in_segment": 3.04,  # greatest share in one segment; long terms count more
    "in_section": 3.79,  # greatest share in one section with its title and headings
    "segments": -0.56,  # log of 1 + the number of segments
}
"""Name of a feature -> its weight."""
_INTERCEPT = -6.96
_LONG_TERM = 10
"""Characters: longer terms count no more than these."""
_LENGTH_POWER = 1.5
"""How much more a long term counts: it is rarer in other texts than a short one."""


def confidence(query: Mapping[str, float], matches: Matches) -> float:
    """Return the probability that the segments answer the query, from 0 to 1; 0.5 if the query has no terms.

    query: term -> weight. matches: of these terms.
    """
    if not query:
        return 0.5
    weights = np.fromiter(CONFIDENCE.values(), float)
    return float(1 / (1 + np.exp(-_INTERCEPT - weights @ confidence_features(query, matches))))


def confidence_features(query: Mapping[str, float], matches: Matches) -> Floats:
    """Return one number per name in CONFIDENCE.

    query: term -> weight, at least one. Synonyms, which have less weight, do not count.
    """
    own = np.fromiter(query.values(), float) == max(query.values())
    sizes = np.array([min(len(term), _LONG_TERM) for term in query]) ** _LENGTH_POWER * own
    occurs = np.zeros(len(query), dtype=bool)
    speakers = _speakers(matches)
    occurs[matches.section.term] = True
    occurs[speakers] = True
    return np.array(
        [
            np.log1p(own.sum()),
            (occurs & own).sum() / own.sum(),
            _greatest_share(sizes, matches.body, speakers),
            _greatest_share(sizes, matches.section, speakers),
            np.log1p(matches.lengths.size),
        ]
    )


def _speakers(matches: Matches) -> Integers:
    """Return the terms that are names of speakers and not in the text of their turns. They count as found everywhere in
    the conversation."""
    label, body = matches.own, matches.body
    if not label.unit.size:
        return label.term
    within = contained(label.unit * label.terms + label.term, body.unit * body.terms + body.term)
    return np.unique(label.term[~within])


def _greatest_share(sizes: Floats, found: Occurrences, given: Integers) -> float:
    """Return the greatest share of the terms that one unit has. given: terms that count as found in each."""
    if not found.unit.size:
        return float(sizes[given].sum() / sizes.sum())
    others = sizes.copy()
    others[given] = 0.0
    best = summed(others[found.term], found.unit, found.units).max() + sizes[given].sum()
    return float(best / sizes.sum())


_SECTION_WEIGHT = 2.5
_COVERAGE_WEIGHT = 1.0
_CLASSES = {"rank_bm25": "BM25Okapi", "rank_bm25l": "BM25L", "rank_bm25plus": "BM25Plus"}
_MOST_TERMS = 100
"""The package reads all segments for each term of the query: no more terms than this are scored."""


def relevance(matches: Matches) -> Floats:
    """Return the score of every segment, shape (segments,), at least 0; all 0 if nothing matches."""
    if not matches.any:
        return np.zeros(matches.lengths.size)
    section = relative(matches.together())[matches.section_of]
    return combined(relative(matches.alone()), section, *matches.coverage())


def combined(alone: Floats, section: Floats, in_body: Floats, in_label_alone: Floats) -> Floats:
    """Return the score of every segment.

    alone, section: BM25 of each segment and of its section, relative to the best. in_body, in_label_alone: see
    `Matches.coverage`.
    """
    return alone + _SECTION_WEIGHT * section + _COVERAGE_WEIGHT * relative(in_body + 0.5 * in_label_alone)


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
    *NEIGHBOURS,
    "label_covers",  # share of the query's weight in the segment's own label: speaker, keys, first cell
    "covered",  # share of the query's weight in the segment
    "covered_rank",  # 1 / rank of that
    "covered_with_label",  # and in its title and headings
    "covered_by_section",  # and in all of its section
    "section_rank",  # 1 / rank by BM25 of the section with title and headings
    "heading_covers",  # share of the query's weight in the innermost heading
    "heading_precise",  # share of that heading's words that the query has
    "heading_fits",  # product of the two
    "first",  # whether it is the first of its passage
    "length",  # log of the number of words, relative to the median
    "short",  # fewer than five words
)
"""The rows of `features`, in order."""


def features(corpus: Corpus, matches: Matches) -> Floats:
    """Return one row per name in FEATURES and one column per segment."""
    weight = matches.idf.sum() or 1.0
    section_of = matches.section_of
    alone, together = relative(matches.alone()), matches.together()
    in_body, in_label_alone = matches.coverage()
    covered, section = in_body / weight, relative(together)[section_of]
    return stacked(
        [
            relative(combined(alone, section, in_body, in_label_alone)),
            *_neighbour_rows(corpus.once(Units.of), matches, alone, covered),
            matches.covered(matches.own) / weight if corpus.own else np.zeros(in_body.size),
            covered,
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


def _neighbour_rows(units: Units, matches: Matches, alone: Floats, covered: Floats) -> list[Floats]:
    if units.are_segments:
        return unit_rows(units, matches.body, alone, covered, matches.idf)
    return neighbour_rows(units, matches.body, matches.lengths, matches.idf)


def _heading_rows(corpus: Corpus, matches: Matches) -> list[Floats]:
    """Return three rows with one column per segment: how well the innermost heading above it matches the query."""
    found = matches.name
    if not found.unit.size:
        return [np.zeros(matches.lengths.size)] * 3
    covers = matches.covered(found) / (matches.idf.sum() or 1.0)
    precise = np.minimum(np.bincount(found.unit, minlength=found.units) / corpus.name_sizes, 1.0)
    return [row[matches.section_of] for row in (covers, precise, covers * precise)]
