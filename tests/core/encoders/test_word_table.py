"""The word table of the package: what it finds, for which languages, and how it goes to other processes."""

import pickle

import numpy as np
import pytest

from ctxcompress import CompressionConfig, Passage, compress
from ctxcompress.encoders import StaticVectors, encoder_named
from ctxcompress.encoders.static import WordTable
from ctxcompress.errors import ConfigError

TEXTS = [
    "The pods restart at night.",
    "Invoices are settled by bank transfer or credit card.",
    "To reboot the computer, hold the power button.",
    "Logs are kept for a week.",
]


@pytest.mark.parametrize(("question", "answer"), [("how can I pay?", 1), ("how do I switch my laptop off?", 2)])
def test_it_finds_an_answer_in_other_words(question, answer):
    assert compress(question, TEXTS, max_tokens=12).text == TEXTS[answer]
    assert WordTable().compare(question, TEXTS).argmax() == answer


def test_it_says_about_what_the_vectors_that_it_was_made_of_say():
    table, vectors = WordTable(), StaticVectors()
    questions = ("how are invoices paid?", "when is the computer restarted?", "how long are records stored?")
    pairs = [(table.compare(question, TEXTS), vectors.compare(question, TEXTS)) for question in questions]
    assert np.corrcoef(*map(np.concatenate, zip(*pairs, strict=True)))[0, 1] > 0.9


@pytest.mark.parametrize(
    ("question", "texts", "language"),
    [
        ("how can I pay?", TEXTS, "de"),
        ("how can I pay?", [f"def step_{n}():\n    return {n}\n\ndef settle():\n    bill()" for n in range(4)], "en"),
        ("how are invoices settled?", TEXTS, "en"),
    ],
    ids=["another language", "source code", "most words of the question"],
)
def test_it_leaves_to_words_what_they_know_better(question, texts, language, monkeypatch):
    monkeypatch.setattr(WordTable, "compare_words", None)
    passages = [Passage(f"{n}.py" if "def" in text else str(n), text) for n, text in enumerate(texts)]
    assert compress(question, passages, max_tokens=12, language=language).text


def test_it_says_of_nothing_that_it_is_likely():
    options = {"max_tokens": 12, "adaptive": True, "on_empty": "drop"}
    assert compress("how can I pay?", TEXTS, **options).text == ""


def test_a_name_is_made_an_encoder_once_and_goes_to_other_processes_by_its_name():
    config = CompressionConfig(max_tokens=12, encoder="static")
    assert config.encoder is encoder_named("static")
    assert config.with_options(max_tokens=13).encoder is config.encoder
    table = encoder_named("words")
    assert pickle.loads(pickle.dumps(table)) is table
    assert len(pickle.dumps(CompressionConfig())) < 10_000
    with pytest.raises(ConfigError, match="encoder is 'all-MiniLM-L6-v2'; give 'static' or 'words'"):
        CompressionConfig(encoder="all-MiniLM-L6-v2")
