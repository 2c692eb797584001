"""The limits on search results that a user sets, and results that answer nothing."""

import copy
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from search_shapes import KUBERNETES, tavily

from ctxcompress import CompressionConfig
from ctxcompress.agents.output_compressor import OutputCompressor
from ctxcompress.apps.search import SearchLimits, compress_search_results
from ctxcompress.errors import ConfigError

QUERY = "what is the default timeout of the client?"
ANSWER = "The default timeout of the client is 30 seconds."
OTHERS = [
    "The museum opens at nine on Sundays.",
    "Bananas ripen faster in a paper bag.",
    "A goalkeeper may use her hands.",
]
ADAPTIVE = CompressionConfig(adaptive=True)


def answers(*texts):
    return {
        "query": "q",
        "results": [{"url": f"https://example.org/{n}", "content": text} for n, text in enumerate(texts)],
    }


def texts_of(found):
    return [result["content"] for result in found["results"]]


def compressor(max_tokens=100_000, limits=None, **options):
    config = CompressionConfig(max_tokens=max_tokens, **options)
    return OutputCompressor(config, 0, search_limits=limits)


# Limits that are set


def test_without_limits_results_that_fit_stay_as_they_are():
    assert compressor().search_results(tavily(), KUBERNETES) is None
    only = SearchLimits(max_results=1, only_over_budget=True)
    assert compressor(limits=only).search_results(tavily(), KUBERNETES) is None
    found = compressor(1_000, limits=only).search_results(tavily(), KUBERNETES)
    assert found.compressed_count == 1
    assert compressor(1_000).search_results(tavily(), KUBERNETES).compressed_count > 1


@given(st.integers(1, 6), st.integers(10, 600), st.integers(1, 4), st.sampled_from([None, 0.0, 0.5]), st.booleans())
def test_limits_and_the_budget_hold_together(most, characters, sentences, least, only):
    limits = SearchLimits(
        max_results=most, max_characters=characters, max_sentences=sentences, min_score=least, only_over_budget=only
    )
    found = compressor(900, limits=limits).search_results(tavily(), KUBERNETES)
    assert found.compressed_tokens <= 900
    assert found.compressed_count <= most
    assert max(map(len, texts_of(found.results))) <= characters


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"max_results": 0}, "max_results is 0; give a whole number, at least 1, or omit it"),
        ({"max_characters": 1.5}, "max_characters is 1.5"),
        ({"max_sentences": None}, "max_sentences is None"),
        ({"min_score": "low"}, "min_score is 'low'; give a number, or None"),
        ({"only_over_budget": "yes"}, "only_over_budget is 'yes'; give True or False"),
    ],
)
def test_limits_that_cannot_work_are_refused(limits, message):
    with pytest.raises(ConfigError, match=message):
        SearchLimits(**limits)


# Results that answer nothing


def test_adaptive_drops_results_that_answer_nothing():
    found = compress_search_results(answers(*OTHERS, ANSWER), QUERY, complexity="complex", config=ADAPTIVE)
    assert texts_of(found.results) == [ANSWER]
    assert [(part.index, part.reason) for part in found.dropped] == [(0, "unlikely"), (1, "unlikely"), (2, "unlikely")]
    assert compress_search_results(answers(*OTHERS, ANSWER), QUERY, complexity="complex").compressed_count == 4


@pytest.mark.parametrize(("on_empty", "count"), [("keep_best", 1), ("original", 3), ("drop", 0)])
def test_on_empty_decides_if_no_result_answers(on_empty, count):
    config = CompressionConfig(adaptive=True, on_empty=on_empty)
    given = answers(*OTHERS)
    before = copy.deepcopy(given)
    found = compress_search_results(given, "where do zebras sleep in winter", complexity="complex", config=config)
    assert found.compressed_count == count
    assert found.results.keys() == before.keys()
    assert given == before


# What is emptied keeps its shape


DROPPING = replace(compressor(adaptive=True, on_empty="drop"), min_tokens=0)
ROWS = [{"name": "Apple", "colour": "red"}, {"name": "Pear", "colour": "green"}] * 20


@pytest.mark.parametrize(
    ("output", "empty"),
    [
        (ROWS, []),
        ({"count": 40, "rows": ROWS, "meta": {"a": "b"}}, {"rows": [], "meta": {}}),
        ({"a": "Apples are red.", "b": "Pears are green."}, {}),
    ],
)
def test_data_of_which_nothing_is_kept_is_an_empty_list_or_mapping(output, empty):
    found = DROPPING.data(output, "zebra stripes in kenya")
    assert found.content == empty
    assert type(found.content) is type(output)
    assert 0 < found.compressed_tokens < found.original_tokens
