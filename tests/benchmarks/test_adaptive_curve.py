"""What the adaptive stop keeps and uses is measured by the package itself, and the tables are means of that."""

import csv
import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from ctxcompress.score.bridges import BRIDGES
from ctxcompress.score.evidence import Model, Stage, load_models
from ctxcompress.score.features import FEATURES


@pytest.fixture
def adaptive(scripts: None) -> ModuleType:
    pytest.importorskip("sklearn")
    pytest.importorskip("matplotlib")
    return importlib.import_module("adaptive_curve")


def examples(cases: ModuleType, count: int) -> list[Any]:
    make = importlib.import_module("lib.examples").example
    return [make(case(cases, number)) for number in range(count)]


def case(cases: ModuleType, number: int) -> Any:
    evidence = f"Ida Moor planted the pear number {number} of the orchard."
    documents = [cases.Document(f"Title {letter}", filler(letter)) for letter in "abcdefghijkl"]
    text = f"{filler('m')} {evidence} {filler('n')}"
    start = text.index(evidence)
    gold = cases.Gold(len(documents), start, start + len(evidence))
    question = f"Who planted pear number {number} of the orchard?"
    return cases.Case(question, (*documents, cases.Document("Pears", text)), (gold,), ("Ida Moor",))


def filler(letter: str) -> str:
    return " ".join(f"The keeper painted door {letter}{number} before it rained." for number in range(4))


def test_a_higher_threshold_uses_less_and_never_more_than_the_budget(adaptive: ModuleType, cases: ModuleType) -> None:
    (example,) = examples(cases, 1)
    outcome = adaptive.measure(example, load_models()["words"], 60, (adaptive.OFF, 0.0001, 0.9))
    off, low, high = outcome.used
    assert 1 >= off >= low >= high > 0
    assert high < off
    assert outcome.gold == 1
    assert outcome.kept == (1, 1, 1)
    assert outcome.probability.shape == outcome.needed.shape


def test_the_model_that_is_given_is_the_one_that_judges(adaptive: ModuleType, cases: ModuleType) -> None:
    (example,) = examples(cases, 1)
    published = load_models()
    words = published["words"]
    beginnings = np.array([float(name == "first") for name in FEATURES + BRIDGES])
    stages = [Stage(0.0, beginnings[: stage.weights.size]) for stage in words.stages]
    assert adaptive.measure(example, words, 40, (adaptive.OFF,)).kept == (1,)
    assert adaptive.measure(example, Model(tuple(stages), words.calibration), 40, (adaptive.OFF,)).kept == (0,)
    assert load_models() is published


def test_folds_judge_every_case_once(adaptive: ModuleType, cases: ModuleType) -> None:
    made = examples(cases, 6)
    found = adaptive.outcomes({"made up": made}, in_folds=True)["made up"]
    assert len(found) == len(made)
    assert sum(o.needed.size for o in found) == sum(example.needed.size for example in made)


def test_the_rows_are_the_means_of_a_set(adaptive: ModuleType) -> None:
    nothing = np.zeros(0)

    def outcome(gold: int, kept: int, used: float) -> Any:
        return adaptive.Outcome(gold, (gold, kept), (1.0, used), nothing, nothing)

    rows = adaptive.points("hotpot", [outcome(1, 1, 0.5), outcome(3, 0, 0.1)], (adaptive.OFF, 0.01))
    assert [(row.adaptive, row.used, row.evidence) for row in rows] == [(0, 1, 1), (0.01, 0.3, 0.25)]
    assert rows[0].budget == 350
    assert adaptive.trade_off([rows]).splitlines() == [
        "| min_probability | evidence | budget used |",
        "| --- | ---: | ---: |",
        "| off | 1.000 | 100 % |",
        "| 0.01 | .250 | 30 % |",
    ]


def test_the_default_is_among_the_thresholds(adaptive: ModuleType) -> None:
    assert adaptive.DEFAULT in adaptive.THRESHOLDS


def test_every_set_weighs_the_same_in_the_reliability(adaptive: ModuleType) -> None:
    sets = {
        "small": (np.array([0.005, 0.3]), np.array([False, True])),
        "big": (np.array([0.25] * 6 + [1.0] * 2), np.array([False] * 6 + [True] * 2)),
    }
    assert adaptive.reliability(list(sets.values()), (0, 0.01, 0.2, 0.5, 1)).splitlines()[2:] == [
        "| 0 to 0.01 | 1 | 0.0050 | 0.0000 |",
        "| 0.2 to 0.5 | 7 | 0.2700 | 0.4000 |",
        "| 0.5 to 1 | 2 | 1.0000 | 1.0000 |",
    ]
    assert adaptive.reliability_by_set(sets).splitlines()[2:] == [
        "| small | 2 | 0.1525 | 0.5000 | 0.0 % |",
        "| big | 8 | 0.4375 | 0.2500 | 0.0 % |",
    ]


def test_names_are_moved_apart(adaptive: ModuleType) -> None:
    assert adaptive.spaced([0.1, 0.5], 0.1) == [0.1, 0.5]
    assert adaptive.spaced([0.5, 0.5, 0.52], 0.1) == pytest.approx([0.5, 0.6, 0.7])
    crowded = adaptive.spaced([0.99, 1.0, 1.0], 0.1)
    assert crowded[-1] <= 1.06
    assert np.diff(crowded) == pytest.approx([0.1, 0.1])
    assert adaptive.spaced([], 0.1) == []


def test_picture_and_numbers_are_written(adaptive: ModuleType, tmp_path: Path) -> None:
    sets = [
        [adaptive.Point(name, t, 2, 500, 1 - 5 * t, 0.9 - t) for t in adaptive.THRESHOLDS] for name in ("one", "two")
    ]
    adaptive.draw(sets, tmp_path / "a.svg")
    adaptive.draw(sets, tmp_path / "b.svg")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    adaptive.write_numbers(sets, tmp_path / "a.csv")
    with (tmp_path / "a.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * len(adaptive.THRESHOLDS)
    assert rows[0] | {"set": "one", "adaptive": "0.0", "used": "1.0"} == rows[0]
