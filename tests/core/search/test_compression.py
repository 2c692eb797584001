"""Which results are kept, and what of their texts: the rules, the limits, the counts."""

import json
import re
from itertools import pairwise

import pytest
import search_shapes
from search_shapes import CLOUDS, KUBERNETES, SHAPES, shape

from ctxcompress import CompressionConfig, Compressor, compress_search_results
from ctxcompress.data.results import Reason
from ctxcompress.errors import BudgetTooSmall, ConfigError, InputError

TEXT = "Kubernetes runs containers on many machines."


SENTENCES = (
    "Kubernetes restarts containers that fail.",
    "The weather in Graz was fine.",
    "Kubernetes moves containers between machines.",
    "Lunch is at noon.",
    "A cluster of Kubernetes has nodes.",
    "The author likes tea.",
    "Kubernetes was released in 2014.",
)


def hits(*scores, text=TEXT):
    return [{"url": f"https://a.example/{n}", "content": text, "score": score} for n, score in enumerate(scores)]


def kept(results, query=KUBERNETES, **options):
    """The places of the results that are kept, by their addresses."""
    return [
        int(result["url"].rsplit("/", 1)[1]) for result in compress_search_results(results, query, **options).results
    ]


def reasons(result):
    return [(found.index, found.reason, found.duplicate_of) for found in result.dropped]


def test_results_below_the_floor_are_left_out():
    result = compress_search_results(hits(0.9, 0.29, 0.3), KUBERNETES)
    assert [found["score"] for found in result.results] == [0.9, 0.3]
    assert reasons(result) == [(1, Reason.SCORE, None)]
    assert result.dropped[0].text == TEXT
    for score in (None, "0.1", float("nan"), True, 10**400):
        assert kept(hits(0.9, score)) == [0, 1]


@pytest.mark.parametrize(("complexity", "results"), [("simple", 3), ("moderate", 4), ("complex", 5)])
def test_the_limits_of_each_complexity(complexity, results):
    characters = {"simple": 300, "moderate": 400, "complex": 500}[complexity]
    came = hits(
        *[0.9] * 7, text=" ".join(f"Kubernetes has {n} very long words in a sentence of its own." for n in range(99))
    )
    result = compress_search_results(came, KUBERNETES, complexity=complexity)
    assert result.complexity == complexity
    assert [found["url"] for found in result.results] == [found["url"] for found in came[:results]]
    assert all(len(found["content"]) <= characters for found in result.results)
    assert [index for index, reason, _ in reasons(result) if reason is Reason.LIMIT] == list(range(results, 7))


def test_the_query_tells_its_complexity_and_no_query_asks_for_all():
    assert compress_search_results([], KUBERNETES).complexity == "simple"
    assert compress_search_results([], CLOUDS).complexity == "complex"
    assert compress_search_results([], None).complexity == "complex"
    assert len(kept(hits(*[0.9] * 7), None)) == 5


def test_three_sentences_are_kept_in_their_order():
    (found,) = compress_search_results(hits(0.9, text=" ".join(SENTENCES)), "What does Kubernetes do?").results
    sentences = [sentence for sentence in SENTENCES if sentence in found["content"]]
    assert found["content"] == " ".join(sentences)
    assert len(sentences) == 3
    assert all("Kubernetes" in sentence for sentence in sentences)


@pytest.mark.parametrize("characters", [30, 41, 59, 300])
def test_a_long_sentence_is_cut_and_the_marker_counts(characters):
    text = "Kubernetes is a system that " + "runs many containers on nodes " * 40 + "and so on."
    (found,) = compress_search_results(hits(0.9, text=text), KUBERNETES, max_characters=characters).results
    assert found["content"].endswith("...")
    assert 0.85 * characters - 9 < len(found["content"]) <= characters
    assert found["content"].removesuffix("...") in text


def test_a_text_that_fits_comes_back_as_it_is():
    text = "  Kubernetes runs\tcontainers.\n\n\nIt restarts   them. "
    result = compress_search_results(hits(0.9, text=text), KUBERNETES)
    assert result.results == hits(0.9, text=text)
    assert (result.dropped, result.savings_percent, result.tokens_saved) == ((), 0.0, 0)
    written = '[ {"url":"https://a.example/0" , "content":"A text."} ]'
    assert compress_search_results(written, KUBERNETES).results == written


def test_every_character_that_is_left_out_is_in_the_account():
    came = search_shapes.tavily_pages()
    result = compress_search_results(came, KUBERNETES)
    for found in result.dropped:
        assert found.passage.text == came["results"][found.index][found.passage.metadata["key"]]
        assert all(start < end for start, end in found.spans)
        assert all(one.end <= other.start for one, other in pairwise(found.spans))
    left = {
        (found.index, found.passage.metadata["key"]): sum(b - a for a, b in found.spans) for found in result.dropped
    }
    for place, old in enumerate(came["results"]):
        new = result.results["results"][place] if place < 3 else {"content": "", "raw_content": ""}
        for key in ("content", "raw_content"):
            assert len(old[key]) - left.get((place, key), 0) == len(new[key])


