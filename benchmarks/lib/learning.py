"""Learns the passes and the calibration of the evidence scorer."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from ctxcompress.encoders.encoder import Comparer, Encoder
from ctxcompress.score.evidence import COLUMNS, Calibration, Model, Stage, follow, sigmoid
from ctxcompress.score.features import FEATURES, is_conversation
from ctxcompress.score.semantic import READ, Meaning
from lib.examples import Example, Floats
from lib.kinds import kind_of

__all__ = [
    "UNCHANGED",
    "Judge",
    "LastPass",
    "Sets",
    "Without",
    "calibrate",
    "is_source",
    "is_talk",
    "learn_reading",
    "learn_semantic",
    "learn_source",
    "learn_table",
    "learn_turns",
    "learn_words",
]

Sets = Mapping[str, Sequence[Example]]
Judge = Callable[[Example], Floats]
"""The logits of a case's segments."""
Without = frozenset[str]
"""Names of features that are left out."""

REGULARIZATION = 10.0
UNCHANGED = Calibration(intercept=0.0, logit=1.0, log_segments=0.0, log_odds=0.0)
"""It returns the probabilities of the log odds as they are."""
SET_WEIGHT = 150.0
_COMBINED = FEATURES.index("combined")
_PROMISING = 60
"""The most other segments of a case that are all learned from."""
_REST = 40
"""About as many of the rest are learned from."""


@dataclass(frozen=True, slots=True)
class Table:
    """The features of one case, shape (features, segments), what is evidence, and how much the case counts."""

    rows: Floats
    needed: NDArray[np.bool_]
    weight: float
    stands_for: Floats
    """How many segments each one stands for."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What weights may be, beyond what the sets say."""

    prior: Mapping[str, float]
    """Name of a feature -> the weight that it is drawn to, where not 0: the sets may say nothing of headings."""
    helpful: frozenset[str]
    """Features that never speak against a segment. Without this, features that go together in the sets get weights of
    opposite signs, which hold for no other kind."""
    regularization: float = REGULARIZATION


@dataclass(frozen=True, slots=True)
class LastPass:
    """A pass that scores one kind of text again."""

    model: Model
    logits: Callable[[Example, Floats], Floats]
    """The logits of a case's segments, given the probabilities so far."""


_OF_PROSE = Limits({"combined": 2.0, "heading_fits": 12.0}, frozenset(FEATURES) - {"first", "length", "short"})
_OF_TABLE = Limits({"words": 0.5, "static": 0.5}, frozenset(("words", "static")))
_OF_READING = Limits({"judged": 1.0}, frozenset(READ))
_OF_SOURCE = Limits({"judged": 1.0}, frozenset())
_OF_TURNS = Limits({"judged": 1.0}, frozenset(), regularization=80.0)


def learn_words(sets: Sets, without: Without = frozenset()) -> list[Stage]:
    """The passes over words, one after the other, each on what the ones before say."""
    stages: list[Stage] = []

    def inputs(case: Example) -> Floats | None:
        return case.inputs(stages)

    for names in COLUMNS["words"]:
        stages += [_learn(_tables(sets, inputs), names, without, _OF_PROSE)]  # `inputs` looks at the stages so far
    return stages


def learn_semantic(
    sets: Sets, name: str, words: Sequence[Stage], meaning: Meaning, without: Without
) -> tuple[list[Stage], Judge]:
    """The last passes, and what they make of a case."""
    stages: list[Stage] = []
    known: dict[int, tuple[Floats, Floats]] = {}

    def start(case: Example) -> tuple[Floats, Floats]:
        """The logits that words lead to, and the features of closeness."""
        if id(case) not in known:
            logits = case.words(words)
            known[id(case)] = logits, case.semantic(meaning)
        return known[id(case)]

    def judge(case: Example) -> Floats:
        logits, close = start(case)
        return follow(case.bridges, logits, stages, case.rows, close)

    def inputs(case: Example) -> Floats:
        return np.vstack([case.rows, case.bridges.features(sigmoid(judge(case))), start(case)[1]])

    for names in COLUMNS[name]:
        stages += [_learn(_tables(sets, inputs), names, without, _OF_PROSE)]
    return stages, judge


