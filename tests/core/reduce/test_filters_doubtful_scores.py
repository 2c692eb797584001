"""Scores by which the last passage would be the best: there is a warning and a note wherever they decide something."""

from itertools import permutations
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reduce_inputs import note, scored

from ctxcompress import CompressionConfig, Compressor, Passage, compress
from ctxcompress.agents.builder import ContextBuilder
from ctxcompress.cache import Cache
from ctxcompress.reduce.filters import are_doubtful

DOUBT = "scores get better from first to last: check score_kind"
DISTANCES = (0.21, 0.35, 0.35, 0.48, 0.77, 0.81)
SIMILARITIES = (0.9, 0.84, 0.6, 0.6, 0.31, 0.2)


def warnings(warned, passages, **options):
    """What is logged of a compression, and its result."""
    warned.clear()
    result = compress("q", passages, **options)
    return [message for message in warned.messages if "score_kind has it" in message], result


@pytest.mark.parametrize(
    ("scores", "kind"), [(DISTANCES, "similarity"), (SIMILARITIES, "distance"), ((60, 50, 40, 30, 20), "rank")]
)
def test_scores_that_contradict_what_was_declared_are_a_warning_and_a_note(warned, scores, kind):
    messages, result = warnings(warned, scored(*scores), min_score=0.01, score_kind=kind)
    assert note(result, "threshold") == f"\u22650.01, {DOUBT}"
    assert result.stages[0].doubtful
    assert len(messages) == 1
    assert "the scores of the passages get better" in messages[0]
    assert 'declare score_kind="distance"' in messages[0]


@pytest.mark.parametrize(
    ("scores", "kind"),
    [
        (DISTANCES, "distance"),
        (SIMILARITIES, "similarity"),
        ((1, 2, 3, 4, 5), "rank"),
        ((0.1, 0.2, 0.3, 0.4), "similarity"),  # of 24 orders one
        ((0.5,) * 9, "similarity"),
        ((0.1, *[0.5] * 9), "similarity"),
        ((0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.55), "similarity"),
        ((0.1, None, 0.2, None, 0.3, float("nan"), 0.4), "similarity"),
        ((None,) * 9, "similarity"),
    ],
)
def test_scores_that_do_not_contradict_it_are_none(warned, scores, kind):
    messages, result = warnings(warned, scored(*scores), min_score=0.01, score_kind=kind)
    assert not messages
    assert DOUBT not in "".join(stage.note for stage in result.stages)
    assert not any(stage.doubtful for stage in result.stages)


def test_an_unknown_score_in_between_does_not_hide_it(warned):
    assert warnings(warned, scored(0.1, None, 0.2, 0.3, "0.05", 0.4, 0.5), min_score=0.3)[0]


@pytest.mark.parametrize(
    ("options", "stage"),
    [
        ({"ngram_threshold": 0.7}, "exact"),
        ({"top_n": 3}, "limit"),
        ({"max_chunks_per_doc": 1}, "limit"),
        ({"metadata_only": True}, "metadata"),
    ],
)
def test_it_is_noted_where_scores_decide(warned, options, stage):
    passages = [
        Passage(str(n), f"Only here: {'bcdefc'[n] * 9}.", score=score, doc_id="one")
        for n, score in enumerate(DISTANCES)
    ]
    messages, result = warnings(warned, passages, **options)
    assert len(messages) == 1
    assert DOUBT in note(result, stage)


@pytest.mark.parametrize("options", [{}, {"exact_dedup": True}, {"top_n": 6}, {"max_chunks_per_doc": 6}])
def test_where_scores_decide_nothing_it_does_not_matter(warned, options):
    assert not warnings(warned, scored(*DISTANCES), **options)[0]


def test_what_is_left_out_is_what_it_was(warned):
    messages, result = warnings(warned, scored(*DISTANCES), min_score=0.5)
    assert messages
    assert [kept.id for kept in result.passages] == ["3", "4", "5"]


def test_a_cache_does_not_silence_it(warned):
    compressor = Compressor(CompressionConfig(min_score=0.3, cache=Cache()))
    for _ in range(2):
        warned.clear()
        compressor.compress("q", scored(*DISTANCES))
        assert "score_kind has it" in warned.text


def test_the_scores_of_several_retrievals_are_not_compared(warned):
    builder = ContextBuilder(500, config=CompressionConfig(min_score=0.1))
    for n, score in enumerate(DISTANCES):
        builder.add([Passage(str(n), f"Only here: {chr(97 + n) * 9}.", score=score)], query="q")
    assert not warned.messages


@given(st.lists(st.one_of(st.just(-inf), st.floats(-5, 5), st.integers(0, 3)), max_size=12))
def test_only_an_order_that_never_falls_is_doubtful_and_never_both_ways(standing):
    known = [stands for stands in standing if stands != -inf]
    if are_doubtful(standing):
        assert known == sorted(known)
        assert len(known) > 4
        assert not are_doubtful([-stands for stands in known])


@pytest.mark.parametrize(
    "standing", [(1, 2, 3, 4), (1, 2, 3, 4, 5), (1, 1, 2, 3, 4, 5), (1, 1, 2, 2, 3, 3), (1, 1, 1, 1, 2)]
)
def test_fewer_than_one_order_in_a_hundred_is_doubtful(standing):
    orders = list(permutations(standing))
    doubtful = sum(map(are_doubtful, orders))
    rising = sum(list(order) == sorted(order) for order in orders)
    assert doubtful == (rising if rising < 0.01 * len(orders) else 0)
