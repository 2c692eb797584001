"""If the input fits the output equals it; compressing again changes nothing."""

from hypothesis import given
from rule_inputs import bare, budgets, framed, passages, queries

from ctxcompress import CompressionConfig, Compressor, Passage, compress
from ctxcompress.text.tokens import TokenCounter


@given(texts=passages, query=queries)
def test_what_fits_is_untouched(texts, query):
    whole = "\n\n".join(texts)
    count = TokenCounter("o200k_base")(whole)
    result = compress(query, texts, max_tokens=max(1, count))
    assert result.text == whole
    assert [kept.text for kept in result.passages] == texts
    assert all(kept.untouched for kept in result.passages)
    assert not result.dropped
    assert result.stats.savings_percent == 0


def test_one_token_less_than_the_input_leaves_something_out():
    texts = [f"Sentence {n} about timeouts." for n in range(9)]
    count = TokenCounter("o200k_base")("\n\n".join(texts))
    result = compress("timeouts", texts, max_tokens=count - 1)
    assert result.dropped
    assert result.tokens < count


@given(texts=passages, query=queries, budget=budgets)
def test_compressing_again_changes_nothing(texts, query, budget):
    first = compress(query, texts, max_tokens=budget)
    again = compress(query, [kept.text for kept in first.passages], max_tokens=budget)
    joined = compress(query, [first.text], max_tokens=budget)
    assert again.text == joined.text == first.text


@given(texts=passages, query=queries, budget=budgets)
def test_a_frame_does_not_change_that(texts, query, budget):
    compressor = Compressor(CompressionConfig(max_tokens=budget))
    for frame in (bare, framed):
        first = compressor.compress(query, [Passage(str(n), text) for n, text in enumerate(texts)], frame=frame)
        kept = [Passage(kept.id, kept.text) for kept in first.passages]
        assert compressor.compress(query, kept, frame=frame).text == first.text
