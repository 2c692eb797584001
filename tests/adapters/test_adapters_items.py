"""What comes out of both adapters: copies of the given items, with less text and one metadata key more."""

import asyncio
import copy
import json
import math
import threading
from concurrent.futures import ThreadPoolExecutor

import held_calls
import numpy as np
import pytest
from both_frameworks import QUERY, TEXTS, Framework, both, check_verbatim, tokens

from ctxcompress import Compression, CtxCompressError, compress
from ctxcompress.errors import PluginError

pytestmark = both
ROOMY, TIGHT = {"max_tokens": 100_000}, {"max_tokens": 60}
SIMILARITIES = (0.9, 0.6, 0.4, 0.2)
roomy_and_tight = pytest.mark.parametrize("options", [ROOMY, TIGHT], ids=["roomy", "tight"])


async def test_no_items_give_no_items(framework: Framework):
    component = framework.component(**TIGHT)
    assert framework.compress(component, [], QUERY) == await framework.acompress(component, [], QUERY) == []


def test_what_fits_keeps_text_id_and_order_and_gains_one_key(framework: Framework):
    given = framework.items()[::-1]
    kept = framework.kept(given, **ROOMY)
    assert framework.shown(kept) == framework.shown(given)
    for index, (before, after) in enumerate(zip(given, kept, strict=True)):
        assert (type(after), framework.id(after)) == (type(before), framework.id(before))
        record = framework.metadata(after).pop("ctxcompress")
        assert list(framework.metadata(after).items()) == list(framework.metadata(before).items())
        assert set(record) == {"spans", "tokens", "relevance", "index"}
        assert (record["index"], record["tokens"]) == (index, tokens(framework.text(before)))


@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base"])
@pytest.mark.parametrize("max_tokens", [1, 2, 7, 25, 60, 120, 400])
def test_what_is_read_is_within_the_budget_verbatim_and_in_order(framework: Framework, max_tokens, encoding):
    given = framework.items(12)
    kept = framework.kept(given, max_tokens=max_tokens, encoding=encoding)
    assert tokens(framework.shown(kept), encoding) <= max_tokens
    check_verbatim(framework, given, kept)


@roomy_and_tight
def test_inputs_are_neither_changed_nor_shared(framework: Framework, options):
    given = framework.items()
    before, identities = copy.deepcopy(given), [*map(id, given)]
    for item in framework.kept(given, **options):
        assert all(item is not other for other in given)
        metadata = framework.metadata(item)
        metadata["loc"]["lines"]["from"] = 99
        metadata["tags"].append("changed")
        metadata["ctxcompress"]["spans"].clear()
        metadata["new"] = True
    assert (given, [*map(id, given)]) == (before, identities)


def test_metadata_is_copied_whatever_it_holds(framework: Framework):
    """The same list in two places, itself, and what refuses to be copied."""
    shared, lock = ["a"], threading.Lock()
    metadata = {"first": shared, "second": {"nested": shared}, "client": {"lock": lock, "hosts": ["a"]}, "source": "a"}
    metadata["self"] = metadata
    given = framework.item("A text.", metadata=metadata)
    [kept] = framework.kept([given], **ROOMY)
    found, before = framework.metadata(kept), framework.metadata(given)
    assert found["first"] is found["second"]["nested"]
    assert found["client"]["lock"] is lock
    for one, other in ((found["first"], shared), (found["client"]["hosts"], before["client"]["hosts"])):
        assert (one, one is other) == (other, False)
    assert found["self"] is not before["self"]


def test_compressing_again_gives_spans_into_what_was_given_last(framework: Framework):
    once = framework.kept(framework.items(), **TIGHT)
    again = framework.kept(once, **TIGHT)
    assert framework.shown(again) == framework.shown(once)
    check_verbatim(framework, once, again)
    assert [framework.record(item)["index"] for item in again] == [*range(len(once))]


def test_items_with_one_id_are_told_apart_by_position(framework: Framework):
    given = [framework.item(text, "same", metadata={"n": n}) for n, text in enumerate(TEXTS[:4])]
    kept = framework.kept(given, **ROOMY)
    assert [(framework.id(item), framework.metadata(item)["n"]) for item in kept] == [("same", n) for n in range(4)]
    assert framework.texts(kept) == [*TEXTS[:4]]


@pytest.mark.parametrize("query", [None, "", "   ", "?!", "\ud800"], ids=repr)
async def test_a_query_that_asks_nothing_is_answered_within_the_budget(framework: Framework, query):
    component = framework.component(**TIGHT)
    kept = framework.compress(component, framework.items(), query)
    assert 0 < tokens(framework.shown(kept)) <= 60
    assert await framework.acompress(component, framework.items(), query) == kept


ODD = ["", " ", "\n\n", "x", "\ud800", "日", "👩\u200d👩\u200d👧", "a" * 5_000]


