"""Weights are learned from a few cases, all of them or one model's."""

import importlib
from types import ModuleType

import numpy as np
import pytest

from ctxcompress.score.evidence import COLUMNS, Model
from ctxcompress.score.semantic import WORD_VECTORS

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


class Lengths:
    """Vectors of how long texts are, and of their letters e, with letters beside."""

    word_vectors = Letters()

    def encode_query(self, text: str) -> list[int]:
        return [len(text), text.count("e")]

    def encode_document(self, texts: list[str]) -> list[list[int]]:
        return [self.encode_query(text) for text in texts]


def test_word_vectors_beside_an_encoder_have_weights_of_their_own(
    training: ModuleType, sets: dict[str, list[object]]
) -> None:
    model = training.learn_one(sets, "encoder_and_static", Lengths())
    weights = dict(zip(COLUMNS["encoder_and_static"][0], model.stages[0].weights, strict=True))
    assert weights["word_vectors_similarity"]
    assert set(COLUMNS["encoder_and_static"][0]) - set(COLUMNS["encoder"][0]) == set(WORD_VECTORS)


def test_where_no_case_has_many_passages_it_says_what_to_add(
    training: ModuleType, sets: dict[str, list[object]]
) -> None:
    with pytest.raises(ValueError, match="12 passages or more"):
        training.learn(sets, {})
