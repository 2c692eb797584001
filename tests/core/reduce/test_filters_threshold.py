"""min_score: passages with a lower score are dropped, and passages without a score are kept."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reduce_inputs import dropped, ids, note, scored

from ctxcompress import CompressionConfig, compress
from ctxcompress.errors import ConfigError
from ctxcompress.reduce.filters import above_threshold, known_scores

NAN, INF = float("nan"), float("inf")
RAW = {"score_kind": "absolute"}


def kept(scores, min_score, **options):
    return "".join(ids(compress("q", scored(*scores), min_score=min_score, **options)))


def test_what_is_left_out_says_why_and_is_counted():
    result = compress("q", scored(1.0, 0.2, 0.3), min_score=0.3)
    assert dropped(result) == {"1": "score"}
    assert note(result, "threshold") == "≥0.3"
    assert result.stats.after_threshold == 2


def test_the_best_similarity_counts_as_one():
    assert kept((0.08, 0.02, 0.04), 0.5) == "02"
    assert kept((80, 20, 40), 0.5) == "02"


def test_the_least_distance_counts_as_one():
    # (1 + 0.5) / (1 + d) is 1, 0.75, 0.6, 0.3
    assert kept((0.5, 1.0, 1.5, 4.0), 0.6, score_kind="distance") == "012"
    assert kept((0.5, 1.0, 1.5, 4.0), 0.61, score_kind="distance") == "01"


@pytest.mark.parametrize("first", [0, 1, 7])
def test_ranks_count_as_their_reciprocals_wherever_they_begin(first):
    assert kept((first + 2, first, first + 1, first + 3), 1 / 3, score_kind="rank") == "012"
    assert kept((first + 2, first, first + 1, first + 3), 0.5, score_kind="rank") == "12"


def test_scores_that_mean_nothing_cannot_be_compared():
    with pytest.raises(ConfigError, match=r"min_score=0\.3 is given with score_kind="):
        CompressionConfig(min_score=0.3, score_kind="none")
    assert known_scores(scored(0.9, 0.1), "none") == [None, None]


@pytest.mark.parametrize(("limit", "expected"), [(4.0, "02"), (9, "0"), (-5, "012")])
def test_an_absolute_cut_off_compares_scores_as_they_are(limit, expected):
    assert kept((9.0, 1.5, 4.0), limit, **RAW) == expected


def test_an_unknown_score_does_not_change_what_the_others_are_worth():
    assert kept((0.5, INF, 0.2, NAN, True, "9"), 0.5) == "01345"


@pytest.mark.parametrize("scores", [(None, None), (NAN, "0.9"), (True, INF)])
def test_without_usable_scores_the_stage_is_skipped_and_says_so(scores):
    result = compress("q", scored(*scores), min_score=1.0)
    assert ids(result) == ["0", "1"]
    assert note(result, "threshold") == "skipped: no usable scores"
    assert "After score filter (skipped: no usable scores): 2" in result.stats.summary()


def test_a_score_that_is_the_threshold_but_for_rounding_stays():
    assert kept((0.9, 0.27), 0.3) == "01"
    assert kept((0.9, 0.2699), 0.3) == "0"
    assert kept((0.1 + 0.2, 0.3), 0.1 + 0.2, **RAW) == "01"


def test_negative_similarities_alone_are_no_share_of_anything():
    result = compress("q", scored(-1.0, -9.0), min_score=0.3)
    assert ids(result) == ["0", "1"]
    assert note(result, "threshold").startswith("skipped")
    assert kept((-1.0, -9.0), -5, **RAW) == "0"


@pytest.mark.parametrize(("on_empty", "expected"), [("keep_best", "1"), ("original", "012"), ("drop", "")])
def test_on_empty_decides_where_none_reaches_a_raw_cut_off(on_empty, expected):
    result = compress("q", scored(0.1, 0.3, 0.2), min_score=0.5, on_empty=on_empty, **RAW)
    assert "".join(ids(result)) == expected
    assert len(result.passages) + len(result.dropped) == 3
    assert set(dropped(result).values()) <= {"score"}
    assert note(result, "threshold") == ("≥0.5, none: " + on_empty)


def test_a_stage_says_in_a_field_of_its_own_that_it_was_skipped_or_emptied():
    skipped, emptied, usual = (
        compress("q", scored(*scores), min_score=0.5, **RAW).stages[0]
        for scores in ((None, "high"), (0.1, 0.2), (0.6,))
    )
    assert (skipped.skipped, skipped.emptied, skipped.doubtful) == (True, False, False)
    assert (emptied.skipped, emptied.emptied, emptied.doubtful) == (False, True, False)
    assert (usual.skipped, usual.emptied, usual.doubtful) == (False, False, False)


@pytest.mark.parametrize("on_empty", ["keep_best", "original", "drop"])
def test_there_is_a_warning_where_none_reaches_a_raw_cut_off(on_empty, warned):
    compress("q", scored(0.1, 0.3), min_score=0.5, on_empty=on_empty, **RAW)
    assert warned.messages


@pytest.mark.parametrize("where", ["metadata", "item"])
def test_mappings_bring_their_score_under_the_key_that_is_named(where):
    texts = ("Only here: aaa.", "Only here: bbb.", "Only here: ccc.")
    scores = (0.9, 0.1, "high")
    items = [
        {"text": text, "metadata": {"relevance": score}} if where == "metadata" else {"text": text, "relevance": score}
        for text, score in zip(texts, scores, strict=True)
    ]
    result = compress("q", items, min_score=0.3, metadata_map={"score": "relevance"})
    assert ids(result) == ["0", "2"]
    assert [kept.original.score for kept in result.passages] == [0.9, None]
    assert note(compress("q", items, min_score=0.3), "threshold").startswith("skipped")


def test_scores_come_out_as_they_went_in():
    result = compress("q", scored(0.08, 0.04, 0.01), min_score=0.5)
    assert [kept.original.score for kept in result.passages] == [0.08, 0.04]


some = st.lists(st.one_of(st.none(), st.floats(-1e6, 1e6), st.just(NAN)), max_size=8)
kinds = st.sampled_from(["similarity", "distance", "rank"])


@given(scores=some, kind=kinds, least=st.floats(0, 1), more=st.floats(0, 1))
def test_a_higher_threshold_never_keeps_more(scores, kind, least, more):
    least, more = sorted((least, more))
    passages = scored(*scores)
    low = above_threshold(passages, least, kind)
    high = above_threshold(passages, more, kind)
    assert (low is None) == (high is None)
    assert set(high or ()) <= set(low or ())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_score": 1.1}, "min_score is 1.1; the best score of a retrieval counts as 1.0"),
        ({"min_score": -0.1}, "min_score is -0.1; the best score"),
        ({"min_score": NAN}, "min_score is nan; give a number"),
        ({"min_score": "0.3"}, "min_score is '0.3'; give a number"),
        ({"min_score": True}, "min_score is True; give a number"),
        ({"score_kind": "cosine"}, "score_kind is 'cosine'; give one of similarity, absolute, distance, rank, none"),
        ({"on_empty": "raise"}, "on_empty is 'raise'; give one of keep_best, original, drop"),
    ],
)
def test_a_threshold_that_cannot_work_is_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        CompressionConfig(**options)
