"""What a score of relevance promises, whatever the segments and the question, and what the package rank-bm25 finds."""

import sys

import numpy as np
import pytest
import rank_bm25
from hypothesis import given
from hypothesis import strategies as st

from ctxcompress import CompressionConfig, Passage, compress
from ctxcompress.data.documents import documents_as_they_are
from ctxcompress.data.table import SegmentTable
from ctxcompress.errors import ConfigError, MissingExtra
from ctxcompress.query.terms import query_terms
from ctxcompress.score.corpus import Corpus
from ctxcompress.score.features import relevance, scores_of_rank_bm25
from ctxcompress.score.matches import find_matches
from ctxcompress.segment.segments import segment
from ctxcompress.text.words import Terms, split_words

ENGLISH = Terms("en")
sentences = st.lists(st.sampled_from("timeout retry server port the of 中文 café".split()), max_size=6).map(" ".join)
passages = st.lists(st.tuples(st.lists(sentences, min_size=1, max_size=4), sentences), min_size=1, max_size=6)
queries = st.sampled_from(["timeout", "server port", "中文", "nothing here", "the of", "retry retry timeout", ""])


def scored(query, given_passages):
    """One array of scores for each passage, which is a list of sentences and a title."""
    wanted = query_terms(query, language="en", terms=ENGLISH)
    passages = [Passage(str(n), "\n\n".join(texts), title=title) for n, (texts, title) in enumerate(given_passages)]
    segmented = [segment(passage.text) for passage in passages]
    table = SegmentTable.of(documents_as_they_are([passage.text for passage in passages]), segmented)
    scores = relevance(find_matches(Corpus.of(passages, table), wanted, ENGLISH))
    assert scores.shape == (len(table.segments),)
    ends = np.cumsum(list(map(len, segmented)))
    return np.split(scores, ends[:-1])


@given(passages, queries)
def test_scores_are_finite_and_not_negative(given_passages, query):
    assert all(np.isfinite(scores).all() and (scores >= 0).all() for scores in scored(query, given_passages))


@given(passages, queries)
def test_the_order_of_passages_does_not_matter(given_passages, query):
    forward, backward = scored(query, given_passages), scored(query, given_passages[::-1])[::-1]
    for one, other in zip(forward, backward, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


# The package rank-bm25

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