def learn_table(sets: Sets, words: Sequence[Stage], static: Stage, meaning: Meaning) -> Stage:
    """Learn how much say the word table has.

    The pass lies between what words say and what the weights for larger word vectors make of the table's closeness: one
    share holds for kinds of text that it was not learned from, forty weights do not.
    """

    def rows(case: Example) -> Floats:
        logits = case.words(words)
        bridges = case.bridges.features(sigmoid(logits))
        return np.vstack([case.rows, bridges, case.semantic(meaning)])

    def shares(case: Example) -> Floats:
        return np.vstack([case.words(words), static.logits(rows(case))])

    of_words, of_table = _learn(_tables(sets, shares), ("words", "static"), frozenset(), _OF_TABLE).weights
    share = float(of_table / (of_words + of_table))
    weights = share * static.weights
    weights[COLUMNS["word_table"][0].index("before_logit")] += 1 - share
    return Stage(share * static.intercept, weights)


def learn_source(sets: Sets, before: Judge, without: Without) -> LastPass:
    """Learn the pass over source code. before: see `_learn_last`."""
    return _learn_last(_only(sets, is_source), "source", Example.source, before, without, _OF_SOURCE)


def learn_turns(sets: Sets, before: Judge, without: Without) -> LastPass:
    """Learn the pass over the turns of conversations. before: see `_learn_last`."""
    return _learn_last(_only(sets, is_talk), "turns", Example.turns, before, without, _OF_TURNS)


def learn_reading(sets: Sets, encoder: Encoder | Comparer) -> Model:
    """Learn how much say an encoder has that reads the best segments, after all published passes.

    Only the share is learned: the log odds so far are calibrated already, and what stands out adds to them.
    """
    rows = {id(case): case.read(encoder, case.before_reading()) for cases in sets.values() for case in cases}
    (names,) = COLUMNS["encoder"]
    weights = _learn(_tables(sets, lambda case: rows[id(case)]), names, frozenset(), _OF_READING).weights
    return Model((Stage(0.0, weights / weights[0]),), UNCHANGED)


def is_source(case: Example) -> bool:
    """Tell whether a case is source code."""
    return bool(case.corpus.table.is_source.all())


def is_talk(case: Example) -> bool:
    """Tell whether a case is a conversation."""
    return is_conversation(case.corpus)


def _only(sets: Sets, is_wanted: Callable[[Example], bool]) -> Sets:
    return {name: found for name, cases in sets.items() if (found := [case for case in cases if is_wanted(case)])}


def _learn_last(
    sets: Sets,
    name: str,
    rows: Callable[[Example, Floats], Floats],
    before: Judge,
    without: Without,
    limits: Limits,
) -> LastPass:
    """Learn a pass that comes after all others.

    rows: the features, given the probabilities so far. before: the probabilities of a case's segments.
    """
    known: dict[int, Floats] = {}

    def inputs(case: Example) -> Floats:
        if id(case) not in known:
            known[id(case)] = rows(case, before(case))
        return known[id(case)]

    (names,) = COLUMNS[name]
    stage = _learn(_tables(sets, inputs), names, without, limits)
    calibration = calibrate(sets, lambda case: stage.logits(inputs(case)))
    return LastPass(Model((stage,), calibration), lambda case, probability: stage.logits(rows(case, probability)))


def calibrate(sets: Sets, judge: Judge) -> Calibration:
    """What makes probabilities of the logits. Every set weighs the same, every segment of a set too."""
    inputs, answers, weights = [], [], []
    for cases in sets.values():
        segments = sum(len(case.needed) for case in cases)
        for case in cases:
            logits = judge(case)
            ascending = np.sort(logits)
            of_all = (np.log(logits.size), np.logaddexp.reduce(ascending), ascending.std())
            shared = np.repeat(np.array(of_all)[:, np.newaxis], logits.size, axis=1)
            inputs.append(np.vstack([logits, shared]).T)
            answers.append(case.needed)
            weights.append(np.full(logits.size, 1e4 / segments))
    model = LogisticRegression(C=100, max_iter=2000)
    model.fit(np.vstack(inputs), np.concatenate(answers), sample_weight=np.concatenate(weights))
    logit, log_segments, log_odds, spread = map(float, model.coef_[0])
    return Calibration(float(model.intercept_[0]), logit, log_segments, log_odds, spread)


