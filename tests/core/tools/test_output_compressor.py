"""What a tool returned, where nobody knows beforehand whether a search was behind it."""

import json

import pytest

from ctxcompress import CompressionConfig
from ctxcompress.agents.output_compressor import evident_results, is_json

CONFIG = CompressionConfig(encoding="o200k_base")
QUERY = "how much water does the reservoir hold"


def found(output, max_tokens):
    return evident_results(output, QUERY, CONFIG, max_tokens=max_tokens, complexity=None)


def result(number, sentences):
    text = " ".join(f"Reservoir {number} holds {turn} million litres of water." for turn in range(sentences))
    return {"url": f"https://example.org/{number}", "title": f"Reservoir {number}", "content": text}


def test_as_many_results_are_kept_as_fit_and_not_as_many_as_a_question_usually_needs():
    outcome = found({"results": [result(number, 1) for number in range(9)]}, 2_000)
    assert outcome is not None
    assert outcome.compressed_count == outcome.original_count == 9


def test_a_page_that_was_read_has_the_budget_to_itself():
    outcome = found({"results": [result(1, 200)]}, 600)
    assert outcome is not None
    assert 450 < outcome.compressed_tokens <= 600


@pytest.mark.parametrize("output", ["text", "", 5, None, [], {"a": 1}, [{"url": "u", "description": "d"}]])
def test_what_may_be_anything_is_none(output):
    assert found(output, 100) is None


def test_json_is_told_from_text_that_begins_like_it():
    assert is_json('{"a": [1]}')
    assert is_json("\n[]")
    assert is_json("[" * 100_000 + "]" * 100_000)
    assert not is_json("[1] Smith")
    assert not is_json("5")
    assert not is_json(json.dumps("text"))