def test_one_page_comes_once_and_the_best_scored_of_it():
    came = [
        {"url": "https://www.a.example/page/?utm_source=x&id=1#top", "content": TEXT, "score": 0.5},
        {"url": "http://a.example/page?id=1", "content": TEXT, "score": 0.8},
        {"url": "https://a.example/page?id=2", "content": TEXT, "score": 0.7},
        {"url": "https://a.example/page?id=2&gclid=9", "content": TEXT, "score": 0.7},
    ]
    result = compress_search_results(came, KUBERNETES)
    assert result.results == [came[1], came[2]]
    assert reasons(result) == [(0, Reason.DUPLICATE, 1), (3, Reason.DUPLICATE, 2)]


def test_the_best_results_are_kept_in_their_order():
    assert kept(hits(0.4, 0.9, 0.5, 0.8), max_results=2) == [1, 3]
    assert kept(hits(0.4, 0.9, 0.4, 0.4), max_results=2) == [0, 1]
    assert kept(hits(0.4, 0.9, None, 0.8), max_results=2) == [0, 1]  # unknown is not low
    came = hits(0.4, 0.5, 0.9)
    room = Compressor().count(json.dumps(came[2:]))
    result = compress_search_results(came, KUBERNETES, max_tokens=room)
    assert result.results == came[2:]
    assert [(index, reason) for index, reason, _ in reasons(result)] == [(0, Reason.BUDGET), (1, Reason.BUDGET)]


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("max_tokens", [120, 300, 1_000])
def test_a_budget_holds(name, max_tokens):
    result = compress_search_results(shape(name), CLOUDS, max_tokens=max_tokens)
    assert result.compressed_tokens <= max_tokens
    if max_tokens >= 200:
        assert result.compressed_count > 0


def test_what_a_budget_has_no_room_for_is_in_the_account(warned):
    result = compress_search_results(shape("tavily"), KUBERNETES, max_tokens=60)
    assert result.results == {**shape("tavily"), "results": []}
    assert {reason for index, reason, _ in reasons(result) if index < 3} == {Reason.BUDGET}
    assert "no result fits into max_tokens=60" in warned.text
    with pytest.raises(ConfigError, match=r"max_tokens is 5, but everything around the results already takes \d+"):
        compress_search_results(shape("tavily"), KUBERNETES, max_tokens=5)


@pytest.mark.parametrize("name", SHAPES)
def test_compressing_again_changes_nothing(name):
    once = compress_search_results(shape(name), KUBERNETES).results
    twice = compress_search_results(once, KUBERNETES)
    assert twice.results == once
    assert twice.dropped == ()


def test_a_query_that_is_no_text_is_refused():
    with pytest.raises(InputError, match="query is a int"):
        compress_search_results(hits(0.9), 7)


# What `must_keep` names is kept beyond all limits

FILLER = " ".join(f"Ship number {n} came into the harbour late." for n in range(60))


def keeping(must_keep, count=8, **options):
    results = [
        {"url": f"https://{n}.example", "content": f"The default timeout is {n} seconds. {FILLER}", "score": 1 - n / 10}
        for n in range(count)
    ]
    results[-1] |= {"content": f"{FILLER} The account is INV-77. {FILLER}", "score": 0.01}
    config = CompressionConfig(must_keep=must_keep)
    return compress_search_results(results, "default timeout", config=config, **options)


def test_a_result_over_every_limit_is_kept_with_its_sentence():
    found = keeping([re.compile(r"INV-\d+")], max_results=2, max_sentences=1, max_characters=100)
    assert [result["url"] for result in found.results] == [f"https://{n}.example" for n in (0, 1, 7)]
    assert "The account is INV-77." in found.results[-1]["content"]
    assert len(found.results[-1]["content"]) <= 100


@pytest.mark.parametrize(
    ("must_keep", "count", "max_tokens"),
    [
        (["INV-77"], 8, 60),
        (["INV-77"], 8, 90),
        (["INV-77", "harbour late"], 4, 150),
        (["INV-77", "harbour late"], 4, 400),
    ],
)
def test_within_a_budget_other_results_go_first(must_keep, count, max_tokens):
    found = keeping(must_keep, count, max_tokens=max_tokens)
    assert found.compressed_tokens <= max_tokens
    assert "INV-77" in json.dumps(found.results)


def test_a_budget_that_cannot_hold_them_is_an_error_with_the_tokens():
    with pytest.raises(BudgetTooSmall, match="in 1 results, which take") as raised:
        keeping(["INV-77"], max_tokens=20)
    assert keeping(["INV-77"], max_tokens=raised.value.tokens).compressed_tokens == raised.value.tokens
