"""The guaranteed setting: its p-values, what it refuses, what it names, and that the promise is kept."""

import math
import tomllib
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from ctxcompress import CompressionConfig
from ctxcompress.apps.evaluation.guarantee import (
    guaranteed_budget,
    guaranteed_setting,
    least_questions,
    p_value,
    questions_needed,
    upper_bound,
)
from ctxcompress.errors import ConfigError


def exact_tail(most: int, questions: int, share: Fraction) -> float:
    """The chance of at most so many losses, of losses that are all or nothing."""
    ways = (math.comb(questions, n) * share**n * (1 - share) ** (questions - n) for n in range(most + 1))
    return float(sum(ways, Fraction()))


@pytest.mark.parametrize("share", [Fraction(1, 50), Fraction(1, 10), Fraction(2, 5)])
@pytest.mark.parametrize("questions", [10, 77, 200])
def test_p_values_are_those_of_an_exact_computation(questions: int, share: Fraction) -> None:
    for thirds in range(math.ceil(3 * questions * share)):
        lost, tail = Fraction(thirds, 3), exact_tail(math.ceil(Fraction(thirds, 3)), questions, share)
        mean = float(lost / questions)
        hoeffding = (float(share) / mean) ** float(lost) if lost else 1.0
        hoeffding *= ((1 - float(share)) / (1 - mean)) ** float(questions - lost)

        found = p_value(mean, questions, float(share))

        assert found == pytest.approx(min(1.0, hoeffding, math.e * tail), rel=1e-9)
        assert found * (1 + 1e-9) >= exact_tail(thirds // 3, questions, share)
    assert p_value(0, questions, float(share)) == pytest.approx(float((1 - share) ** questions))
    assert p_value(float(share), questions, float(share)) == p_value(1, questions, float(share)) == 1


def test_less_loss_more_questions_and_more_allowed_make_it_surer() -> None:
    means = [p_value(mean, 200, 0.1) for mean in np.linspace(0, 0.1, 30)]
    limits = [p_value(0.02, 200, limit) for limit in np.linspace(0.02, 0.99, 30)]
    numbers = [p_value(0.05, questions, 0.1) for questions in range(20, 1000, 20)]

    assert means == sorted(means)
    assert limits == sorted(limits, reverse=True)
    assert numbers == sorted(numbers, reverse=True)


@pytest.mark.parametrize("mean", [0.0, 0.013, 0.3, 1.0])
def test_the_upper_bound_is_the_least_loss_that_passes(mean: float) -> None:
    bound = upper_bound(mean, 150, 0.9)

    assert mean < bound <= 1 or mean == bound == 1
    assert p_value(mean, 150, bound) <= 0.1 + 1e-9 or bound == 1
    assert p_value(mean, 150, bound - 1e-6) > 0.1


def test_too_few_questions_are_refused_with_the_number_that_is_needed() -> None:
    assert [least_questions(loss, 0.9) for loss in (0.02, 0.05, 0.1)] == [114, 45, 22]
    with pytest.raises(ConfigError, match=r"44 questions, and 45 are needed .* a greater loss: 0\.051 is possible"):
        guaranteed_budget(np.zeros((44, 1)), [500])
    with pytest.raises(ConfigError, match=r"0 questions, .* nothing can be shown"):
        guaranteed_budget(np.zeros((0, 1)), [500])
    assert guaranteed_budget(np.zeros((45, 1)), [500]).budget == 500


def test_the_least_budget_that_passes_is_named_and_the_first_failure_ends_the_tests() -> None:
    losses = np.zeros((200, 5))
    losses[:, 1], losses[:5, 2] = 1, 0.5

    found = guaranteed_budget(losses, [100, 200, 500, 1000, None])

    assert (found.budget, found.mean_loss, found.questions_needed) == (500, 0.0125, None)
    assert [trial.setting for trial in found.tested] == [1000, 500, 200]  # 100 loses nothing, and is not tested
    assert found.upper_bound == found.tested[1].upper_bound < 0.05
    assert found == guaranteed_budget(losses[::-1], (100, 200, 500, 1000, None))


def test_without_a_budget_that_passes_it_says_how_many_questions_it_takes():
    losses = np.zeros((60, 3))
    losses[:, 0], losses[:4, 1] = 1, 0.5

    found = guaranteed_budget(losses, [100, 500, None])

    assert (found.budget, found.setting, len(found.tested)) == (None, None, 1)
    assert (found.mean_loss, found.upper_bound) == found.tested[0][1:3]
    needed = found.questions_needed
    assert p_value(2 / 60, needed, 0.05) <= 0.1 < p_value(2 / 60, needed - 1, 0.05)
    assert questions_needed(0, 0.05, 0.9) == 45
    assert questions_needed(0.05, 0.05, 0.9) is questions_needed(0.04999, 0.05, 0.9) is None


@pytest.mark.parametrize(
    ("losses", "budgets", "options", "said"),
    [
        (np.zeros(50), [1], {}, r"shape \(50,\)"),
        (np.zeros((50, 2)), [1], {}, "each of the 1 settings"),
        (np.full((50, 1), np.nan), [1], {}, "question 0 is nan"),
        (np.full((50, 1), 1.5), [1], {}, "question 0 is 1.5"),
        (np.zeros((50, 2)), [2, 1], {}, r"\[2, 1\]; give each once, ascending"),
        (np.zeros((50, 2)), [None, 1], {}, "None only as the last"),
        (np.ones((50, 2)), [1, None], {}, "mean loss of 1, and 0 is needed"),
        (np.zeros((50, 1)), [None], {}, "no values of max_tokens"),
        (np.zeros((50, 1)), [1], {"max_loss": 0}, "max_loss is 0; give a number above 0 and below 1"),
        (np.zeros((50, 1)), [1], {"confidence": 0.1}, "confidence is 0.1; give a number above 0.5"),
    ],
)
def test_wrong_arguments_are_refused(losses, budgets, options, said) -> None:
    with pytest.raises(ConfigError, match=said):
        guaranteed_budget(losses, budgets, **options)


LOSSES = {
    "all or nothing": lambda draw, risks, size: (draw.random((*size, len(risks))) < risks) * 1.0,
    "of a greater budget, too": lambda draw, risks, size: (draw.random((*size, 1)) < risks) * 1.0,
    "spread": lambda draw, risks, size: draw.beta(0.5, 0.5 / risks - 0.5, (*size, len(risks))),
    "mostly none": lambda draw, risks, size: (draw.random((*size, 1)) < 2 * risks) * draw.random((*size, len(risks))),
    "of three pieces": lambda draw, risks, size: draw.binomial(3, risks, (*size, len(risks))) / 3,
}


@pytest.mark.parametrize("kind", LOSSES)
@pytest.mark.parametrize("risks", [(0.01, 0.04, 0.1, 0.1, 0.3), (0.1, 0.1, 0.1), (0.1, 0.02)])
def test_the_promise_is_kept_even_if_the_risk_is_the_most_that_is_allowed(kind, risks) -> None:
    """A setting that loses as much as `max_loss` counts as one that breaks the promise."""
    splits, questions, rate = 1000, 150, 0.1
    losses = LOSSES[kind](np.random.default_rng(len(risks)), np.array(risks), (splits, questions))
    passed = np.vectorize(lambda mean: p_value(mean, questions, 0.1) <= rate)(losses.mean(axis=1))
    chosen = np.logical_and.accumulate(passed, axis=1).sum(axis=1)

    broken = (np.array([0, *risks])[chosen] >= 0.1).mean()

    assert broken <= rate + 3 * math.sqrt(rate * (1 - rate) / splits)
    assert (chosen > 0).mean() > 0.99 or risks[0] == 0.1  # what loses little is found
    for split in range(0, splits, 100):
        found = guaranteed_setting(losses[split], range(1, len(risks) + 1), option="any", max_loss=0.1)
        assert (found.setting or 0) == chosen[split]


@pytest.mark.parametrize("lost", [0, 1])
def test_what_it_writes_is_a_configuration(lost: int, tmp_path: Path) -> None:
    found = guaranteed_setting(np.full((50, 2), lost), (0.1, 0.3), option="min_score")
    wanted = CompressionConfig().switched_off() if lost else CompressionConfig(min_score=0.3)
    (file := tmp_path / "found.toml").write_text(found.as_toml(), encoding="utf-8")

    assert tomllib.loads(found.as_toml()) == {"compression": {"enabled": False} if lost else {"min_score": 0.3}}
    assert CompressionConfig.from_toml(file).min_score == wanted.min_score
    for framework, made in (("core", "compressor"), ("langchain", "compressor"), ("llamaindex", "postprocessor")):
        names: dict[str, object] = {}
        exec(found.as_python(framework), names)
        assert getattr(names[made], "config", wanted) == wanted
    with pytest.raises(ConfigError, match="'haystack'; give one of core, langchain, llamaindex"):
        found.as_python("haystack")
