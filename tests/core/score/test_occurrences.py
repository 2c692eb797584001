"""BM25 is that of rank_bm25, to the last digits."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from ctxcompress.score.occurrences import Occurrences, bm25

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


@given(corpora, queries)
def test_scores_are_those_of_rank_bm25(corpus, query):
    np.testing.assert_allclose(scores(corpus, query), BM25Okapi(corpus).get_scores(query), rtol=1e-9, atol=1e-9)


@given(corpora, queries, st.floats(0.1, 3), st.floats(0, 1))
def test_and_with_other_parameters(corpus, query, k1, b):
    expected = BM25Okapi(corpus, k1=k1, b=b).get_scores(query)
    np.testing.assert_allclose(scores(corpus, query, k1=k1, b=b), expected, rtol=1e-9, atol=1e-9)


def test_a_larger_corpus():
    random = np.random.default_rng(7)
    corpus = [[f"w{n}" for n in random.zipf(1.4, 40) % 300] for _ in range(300)]
    query = ["w1", "w1", "w2", "w7", "w40", "nowhere"]
    np.testing.assert_allclose(scores(corpus, query), BM25Okapi(corpus).get_scores(query), rtol=1e-9, atol=1e-9)
