"""What each value of an option would have done to recorded calls: which evidence it keeps, and how many tokens."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ctxcompress.apps.feedback.call_sheet import BUDGETS, CallSheet, Evidence

__all__ = ["OUTCOMES", "TUNED", "Floats", "Outcomes", "TunedOption", "Value", "WithEvidence"]

TunedOption = Literal["min_score", "adaptive", "max_tokens"]
TUNED: tuple[TunedOption, ...] = ("min_score", "adaptive", "max_tokens")
"""The options that are fitted."""
Value = float | int
Floats = NDArray[np.float64]
_SCORES = tuple(step / 20 for step in range(1, 20))
_PROBABILITIES = (
    *(0.001, 0.002, 0.004, 0.006, 0.008, 0.01, 0.012, 0.015, 0.02, 0.025, 0.03, 0.04),
    *(0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5),
)


class WithEvidence(NamedTuple):
    """A record with evidence."""

    sheet: CallSheet
    evidence: Sequence[Evidence]


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What each value of one option does to each record."""

    option: TunedOption
    values: Sequence[Value]
    """From the one that keeps most to the one that keeps least."""
    told: NDArray[np.bool_]
    """Whether each record says something about the option, shape (records,)."""
    kept: NDArray[np.bool_]
    """Whether each piece of evidence is kept, shape (values, pieces)."""
    tokens: Floats
    """The tokens of the kept text, shape (values, records)."""

    @classmethod
    def of_scores(cls, cases: Sequence[WithEvidence]) -> "Outcomes":
        """Return what `min_score` does."""
        values = np.array(_SCORES)
        limits = [math.inf if piece.score is None else piece.score for case in cases for piece in case.evidence]
        told = [case.sheet.has_scores for case in cases]
        tokens = [_above(values, case.sheet.scores, case.sheet.tokens, case.sheet) for case in cases]
        return cls("min_score", _SCORES, np.array(told), np.array(limits) >= values[:, None], np.array(tokens).T)

    @classmethod
    def of_probabilities(cls, cases: Sequence[WithEvidence]) -> "Outcomes":
        """Return what `adaptive` does."""
        values = np.array(_PROBABILITIES)
        known = [[piece.probability for piece in case.evidence] for case in cases]
        limits = [math.inf if value is None else value for of_case in known for value in of_case]
        told = [any(value is not None for value in of_case) for of_case in known]
        tokens = [
            _above(values, [part.probability for part in parts], [part.tokens for part in parts], case.sheet)
            for case in cases
            for parts in [case.sheet.parts]
        ]
        return cls("adaptive", _PROBABILITIES, np.array(told), np.array(limits) >= values[:, None], np.array(tokens).T)

    @classmethod
    def of_budgets(cls, cases: Sequence[WithEvidence]) -> "Outcomes":
        """Return what `max_tokens` does."""
        values = np.array(BUDGETS[::-1])
        known = [[piece.budget for piece in case.evidence] for case in cases]
        limits = [0 if value is None else value for of_case in known for value in of_case]
        told = [any(value is not None for value in of_case) for of_case in known]
        tokens = np.minimum(values[:, None], [case.sheet.input_tokens for case in cases]).astype(float)
        return cls("max_tokens", BUDGETS[::-1], np.array(told), np.array(limits) <= values[:, None], tokens)


OUTCOMES: Mapping[TunedOption, Callable[[Sequence[WithEvidence]], Outcomes]] = MappingProxyType(
    {
        "min_score": Outcomes.of_scores,
        "adaptive": Outcomes.of_probabilities,
        "max_tokens": Outcomes.of_budgets,
    }
)


def _above(values: Floats, limits: Sequence[float | None], tokens: Sequence[int], sheet: CallSheet) -> Floats:
    """Return the tokens of the parts whose limit is at least each value, as far as they fit. None is no limit."""
    numbers = np.array([math.inf if limit is None else limit for limit in limits])
    kept: Floats = (numbers >= values[:, None]) @ np.array(tokens, dtype=float)
    return np.minimum(kept, min(sheet.budget, sheet.input_tokens))
