"""The confidence that a context answers a query, by how much of the query occurs in it, and how close together.

A context about something else has few of the query's words, and these in different places. So five numbers tell the
two apart, by logistic regression: the number of terms, the share of them that occur, the greatest shares that one
segment and one section have, and the number of segments, because a longer text has more words by accident.
benchmarks/train_confidence.py learns the weights from queries with their own contexts and with those of other queries.
"""

from collections.abc import Mapping

import numpy as np

from ctxcompress.data.table import Floats, Integers
from ctxcompress.score.matches import Matches
from ctxcompress.score.occurrences import Occurrences, contained, summed

__all__ = ["CONFIDENCE", "confidence", "confidence_features"]

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
