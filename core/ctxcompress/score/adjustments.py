"""The adjustments of what the model found: one table, in the order in which they run.

An adjustment is a pure function for some kinds of text. It is here because marked cases that somebody else made lose at
least a point of their evidence without it. `make ablate` switches each off in turn.
"""

from collections.abc import Callable
from dataclasses import dataclass

from ctxcompress.data.passages import Kind
from ctxcompress.data.table import Floats
from ctxcompress.score.corpus import Corpus
from ctxcompress.score.credit import raise_long_turns, raise_rows, raise_sentences, raise_yes_no_answers
from ctxcompress.score.log_relevance import rescore_logs
from ctxcompress.score.question import Question

__all__ = ["OF_PROBABILITY", "OF_WORTH", "Adjustment", "Judged", "adjusted_probability", "adjusted_worth"]


@dataclass(frozen=True, slots=True)
class Judged:
    """What an adjustment may look at: the question, all segments, and how close in meaning each is, if an encoder tells
    (in standard deviations)."""

    question: Question
    corpus: Corpus
    closeness: Floats | None = None


@dataclass(frozen=True, slots=True)
class Adjustment:
    """One row of the table."""

    name: str
    change: Callable[[Judged, Floats], Floats]
    """(what was judged, the probability of each segment) -> the probability of each segment."""
    paid_by: str
    """The marked cases that lose without it."""
    kinds: frozenset[Kind] = frozenset()
    """It runs if there is a segment of one of these kinds; always if there are none."""
    beside_encoder: bool = True
    """Whether it also runs if there is an encoder."""

    def __call__(self, judged: Judged, probability: Floats) -> Floats:
        if self.kinds and self.kinds.isdisjoint(judged.corpus.table.kinds):
            return probability
        return self.change(judged, probability)


OF_PROBABILITY = (
    Adjustment(
        "answers with yes or no",
        lambda judged, found: raise_yes_no_answers(judged.question.text, judged.corpus.table, found),
        paid_by="frequently asked questions",
    ),
    Adjustment(
        "rows of a table",
        lambda judged, found: raise_rows(judged.corpus.table, found),
        paid_by="financial reports",
        kinds=frozenset((Kind.TABLE,)),
    ),
    Adjustment(
        "lines of logs",
        lambda judged, found: rescore_logs(judged.question, judged.corpus, found, judged.closeness),
        paid_by="logs",
        kinds=frozenset((Kind.LOG,)),
    ),
)
"""They change how likely a segment is needed."""
OF_WORTH = (
    Adjustment(
        "sentences of a paragraph",
        lambda judged, found: raise_sentences(judged.corpus.table, found),
        paid_by="frequently asked questions",
        beside_encoder=False,  # which finds the rest of an answer by itself
    ),
    Adjustment(
        "long turns",
        lambda judged, found: raise_long_turns(judged.corpus.table, found),
        paid_by="meetings",
        kinds=frozenset((Kind.TURN,)),
    ),
)
"""They change what a segment is worth to the selection, and not whether it is likely."""


def adjusted_probability(judged: Judged, probability: Floats) -> Floats:
    """Return how likely each segment is needed, shape (segments,)."""
    for adjustment in OF_PROBABILITY:
        probability = adjustment(judged, probability)
    return probability


def adjusted_worth(judged: Judged, probability: Floats, *, with_encoder: bool) -> Floats:
    """Return the probabilities by which the selection values the segments, shape (segments,)."""
    for adjustment in OF_WORTH:
        if adjustment.beside_encoder or not with_encoder:
            probability = adjustment(judged, probability)
    return probability
