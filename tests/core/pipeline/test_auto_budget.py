"""Budgets and lengths that fit the query: `max_tokens="auto"`, and how long passages may be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcompress import CompressionConfig, Compressor, Passage, compress
from ctxcompress.agents.builder import ContextBuilder
from ctxcompress.config.options import TIERS
from ctxcompress.data.results import Reason
from ctxcompress.errors import ConfigError
from ctxcompress.pipeline.task import resolve_auto_budget

AUTO = CompressionConfig(max_tokens="auto")
COMPLEX = "Compare the red, the green and the blue gates of the old town in detail, with the latest prices"
GATES = [
    Passage(
        str(n), f"The {word} gate of the town is on hill {n}, and built of {stone}. Many birds live on its roof. " * 9
    )
    for n, (word, stone) in enumerate(zip("red green blue old new tall small".split(), "abcdefg", strict=True))
]
REFERENCE = (
    "get_user(id) returns a user, or nothing. It looks the user up in the database by its number. "
    "The related data of the profile are in the answer as well. It is kept in memory for a minute. "
    "There is another function for those who cannot wait for that. It raises an error where the connection fails."
)


@pytest.mark.parametrize(
    ("query", "tier", "stop"),
    [
        ("red gate", "summary", 0.015),
        ("where is the red gate?", "summary", 0.012),
        ("red gate vs green gate", "summary", 0.012),
        (COMPLEX, "detailed", 0.012),
        ("", "summary", 0.015),
    ],
)
def test_the_budget_is_that_of_the_complexity_and_the_intent(query, tier, stop):
    config = resolve_auto_budget(query, AUTO)
    assert (config.tier, config.max_tokens, config.top_n) == (tier, None, None)
    assert config.adaptive == stop
    assert compress(query, GATES, config=AUTO).max_tokens == TIERS[tier]
    assert Compressor(AUTO).resolve_auto_budget(query).config == config


@given(query=st.text(max_size=60), count=st.integers(0, 7))
def test_the_budget_holds(query, count):
    result = compress(query, GATES[:count], max_tokens="auto")
    assert result.tokens == Compressor().count(result.text) <= result.max_tokens <= AUTO.budget


def test_a_context_of_several_questions_has_no_automatic_budget():
    with pytest.raises(ConfigError, match="max_tokens is 'auto'; a ContextBuilder has one budget for several queries"):
        ContextBuilder(config=AUTO)


# Facts


def of_reference(query, **options):
    return compress(query, [Passage("a", REFERENCE)], max_tokens=1_000, **options)


def test_a_fact_is_found_at_the_beginning_of_a_passage():
    result = of_reference("get_user", factual_length=200)
    (kept,) = result.passages
    assert kept.text == REFERENCE[: REFERENCE.index(" There is another")] + " […]"
    assert len(kept.text) <= 200
    assert {decision.reason for decision in result.dropped} == {Reason.TRUNCATED}


@pytest.mark.parametrize(
    ("query", "options"), [("why use get_user?", {}), (None, {}), ("get_user", {"format": "preview"})]
)
def test_passages_stay_whole_for_queries_that_ask_for_no_fact(query, options):
    result = of_reference(query, factual_length=200, **options)
    assert all(decision.reason is not Reason.TRUNCATED for decision in result.dropped)


@given(text=st.text(max_size=400), length=st.integers(20, 200))
def test_the_beginning_of_a_truncated_passage_is_kept(text, length):
    result = compress("get_user", [Passage("a", text)], factual_length=length, max_tokens=5_000)
    for kept in result.passages:
        assert text.startswith(kept.text.removesuffix("[…]").rstrip()) or "[…]" in text
        assert kept.untouched or len(kept.text) <= max(length, max(map(len, text.split())))
