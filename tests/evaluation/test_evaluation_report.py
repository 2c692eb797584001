"""What a report says of all questions: means with intervals, losses, failures, comparisons; and its form as JSON."""

import json
from dataclasses import replace

import numpy as np
import pytest

from ctxcompress.apps.evaluation import Asked, Report, Row
from ctxcompress.apps.evaluation.intervals import RESAMPLES, estimates
from ctxcompress.errors import ConfigError

LOST = {  # method -> budget -> the pieces that each of three questions loses, of two
    "default": {100: [1, 0, 2], 500: [0, 0, 1], None: [0, 0, 0]},
    "first": {100: [2, 2, 2], 500: [1, 0, 2], None: [0, 0, 0]},
}


def report_of(lost: dict[str, dict[int | None, list[int]]], seed: int = 0) -> Report:
    methods, budgets = tuple(lost), tuple(lost["default"])
    questions = tuple(Asked(f"q{n}", f"Question {n}?", 3, 1_000, 2, 2, None, made=n == 0) for n in range(3))
    rows = tuple(
        Row(
            question=f"q{n}",
            method=method,
            budget=budget,
            text=f"text {method} {budget}",
            tokens=(budget or 1_000) - n,
            milliseconds=1.5,
            evidence=1 - lost[method][budget][n] / 2,
            answer=None,
            precision=None if n else 0.5,
            lost=("piece",) * lost[method][budget][n],
        )
        for n in range(3)
        for method in methods
        for budget in budgets
    )
    return Report(questions, rows, methods, budgets, "o200k_base", seed)


REPORT = report_of(LOST)


def test_intervals_are_those_of_a_plain_loop() -> None:
    values = np.array([[0.2, 1.0], [0.5, np.nan], [0.9, 0.0], [0.1, 1.0]])
    draws = np.random.default_rng(7).multinomial(4, [0.25] * 4, size=RESAMPLES)
    for column, found in enumerate(estimates(values, 7)):
        means = []
        for draw in draws:
            drawn = [values[n, column] for n, times in enumerate(draw) for _ in range(times)]
            known = [value for value in drawn if not np.isnan(value)]
            if known:
                means.append(sum(known) / len(known))
        assert found == pytest.approx((np.nanmean(values[:, column]), *np.quantile(means, [0.025, 0.975])))
    assert estimates(np.array([[np.nan, 1.0]]), 0) == [None, (1.0, 1.0, 1.0)]
    assert estimates(values, 7) == estimates(values, 7)


def test_the_summary_has_the_means_by_method_and_budget() -> None:
    summary = REPORT.summary()
    assert [(each.method, each.budget) for each in summary] == [(m, b) for m in LOST for b in LOST[m]]
    small, other = summary[0], summary[3]
    assert small.evidence is not None
    assert small.evidence.mean == pytest.approx(0.5)
    assert small.evidence.low <= 0.5 <= small.evidence.high
    assert (small.answer, small.difference) == (None, None)
    assert small.precision == (0.5, 0.5, 0.5)
    assert (small.tokens.mean, small.milliseconds.mean, small.saved) == (99, 1.5, pytest.approx(0.901))
    assert other.difference is not None
    assert other.difference.mean == pytest.approx(-0.5)
    assert (summary[-1].budget, summary[-1].difference) == (None, (0, 0, 0))


def test_losses_are_of_what_all_passages_have() -> None:
    assert REPORT.losses("default").tolist() == [[0.5, 0, 0], [0, 0, 0], [1, 0.5, 0]]
    with pytest.raises(ConfigError, match="no method 'best' in the report; it has default, first"):
        REPORT.losses("best")


def test_what_cannot_be_lost_promises_nothing() -> None:
    asked = [replace(question, held=0) for question in REPORT.questions[:1]] + [*REPORT.questions[1:]]
    rest = replace(REPORT, questions=tuple(asked))
    assert rest.losses("default").tolist() == REPORT.losses("default").tolist()[1:]
    alike = replace(REPORT, questions=tuple(replace(question, query="The same?") for question in REPORT.questions))
    assert alike.losses("default").tolist() == REPORT.losses("default").tolist()[:1]


def test_failures_and_what_the_questions_are() -> None:
    first, *_ = REPORT.failures
    assert first == ("q0", "Question 0?", "default", 100, ("piece",), ())
    assert len(REPORT.failures) == 8
    assert (REPORT.made, REPORT.judged, REPORT.retrieved) == (1, 3, 1.0)


def test_a_comparison_is_paired_and_says_what_is_worse() -> None:
    worse = report_of({"default": {100: [2, 1, 2], 500: [1, 1, 2], None: [0, 0, 0]}})
    compared = {each.budget: each for each in worse.compare(REPORT)}
    assert set(compared) == {100, 500, None}
    assert compared[500].difference == pytest.approx((-0.5, -0.5, -0.5))
    assert [compared[budget].worse for budget in (100, 500, None)] == [False, True, False]
    assert compared[100].questions == 3
    assert not any(each.worse for each in REPORT.compare(worse))
    assert not any(each.worse for each in REPORT.compare(REPORT))


def test_a_report_is_the_same_after_json() -> None:
    text = REPORT.to_json()
    assert Report.from_json(text) == REPORT
    document = json.loads(text)
    assert document["schema"] == "ctxcompress-evaluation/1"
    assert len(document["texts"]) == 6  # each once


@pytest.mark.parametrize("text", ["", "[]", '{"schema": "ctxcompress-evaluation/2"}', REPORT.to_json()[:-1]])
def test_something_else_is_no_report(text: str) -> None:
    with pytest.raises(ConfigError, match="this is no report"):
        Report.from_json(text)
