"""How likely a segment is needed to answer: a logistic regression over named features, in several passes.

The first pass judges each segment by what it, its section and its headings share with the
question. Where there are several passages, one or two more passes judge again with what the best
segments so far lead to. Where there is an encoder, last passes judge again with how close in meaning
segments are.
"""

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np

from ctxcompress.query.terms import clauses
from ctxcompress.score.bridges import BRIDGES, Bridges
from ctxcompress.score.corpus import Corpus
from ctxcompress.score.features import FEATURES, SOURCE, features, is_program, source_features
from ctxcompress.score.matches import Floats, find_matches
from ctxcompress.score.semantic import SEMANTIC, WORD_VECTORS, Semantics
from ctxcompress.text.words import Terms, split_words

__all__ = ["COLUMNS", "Calibration", "Model", "Stage", "evidence", "follow", "load_models", "passes", "sigmoid"]

COLUMNS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "words": (FEATURES, FEATURES + BRIDGES, FEATURES + BRIDGES),
    "static": (FEATURES + BRIDGES + SEMANTIC,),
    "encoder": (FEATURES + BRIDGES + SEMANTIC,) * 2,
    "encoder_and_static": (FEATURES + BRIDGES + SEMANTIC + WORD_VECTORS,) * 2,
    "source": (FEATURES + SOURCE,),
}
"""Of each model, of each pass, the names of its features. "words" comes first, the others go on from there; "source"
goes on from whichever was last."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One pass: a logistic regression."""

    intercept: float
    weights: Floats
    """One for each feature, shape (features,)."""

    def logits(self, *tables: Floats) -> Floats:
        """Of each segment, shape (segments,), for the features in these tables one below the other.

        Feature after feature is added: a matrix product would add in an order that depends on the
        processor and on a segment's place among the others.
        """
        total: Floats = np.full(tables[0].shape[1], self.intercept)
        first = 0
        for rows in tables:
            weights = self.weights[first : first + len(rows), np.newaxis]
            total += np.add.reduce(rows * weights, axis=0)
            first += len(rows)
        return total


@dataclass(frozen=True, slots=True)
class Calibration:
    """Platt's scaling, with how many segments there are and how much they promise together.

    Passes are learned to put the needed segments of one retrieval before the others; how likely the first
    ones are needed depends on how many rivals they have.
    """

    intercept: float
    logit: float
    log_segments: float
    log_odds: float
    """Of the log of the summed odds of all segments."""

    def probability(self, logits: Floats) -> Floats:
        """The probability that each segment is needed, shape (segments,); its order is that of the logits."""
        together = np.logaddexp.reduce(np.sort(logits))
        shared = self.intercept + self.log_segments * np.log(logits.size) + self.log_odds * together
        return sigmoid(self.logit * logits + shared)


@dataclass(frozen=True, slots=True)
class Model:
    """Passes, one after the other, and the calibration of the last one's outcome."""

    stages: tuple[Stage, ...]
    calibration: Calibration


def sigmoid(logits: Floats) -> Floats:
    """1 / (1 + exp(-logits)), without overflow."""
    probability: Floats = 1 / (1 + np.exp(-np.clip(logits, -500, 500)))
    return probability


@functools.cache
def load_models() -> Mapping[str, Model]:
    """The models as they were learned, by name."""
    data = json.loads(files("ctxcompress.score").joinpath("evidence.json").read_text(encoding="utf-8"))
    return {name: _model(data["models"][name], columns) for name, columns in COLUMNS.items()}


def _model(data: Mapping[str, Any], columns: tuple[tuple[str, ...], ...]) -> Model:
    return Model(
        stages=tuple(
            Stage(stage["intercept"], np.array([stage["weights"][name] for name in names]))
            for stage, names in zip(data["stages"], columns, strict=True)
        ),
        calibration=Calibration(**data["calibration"]),
    )


_PASSES = ((12, 3), (3, 2), (0, 1))
"""(least number of passages, passes): one or two need no bridge, a few are reached by one pass over bridges."""


def passes(passages: int) -> int:
    """How many passes over words there are for so many passages."""
    return next(number for least, number in _PASSES if passages >= least)


def evidence(
    query: str,
    corpus: Corpus,
    wanted: Mapping[str, float],
    terms: Terms,
    ignored: frozenset[str],
    semantics: Semantics | None = None,
) -> Floats:
    """The probability that each segment is needed, shape (segments,); all 0 if nothing tells one from another.

    wanted: the query's terms and their weights. ignored: the function words of the language.
    """
    matches = find_matches(
        corpus.words,
        corpus.sections,
        corpus.labels,
        wanted,
        terms,
        corpus.names,
        split_words(query),
        postings=corpus.postings,
    )
    if not corpus.texts or not (matches.any or (semantics and query.strip())):
        return np.zeros(len(corpus.texts))
    models = load_models()
    model, last = models["words"], passes(len(corpus.titles))
    rows = features(corpus, matches)
    logits = model.stages[0].logits(rows)
    if last > 1 or semantics:
        bridges = Bridges(query, corpus, ignored)
        logits = follow(bridges, logits, model.stages[1:last], rows)
    if semantics:
        semantics = semantics if matches.any else semantics.alone()
        model = models[semantics.model]
        close = semantics.features(query, corpus, logits if matches.any else None, clauses(query, ignored))
        logits = follow(bridges, logits, model.stages, rows, close)
    probability = model.calibration.probability(logits)
    return of_source(corpus, rows, probability) if is_program(corpus) else probability


def of_source(corpus: Corpus, rows: Floats, probability: Floats) -> Floats:
    """The probability of each segment, that of source code judged again. rows: the first pass's features."""
    model, source = load_models()["source"], corpus.table.is_source
    table = np.vstack([rows, source_features(corpus, probability)])[:, source]
    judged = probability.copy()
    judged[source] = model.calibration.probability(model.stages[0].logits(table))
    return judged


def follow(bridges: Bridges, logits: Floats, stages: Sequence[Stage], *tables: Floats) -> Floats:
    """The logits after these passes, each of which sees the tables' features and the bridges from the pass before.

    They end early where the best segments stay the same: another look from there changes little, and costs.
    """
    sources: list[int] | None = None
    for stage in stages:
        probability = sigmoid(logits)
        found = bridges.sources(probability)
        if found == sources:
            break
        first, *others = tables
        logits, sources = stage.logits(first, bridges.features(probability), *others), found
    return logits
