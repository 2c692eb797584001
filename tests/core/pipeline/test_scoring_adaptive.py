"""`adaptive`: the budget is a limit and not a goal."""

import pytest
from accounts import assert_partition
from hypothesis import given
from hypothesis import strategies as st

from ctxcompress import CompressionConfig, Compressor, Passage

PASSAGES = [
    Passage(
        name,
        f"{name} lies by the sea. The lighthouse of {name} is {20 + n} metres high. Ships call at {name} in summer. "
        f"Its market is held on Mondays. Its school has {n} classes.",
        title=name,
    )
    for n, name in enumerate(["Arle", "Brent", "Calver", "Dunmore", "Eldby", "Fenwick", "Garth", "Holm"])
]
QUESTION = "How high is the lighthouse of Fenwick?"


def compressed(query=QUESTION, *, adaptive=True, max_tokens=150, **options):
    config = CompressionConfig(max_tokens=max_tokens, adaptive=adaptive, encoding=lambda t: len(t.split()), **options)
    return Compressor(config).compress(query, PASSAGES)


def test_an_easy_question_takes_a_part_of_the_budget_and_keeps_its_answer():
    full, early = compressed(adaptive=False), compressed()
    assert "The lighthouse of Fenwick is 25 metres high." in early.text
    assert early.tokens < 0.5 * full.tokens


def test_a_higher_probability_keeps_less():
    tokens = [compressed(adaptive=p).tokens for p in (0.0001, 0.01, 0.1, 0.9)]
    assert tokens == sorted(tokens, reverse=True)
    assert tokens[0] > tokens[-1] > 0


@pytest.mark.parametrize("query", [None, "", "Summarize the main points of this document."])
def test_a_query_for_nothing_in_particular_fills_the_budget(query):
    assert compressed(query) == compressed(query, adaptive=False)


NOISE = "How do I rotate the signing keys of the payment service?"


@pytest.mark.parametrize("query", ["zyx wvu", NOISE])
@pytest.mark.parametrize("max_tokens", [150, 10_000])
def test_where_nothing_answers_on_empty_decides(query, max_tokens):
    assert compressed(query, max_tokens=max_tokens, on_empty="drop").text == ""
    assert 0 < compressed(query, max_tokens=max_tokens).tokens < 12
    everything = compressed(query, max_tokens=max_tokens, on_empty="original")
    assert everything.text == compressed(query, max_tokens=max_tokens, adaptive=False).text


def test_nothing_is_dropped_silently_where_nothing_answers():
    result = compressed(NOISE, on_empty="drop")
    assert [(part.index, part.reason) for part in result.dropped] == [(n, "unlikely") for n in range(len(PASSAGES))]
    assert all(part.text == part.passage.text for part in result.dropped)


def test_compressing_again_changes_nothing():
    once = compressed()
    config = CompressionConfig(max_tokens=150, adaptive=True)
    assert Compressor(config).compress(QUESTION, [kept.text for kept in once.passages]).text == once.text


@given(budget=st.integers(1, 200), probability=st.floats(1e-6, 1, exclude_max=True))
def test_the_budget_holds_and_every_character_is_kept_or_dropped_once(budget, probability):
    result = compressed(max_tokens=budget, adaptive=probability)
    assert result.tokens <= budget
    assert_partition(result, [passage.text for passage in PASSAGES])


# A query of several questions: each wants an answer of its own

SEVERAL = (
    "How high is the lighthouse of Fenwick? And when is the market of Brent held? "
    "Also in which month is the mayor of Dunmore elected?"
)
ANSWERS = [
    "The lighthouse of Fenwick is 25 metres high",
    "held on Mondays by Brent farmers",
    "The mayor of Dunmore is elected in May",
]


@pytest.mark.parametrize("options", [{"max_tokens": 60}, {"max_tokens": 400, "adaptive": True}, {"max_tokens": "auto"}])
def test_each_question_is_answered(options):
    towns = [
        Passage(
            name,
            f"{name} is a town by the sea. The lighthouse of {name} is {20 + n} metres high and the oldest of all. "
            f"Ships call at {name} in summer. Its market is held on Mondays by {name} farmers. "
            f"Its school has {n} classes. The mayor of {name} is elected in May.",
            title=name,
        )
        for n, name in enumerate(passage.title for passage in PASSAGES)
    ]
    text = Compressor(CompressionConfig(**options)).compress(SEVERAL, towns).text
    assert [answer for answer in ANSWERS if answer not in text] == []
