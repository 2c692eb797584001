"""The order passages are shown in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from towns import PASSAGES, QUERY, TEXTS, words

from ctxcompress import CompressionConfig, compress
from ctxcompress.data.passages import shown
from ctxcompress.errors import ConfigError


def run(order="source", max_tokens=60, passages=PASSAGES, **options):
    return compress(QUERY, passages, order=order, max_tokens=max_tokens, encoding=words, **options)


@pytest.mark.parametrize("max_tokens", [40, 60, 1_000])
def test_by_relevance_the_best_comes_first(max_tokens):
    result = run("relevance", max_tokens)
    relevance = [kept.relevance for kept in result.passages]
    assert relevance == sorted(relevance, reverse=True)
    assert len(set(relevance)) > 1
    assert result.passages[0].id == "fenwick"


@pytest.mark.parametrize("max_tokens", [60, 1_000])
def test_with_edges_the_worst_is_in_the_middle(max_tokens):
    relevance = [kept.relevance for kept in run("edges", max_tokens).passages]
    lowest = relevance.index(min(relevance))
    assert relevance[: lowest + 1] == sorted(relevance[: lowest + 1], reverse=True)
    assert relevance[lowest:] == sorted(relevance[lowest:])
    ranked = sorted(relevance, reverse=True)
    assert [relevance[0], relevance[-1]] == ranked[:2]


@pytest.mark.parametrize("order", ["source", "relevance", "edges"])
@pytest.mark.parametrize("max_tokens", [40, 60, 1_000])
def test_the_text_is_in_the_order_of_the_passages_and_each_of_them_in_its_own(order, max_tokens):
    result = run(order, max_tokens)
    assert result.text == "\n\n".join(kept.text for kept in result.passages)
    for kept in result.passages:
        assert list(kept.spans) == sorted(kept.spans)
        assert kept.text == shown(kept.original.text, kept.spans, kept.markers)


@pytest.mark.parametrize("max_tokens", [40, 1_000])
def test_the_order_does_not_decide_what_is_kept(max_tokens):
    kept = [{(k.id, k.text) for k in run(order, max_tokens).passages} for order in ("source", "relevance", "edges")]
    assert kept[0] == kept[1] == kept[2]


@given(
    texts=st.lists(
        st.sampled_from([*TEXTS, "", " ", "# Heading", "```\ncode = 1\n```", "服务器。重启它。"]), max_size=7
    ),
    order=st.sampled_from(["source", "relevance", "edges"]),
    format=st.sampled_from(["plain", "preview"]),
    max_tokens=st.integers(1, 300),
    count=st.sampled_from([len, words, lambda text: len(text) ** 2 // 90]),
)
def test_the_budget_holds_in_every_order(texts, order, format, max_tokens, count):
    result = compress(QUERY, texts, order=order, format=format, max_tokens=max_tokens, encoding=count)
    assert (count(result.text) if result.text else 0) == result.tokens <= max_tokens
    assert len({kept.index for kept in result.passages}) == len(result.passages)


@pytest.mark.parametrize(("name", "value"), [("order", "best"), ("order", None), ("format", "outline"), ("format", 1)])
def test_an_unknown_order_or_format_is_refused(name, value):
    with pytest.raises(ConfigError, match=f"{name} is {value!r}; give one of"):
        CompressionConfig(**{name: value})
