"""BM25 is that of the package rank-bm25, whose other variants can be chosen as the scorer."""

import sys
from collections import Counter

import numpy as np
import pytest
import rank_bm25
from hypothesis import given
from hypothesis import strategies as st

from ctxcompress import CompressionConfig, compress
from ctxcompress.errors import ConfigError, MissingExtra
from ctxcompress.score.features import scores_of_rank_bm25
from ctxcompress.score.matches import Occurrences, bm25
from ctxcompress.text.words import Terms, split_words

words = st.sampled_from("abcdefgh")
corpora = st.lists(st.lists(words, min_size=1, max_size=12), min_size=1, max_size=12)
queries = st.lists(st.sampled_from("abcdefghxyz"), max_size=8)


def occurrences(corpus, terms):
    found = [
        (unit, terms.index(term), count)
        for unit, text in enumerate(corpus)
        for term, count in Counter(text).items()
        if term in terms
    ]
    units, numbers, counts = zip(*found, strict=True) if found else ((), (), ())
    return Occurrences(
        np.array(units, np.intp), np.array(numbers, np.intp), np.array(counts, float), len(corpus), len(terms)
    )


def scores(corpus, query, **parameters):
    """What bm25 gives for a query whose repeated words count as often as they are there."""
    vocabulary = sorted({word for text in corpus for word in text})
    everything = occurrences(corpus, vocabulary)
    frequency = everything.document_frequency()
    plain = np.log((len(corpus) - frequency + 0.5) / (frequency + 0.5))
    terms = list(dict.fromkeys(query))
    found = occurrences(corpus, terms)
    # rank_bm25 gives terms in over half of the texts a quarter of the mean.
    of_terms = np.log((len(corpus) - found.document_frequency() + 0.5) / (found.document_frequency() + 0.5))
    idf = np.where(of_terms < 0, 0.25 * plain.mean(), of_terms)
    times = np.array([query.count(term) for term in terms], float)
    return bm25(found, np.array([len(text) for text in corpus], float), idf * times, **parameters)


@given(corpora, queries, st.floats(0.1, 3), st.floats(0, 1))
def test_scores_are_those_of_rank_bm25(corpus, query, k1, b):
    expected = rank_bm25.BM25Okapi(corpus, k1=k1, b=b).get_scores(query)
    np.testing.assert_allclose(scores(corpus, query, k1=k1, b=b), expected, rtol=1e-9, atol=1e-9)


# The other variants

VARIANTS = {"rank_bm25": rank_bm25.BM25Okapi, "rank_bm25l": rank_bm25.BM25L, "rank_bm25plus": rank_bm25.BM25Plus}
SEGMENTS = [
    "the default timeout is thirty seconds",
    "the boat came into the port",
    "a timeout of the pool",
    "ten boat wait",
    "the port is old",
]


@pytest.mark.parametrize("scorer", VARIANTS)
@pytest.mark.parametrize("query", ["timeout", "default timeout", "port boat timeout", "nothing"])
def test_the_scores_are_those_of_the_package_less_the_lowest(scorer, query):
    corpus = [split_words(text) for text in SEGMENTS]
    wanted = dict.fromkeys(split_words(query), 1.0)
    expected = VARIANTS[scorer](corpus).get_scores(list(wanted))
    found = scores_of_rank_bm25(scorer, corpus, wanted, Terms("zh"))  # without stems
    np.testing.assert_allclose(found, expected - expected.min())


@pytest.mark.parametrize("scorer", VARIANTS)
def test_a_compression_keeps_what_the_package_finds_best(scorer):
    result = compress("what is the default timeout?", SEGMENTS, max_tokens=7, scorer=scorer)
    assert result.text == SEGMENTS[0]
    assert result.passages[0].relevance > 0
    assert result.xray()


@pytest.mark.parametrize("scorer", VARIANTS)
@pytest.mark.parametrize("texts", [[], [""], ["!"], ["one"], ["one one"] * 3, ["\ud800"], ["超时。", "船。"]])
def test_whatever_the_texts_there_is_an_answer(scorer, texts):
    assert compress("one timeout 超时", texts, max_tokens=1, scorer=scorer).tokens <= 1


def test_the_package_is_an_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "rank_bm25", None)
    monkeypatch.setattr("importlib.machinery.PathFinder.find_spec", lambda *_: None)
    with pytest.raises(MissingExtra, match=r"needs rank-bm25; run: pip install .*\[rank-bm25\]"):
        CompressionConfig(scorer="rank_bm25")


def test_it_gives_no_probabilities():
    with pytest.raises(ConfigError, match="scorer='rank_bm25l'; it needs probabilities"):
        CompressionConfig(scorer="rank_bm25l", adaptive=True)
