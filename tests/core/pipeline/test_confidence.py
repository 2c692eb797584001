"""`result.confidence`: the probability that the passages answer the query at all."""

import pytest

from ctxcompress import Compressor, compress

PAGES = {
    "How many crew does the lifeboat need?": (
        "The lifeboat is launched from the slip beside the harbour office. It needs a crew of seven. Before the war it "
        "was rowed; the first motor was fitted in 1931. New crew members train for a year."
    ),
    "Which port does the metrics endpoint listen on?": (
        "The service exposes metrics in the text format. The metrics endpoint listens on port 9464 by default. Set "
        "`METRICS_PORT` to change it. Scrapes are answered from memory."
    ),
    "When did Ola say the invoices are due?": (
        "Ola: The invoices go out on Monday. They are due within thirty days.\nBen: Do we remind people?\n"
        "Ola: After two weeks, yes."
    ),
    "\u90a3\u5ea7\u706f\u5854\u6709\u591a\u9ad8\uff1f": (
        "\u706f\u5854\u5efa\u4e8e1862\u5e74\u3002\u90a3\u5ea7\u706f\u5854\u670925\u7c73\u9ad8\u3002"
        "\u6bcf\u5929\u5f00\u653e\u3002"
    ),
}
PAIRS = [(query, other) for query in PAGES for other in PAGES if query != other]


@pytest.mark.parametrize("query", PAGES)
def test_it_is_high_for_passages_that_answer(query):
    assert compress(query, [PAGES[query]]).confidence > 0.6


@pytest.mark.parametrize(("query", "other"), PAIRS)
def test_it_is_low_for_passages_about_something_else(query, other):
    assert compress(query, [PAGES[other]]).confidence < 0.3


@pytest.mark.parametrize("max_tokens", [20, 10_000])
def test_neither_the_budget_nor_the_scorer_changes_it(max_tokens):
    query, *_ = PAGES
    passages = list(PAGES.values())
    found = {compress(query, passages, max_tokens=max_tokens, scorer=s).confidence for s in ("evidence", "bm25")}
    assert found == {compress(query, passages).confidence}


def test_it_is_half_without_a_query_and_0_without_text():
    assert compress(None, ["Geese are grey."]).confidence == 0.5
    assert compress("geese", []).confidence == 0.0
    assert compress("geese", [""]).confidence == 0.0
    assert Compressor().confidence(None, ["Geese are grey."]) == 0.5


@pytest.mark.parametrize("query", ["Summarize this.", "tl;dr", "main points please", "more details", "of", "the"])
def test_it_is_half_for_a_query_for_nothing_in_particular(query):
    assert compress(query, list(PAGES.values())).confidence == 0.5
