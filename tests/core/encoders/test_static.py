"""StaticVectors: word vectors that come with a package, without torch and without a network."""

import json
import pickle
import subprocess
import sys

import numpy as np
import pytest

from ctxcompress import CompressionConfig, compress
from ctxcompress.encoders import StaticVectors

TEXTS = [
    "The physician treated the patient.",
    "The harbour is closed in winter.",
    "Bread is baked from flour.",
    "A king rules his realm.",
    "The train leaves at noon.",
]


@pytest.fixture(scope="module")
def vectors():
    pytest.importorskip("wordllama", reason="wordllama is not installed: pip install 'ctxcompress[static]'")
    return StaticVectors()


@pytest.mark.parametrize(("query", "closest"), [("doctor", 0), ("monarch", 3), ("railway departure", 4)])
def test_a_synonym_is_nearer_than_unrelated_words(vectors, query, closest):
    closeness = vectors.compare(query, TEXTS)
    assert closeness.shape == (len(TEXTS),)
    assert np.argmax(closeness) == closest
    assert closeness[closest] > 2 * np.delete(closeness, closest).max()


def test_several_questions_at_once_are_as_each_for_itself(vectors):
    queries, texts = ["doctor", "", "railway departure", "doctor", "字"], ["", *TEXTS, "?!"] * 200
    at_once = vectors.compare_each(queries, texts)
    assert at_once.shape == (len(queries), len(texts))
    np.testing.assert_array_equal(at_once, [vectors.compare(query, texts) for query in queries])


def test_another_instance_and_another_process_say_the_same_without_torch(vectors):
    np.testing.assert_array_equal(StaticVectors().compare("doctor", TEXTS), vectors.compare("doctor", TEXTS))
    program = (
        f"from ctxcompress.encoders import *; print(StaticVectors().compare('doctor', {TEXTS!r}).tolist())\n"
        "import logging, sys; print('torch' in sys.modules, logging.getLogger().handlers, logging.getLogger().level)"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    numbers, around = printed.splitlines()
    np.testing.assert_allclose(json.loads(numbers), vectors.compare("doctor", TEXTS), atol=1e-12)
    assert around == "False [] 30"


def test_pickle_holds_no_vectors(vectors):
    data = pickle.dumps(vectors)
    assert len(data) < 1_000
    np.testing.assert_array_equal(pickle.loads(data).compare("doctor", TEXTS), vectors.compare("doctor", TEXTS))


# Vectors of passages, by which duplicates are told

SAME = (
    "The client opens a pool of connections and closes those that were idle for a while.",
    "A pool of connections is opened by the client, which closes the ones that were idle for a while.",
)
OTHER = "The logo of the company is blue, and it has been so for a while."


def test_passages_that_say_the_same_are_close_whatever_stands_beside_them(vectors):
    alone = vectors.encode_passages(SAME)
    among = vectors.encode_passages([*SAME, OTHER, "", "?!"] * 300)
    assert np.allclose(among[:2], alone)
    assert alone[0] @ alone[1] >= 0.85 > 0.5 > among[0] @ among[2]
    assert np.allclose(np.linalg.norm(among[:3], axis=1), 1)
    assert not among[3].any()


def test_duplicates_in_meaning_are_told_without_an_embedding_model(vectors):
    config = CompressionConfig(encoder=vectors, similarity_threshold=0.85)
    result = compress("pool", [*SAME, OTHER], config=config)
    assert [kept.index for kept in result.passages] == [1, 2]
    assert [(found.index, found.duplicate_of) for found in result.dropped] == [(0, 1)]
    [stage] = [stage for stage in result.stages if stage.name == "semantic"]
    assert (stage.items_in, stage.items_out, stage.note) == (3, 2, "≥0.85")


# Passages about something else

PAGES = [
    "The pool has ten connections. A connection is closed after it was idle for a minute.",
    "Logs are kept for a week. Then they are deleted by a job that runs at night.",
    "Invoices are settled by bank transfer or credit card.",
    *(
        f"Section {n} of the manual describes option {n}. It is set in the file, and read at the start."
        for n in range(20)
    ),
]
OPTIONS = {"max_tokens": 40, "adaptive": True, "on_empty": "drop"}


def test_nothing_is_kept_of_passages_about_something_else(vectors):
    assert compress("what is the capital of France?", PAGES, encoder=vectors, **OPTIONS).text == ""


def test_an_answer_in_other_words_is_kept(vectors):
    text = compress("how can I pay?", PAGES, encoder=vectors, **OPTIONS).text
    assert "credit card" in text
