"""The word table of the package: what it finds, for which languages, and how it goes to other processes."""

import pickle

import numpy as np
import pytest

from ctxcompress import CompressionConfig, Compressor, compress
from ctxcompress.encoders import StaticVectors, encoder_named
from ctxcompress.encoders.knowledge import knowledge
from ctxcompress.encoders.words import WordTable
from ctxcompress.errors import ConfigError

TEXTS = [
    "The pods restart at night.",
    "Invoices are settled by bank transfer or credit card.",
    "To reboot the computer, hold the power button.",
    "Logs are kept for a week.",
]


@pytest.mark.parametrize(("question", "answer"), [("how can I pay?", 1), ("how do I switch my laptop off?", 2)])
def test_it_finds_an_answer_in_other_words(question, answer):
    assert compress(question, TEXTS, max_tokens=12, encoder="words").text == TEXTS[answer]
    assert WordTable().compare(question, TEXTS).argmax() == answer


def test_it_says_about_what_the_vectors_that_it_was_made_of_say():
    table, vectors = WordTable(), StaticVectors()
    questions = ("how are invoices paid?", "when is the computer restarted?", "how long are records stored?")
    pairs = [(table.compare(question, TEXTS), vectors.compare(question, TEXTS)) for question in questions]
    assert np.corrcoef(*map(np.concatenate, zip(*pairs, strict=True)))[0, 1] > 0.9


def test_words_that_it_does_not_know_say_nothing():
    assert WordTable().compare("zzxqv", TEXTS).tolist() == [0.0] * 4
    assert WordTable().compare("how can I pay?", ["zzxqv", ""]).tolist() == [0.0] * 2


def test_it_knows_english_and_no_other_language():
    texts = {
        1.0: "the client opens ten connections and closes them after a minute".split(),
        0.0: "der rechner wird jede nacht neu gestartet und danach geprüft".split(),
    }
    for expected, words in texts.items():
        assert knowledge(WordTable(), [words]) == pytest.approx(expected, abs=0.35)


def test_a_name_is_made_an_encoder_once_and_goes_to_other_processes_by_its_name():
    config = CompressionConfig(max_tokens=12, encoder="words")
    assert config.encoder is encoder_named("words")
    assert config.with_options(max_tokens=13).encoder is config.encoder
    assert pickle.loads(pickle.dumps(config.encoder)) is config.encoder
    assert len(pickle.dumps(config)) < 10_000
    with pytest.raises(ConfigError, match="encoder is 'all-MiniLM-L6-v2'; give 'static' or 'words'"):
        CompressionConfig(encoder="all-MiniLM-L6-v2")


def test_without_it_the_words_of_the_question_decide():
    compressor = Compressor(CompressionConfig(max_tokens=12))
    assert compressor.compress("how can I pay?", TEXTS).text != TEXTS[1]
