"""Everything dropped is reported with its reason; what is too big is split."""

import re

import pytest
from accounts import assert_partition
from hypothesis import given
from rule_inputs import TOKENIZERS, budgets, passages, queries

from ctxcompress import CompressionConfig, Compressor, compress
from ctxcompress.data.results import Reason

SENTENCE_END = re.compile(r"(?<=[.?!])\s|\n")


@given(texts=passages, query=queries, budget=budgets)
def test_kept_and_dropped_spans_partition_every_passage(texts, query, budget):
    result = compress(query, texts, max_tokens=budget)
    assert_partition(result, texts)
    assert {part.index for part in (*result.passages, *result.dropped)} == set(range(len(texts)))


@given(texts=passages, query=queries, budget=budgets)
def test_reasons_are_true(texts, query, budget):
    result = compress(query, texts, max_tokens=budget)
    kept = {passage.index: passage.text for passage in result.passages}
    for decision in result.dropped:
        assert decision.passage.text == texts[decision.index]
        if decision.reason is Reason.EMPTY:
            assert not decision.passage.text.strip()
        if decision.reason is Reason.DUPLICATE:
            others = [kept.get(n, "") if n == decision.index else text for n, text in enumerate(texts)]
            said = " ".join(" ".join(others).split())
            parts = [decision.passage.text[start:end] for start, end in decision.spans]
            assert all(" ".join(line.split()) in said for part in parts for line in SENTENCE_END.split(part))


def test_the_same_sentence_twice_is_a_duplicate_once():
    same = "The gateway closes an idle connection after thirty seconds."
    result = compress("idle connection", [same, same, "Other words about nothing at all. " * 20], max_tokens=12)
    assert result.text == same
    assert [decision.index for decision in result.dropped if decision.reason is Reason.DUPLICATE] == [1]


def test_blank_passages_are_empty_not_over_budget():
    result = compress("q", ["", "word " * 50, " \n"], max_tokens=10)
    assert {d.index: d.reason for d in result.dropped} == {0: Reason.EMPTY, 1: Reason.BUDGET, 2: Reason.EMPTY}


GIANTS = {
    "word": "x" * 4_000,
    "line": "alpha beta gamma " * 400,
    "fence": "```python\n" + "value = 1\n" * 400 + "```\n",
    "line in a fence": "```\n" + "xyz" * 1_000 + "\n```",
    "short fence": "```\n" + "xyz " * 300 + "\n```",
    "unclosed fence": "```\n" + "value = 1\n" * 400,
    "table row": "| a | b |\n|---|---|\n| " + "cell " * 500 + "| b |\n",
    "table header": "| " + "head " * 300 + "| b |\n|---|---|\n| 1 | 2 |\n",
    "heading": "# " + "title " * 30 + "\n",
    "code after blank lines": "\n\n    \n" + "x" * 900 + " = 1\ny = 2\nz = (3)\nfoo()\n",
    "Chinese": "重启服务器" * 800,
    "emoji": "👩\u200d👩\u200d👧" * 300,
    "lone surrogates": "\ud800" * 2_000,
}


@pytest.mark.parametrize("budget", [10, 25])
@pytest.mark.parametrize("giant", GIANTS)
def test_one_unit_larger_than_the_budget_is_split(giant, budget):
    text = GIANTS[giant]
    result = compress("what value", [text], max_tokens=budget)
    assert result.text.strip("`~ \n")
    assert result.tokens <= budget
    assert_partition(result, [text])


LONG = f"The default timeout of the client is thirty seconds {'and is counted from the first byte of a request ' * 12}."
SETTINGS = "\n".join(f"default_timeout_{n} = {n}" for n in range(60))


@pytest.mark.parametrize(
    ("texts", "beginning"),
    [
        ([LONG, "Ferries leave at noon."], "The default timeout of the client"),
        ([f"{LONG} Ferries leave at noon. It rains."], "The default timeout of the client"),
        ([f"```\n{SETTINGS}\n```\n\nFerries leave at noon."], "default_timeout_"),
    ],
)
def test_the_beginning_of_what_answers_is_kept_before_other_text_that_fits_whole(texts, beginning):
    text = compress("default timeout of the client", texts, max_tokens=20).text
    assert text.lstrip("`[… ]\n").startswith(beginning)


@pytest.mark.parametrize("name", TOKENIZERS)
def test_a_part_that_fits_only_alone_is_kept(name):
    config = CompressionConfig(max_tokens=50, encoding=TOKENIZERS[name])
    result = Compressor(config).compress("b", ["a" * 70, "b"], frame=lambda passage, text: "[" + text)
    assert result.passages


def test_the_sum_of_parts_may_be_over_the_budget_if_the_whole_is_not():
    result = Compressor(CompressionConfig(max_tokens=1)).compress(
        "a", ["a b c d"], frame=lambda passage, text: "<" + text
    )
    assert (result.text, result.tokens) == ("<a", 1)


def test_headings_are_kept_if_there_is_nothing_else(warned):
    result = compress("q", ["# One\n", "# Two is longer than all of the others\n"], max_tokens=4)
    assert result.text.strip() == "# One"
    assert not warned.messages


def test_there_is_a_warning_if_nothing_fits(warned):
    config = CompressionConfig(max_tokens=3, encoding=len, separator="")
    result = Compressor(config).compress("a", ["aaaa"], frame=lambda passage, text: "frame " + text)
    assert (result.text, result.tokens) == ("", 0)
    assert "max_tokens=3" in warned.text
    assert_partition(result, ["aaaa"])


def test_no_warning_where_there_is_nothing_to_keep(warned):
    assert compress("q", []).text == ""
    compress("q", ["", " \n" * 500], max_tokens=1)
    assert not warned.messages
