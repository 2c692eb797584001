"""Weights are learned from a few cases, all of them or one model's."""

import importlib
from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest

from ctxcompress.score.evidence import COLUMNS, Model, load_models

TEXT = "The {0} stands by the river. It was built in {1}. The old {0} has {2} towers."


class Letters:
    """Close is what has many letters in common with the question."""

    compares_all = True

    def compare(self, query: str, texts: list[str]) -> list[int]:
        return [len(set(query) & set(text)) for text in texts]


@pytest.fixture
def training(scripts: None) -> ModuleType:
    pytest.importorskip("sklearn")
    return importlib.import_module("lib.evaluation")


@pytest.fixture
def sets(training: ModuleType, cases: ModuleType) -> dict[str, list[object]]:
    """One set of two questions, four passages each."""
    names = ["castle", "bridge", "church", "market"]
    documents = tuple(
        cases.Document(name, TEXT.format(name, 1200 + number, number)) for number, name in enumerate(names)
    )

    def case(number: int) -> object:
        text = documents[number].text
        start = text.index("It was built")
        gold = (cases.Gold(number, start, text.index(" The old")),)
        return training.example(cases.Case(f"When was the {names[number]} built?", documents, gold, ()))

    return {"few": [case(1), case(2)]}


def test_one_model_is_learned_on_the_published_words(training: ModuleType, sets: dict[str, list[object]]) -> None:
    model = training.learn_one(sets, "static", Letters())
    assert isinstance(model, Model)
    (stage,) = model.stages
    assert stage.weights.shape == (len(COLUMNS["static"][0]),)
    assert np.isfinite(stage.weights).all()
    assert stage.weights.any()


def test_where_no_case_has_many_passages_it_says_what_to_add(
    training: ModuleType, sets: dict[str, list[object]]
) -> None:
    with pytest.raises(ValueError, match="12 passages or more"):
        training.learn(sets, {})


def test_models_are_measured_in_the_place_of_the_published_ones(
    training: ModuleType, sets: dict[str, list[object]]
) -> None:
    published = load_models()
    words = published["words"]
    contrary = [replace(stage, intercept=-stage.intercept, weights=-stage.weights) for stage in words.stages]
    backwards = {"words": Model(tuple(contrary), words.calibration)}
    assert training.compressed_with(published, sets["few"], 30, {}) == {"bm25": 1.0, "words": 1.0}
    assert training.compressed_with(backwards, sets["few"], 30, {}) == {"bm25": 1.0, "words": 0.0}
    assert load_models() is published
