"""How likely a segment is needed to answer: a logistic regression over named features, in up to three passes.

The first pass judges each segment by what it, its section and its headings share with the
question. Where there are several passages, one or two more passes judge again with what the best
segments so far lead to. The weights are in evidence.json, with where they come from; benchmarks/train_evidence.py
learns them.
"""

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from ctxcompress.score.bm25 import Floats
from ctxcompress.score.bridges import BRIDGES, Bridges
from ctxcompress.score.corpus import Corpus
from ctxcompress.score.features import FEATURES, features
from ctxcompress.score.matches import find_matches
from ctxcompress.text.words import Terms

__all__ = ["Stage", "evidence", "follow", "load_stages", "passes"]

_PASSES = ((12, 3), (3, 2), (0, 1))
"""(least number of passages, passes): one or two need no bridge, a few are reached by one pass over bridges."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One pass: a logistic regression."""

    intercept: float
    weights: Floats
    """One for each feature, shape (features,)."""

    def probability(self, *tables: Floats) -> Floats:
        """Of each segment, shape (segments,), for the features in these tables one below the other.

        Feature after feature is added: a matrix product would add in an order that depends on the
        processor and on a segment's place among the others.
        """
        total, first = self.intercept, 0
        for rows in tables:
            weights = self.weights[first : first + len(rows), np.newaxis]
            total = total + np.add.reduce(rows * weights, axis=0)
            first += len(rows)
        probability: Floats = 1 / (1 + np.exp(-total))
        return probability


@functools.cache
def load_stages() -> tuple[Stage, ...]:
    """The passes as they were learned. The first has weights for FEATURES, the others for FEATURES and BRIDGES."""
    data = json.loads(files("ctxcompress.score").joinpath("evidence.json").read_text(encoding="utf-8"))
    return tuple(
        Stage(stage["intercept"], np.array([stage["weights"][name] for name in _names(number)]))
        for number, stage in enumerate(data["stages"])
    )


def passes(passages: int) -> int:
    """How many passes there are for so many passages."""
    return next(number for least, number in _PASSES if passages >= least)


def _names(stage: int) -> tuple[str, ...]:
    return FEATURES if stage == 0 else FEATURES + BRIDGES


def evidence(query: str, corpus: Corpus, wanted: Mapping[str, float], terms: Terms, ignored: frozenset[str]) -> Floats:
    """The probability that each segment is needed, shape (segments,); all 0 if nothing matches.

    wanted: the query's terms and their weights. ignored: the function words of the language.
    """
    if not corpus.texts or not wanted:
        return np.zeros(len(corpus.texts))
    matches = find_matches(corpus.words, corpus.sections, corpus.labels, wanted, terms, corpus.names)
    if not matches.any:
        return np.zeros(len(corpus.texts))
    first, *later = load_stages()[: passes(len(corpus.titles))]
    rows = features(corpus, matches)
    probability = first.probability(rows)
    if later:
        bridges = Bridges(query, corpus, ignored)
        probability = follow(bridges, rows, probability, later)
    return probability


def follow(bridges: Bridges, rows: Floats, probability: Floats, stages: Sequence[Stage]) -> Floats:
    """The probability after the later passes. They end early where the best segments stay the same: another look
    from there changes little, and costs."""
    sources: list[int] | None = None
    for stage in stages:
        found = bridges.sources(probability)
        if found == sources:
            break
        probability, sources = stage.probability(rows, bridges.features(probability)), found
    return probability