@pytest.mark.parametrize("text", ODD, ids=lambda text: repr(text[:9]))
def test_an_odd_text_is_answered_within_the_budget(framework: Framework, text):
    given = [framework.item(text, metadata={"a": "\udfff"}), *framework.items(2)]
    kept = framework.kept(given, **TIGHT)
    check_verbatim(framework, given, kept)
    assert framework.ids(kept)
    alone = framework.kept(given[:1], **TIGHT)
    assert "".join(framework.texts(alone)).strip() == text.strip() or len(text) == 5_000


def test_the_record_is_made_of_native_types_and_goes_into_json(framework: Framework):
    for record in map(framework.record, framework.kept(framework.items(12), **TIGHT)):
        assert json.loads(json.dumps(record, allow_nan=False)) == record
        assert [type(record[name]) for name in ("tokens", "index", "relevance")] == [int, int, float]
        assert {type(offset) for span in record["spans"] for offset in span} == {int}


async def test_async_gives_what_sync_gives(framework: Framework):
    for max_tokens in (1, 30, 60, 10_000):
        component = framework.component(max_tokens=max_tokens)
        given = framework.items(12)
        assert await framework.acompress(component, given, QUERY) == framework.compress(component, given, QUERY)


def test_many_threads_share_one_component(framework: Framework):
    component, given = framework.component(**TIGHT), framework.items(12)
    questions = [QUERY, "what is there to bring?", "how is the client closed?", "which options are there?"] * 8
    alone = [framework.compress(component, given, question) for question in questions]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda question: framework.compress(component, given, question), questions))
    assert together == alone


async def test_the_event_loop_runs_on_while_items_are_compressed(framework: Framework):
    loop_is_free, waited = threading.Event(), []

    def wait_for_the_loop(text: str) -> int:
        waited.append(loop_is_free.wait(timeout=5))
        return len(text)

    asyncio.get_running_loop().call_soon(loop_is_free.set)
    await framework.acompress(framework.component(encoding=wait_for_the_loop), framework.items(2), QUERY)
    assert waited
    assert all(waited)


@pytest.mark.parametrize("way", ["component", "tool"])
async def test_cancelled_calls_end_at_their_next_stage_or_are_not_begun(framework: Framework, way, monkeypatch):
    held, stages = held_calls.Held(), held_calls.stages_of(monkeypatch)
    items = [framework.item(text) for text in held_calls.TEXTS]

    async def read(query: str) -> str:
        """Read."""
        return "\n".join(held_calls.TEXTS)

    def call():
        options = {"max_tokens": 60, "encoding": held}
        if way == "component":
            return framework.acompress(framework.component(**options), items, held_calls.QUERY)
        tool = framework.package.compress_tool(framework.tool(read), min_tokens=0, **options)
        return framework.acall(tool, query=held_calls.QUERY)

    await held_calls.cancel_in_the_midst(held, [call() for _ in range(20)])
    assert held.counted <= 2
    assert stages in ([], ["reduce_passages"] * 2)


async def test_what_the_tokenizer_raises_is_raised_on(framework: Framework):
    def out_of_order(text: str) -> int:
        raise OSError("the tokenizer is out of order")

    broken = framework.component(encoding=out_of_order)
    with pytest.raises(PluginError, match="out of order"):
        framework.compress(broken, framework.items(), QUERY)
    with pytest.raises(PluginError, match="out of order"):
        await framework.acompress(broken, framework.items(), QUERY)
    with pytest.raises(CtxCompressError, match="encoding must return the tokens or their number"):
        framework.kept(framework.items(), encoding=lambda text: None)


def test_it_can_be_asked_whether_the_items_answer_at_all(framework: Framework):
    items = [framework.item("The default timeout of the pool is 30 seconds.")]
    asked, other = "what is the default timeout of the pool?", "who won the bicycle race in Ghent?"
    component = framework.component(max_tokens=100)
    assert component.confidence(items, asked) == compress(asked, framework.texts(items)).confidence > 0.6
    assert component.confidence(items, other) < 0.1


# Scores


def places(items, framework: Framework) -> list[int]:
    return [framework.record(item)["index"] for item in items]


def left(framework: Framework, scores, **options) -> list[int]:
    return places(framework.kept(framework.items(scores=scores), **options), framework)


