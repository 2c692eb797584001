"""The rules, of a context that grows: the budget after each add, what was promised, and an account of everything."""

import json
from copy import deepcopy

import pytest
from accounts import assert_accounted, assert_shown
from hypothesis import given
from hypothesis import strategies as st
from rule_inputs import TOKENIZERS, budgets, paragraphs, passages, queries, texts

from ctxcompress import CompressionConfig, Passage, compress
from ctxcompress.agents.builder import ContextBuilder
from ctxcompress.text.tokens import TokenCounter

# Rounds draw from the same few texts: the same comes again, and parts of it.
rounds = st.lists(passages, max_size=3).flatmap(
    lambda given: st.lists(
        st.tuples(
            st.lists(st.sampled_from([text for of_one in given for text in of_one] or [""]) | texts, max_size=4),
            queries,
            st.none() | st.integers(1, 60),
        ),
        max_size=4,
    )
)
options = st.fixed_dictionaries(
    {},
    optional={
        "ngram_threshold": st.sampled_from([0.5, 0.8]),
        "top_n": st.integers(1, 3),
        "min_score": st.sampled_from([0.3, 0.8]),
        "order": st.sampled_from(["relevance", "edges"]),
        "scorer": st.just("bm25"),
        "separator": st.sampled_from(["", " ", "\n---\n"]),
    },
)


def items(given: list[str], scores: int) -> list[Passage]:
    return [Passage(f"p{n}", text, score=(7 * n + scores) % 5 / 5, doc_id=f"d{n % 2}") for n, text in enumerate(given)]


def check(rounds, budget, encoding, options):
    count, separator = TokenCounter(encoding), options.get("separator", "\n\n")
    builder = ContextBuilder(config=CompressionConfig(max_tokens=budget, encoding=encoding, **options))
    came: dict[int, str] = {}
    for number, (found, query, own) in enumerate(rounds):
        before, tokens, held = builder.render(), count(builder.render()), len(builder.passages)
        new = {len(came) + n: text for n, text in enumerate(found)}
        added = builder.add(items(found, number), query=query, max_tokens=own)
        came |= new
        assert builder.render().startswith(before)
        assert count(builder.render()) == budget - builder.remaining <= budget
        assert added.tokens == count(builder.render()) - tokens <= (own or budget)
        assert added.remaining == builder.remaining >= 0
        between = separator if before and added.text else ""
        assert builder.render() == before + between + added.text
        assert_accounted((*added.passages, *added.dropped), new)
        assert builder.passages[held:] == added.passages
        for part in added.passages:
            assert_shown(part, came[part.index])
        for decision in added.dropped:
            assert decision.duplicate_of is None or decision.duplicate_of in came
    assert builder.render() == separator.join(part.text for part in builder.passages)
    return builder, came


@pytest.mark.parametrize("name", ["o200k_base", *TOKENIZERS])
@given(rounds=rounds, budget=budgets, options=options)
def test_what_was_promised_stays_and_the_budget_holds_whatever_counts(name, rounds, budget, options):
    check(rounds, budget, TOKENIZERS.get(name, name), options)


@given(rounds=rounds, budget=budgets, options=options, last=passages)
def test_rebalanced_all_that_ever_came_is_accounted_for(rounds, budget, options, last):
    builder, came = check(rounds, budget, "o200k_base", options)
    came |= {len(came) + n: text for n, text in enumerate(last)}
    added = builder.add(items(last, 3), query="timeout", rebalance=True)
    count = TokenCounter("o200k_base")
    assert count(builder.render()) == budget - builder.remaining <= budget
    assert (
        builder.render() == added.text == options.get("separator", "\n\n").join(part.text for part in builder.passages)
    )
    assert_accounted((*added.passages, *added.dropped), came)


@given(
    given=st.lists(paragraphs.filter(lambda text: len(text) > 20), max_size=4),
    queries=st.lists(queries, min_size=2, max_size=4),
    own=st.integers(5, 60),
)
def test_no_part_of_a_text_is_added_twice(given, queries, own):
    builder = ContextBuilder(200)
    for query in queries:
        builder.add(items(given, 0), query=query, max_tokens=own)
    places: dict[str, list[int]] = {}
    for part in builder.passages:
        text = part.original.text
        places.setdefault(text, []).extend(n for start, end in part.spans for n in range(start, end) if text[n].strip())
    assert all(len(found) == len(set(found)) for found in places.values())


@given(rounds=st.lists(st.tuples(passages, queries), min_size=1, max_size=3), budget=budgets)
def test_one_add_is_a_compression(rounds, budget):
    given, query = rounds[0]
    given = [text for text in given if text.strip()]
    added = ContextBuilder(budget).add(items(given, 0), query=query)
    once = compress(query, items(given, 0), max_tokens=budget, ngram_threshold=1.0)
    assert added.text.split() == once.text.split()


@given(given=passages, query=queries)
def test_nothing_of_the_input_is_held(given, query):
    came = [Passage(f"p{n}", text, metadata={"n": [n]}, embedding=[1.0, n]) for n, text in enumerate(given)]
    copied = deepcopy(came)
    builder = ContextBuilder(40)
    builder.add(came, query=query)
    assert came == copied
    for passage in came:
        passage.metadata["n"].append("changed")
        passage.embedding.append(2.0)
    rebalanced = builder.add([], rebalance=True)
    assert [part.original for part in rebalanced.passages] == [copied[part.index] for part in rebalanced.passages]


@given(rounds=rounds, budget=budgets, options=options, at=st.sets(st.integers(0, 4)), rebalanced=st.integers(0, 9))
def test_interrupted_and_restored_it_is_the_same_context(rounds, budget, options, at, rebalanced):
    config = CompressionConfig(max_tokens=budget, **options)
    one, other = ContextBuilder(config=config), ContextBuilder(config=config)
    for number, (found, query, own) in enumerate(rounds):
        if number in at:
            other = ContextBuilder.from_state(json.loads(json.dumps(other.to_state())), config=config)
        rebalance = number == rebalanced
        limit = None if rebalance else own
        added = one.add(items(found, number), query=query, max_tokens=limit, rebalance=rebalance)
        again = other.add(items(found, number), query=query, max_tokens=limit, rebalance=rebalance)
        for name in ("text", "passages", "dropped", "remaining"):
            assert getattr(added, name) == getattr(again, name)
    assert one.render() == other.render()
    assert one.passages == other.passages
