"""What was learned: the weights of every pass, and what makes a probability of the outcome.

The numbers are in evidence.json, with where they come from; benchmarks/train_evidence.py learns them.
"""

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np

from ctxcompress.score.bm25 import Floats
from ctxcompress.score.bridges import BRIDGES
from ctxcompress.score.features import FEATURES
from ctxcompress.score.semantic import SEMANTIC, WORD_VECTORS
from ctxcompress.score.source import SOURCE

__all__ = ["COLUMNS", "Calibration", "Model", "Stage", "load_models", "sigmoid"]

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
