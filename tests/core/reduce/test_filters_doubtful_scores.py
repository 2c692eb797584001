"""Scores by which the last passage would be the best: there is a warning and a note wherever they decide something."""

import pytest
from reduce_inputs import note, scored

from ctxcompress import Passage, compress

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


@pytest.mark.parametrize("options", [{}, {"ngram_threshold": 1.0}, {"top_n": 6}, {"max_chunks_per_doc": 6}])
def test_where_scores_decide_nothing_it_does_not_matter(warned, options):
    assert not warnings(warned, scored(*DISTANCES), **options)[0]
