"""What the adaptive stop keeps and uses is measured by the package itself, and the tables are means of that."""

import importlib
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
