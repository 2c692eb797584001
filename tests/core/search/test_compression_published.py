"""The published figures of the method, and what is measured here; docs/search.md has both."""

import copy
import re
from pathlib import Path

import pytest
from search_shapes import CLOUDS, KUBERNETES, tavily

from ctxcompress import compress_search_results

DOCS = Path(__file__).parents[3] / "docs" / "search.md"
OVERHEAD = 600
"""Tokens of an agent for each search, as published."""


def documented(label):
    """The numbers in the last column of a row of the table of savings."""
    (row,) = (line for line in DOCS.read_text(encoding="utf-8").splitlines() if line.startswith(f"| {label}"))
    numbers = re.findall(r"\d+(?:,\d{3})*(?:\.\d+)?", row.split("|")[-2])
    return [float(number.replace(",", "")) for number in numbers]


def about(*numbers):
    """What the scorer prefers may change a little with its weights; the documentation may not be far off."""
    return pytest.approx(numbers, rel=0.05)


def test_a_simple_question():
    # Published: 3 results of ~100 tokens, 300 instead of 10,000 search tokens, 93 % of the stage.
    result = compress_search_results(tavily(), KUBERNETES)
    assert (result.complexity, result.compressed_count) == ("simple", 3)
    assert all(len(found["content"]) <= 300 for found in result.results["results"])
    naive, now = result.original_tokens, result.compressed_tokens
    assert documented('"What is Kubernetes?"') == about(naive, now, result.savings_percent)
    stages = 4 * (naive + OVERHEAD), now + OVERHEAD
    assert 1 - stages[1] / stages[0] > 0.9


def test_a_complex_question():
    # Published: 5 results of at most 500 characters, 40 to 50 % of the tokens.
    result = compress_search_results(tavily("clouds"), CLOUDS)
    assert (result.complexity, result.compressed_count) == ("complex", 5)
    assert all(len(found["content"]) <= 500 for found in result.results["results"])
    expected = about(result.original_tokens, result.compressed_tokens, result.savings_percent)
    assert documented('"Compare the top 5') == expected
    excerpts = copy.deepcopy(tavily("clouds"))
    for found in excerpts["results"]:
        found["content"] = found["content"][:900].rsplit(" ", 1)[0]
    result = compress_search_results(excerpts, CLOUDS)
    expected = about(result.original_tokens, result.compressed_tokens, result.savings_percent)
    assert documented("the same with results of 900") == expected
    assert 40 <= result.savings_percent <= 55


@pytest.mark.parametrize(
    ("query", "complexity"), re.findall(r'\| `(\w+)` \| "([^"]+)" \|', DOCS.read_text(encoding="utf-8"))
)
def test_the_table_of_complexities(query, complexity):
    assert compress_search_results([], complexity).complexity == query
