"""max_tokens bounds T(final text), whatever T is."""

import pytest
from accounts import assert_verbatim
from hypothesis import given
from hypothesis import strategies as st
from rule_inputs import TOKENIZERS, bare, budgets, framed, passages, queries

from ctxcompress import CompressionConfig, Compressor, Passage, compress
from ctxcompress.text.tokens import TokenCounter


def _items(texts):
    return [Passage(f"p{number}", text) for number, text in enumerate(texts)]


def _check(texts, query, budget, separator, frame, encoding):
    count = TokenCounter(encoding)
    config = CompressionConfig(max_tokens=budget, separator=separator, encoding=encoding)
    result = Compressor(config).compress(query, _items(texts), frame=frame)
    assert result.text == separator.join(frame(kept.original, kept.text) for kept in result.passages)
    assert result.tokens == count(result.text) <= budget == result.max_tokens
    assert [kept.tokens for kept in result.passages] == [count(kept.text) for kept in result.passages]
    assert_verbatim(result, texts)


separators = st.sampled_from(["\n\n", "", " ", "\n---\n", "x" * 40, "。"])
frames = st.sampled_from([bare, framed])


@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base"])
@given(texts=passages, query=queries, budget=budgets, separator=separators, frame=frames)
def test_the_final_text_is_within_max_tokens_of_tiktoken(encoding, texts, query, budget, separator, frame):
    _check(texts, query, budget, separator, frame, encoding)


@pytest.mark.parametrize("name", TOKENIZERS)
@given(texts=passages, query=queries, budget=budgets, separator=separators, frame=frames)
def test_the_final_text_is_within_max_tokens_of_any_callable(name, texts, query, budget, separator, frame):
    _check(texts, query, budget, separator, frame, TOKENIZERS[name])


@pytest.mark.parametrize("budget", range(100, 1_600, 75))
def test_filling_up_what_is_left_stays_within_the_budget(budget):
    texts = [f"Sentence {'n' * (n % 23)} about a timeout. Another {'x' * (n % 17)} one." for n in range(60)]
    encoding = TOKENIZERS["more than the sum of parts"]
    result = compress("timeout", texts, config=CompressionConfig(max_tokens=budget, encoding=encoding))
    assert 0 < encoding(result.text) == result.tokens <= budget


def test_near_duplicates_give_way_to_what_is_new():
    same = "The gateway closes an idle connection after thirty seconds unless the keepalive option is on, says page"
    other = "Whoever needs longer connections through the gateway sets keepalive to the number of seconds."
    texts = [*(f"{same} {n}." for n in range(8)), other]
    result = compress("gateway idle connection keepalive seconds", texts, max_tokens=60)
    assert other in result.text
    assert result.text.count("thirty seconds") == 1


@pytest.mark.parametrize("shown", ["xml", "json"])
def test_where_not_even_what_stands_around_all_texts_fits_the_text_is_empty(shown, warned):
    result = compress("lamp", ["The lamp is red."], max_tokens=3, format=shown)
    assert (result.text, result.tokens, result.passages) == ("", 0, ())
