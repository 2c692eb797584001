"""The rules of the budget hold in every format: headers, numbers, escapes and envelopes count."""

import sys
from itertools import product
from pathlib import Path

import pytest
from accounts import assert_partition, assert_verbatim
from format_readers import lists_of_passages, parse_compact, passages
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcompress import CompressionConfig, Compressor, Passage, compress
from ctxcompress.agents.builder import ContextBuilder
from ctxcompress.errors import BudgetTooSmall, ConfigError
from ctxcompress.text.tokens import TokenCounter

sys.path.append(str(Path(__file__).parent.parent / "rules"))
from rule_inputs import TOKENIZERS, budgets, queries
from rule_inputs import passages as lists_of_texts

FORMATS = ("compact", "verbose", "json", "xml")
ALL = ("plain", *FORMATS)
TEXT = (
    "The pool opens ten connections. The default timeout is 30 seconds. It can be changed. Logs are kept for a week. "
    "A restart takes a minute. The logo shows a lighthouse. Nobody knows why."
)


def item(number, text=TEXT, **fields):
    given = {"file_path": f"docs/{number}.md", "header_path": ("Guide", "Pool"), "score": 1 / (number + 1), **fields}
    return Passage(f"p{number}", text, **given)


@pytest.mark.parametrize("format", FORMATS)
@given(texts=lists_of_texts, query=queries, budget=budgets)
def test_the_final_text_is_within_max_tokens_of_tiktoken(format, texts, query, budget):
    items = [item(number, text) for number, text in enumerate(texts)]
    result = compress(query, items, max_tokens=budget, format=format)
    assert result.tokens == TokenCounter("o200k_base")(result.text) <= budget
    assert_verbatim(result, texts)
    assert_partition(result, texts)
    if result.passages:
        assert result.text == Compressor(CompressionConfig(format=format)).formatted(result.passages, query=query or "")


@pytest.mark.parametrize("format", FORMATS)
@settings(max_examples=3 * settings().max_examples)
@given(items=lists_of_passages, budget=st.integers(1, 400), name=st.sampled_from(sorted(TOKENIZERS)))
def test_the_final_text_is_within_max_tokens_of_any_callable(format, items, budget, name):
    encoding = TOKENIZERS[name]
    result = compress("word", items, max_tokens=budget, format=format, encoding=encoding)
    assert result.tokens == TokenCounter(encoding)(result.text) <= budget


@pytest.mark.parametrize("order", ["source", "relevance", "edges"])
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("budget", [20, 110, 380])
def test_numbers_are_positions_in_the_final_text(format, budget, order):
    result = compress(
        "default timeout?", [item(n, f"{n}. {TEXT}") for n in range(12)], format=format, max_tokens=budget, order=order
    )
    assert result.text == (
        Compressor(CompressionConfig(format=format)).formatted(result.passages, query="default timeout?")
        if result.passages
        else result.text
    )
    if format == "compact":
        assert [(read.number, read.text) for read in parse_compact(result.text)] == [
            (number, part.text) for number, part in enumerate(result.passages, 1)
        ]


@pytest.mark.parametrize("format", FORMATS)
@given(items=st.lists(passages, min_size=1, max_size=4))
def test_what_fits_in_its_format_is_kept_whole_and_one_token_less_is_not_enough_for_it(format, items):
    everything = compress("timeout", items, max_tokens=100_000, format=format)
    assert [part.text for part in everything.passages] == [each.text for each in items]
    exact = compress("timeout", items, max_tokens=max(everything.tokens, 1), format=format)
    assert [part.text for part in exact.passages] == [each.text for each in items]
    less = compress("timeout", items, max_tokens=max(exact.tokens - 1, 1), format=format)
    assert less.tokens < max(exact.tokens, 2)


@pytest.mark.parametrize("budget", [5, 60, 1_000])
def test_another_format_of_a_result_is_within_its_budget(budget):
    items = [item(n, f"{n}. {TEXT}") for n in range(4)]
    results = {name: compress("default timeout?", items, max_tokens=budget, format=name) for name in ALL}
    for (own, result), other in product(results.items(), ALL):
        shown = result.render(other)
        assert TokenCounter("o200k_base")(shown) <= budget
        if other == own:
            assert shown is result.text
        elif TokenCounter("o200k_base")(as_kept(result, other)) <= budget and result.passages:
            assert shown == as_kept(result, other)
        else:
            assert shown == results[other].text


def as_kept(result, format):
    return Compressor(CompressionConfig(format=format)).formatted(result.passages, query=result.query)


def test_previews_are_chosen_anew_and_so_is_what_is_shown_in_their_place():
    whole, lines = (compress("default timeout?", [item(0, TEXT)], format=name) for name in ("compact", "preview"))
    assert lines.render("preview") == whole.render("preview") == lines.text
    assert lines.render("compact") == whole.text != lines.text


def test_a_frame_and_a_format_are_refused_together():
    with pytest.raises(ConfigError, match=r"a frame is given with format='xml'.*give one of them"):
        Compressor(CompressionConfig(format="xml")).compress("q", ["text"], frame=lambda passage, text: text)


@pytest.mark.parametrize("format", ["compact", "verbose"])
@pytest.mark.parametrize("rebalance", [False, True])
def test_a_context_numbers_on(format, rebalance):
    builder = ContextBuilder(400, config=CompressionConfig(format=format))
    for number in range(4):
        before = builder.render()
        text = f"Chapter {number} is about bird {number * 7}. " + f"The weight of bird {number * 7} is {number} kilos."
        builder.add([item(number, text)], query="weight of a bird?", rebalance=rebalance and number == 3)
        assert builder.render().startswith(before)
        assert TokenCounter("o200k_base")(builder.render()) == 400 - builder.remaining <= 400
    assert builder.render() == Compressor(CompressionConfig(format=format)).formatted(builder.passages)
    if format == "compact":
        assert [read.number for read in parse_compact(builder.render())] == [1, 2, 3, 4]


@pytest.mark.parametrize("format", ["json", "xml"])
def test_a_context_that_grows_has_no_format_that_is_closed(format):
    with pytest.raises(ConfigError, match=f"format is '{format}'; a ContextBuilder cannot add text to it later"):
        ContextBuilder(100, config=CompressionConfig(format=format))


def test_another_format_may_have_no_room_for_what_must_be_kept():
    result = compress("timeout?", [item(0)], max_tokens=9, must_keep=["The default timeout is 30 seconds."])
    assert "timeout is 30 seconds" in result.text
    with pytest.raises(BudgetTooSmall, match="must_keep names"):
        result.render("verbose")