def _tables(sets: Sets, inputs: Callable[[Example], Floats | None]) -> list[Table]:
    """A kind of several sets weighs as much as the root of their number. The sets of a kind weigh the same, and so do
    the cases of a set."""
    of_kind = Counter(map(kind_of, sets))
    return [
        _sampled(rows, case.needed, SET_WEIGHT / of_kind[kind_of(name)] ** 0.5 / len(cases))
        for name, cases in sets.items()
        for case in cases
        if case.needed.any() and not case.needed.all() and (rows := inputs(case)) is not None
    ]


def _sampled(rows: Floats, needed: NDArray[np.bool_], weight: float) -> Table:
    """Return the table of a case with what is needed, the most promising of the others, and some of the rest.

    Each of the latter stands for several, so that long texts take no longer to learn from than short ones.
    """
    others = np.flatnonzero(~needed)
    others = others[np.argsort(-rows[_COMBINED if len(rows) > _COMBINED else 0, others], kind="stable")]
    promising, rest = others[:_PROMISING], others[_PROMISING:]
    step = max(1, rest.size // _REST)
    sample = np.concatenate([np.flatnonzero(needed), promising, rest[::step]])
    stands_for = np.ones(sample.size)
    if rest.size:
        stands_for[-rest[::step].size :] = rest.size / rest[::step].size
    return Table(rows[:, sample], needed[sample], weight, stands_for)


def _learn(tables: Sequence[Table], names: Sequence[str], without: Without, limits: Limits) -> Stage:
    """Weights that put evidence before the other segments of its case, scaled to say how likely a segment is some.

    The loss is RankNet's (Burges et al., "Learning to rank using gradient descent", 2005), the logistic loss of
    every pair of a needed and another segment: what all segments of a case share does not enter.
    """
    if not tables:
        raise ValueError("no case goes through this pass; add a set with titles whose cases have 12 passages or more")
    inputs = np.hstack([table.rows for table in tables]) * np.array([[name not in without] for name in names])
    scale = inputs.std(axis=1)
    scale[scale < 1e-9] = 1
    scaled = (inputs / scale[:, np.newaxis]).T
    better, worse, weight = _pairs(tables)
    prior = np.array([limits.prior.get(name, 0.0) for name in names]) * scale

    def loss(weights: Floats) -> tuple[float, Floats]:
        scores = scaled @ weights
        ahead = scores[better] - scores[worse]
        pull = -weight * sigmoid(-ahead)
        slope = np.bincount(better, pull, scores.size) - np.bincount(worse, pull, scores.size)
        moved = weights - prior
        value = weight @ np.logaddexp(0, -ahead) + limits.regularization / 2 * moved @ moved
        return float(value), scaled.T @ slope + limits.regularization * moved

    bounds = [(0 if name in limits.helpful else None, None) for name in names]
    found = minimize(loss, prior, jac=True, bounds=bounds, method="L-BFGS-B", options={"maxiter": 300}).x / scale
    slope, intercept = _balanced(found @ inputs, tables)
    return Stage(intercept, found * slope)


def _pairs(tables: Sequence[Table]) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
    """(numbers of needed segments, numbers of others of the same case, weights), a case's weights adding up to its."""
    better, worse, weights, first = [], [], [], 0
    for table in tables:
        needed, others = np.flatnonzero(table.needed) + first, np.flatnonzero(~table.needed) + first
        better.append(np.repeat(needed, others.size))
        worse.append(np.tile(others, needed.size))
        stands_for = np.tile(table.stands_for[~table.needed], needed.size)
        weights.append(table.weight * stands_for / stands_for.sum())
        first += table.needed.size
    return np.concatenate(better), np.concatenate(worse), np.concatenate(weights)


def _balanced(scores: Floats, tables: Sequence[Table]) -> tuple[float, float]:
    """(slope, intercept) that make log odds of the scores, were needed segments as frequent as others."""
    needed = np.concatenate([table.needed for table in tables])
    weights = [np.where(t.needed, 1 / t.needed.sum(), 1 / (t.needed.size - t.needed.sum())) * t.weight for t in tables]
    model = LogisticRegression(C=100, max_iter=1000)
    model.fit(scores[:, np.newaxis], needed, sample_weight=np.concatenate(weights))
    return float(model.coef_[0, 0]), float(model.intercept_[0])
