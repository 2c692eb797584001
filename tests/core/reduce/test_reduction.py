"""Whatever is asked of whatever passages: nothing is invented, moved, changed or lost without a word."""

from hypothesis import given
from hypothesis import strategies as st
from reduce_inputs import assert_whole, many

from ctxcompress import Compressor, compress
from ctxcompress.data.results import Reason

STAGES = ("threshold", "exact", "near", "semantic", "limit")
COMMON = {
    "min_score": st.sampled_from([None, 0, 0.3, 1]),
    "score_kind": st.sampled_from(["similarity", "absolute", "distance", "rank"]),
    "ngram_threshold": st.sampled_from([None, 0.3, 0.7, 1.0]),
    "similarity_threshold": st.sampled_from([None, 0.5, 0.85]),
    "max_chunks_per_doc": st.integers(0, 2),
    "top_n": st.sampled_from([None, 1, 3]),
    "on_empty": st.sampled_from(["keep_best", "original", "drop"]),
    "order": st.sampled_from(["source", "relevance", "edges"]),
    "scorer": st.sampled_from(["evidence", "bm25"]),
}
FORMATS = [{}, {"separator": ""}, {"separator": " | "}, {"format": "preview"}]
budgets = st.fixed_dictionaries({"max_tokens": st.sampled_from([1, 7, 30, 100, 10_000])}, optional=COMMON)
options = st.builds(dict.__or__, budgets, st.sampled_from(FORMATS))
queries = st.sampled_from([None, "", "what is the timeout?", "服务器", "restart"])


@given(passages=many, chosen=options, query=queries)
def test_every_character_is_kept_or_dropped_once_within_the_budget_and_nothing_is_changed(passages, chosen, query):
    before = repr(passages)  # NaN is not equal to itself
    result, again = (Compressor().compress(query, list(passages), encoding=len, **chosen) for _ in range(2))
    assert repr(passages) == before
    assert_whole(result, [passage.text for passage in passages])
    assert all(part.passage is passages[part.index] for part in result.dropped)
    assert all(part.original is passages[part.index] for part in result.passages)
    assert len({kept.index for kept in result.passages}) == len(result.passages)
    assert len(result.text) == result.tokens <= chosen["max_tokens"]
    if "format" not in chosen:
        assert result.text == chosen.get("separator", "\n\n").join(kept.text for kept in result.passages)
    assert (result.text, repr(result.passages), repr(result.dropped), result.stages) == (
        again.text, repr(again.passages), repr(again.dropped), again.stages,
    )  # fmt: skip


@given(passages=many, chosen=options, query=queries)
def test_counts_never_grow_and_are_those_of_the_reasons_that_were_asked_for(passages, chosen, query):
    result = compress(query, passages, **chosen)
    stages = {stage.name: stage for stage in result.stages if stage.name in STAGES}
    assert tuple(stages) == STAGES
    left = len(passages)
    for stage in stages.values():
        assert stage.items_in == left >= stage.items_out >= 0
        left = stage.items_out

    whole = [d for d in result.dropped if len(d.text) == len(d.passage.text)]
    of = {reason: [d for d in whole if d.reason is reason] for reason in Reason}
    assert len(of[Reason.SCORE]) == len(passages) - stages["threshold"].items_out
    assert len(of[Reason.LIMIT]) == stages["limit"].items_in - stages["limit"].items_out
    merged = [d for d in of[Reason.DUPLICATE] if d.duplicate_of is not None]
    assert len(merged) == result.stats.clusters_merged == stages["exact"].items_in - stages["semantic"].items_out
    assert not of[Reason.SCORE] or chosen.get("min_score") is not None
    assert not of[Reason.LIMIT] or chosen.get("max_chunks_per_doc") or chosen.get("top_n")
    if passages and chosen.get("on_empty") != "drop":
        assert compress(query, passages, **{**chosen, "max_tokens": 100_000}).stats.after_limit > 0


@given(passages=many, chosen=options, query=queries)
def test_whoever_stands_for_another_was_no_copy_itself(passages, chosen, query):
    result = compress(query, passages, **chosen)
    leaders = {d.index: d.duplicate_of for d in result.dropped if d.duplicate_of is not None}
    assert not set(leaders) & set(leaders.values())
    assert all(decision.reason is Reason.DUPLICATE for decision in result.dropped if decision.index in leaders)
    for kept in result.passages:
        assert kept.stands_for == tuple(sorted(index for index, leader in leaders.items() if leader == kept.index))


@given(passages=many, chosen=options, query=queries, data=st.data())
def test_which_passages_go_on_does_not_depend_on_their_order(passages, chosen, query, data):
    chosen = {**chosen, "top_n": None, "max_chunks_per_doc": 0, "on_empty": "original"}  # ties there go by the order

    def left(given_):
        result = compress(query, given_, **chosen)
        gone = (Reason.SCORE, Reason.DUPLICATE)
        whole = {d.passage.id for d in result.dropped if d.reason in gone and d.text == d.passage.text}
        # By their texts: of the same text the one between its neighbours is preferred, and these depend on the order.
        pairs = {(d.passage.text, given_[d.duplicate_of].text) for d in result.dropped if d.duplicate_of is not None}
        return whole, pairs, [stage.items_out for stage in result.stages if stage.name in STAGES]

    straight, other = left(passages), left(data.draw(st.permutations(passages)))
    assert (straight[1], straight[2]) == (other[1], other[2])
