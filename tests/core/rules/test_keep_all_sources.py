"""With `keep_all_sources` every passage comes back in its order, within the budget, with its best text if it fits."""

import pytest
from accounts import assert_partition, assert_verbatim
from hypothesis import given
from hypothesis import strategies as st
from language_models import Model
from rule_inputs import budgets, passages, queries

from ctxcompress import Compressor, Passage, compress
from ctxcompress.errors import BudgetTooSmall, ConfigError

QUERY = "what is the timeout of server 9?"
PAGES = [
    *(f"The timeout of server {n} is {n} seconds. It is kept in its file. Nothing else is in it." for n in range(12)),
    "Birds sing in the morning. Dogs bark at night.",
]
FILTERS = {"top_n": 1, "max_chunks_per_doc": 1, "ngram_threshold": 0.3, "min_score": 0.9, "metadata_only": True}


def _scored(texts):
    return [Passage(f"p{n}", text, doc_id="one", score=1 / (n + 1)) for n, text in enumerate(texts)]


@given(
    texts=passages,
    query=queries,
    budget=budgets,
    shown=st.sampled_from(["plain", "compact", "xml", "json"]),
    options=st.sampled_from(({}, {"adaptive": True, "on_empty": "drop"}, FILTERS, {"llm": Model("1")})),
)
def test_order_and_number_are_preserved_within_the_budget(texts, query, budget, shown, options):
    given_options = {"max_tokens": budget, "format": shown, "keep_all_sources": True, **options}
    try:
        found = compress(query, _scored(texts), **given_options)
    except BudgetTooSmall:  # not even the places of all fit
        return
    assert [part.index for part in found.passages] == list(range(len(texts)))
    assert [part.original.id for part in found.passages] == [f"p{n}" for n in range(len(texts))]
    assert found.tokens == Compressor().count(found.text) <= budget
    assert found.render(shown) == found.text
    if shown == "plain":
        assert found.text == "\n\n".join(part.text for part in found.passages)
        assert_verbatim(found, texts)
        assert_partition(found, texts)


@pytest.mark.parametrize("budget", [60, 100, 140, 180, 220, 1_000])
@pytest.mark.parametrize("options", [{}, FILTERS, {"adaptive": 0.5}])
def test_the_best_segment_of_each_comes_before_more_of_any(budget, options):
    found = compress(QUERY, _scored(PAGES), max_tokens=budget, keep_all_sources=True, **options)
    texts = [part.text for part in found.passages]
    assert "The timeout of server 9 is 9 seconds." in texts[9]
    if not all(texts):
        assert sum("It is kept" in text for text in texts) <= 1  # in what is left, which holds no best one
    assert found.stats.kept_count == sum(map(bool, texts))


def test_sources_with_the_same_text_have_it_each():
    texts = [PAGES[9]] * 3
    found = compress(QUERY, texts, max_tokens=50, keep_all_sources=True)
    assert [part.text.startswith("The timeout of server 9 is 9 seconds.") for part in found.passages] == [True] * 3


def test_what_must_be_kept_comes_first_and_then_the_best_of_each():
    found = compress(QUERY, PAGES, max_tokens=170, keep_all_sources=True, must_keep=["Dogs bark at night."])
    assert found.passages[-1].text.endswith("Dogs bark at night.")
    assert len(found.passages) == len(PAGES)
    assert sum(bool(part.text) for part in found.passages) > 8


def test_a_language_model_chooses_beside_the_best_of_each():
    found = compress(QUERY, PAGES, max_tokens=200, keep_all_sources=True, llm=Model("2"))
    assert found.llm.outcome == "used"
    assert all(part.text for part in found.passages)


def test_one_unit_larger_than_the_budget_is_split_here_too():
    found = compress("word", ["word " * 300] * 3, max_tokens=20, keep_all_sources=True)
    assert len(found.passages) == 3
    assert any(part.text for part in found.passages)


def test_the_page_about_it_shows_sources_without_text():
    page = compress(QUERY, PAGES, max_tokens=60, keep_all_sources=True).xray()
    assert all(text.partition(".")[0] in page for text in PAGES)


@pytest.mark.parametrize("other", [{"format": "preview"}, {"order": "relevance"}, {"order": "edges"}])
def test_what_cannot_be_meant_is_refused(other):
    with pytest.raises(ConfigError, match="keep_all_sources=True is given with"):
        compress(QUERY, PAGES, keep_all_sources=True, **other)


def test_an_error_names_the_tokens_that_their_places_take(warned):
    options = {"keep_all_sources": True, "encoding": len}
    with pytest.raises(BudgetTooSmall, match="4 sources take 6 tokens even without their texts, but max_tokens is 5"):
        compress(QUERY, PAGES[:4], max_tokens=5, **options)
    assert compress(QUERY, PAGES[:4], max_tokens=6, **options).text == "\n\n" * 3
