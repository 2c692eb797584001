"""Named features of the turns of a conversation: what the turns beside them say, and whether these ask.

An answer often shares no word with the query. What leads to it is the turn before, most of all if that is a question
which shares words with the query.
"""

import numpy as np

from ctxcompress.data.passages import Kind
from ctxcompress.data.table import Floats
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.score.corpus import Corpus
from ctxcompress.score.features import table

__all__ = ["TURNS", "is_conversation", "turn_features"]

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
    units = corpus.units
    of_turns, asking = np.zeros(units.continues.size), _asks(corpus)
    np.maximum.at(of_turns, units.number, probability)
    said, judged = np.sqrt(of_turns), np.clip(probability, 1e-9, 1 - 1e-9)
    before = units.before(said)
    rows = (before, units.before(before), units.after(said), units.before(asking * said), asking)
    return table([np.log(judged / (1 - judged)), *(row[units.number] for row in rows)])


def _asks(corpus: Corpus) -> Floats:
    """Return 1 for each unit that asks, else 0."""
    found = np.zeros(corpus.units.continues.size)
    marked = np.array([_MARK.search(text) is not None for text in corpus.texts], dtype=bool)
    found[corpus.units.number[marked]] = 1.0
    return found


def is_conversation(corpus: Corpus) -> bool:
    """Tell whether most segments are turns."""
    if Kind.TURN not in corpus.table.kinds:
        return False
    return 2 * sum(segment[0] is Kind.TURN for segment in corpus.segments) > len(corpus.segments)
