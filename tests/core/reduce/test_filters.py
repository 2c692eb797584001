"""Filters by scores and by number: what they leave out, what they say of it, and scores that they doubt."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reduce_inputs import dropped, ids, note, scored

from ctxcompress import Passage, compress

# The threshold

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


@pytest.mark.parametrize(("on_empty", "expected"), [("keep_best", "1"), ("original", "012"), ("drop", "")])
def test_on_empty_decides_where_none_reaches_a_raw_cut_off_and_there_is_a_warning(on_empty, expected, warned):
    result = compress("q", scored(0.1, 0.3, 0.2), min_score=0.5, on_empty=on_empty, **RAW)
    assert "".join(ids(result)) == expected
    assert len(result.passages) + len(result.dropped) == 3
    assert set(dropped(result).values()) <= {"score"}
    assert note(result, "threshold") == ("≥0.5, none: " + on_empty)
    assert warned.messages


some = st.lists(st.one_of(st.none(), st.floats(-1e6, 1e6), st.just(NAN)), max_size=8)
kinds = st.sampled_from(["similarity", "distance", "rank"])


@given(scores=some, kind=kinds, least=st.floats(0, 1), more=st.floats(0, 1))
def test_a_higher_threshold_never_keeps_more(scores, kind, least, more):
    low, high = (set(kept(scores, each, score_kind=kind)) for each in sorted((least, more)))
    assert high <= low


# The limits, per document and in all


def of(**fields):
    """One passage for each value of the only field."""
    ((name, values),) = fields.items()
    return [Passage(str(n), f"Only here: {chr(97 + n) * 9}.", **{name: value}) for n, value in enumerate(values)]


def left(passages, **options):
    return "".join(ids(compress("q", passages, **options)))


@pytest.mark.parametrize("field", ["doc_id", "file_path"])
def test_each_document_keeps_so_many(field):
    result = compress("q", of(**{field: "abaabab"}), max_chunks_per_doc=2)
    assert "".join(ids(result)) == "0124"
    assert dropped(result) == {"3": "limit", "5": "limit", "6": "limit"}
    assert note(result, "limit") == "2 per doc"
    assert result.stats.after_limit == 4


@pytest.mark.parametrize("field", ["doc_id", "file_path", "title"])
@pytest.mark.parametrize("unknown", [None, ""])
def test_passages_of_an_unknown_source_are_not_counted_together(field, unknown):
    assert left(of(**{field: [unknown] * 4}), max_chunks_per_doc=1) == "0123"


def test_metadata_of_loaders_says_the_document():
    items = [
        {"text": f"Only here: {name}.", "metadata": {"source": source}}
        for name, source in zip(("aaa", "bbb", "ccc"), ("x.md", "x.md", "y.md"), strict=True)
    ]
    assert left(items, max_chunks_per_doc=1) == "02"
    items = [{"text": item["text"], "my_doc": item["metadata"]["source"]} for item in items]
    assert left(items, max_chunks_per_doc=1, metadata_map={"doc_id": "my_doc"}) == "02"


SAME_PAGE = [
    "https://example.org/guide/page",
    "http://example.org/guide/page",
    "https://example.org/guide/page/",
    "HTTPS://EXAMPLE.org/guide/page",
    "https://www.example.org/guide/page",
    "https://example.org:443/guide/page",
    "https://example.org/guide/page?utm_source=mail&utm_campaign=x",
    "https://example.org/guide/page?gclid=1&fbclid=2#top",
    " https://example.org/guide/page\n",
]


@pytest.mark.parametrize("url", SAME_PAGE)
def test_what_does_not_say_which_page_it_is_does_not_count(url):
    assert left(of(file_path=[SAME_PAGE[0], url, SAME_PAGE[0]]), max_chunks_per_doc=1) == "0"


OTHER_PAGES = [
    "https://example.org/guide/page",
    "https://example.org/guide/Page",
    "https://example.org/guide/page2",
    "https://example.org:8080/guide/page",
    "https://docs.example.org/guide/page",
    "https://example.org/guide/page?id=1",
    "https://example.org/guide/page?id=2",
    "example.org/guide/page",
    "/guide/page",
]


def test_what_says_which_page_it_is_counts():
    assert len(compress("q", of(file_path=OTHER_PAGES), max_chunks_per_doc=1).passages) == len(OTHER_PAGES)


@pytest.mark.parametrize(
    ("kind", "expected"), [("similarity", "13"), ("distance", "02"), ("rank", "02"), ("none", "01")]
)
def test_the_best_ones_of_a_document_stay_in_their_order(kind, expected):
    passages = [Passage(str(n), f"Only here: {n}.", score=score, doc_id="d") for n, score in enumerate((1, 4, 2, 3))]
    assert left(passages, max_chunks_per_doc=2, score_kind=kind) == expected
    assert left(passages, top_n=2, score_kind=kind) == expected


documents = st.lists(st.tuples(st.sampled_from(["a", "b", None]), st.one_of(st.none(), st.floats(0, 1))), max_size=9)


@given(given_=documents, per_document=st.integers(0, 3), top_n=st.one_of(st.none(), st.integers(1, 9)))
def test_no_better_passage_is_left_out_for_a_worse_one(given_, per_document, top_n):
    passages = [Passage(str(n), "x", doc_id=doc, score=score) for n, (doc, score) in enumerate(given_)]
    options = {"max_chunks_per_doc": per_document, "top_n": top_n}
    stay = [kept.index for kept in compress("q", passages, **options).passages]
    assert top_n is None or len(stay) <= top_n
    worth = [-1.0 if passage.score is None else passage.score for passage in passages]
    for doc in ("a", "b"):
        of_document = [n for n, passage in enumerate(passages) if passage.doc_id == doc]
        here = [n for n in of_document if n in stay]
        assert not per_document or len(here) <= per_document
        assert all(worth[out] <= worth[stays] for out in of_document if out not in stay for stays in here)
    if top_n is None:
        assert {n for n, passage in enumerate(passages) if passage.doc_id is None} <= set(stay)


# Scores by which the last passage would be the best

DOUBT = "scores get better from first to last: check score_kind"
DISTANCES = (0.21, 0.35, 0.35, 0.48, 0.77, 0.81)
SIMILARITIES = (0.9, 0.84, 0.6, 0.6, 0.31, 0.2)


def doubts(warned, passages, **options):
    """What is logged of a compression, and its result."""
    warned.clear()
    result = compress("q", passages, **options)
    return [message for message in warned.messages if "score_kind has it" in message], result


@pytest.mark.parametrize(
    ("scores", "kind"), [(DISTANCES, "similarity"), (SIMILARITIES, "distance"), ((60, 50, 40, 30, 20), "rank")]
)
def test_scores_that_contradict_what_was_declared_are_a_warning_and_a_note(warned, scores, kind):
    messages, result = doubts(warned, scored(*scores), min_score=0.01, score_kind=kind)
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
    messages, result = doubts(warned, scored(*scores), min_score=0.01, score_kind=kind)
    assert not messages
    assert DOUBT not in "".join(stage.note for stage in result.stages)
    assert not any(stage.doubtful for stage in result.stages)
