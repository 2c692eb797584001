"""Fits `min_score`, `adaptive` and the budget to the evidence that was used."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ctxcompress.apps.feedback.call_outcomes import OUTCOMES, TUNED, Floats, Outcomes, TunedOption, Value, WithEvidence
from ctxcompress.apps.feedback.feedback_log import FeedbackRecord
from ctxcompress.errors import ConfigError

__all__ = ["TUNED", "Curve", "Point", "TunedOption", "Tuning", "least_records", "lower_bound", "tune"]

_LEAST_SAVED = 0.01
"""The least share of the tokens that an option must save to be set."""


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
    """None if no value keeps enough, or the other options save as much without it."""


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
        """The chosen values, by option."""
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


@dataclass(frozen=True, slots=True)
class _Records:
    """The records, and the pieces of evidence in them."""

    record_of: NDArray[np.intp]
    """The record of each piece, ascending, shape (pieces,)."""
    tokens: Floats
    """The tokens of the text that was kept of each record."""
    kept: NDArray[np.bool_]
    """Whether each piece is kept under the budget that its record had."""
    confidence: float

    @classmethod
    def of(cls, cases: Sequence[WithEvidence], confidence: float) -> "_Records":
        sizes = [len(case.evidence) for case in cases]
        tokens = [min(case.sheet.budget, case.sheet.input_tokens) for case in cases]
        kept = [(piece.budget or 0) <= case.sheet.budget for case in cases for piece in case.evidence]
        return cls(np.repeat(np.arange(len(cases)), sizes), np.array(tokens, dtype=float), np.array(kept), confidence)

    def point(self, value: Value, kept: NDArray[np.bool_], tokens: Floats, told: NDArray[np.bool_]) -> Point:
        """Return the point of a curve.

        kept: of each piece. tokens: of each record. told: the records that count.
        """
        lost = np.bincount(self.record_of[~kept], minlength=told.size) > 0
        records, whole = int(told.sum()), int((told & ~lost).sum())
        return Point(
            value=value,
            evidence=float(kept[told[self.record_of]].mean()),
            answers=whole / records,
            bound=lower_bound(whole, records, self.confidence),
            tokens=float(tokens[told].mean()),
        )

    def curve(self, outcomes: Outcomes) -> Curve:
        """Return what each value keeps alone; nothing is chosen yet."""
        told = outcomes.told
        if not told.any():
            return Curve(outcomes.option, 0, (), None)
        points = [
            self.point(value, outcomes.kept[place], outcomes.tokens[place], told)
            for place, value in enumerate(outcomes.values)
        ]
        return Curve(outcomes.option, int(told.sum()), tuple(points), None)


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
    search, so that many candidates do not make a lucky one. First comes the option whose value saves most. The others
    are set only if they save more, and if all together keep enough.

    Raises ConfigError for a wrong argument, and if there are too few records for such a bound: 149 are needed for 0.98
    at a confidence of 0.95.
    """
    _check(keep, confidence, options)
    cases = [WithEvidence(record.sheet, [record.sheet.evidence(used) for used in record.used]) for record in records]
    cases = [case for case in cases if case.evidence]
    needed = least_records(keep, confidence)
    if len(cases) < needed:
        share = math.floor(1_000 * (1 - confidence) ** (1 / len(cases))) / 1_000 if cases else 0.0
        possible = f"keep={share:g} is possible with these" if share >= 0.5 else "with so few, no share can be shown"
        raise ConfigError(
            f"there are {len(cases)} records with used evidence, and {needed} are needed to show that {keep:g} of the "
            f"answers keep theirs, at a confidence of {confidence:g}; record more, or ask for less: {possible}"
        )
    known = _Records.of(cases, confidence)
    outcomes = [OUTCOMES[option](cases) for option in TUNED if option in options]
    choice = _choose(known, outcomes, [known.curve(each) for each in outcomes], keep)
    return Tuning(
        keep=keep,
        confidence=confidence,
        records=len(cases),
        missing=sum(record.missing for record in records),
        whole_passages=sum(used.spans is None for record in records for used in record.used),
        pieces=sum(len(record.used) for record in records),
        tokens_before=float(known.tokens.mean()),
        curves=tuple(choice.curves),
        together=choice.together,
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


class _Choice(NamedTuple):
    """The values that are chosen so far, and what they keep."""

    curves: Sequence[Curve]
    kept: NDArray[np.bool_]
    """Of each piece."""
    tokens: Floats
    """Of each record."""
    together: Point | None

    def options(self, outcomes: Sequence[Outcomes]) -> Iterator[tuple[int, Outcomes, Curve]]:
        """Yield (number, outcomes, curve) of each option that may still be chosen."""
        for number, (each, curve) in enumerate(zip(outcomes, self.curves, strict=True)):
            if curve.points and curve.chosen is None:
                yield number, each, curve

    def with_value(
        self, number: int, place: int, each: Outcomes, known: _Records, *, raised: bool = False
    ) -> "_Choice":
        """Return the choice with one more value. raised: whether more tokens than before may be kept."""
        kept = self.kept & each.kept[place]
        tokens = each.tokens[place] if raised else np.minimum(self.tokens, each.tokens[place])
        curve = replace(self.curves[number], chosen=self.curves[number].points[place])
        together = known.point(0, kept, tokens, np.ones(tokens.size, dtype=bool))
        return _Choice([*self.curves[:number], curve, *self.curves[number + 1 :]], kept, tokens, together)


def _choose(known: _Records, outcomes: Sequence[Outcomes], curves: Sequence[Curve], keep: float) -> _Choice:
    """Choose the value that saves most, then those of the other options that save more and still keep enough.

    If the budgets that the records had lose too much, a greater one that keeps enough is chosen first.
    """
    choice = _Choice(curves, np.ones(known.record_of.size, dtype=bool), known.tokens, None)
    if known.point(0, known.kept, known.tokens, np.ones(known.tokens.size, dtype=bool)).bound < keep:
        choice = _raised(choice, known, outcomes, keep)
    while True:
        better = min(_steps(choice, known, outcomes, keep), key=lambda step: float(step.tokens.mean()), default=choice)
        if better.tokens.mean() > (1 - _LEAST_SAVED) * choice.tokens.mean():
            return choice
        choice = better


def _steps(choice: _Choice, known: _Records, outcomes: Sequence[Outcomes], keep: float) -> Iterator[_Choice]:
    """Yield the choice with one more value, for each value that keeps enough."""
    for number, each, curve in choice.options(outcomes):
        for place, point in enumerate(curve.points):
            step = choice.with_value(number, place, each, known)
            if point.bound < keep or step.together is None or step.together.bound < keep:
                break
            yield step


def _raised(choice: _Choice, known: _Records, outcomes: Sequence[Outcomes], keep: float) -> _Choice:
    """Return the choice with the least budget that keeps enough, if there is one."""
    for number, each, curve in choice.options(outcomes):
        enough = sum(1 for _ in takewhile(lambda point: point.bound >= keep, curve.points))
        if each.option == "max_tokens" and enough:
            return choice.with_value(number, enough - 1, each, known, raised=True)
    return choice


def _check(keep: float, confidence: float, options: Sequence[TunedOption]) -> None:
    for name, value in (("keep", keep), ("confidence", confidence)):
        if not isinstance(value, int | float) or not 0.5 <= value < 1:
            raise ConfigError(f"{name} is {value!r}; give a share from 0.5 to below 1")
    for option in options:
        if option not in TUNED:
            raise ConfigError(f"{option!r} cannot be tuned; give some of {', '.join(TUNED)}")


def _rounded(point: Point) -> Mapping[str, Value]:
    return {name: round(value, 4) for name, value in point._asdict().items()}