@pytest.mark.parametrize(
    ("options", "scores", "expected"),
    [
        ({}, SIMILARITIES, [0, 1, 2, 3]),
        ({"min_score": 0.5}, SIMILARITIES, [0, 1]),
        ({"min_score": 0.6, "score_kind": "absolute"}, SIMILARITIES, [0, 1]),
        ({"min_score": 0.5, "score_kind": "distance"}, (0.0, 0.5, 1.0, 3.0), [0, 1, 2]),  # FAISS
        ({"min_score": 0.5, "score_kind": "rank"}, (1.0, 2.0, 3.0, 4.0), [0, 1]),
        ({"min_score": 0.0, "score_kind": "absolute"}, (-2.5, 3.1, 0.4), [1, 2]),  # logits
        ({"top_n": 2}, (0.2, 0.9, 0.1, 0.5), [1, 3]),
        ({"preset": "docs"}, SIMILARITIES, [0, 1, 2]),
        ({"preset": "docs", "min_score": 0.9}, SIMILARITIES, [0]),
        ({"preset": "docs", "min_score": None}, SIMILARITIES, [0, 1, 2, 3]),
        *(
            ({"min_score": 0.95, "score_kind": "absolute", "on_empty": on_empty}, SIMILARITIES, expected)
            for on_empty, expected in (("keep_best", [0]), ("original", [0, 1, 2, 3]), ("drop", []))
        ),
    ],
)
def test_scores_choose_as_the_options_say(framework: Framework, options, scores, expected):
    assert left(framework, scores, **options) == expected


@pytest.mark.parametrize("unknown", [None, math.nan, math.inf, "VERY_HIGH", True], ids=str)
def test_an_unknown_score_is_no_low_one(framework: Framework, unknown):
    given = framework.items(scores=(0.9, None, 0.1))
    if isinstance(unknown, str | bool):
        framework.metadata(given[1])["score"] = unknown
        assert places(framework.kept(given, metadata_map={"score": "score"}, min_score=0.5), framework) == [0, 1]
    else:
        assert left(framework, (0.9, unknown, 0.1), min_score=0.5) == [0, 1]


@pytest.mark.parametrize("kind", [float, np.float32, np.float64])
@pytest.mark.parametrize("options", [{"min_score": 0.5}, {"top_n": 2}, {"order": "relevance"}, TIGHT])
def test_scores_come_out_as_they_went_in_and_go_into_json(framework: Framework, kind, options):
    scores = [kind(score) for score in SIMILARITIES]
    for item in framework.kept(framework.items(scores=scores), **options):
        record = framework.record(item)
        assert framework.score(item) == scores[record["index"]]
        json.dumps(record, allow_nan=False)


# Duplicates, limits and order


def copies(framework: Framework):
    text = "The client waits thirty seconds for an answer before it gives up and closes the connection for good."
    texts = (text, "Coffee is free on all floors but the third.", text.replace("for good", "for ever"), text)
    scores = (0.9, 0.5, 0.4, 0.3)
    return [framework.item(text, f"doc-{n}", score=scores[n]) for n, text in enumerate(texts)]


def test_an_item_says_for_which_copies_it_stands(framework: Framework):
    first, second = framework.kept(copies(framework), ngram_threshold=0.6)
    assert framework.record(first)["stands_for"] == [2, 3]
    assert "stands_for" not in framework.record(second)
    assert places(framework.kept(copies(framework)), framework) == [0, 1, 2, 3]
    assert places(framework.kept(copies(framework), ngram_threshold=1.0), framework) == [0, 1, 2]


def test_metadata_map_says_where_the_title_is(framework: Framework):
    texts = ("It takes five days in spring and in summer.", "They ask for a form with two names on it.")
    given = [
        framework.item(text, metadata={"subject": subject})
        for text, subject in zip(texts, ("Shipping", "Refunds"), strict=True)
    ]
    mapped = framework.kept(given, "refunds", max_tokens=14, metadata_map={"title": "subject"})
    assert framework.texts(mapped) == [texts[1]]
    assert framework.texts(framework.kept(given, "refunds", max_tokens=14)) == [texts[0]]


# Statistics


async def test_observers_of_the_framework_get_the_statistics(framework: Framework):
    component = framework.component(ngram_threshold=1.0, top_n=1)
    with framework.hearing() as heard:
        framework.compress(component, copies(framework), "timeout?")
        await framework.acompress(component, copies(framework), "timeout?")
    counts = ("original_count", "after_threshold", "after_dedup", "after_limit", "clusters_merged", "kept_count")
    for stats in heard:
        assert [stats[name] for name in counts] == [4, 4, 3, 1, 1, 1]
        assert stats["original_tokens"] - stats["compressed_tokens"] == stats["tokens_saved"] > 0
        json.dumps(stats, allow_nan=False)
    assert len(heard) == 2


async def test_statistics_are_not_worked_out_where_nobody_reads_them(framework: Framework, monkeypatch):
    def counted(self: Compression) -> None:
        raise AssertionError("nobody asked for it")

    monkeypatch.setattr(Compression, "stats", property(counted))
    component = framework.component(top_n=1)
    assert len(framework.compress(component, copies(framework), "timeout?")) == 1
    assert len(await framework.acompress(component, copies(framework), "timeout?")) == 1
