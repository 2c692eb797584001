"""Fits `min_score`, `min_probability` and the budget to the evidence that was used."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Literal, NamedTuple

import numpy as np

from ctxcompress.errors import ConfigError
from ctxcompress.feedback.call_sheet import BUDGETS, CallSheet, Evidence
from ctxcompress.feedback.feedback_log import FeedbackRecord

__all__ = ["TUNED", "Curve", "Point", "TunedOption", "Tuning", "least_records", "lower_bound", "tune"]

TunedOption = Literal["min_score", "min_probability", "max_tokens"]
TUNED: tuple[TunedOption, ...] = ("min_score", "min_probability", "max_tokens")
"""The options that are fitted."""
Value = float | int

_SCORES = tuple(step / 20 for step in range(1, 20))
_PROBABILITIES = (
    *(0.001, 0.002, 0.004, 0.006, 0.008, 0.01, 0.012, 0.015, 0.02, 0.025, 0.03, 0.04),
    *(0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5),
)


class Point(NamedTuple):
    """What one value of an option would have kept."""

    value: Value
    evidence: float
    """The share of the used pieces of evidence that would have been kept."""
    answers: float
    """The share of the records whose used evidence would have been kept whole."""
    bound: float
    """The lower confidence bound of `answers`."""
    tokens: float
    """The mean tokens of the kept text."""


@dataclass(frozen=True, slots=True)
class Curve:
    """What each value of one option would have kept, from the one that keeps most to the one that keeps least."""

    option: TunedOption
    records: int
    """The records that say something about the option."""
    points: tuple[Point, ...]
    chosen: Point | None
    """None if no value keeps enough, or there are too few records."""


@dataclass(frozen=True, slots=True)
class Tuning:
    """The values that keep the wanted share of the used evidence."""

    keep: float
    confidence: float
    records: int
    missing: int
    """The records in which the answer was missing from the kept text."""
    whole_passages: int
    """The pieces of evidence that are whole passages, of which only the best segment counts."""
    pieces: int
    """All pieces of evidence."""
    tokens_before: float
    """The mean tokens of the kept text as it was."""
    curves: tuple[Curve, ...]
    together: Point | None
    """What the chosen values keep together; `value` is 0. None if none was chosen."""

    @property
    def options(self) -> dict[TunedOption, Value]:
        """The chosen value of each option that could be fitted."""
        return {curve.option: curve.chosen.value for curve in self.curves if curve.chosen is not None}

    def to_dict(self) -> dict[str, object]:
        """Return everything in types that JSON has."""
        return {
            "keep": self.keep,
            "confidence": self.confidence,
            "records": self.records,
            "missing": self.missing,
            "pieces": self.pieces,
            "whole_passages": self.whole_passages,
            "tokens_before": round(self.tokens_before, 1),
            "options": dict(self.options),
            "together": None if self.together is None else _rounded(self.together),
            "curves": {
                curve.option: {
                    "records": curve.records,
                    "chosen": None if curve.chosen is None else curve.chosen.value,
                    "points": [_rounded(point) for point in curve.points],
                }
                for curve in self.curves
            },
        }


class _Case(NamedTuple):
    """A record with evidence."""

    sheet: CallSheet
    evidence: Sequence[Evidence]


class _Rule(NamedTuple):
    """How one option decides."""

    option: TunedOption
    values: Sequence[Value]
    """From the one that keeps most to the one that keeps least."""
    applies: Callable[[_Case], bool]
    """Tells whether a record says something about the option."""
    keeps: Callable[[Evidence, Value], bool]
    tokens: Callable[[CallSheet, Value], int]
    """Returns the tokens that are kept."""


def tune(
    records: Sequence[FeedbackRecord],
    *,
    keep: float = 0.98,
    confidence: float = 0.95,
    options: Sequence[TunedOption] = TUNED,
) -> Tuning:
    """Return the values of the options that save most and keep the used evidence in a share `keep` of the answers.

    A value is taken if the lower confidence bound (Clopper and Pearson, one-sided) of the share of records whose used
    evidence it keeps whole is at least `keep`. Values are tried from the safest on, and the first that fails ends the
    search, so that many candidates do not make a lucky one. The chosen values are then tried together; while these keep
    too little, the option that loses most goes back by one value.

    Raises ConfigError for a wrong argument, and if there are too few records for such a bound: 149 are needed for 0.98
    at a confidence of 0.95.
    """
    _check(keep, confidence, options)
    cases = [_Case(record.sheet, [record.sheet.evidence(used) for used in record.used]) for record in records]
    cases = [case for case in cases if case.evidence]
    needed = least_records(keep, confidence)
    if len(cases) < needed:
        raise ConfigError(
            f"there are {len(cases)} records with used evidence, and {needed} are needed to show that {keep:g} of the "
            f"answers keep theirs, at a confidence of {confidence:g}; record more, or ask for less: "
            f"{_possible(len(cases), confidence)}"
        )
    rules = [rule for rule in _RULES if rule.option in options]
    curves = [_curve(rule, cases, keep, confidence) for rule in rules]
    curves, together = _together(rules, curves, cases, keep, confidence)
    return Tuning(
        keep=keep,
        confidence=confidence,
        records=len(cases),
        missing=sum(record.missing for record in records),
        whole_passages=sum(used.spans is None for record in records for used in record.used),
        pieces=sum(len(record.used) for record in records),
        tokens_before=fmean(min(case.sheet.budget, case.sheet.input_tokens) for case in cases),
        curves=tuple(curves),
        together=together,
    )


def least_records(keep: float, confidence: float = 0.95) -> int:
    """Return the least number of records, all of them kept, whose lower bound is at least `keep`."""
    return math.ceil(math.log(1 - confidence) / math.log(keep) - 1e-9)


def lower_bound(kept: int, records: int, confidence: float = 0.95) -> float:
    """Return the lower bound of Clopper and Pearson, one-sided, of a share that was `kept` of `records`.

    It is the share with which so many or more are kept by a chance of ``1 - confidence``.
    """
    if kept <= 0:
        return 0.0
    losses = np.arange(records - kept + 1)
    factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, records + 1)))])
    ways = factorials[records] - factorials[losses] - factorials[records - losses]
    low, high = 0.0, 1.0
    for _ in range(50):
        share = (low + high) / 2
        chance = float(np.exp(ways + losses * np.log1p(-share) + (records - losses) * np.log(share)).sum())
        low, high = (low, share) if chance > 1 - confidence else (share, high)
    return low


def _keeps_score(evidence: Evidence, value: Value) -> bool:
    return evidence.score is None or evidence.score >= value


def _keeps_probability(evidence: Evidence, value: Value) -> bool:
    return evidence.probability is None or evidence.probability >= value


def _keeps_budget(evidence: Evidence, value: Value) -> bool:
    return evidence.budget is None or evidence.budget <= value


def _score_tokens(sheet: CallSheet, value: Value) -> int:
    kept = sum(
        tokens for score, tokens in zip(sheet.scores, sheet.tokens, strict=True) if score is None or score >= value
    )
    return min(kept, sheet.budget)


def _probability_tokens(sheet: CallSheet, value: Value) -> int:
    kept = sum(part.tokens for part in sheet.parts if part.probability is None or part.probability >= value)
    return min(kept, sheet.budget, sheet.input_tokens)


def _budget_tokens(sheet: CallSheet, value: Value) -> int:
    return min(int(value), sheet.input_tokens)


_RULES = (
    _Rule("min_score", _SCORES, lambda case: case.sheet.has_scores, _keeps_score, _score_tokens),
    _Rule(
        "min_probability",
        _PROBABILITIES,
        lambda case: any(piece.probability is not None for piece in case.evidence),
        _keeps_probability,
        _probability_tokens,
    ),
    _Rule(
        "max_tokens",
        BUDGETS[::-1],
        lambda case: any(piece.budget is not None for piece in case.evidence),
        _keeps_budget,
        _budget_tokens,
    ),
)


def _curve(rule: _Rule, cases: Sequence[_Case], keep: float, confidence: float) -> Curve:
    telling = [case for case in cases if rule.applies(case)]
    if not telling:
        return Curve(rule.option, 0, (), None)
    points, chosen, is_open = [], None, True
    for value in rule.values:
        points.append(_point(((rule, value),), telling, confidence))
        is_open = is_open and points[-1].bound >= keep
        chosen = points[-1] if is_open else chosen
    return Curve(rule.option, len(telling), tuple(points), chosen)


def _point(chosen: Sequence[tuple[_Rule, Value]], cases: Sequence[_Case], confidence: float) -> Point:
    """Return what these values keep together."""
    kept = [[all(rule.keeps(piece, value) for rule, value in chosen) for piece in case.evidence] for case in cases]
    whole = sum(map(all, kept))
    return Point(
        value=chosen[0][1] if len(chosen) == 1 else 0,
        evidence=sum(map(sum, kept)) / sum(map(len, kept)),
        answers=whole / len(cases),
        bound=lower_bound(whole, len(cases), confidence),
        tokens=fmean(min(rule.tokens(case.sheet, value) for rule, value in chosen) for case in cases),
    )


def _together(
    rules: Sequence[_Rule], curves: Sequence[Curve], cases: Sequence[_Case], keep: float, confidence: float
) -> tuple[list[Curve], Point | None]:
    """Step the chosen values back until they keep enough together."""
    found = list(curves)
    while True:
        chosen = [
            (rule, curve.chosen.value) for rule, curve in zip(rules, found, strict=True) if curve.chosen is not None
        ]
        if not chosen:
            return found, None
        point = _point(chosen, cases, confidence)._replace(value=0)
        if point.bound >= keep:
            return found, point
        worst = min(range(len(found)), key=lambda place: _answers(found[place]))
        found[worst] = _stepped_back(found[worst])


def _answers(curve: Curve) -> float:
    """Return the share of answers that the chosen value keeps whole; more than 1 if none is chosen."""
    return 2.0 if curve.chosen is None else curve.chosen.answers


def _stepped_back(curve: Curve) -> Curve:
    """Return the curve with the value before the chosen one, or with none if that was the safest."""
    place = curve.points.index(curve.chosen) if curve.chosen is not None else 0
    return replace(curve, chosen=curve.points[place - 1] if place else None)


def _check(keep: float, confidence: float, options: Sequence[TunedOption]) -> None:
    for name, value in (("keep", keep), ("confidence", confidence)):
        if not isinstance(value, int | float) or not 0.5 <= value < 1:
            raise ConfigError(f"{name} is {value!r}; give a share from 0.5 to below 1")
    for option in options:
        if option not in TUNED:
            raise ConfigError(f"{option!r} cannot be tuned; give some of {', '.join(TUNED)}")


def _possible(records: int, confidence: float) -> str:
    share = math.floor(1_000 * (1 - confidence) ** (1 / records)) / 1_000 if records else 0.0
    return f"keep={share:g} is possible with these" if share >= 0.5 else "with so few, no share can be shown"


def _rounded(point: Point) -> Mapping[str, Value]:
    return {name: round(value, 4) for name, value in point._asdict().items()}
