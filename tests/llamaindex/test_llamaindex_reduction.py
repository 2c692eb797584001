"""What is left out by score, as a copy or by number; the order of what is kept; and what handlers are told of it."""

import json
import logging
import math
import pickle
from copy import deepcopy

import numpy as np
import pytest
from li_embeddings import Meanings
from li_nodes import QUERY, TEXTS, four_nodes, scored, text_node
from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.bridge.pydantic import Field
from llama_index.core.embeddings.mock_embed_model import MockEmbedding as Mock
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events import BaseEvent
from llama_index.core.instrumentation.events.rerank import ReRankEndEvent
from llama_index.core.schema import ImageNode, NodeWithScore, TextNode
from published_settings import PUBLISHED
from pydantic import ValidationError

from ctxcompress import Compression, CompressionConfig, CtxCompressError
from llamaindex_ctxcompress import CtxCompressPostprocessor
from llamaindex_ctxcompress.events import CompressionEvent

SCORES = (0.9, 0.6, 0.4, 0.2)
REDUCTION = {
    "format": "preview",
    "order": "relevance",
    "on_empty": "drop",
    "min_score": 0.25,
    "score_kind": "rank",
    "metadata_map": {"score": "score"},
    "ngram_threshold": 0.6,
    "similarity_threshold": 0.9,
    "max_chunks_per_doc": 4,
    "top_n": 9,
}


def with_scores(*scores: float | None) -> list[NodeWithScore]:
    return [NodeWithScore(node=text_node(number), score=score) for number, score in enumerate(scores)]


def numbers(nodes: list[NodeWithScore]) -> list[int]:
    return [int(item.node_id.removeprefix("node-")) for item in nodes]


def processed(nodes: list[NodeWithScore], **options: object) -> list[NodeWithScore]:
    return CtxCompressPostprocessor(**options).postprocess_nodes(nodes, query_str=QUERY)


def kept(nodes: list[NodeWithScore], **options: object) -> list[int]:
    return numbers(processed(nodes, **options))


class Heard(BaseEventHandler):
    """Keeps all events."""

    events: list[BaseEvent] = Field(default_factory=list)

    @classmethod
    def class_name(cls) -> str:
        return "Heard"

    def handle(self, event: BaseEvent, **kwargs: object) -> None:
        self.events.append(event)

    def statistics(self) -> list[dict[str, object]]:
        return [dict(event.stats) for event in self.events if isinstance(event, CompressionEvent)]


@pytest.fixture
def heard():
    """A handler at the root, as tracing tools put theirs."""
    handler, root = Heard(), get_dispatcher()
    before = list(root.event_handlers)
    root.event_handlers = [*before, handler]
    yield handler
    root.event_handlers = before


# ---- scores


def test_min_score_is_relative_to_the_best_node():
    assert kept(with_scores(*SCORES), min_score=0.5) == [0, 1]
    assert kept(with_scores(*SCORES), min_score=0.4) == [0, 1, 2]
    assert kept(with_scores(*SCORES), min_score=1.0) == [0]
    assert kept(with_scores(*SCORES)) == [0, 1, 2, 3]


def test_min_score_can_be_absolute():
    assert kept(with_scores(*SCORES), min_score=0.6, score_kind="absolute") == [0, 1]


@pytest.mark.parametrize(
    ("kind", "scores", "left"),
    [
        ("similarity", (0.0, 0.5, 1.0, 3.0), [3]),
        ("distance", (0.0, 0.5, 1.0, 3.0), [0, 1, 2]),  # FAISS
        ("rank", (1.0, 2.0, 3.0, 4.0), [0, 1]),
    ],
)
def test_what_scores_mean_is_as_declared(kind, scores, left):
    assert kept(with_scores(*scores), min_score=0.5, score_kind=kind) == left


@pytest.mark.parametrize("unknown", [None, math.nan, math.inf])
def test_an_unknown_score_is_no_low_one(unknown):  # LI#12497
    assert kept(with_scores(0.9, unknown, 0.1), min_score=0.5) == [0, 1]


def test_without_any_score_nothing_is_left_out_and_the_statistics_say_so(heard):
    assert kept(with_scores(None, None, None), min_score=0.5) == [0, 1, 2]
    [stats] = heard.statistics()
    [note] = [stage["note"] for stage in stats["stages"] if stage["name"] == "threshold"]
    assert note == "skipped: no usable scores"


def test_scores_come_out_as_they_went_in():  # LI#10194
    for options in ({"min_score": 0.5}, {"top_n": 2}, {"order": "relevance"}, {"order": "edges", "max_tokens": 60}):
        result = processed(with_scores(*SCORES), **options)
        assert [item.score for item in result] == [SCORES[number] for number in numbers(result)]


def test_a_mapped_key_reads_scores_from_the_metadata_of_nodes_that_have_none():
    nodes = scored((text_node(number, metadata={"rerank": 1 - number / 10}) for number in range(4)), score=None)
    assert kept(nodes, metadata_map={"score": "rerank"}, min_score=0.85) == [0, 1]
    nodes[3].score = 1.0
    assert kept(nodes, metadata_map={"score": "rerank"}, min_score=0.95) == [0, 3]


def test_words_for_scores_are_unknown():
    words = ("VERY_HIGH", "HIGH", "LOW")  # Amazon Kendra's
    nodes = scored((text_node(number, metadata={"score": word}) for number, word in enumerate(words)), score=None)
    assert kept(nodes, metadata_map={"score": "score"}, min_score=0.9) == [0, 1, 2]


def test_numbers_of_numpy_count():
    nodes = with_scores(*SCORES)
    for item in nodes:
        item.score = np.float32(item.score)  # as rerankers do, past all validation
    assert kept(nodes, min_score=0.5) == [0, 1]


@pytest.mark.parametrize(("on_empty", "left"), [("keep_best", [0]), ("original", [0, 1, 2, 3]), ("drop", [])])
def test_where_scores_would_drop_everything_on_empty_decides(on_empty, left):
    assert kept(with_scores(*SCORES), min_score=0.95, score_kind="absolute", on_empty=on_empty) == left


def test_scores_of_an_index_decide():
    index = VectorStoreIndex([item.node for item in four_nodes()], embed_model=Meanings())
    found = index.as_retriever(similarity_top_k=4).retrieve(QUERY)
    good = [item.node_id for item in found if item.score >= 0.8 * found[0].score]
    assert 0 < len(good) < 4
    assert [item.node_id for item in processed(found, min_score=0.8)] == good


# ---- copies and limits


def copies() -> list[NodeWithScore]:
    text = "The client waits thirty seconds for an answer before it gives up and closes the connection for good."
    texts = (text, TEXTS[3], text.replace("for good", "for ever"), text)
    return [
        NodeWithScore(node=TextNode(text=text, id_=f"node-{number}"), score=score)
        for number, (text, score) in enumerate(zip(texts, (0.9, 0.5, 0.4, 0.3), strict=True))
    ]


def test_a_node_says_for_which_copies_it_stands_by_their_positions():
    image = NodeWithScore(node=ImageNode(image="aGVsbG8=", id_="node-9"))
    result = processed([image, *copies()], ngram_threshold=0.6)
    assert numbers(result) == [9, 0, 1]
    record = result[1].metadata["ctxcompress"]
    assert (record["index"], record["stands_for"]) == (1, [3, 4])
    assert "stands_for" not in result[2].metadata["ctxcompress"]
    json.dumps(record, allow_nan=False)


def test_exact_copies_go_where_that_is_asked_for_and_stay_where_all_fits():
    assert kept(copies()) == [0, 1, 2, 3]
    assert kept(copies(), ngram_threshold=1.0) == [0, 1, 2]


def test_the_same_meaning_is_told_by_the_embeddings_of_the_nodes_or_by_a_model():
    texts = ("the colour of the logo is blue", "bring a coat and a map", "blue is what the logo is in")
    nodes = [
        NodeWithScore(node=TextNode(text=text, id_=f"node-{number}"), score=1 - number / 10)
        for number, text in enumerate(texts)
    ]
    assert kept(nodes, similarity_threshold=0.95) == [0, 1, 2]  # neither embeddings nor a model
    assert kept(nodes, similarity_threshold=0.95, encoder=MockEmbedding(embed_dim=3)) == [0]
    for item, vector in zip(nodes, ([1.0, 0.0], [0.0, 1.0], [1.0, 0.01]), strict=True):
        item.node.embedding = vector
    result = processed(nodes, similarity_threshold=0.95)
    assert numbers(result) == [0, 1]
    assert result[0].metadata["ctxcompress"]["stands_for"] == [2]


def test_so_many_nodes_of_one_document_are_kept_the_best_ones():
    nodes = with_scores(0.2, 0.9, 0.5, 0.1)
    for item in nodes[:3]:
        item.metadata["doc_id"] = "same"
    assert kept(nodes, max_chunks_per_doc=1) == [1, 3]
    assert kept(nodes, max_chunks_per_doc=2) == [1, 2, 3]


def test_the_source_node_is_the_document_where_the_metadata_names_none():
    nodes = [*scored([text_node(0, metadata={}), text_node(0, id_="node-7", metadata={})]), *four_nodes()[1:2]]
    assert kept(nodes, max_chunks_per_doc=1) == [0, 1]


def test_top_n_keeps_the_best_scored_in_their_order():
    assert kept(with_scores(0.2, 0.9, 0.1, 0.5), top_n=2) == [1, 3]


def test_nodes_are_never_changed():
    given = copies()
    before = deepcopy(given)
    processed(given, preset="docs", order="relevance", max_tokens=30)
    assert given == before


# ---- order


def test_the_best_node_comes_first_or_the_best_ones_at_both_ends():
    given = four_nodes()[::-1]
    by_relevance = processed(given, order="relevance")
    assert numbers(by_relevance)[0] == 0
    ranked = [item.metadata["ctxcompress"]["relevance"] for item in by_relevance]
    assert ranked == sorted(ranked, reverse=True)
    assert [item.metadata["ctxcompress"]["index"] for item in by_relevance] == [3 - n for n in numbers(by_relevance)]
    edges = processed(given, order="edges")
    assert numbers(edges) == [numbers(by_relevance)[place] for place in (0, 2, 3, 1)]
    assert kept(given, order="source") == [3, 2, 1, 0]
    assert {item.text for item in by_relevance} == set(TEXTS)


@pytest.mark.parametrize("order", ["relevance", "edges"])
@pytest.mark.parametrize("max_tokens", [10_000, 120])
def test_images_keep_their_place_whatever_the_order(order, max_tokens):
    image = NodeWithScore(node=ImageNode(image="aGVsbG8=", id_="node-9"), score=0.1)
    nodes = four_nodes()[::-1]
    given = [nodes[0], image, *nodes[1:]]
    result = processed(given, order=order, max_tokens=max_tokens)
    texts = [number for number in numbers(result) if number != 9]
    assert texts == kept(nodes, order=order, max_tokens=max_tokens)
    if len(result) == len(given):
        assert numbers(result)[1] == 9
    for item in result:
        if item.node_id != "node-9":
            assert given[item.metadata["ctxcompress"]["index"]].node_id == item.node_id


def test_a_preview_of_each_node_is_its_best_sentence():
    result = processed(four_nodes(), format="preview")
    assert result[0].text == "The default timeout is thirty seconds."
    assert all(item.text.count(".") == 1 for item in result)


# ---- presets, and writing options down


def test_a_preset_is_where_options_start_from():
    postprocessor = CtxCompressPostprocessor(preset="docs", max_chunks_per_doc=5)
    core = CompressionConfig.from_preset("docs", max_chunks_per_doc=5)
    for name in REDUCTION:
        assert getattr(postprocessor, name) == getattr(core, name), name
    assert CtxCompressPostprocessor(preset="docs", min_score=None).min_score is None
    assert CtxCompressPostprocessor(preset="page", max_tokens=50).tier is None


def test_the_docs_preset_leaves_out_the_long_tail():
    assert kept(with_scores(*SCORES), preset="docs") == [0, 1, 2]
    assert kept(with_scores(*SCORES), preset="docs", min_score=0.9) == [0]


def test_a_wrong_preset_is_refused():
    with pytest.raises(ValidationError, match="preset is 'books'"):
        CtxCompressPostprocessor(preset="books")


@pytest.mark.parametrize("preset", [None, "docs", "code", "web", "page"])
@pytest.mark.parametrize(
    "again",
    [
        lambda given: CtxCompressPostprocessor.from_dict(given.to_dict()),
        lambda given: CtxCompressPostprocessor.from_json(given.to_json()),
        lambda given: pickle.loads(pickle.dumps(given)),
        deepcopy,
    ],
    ids=["dict", "json", "pickle", "deepcopy"],
)
def test_the_options_survive_being_written_down(again, preset):
    for options in ({}, REDUCTION):
        given = CtxCompressPostprocessor(preset=preset, **options)
        copy = again(given)
        assert copy.preset == preset
        for name in (*REDUCTION, "tier", "max_tokens", "scorer", "synonyms", "type_weights"):
            assert getattr(copy, name) == getattr(given, name), name
        nodes = with_scores(*SCORES)
        assert copy.postprocess_nodes(nodes, query_str=QUERY) == given.postprocess_nodes(nodes, query_str=QUERY)


@pytest.mark.parametrize("name", REDUCTION)
def test_an_option_that_is_assigned_later_counts_and_is_checked(name):
    postprocessor = CtxCompressPostprocessor()
    setattr(postprocessor, name, "nonsense")
    with pytest.raises(CtxCompressError, match=name):
        postprocessor.postprocess_nodes(four_nodes(), query_str=QUERY)


class Keyed(Mock):
    api_key: str = "sk-secret"


@pytest.mark.parametrize(
    "options",
    [
        {"max_tokens": 0},
        {"scorer": "bm25"},
        {"max_token": 1},
        {"top_n": "many"},
        {"preset": "books"},
        {"metadata_mode": "everything"},
    ],
    ids=str,
)
def test_no_message_has_the_api_key_of_an_embedding_model_in_it(options):
    for encoder in (Keyed(embed_dim=3), Keyed(embed_dim=3).to_dict()):
        with pytest.raises(ValidationError) as refused:
            CtxCompressPostprocessor(encoder=encoder, **options)
        assert "sk-secret" not in str(refused.value)


# ---- statistics


def test_a_handler_hears_the_statistics_before_the_end_of_the_call(heard):
    processed(copies(), ngram_threshold=1.0, top_n=1)
    [stats] = heard.statistics()
    counts = ("original_count", "after_threshold", "after_dedup", "after_limit", "clusters_merged", "kept_count")
    assert [stats[name] for name in counts] == [4, 4, 3, 1, 1, 1]
    assert stats["original_tokens"] - stats["compressed_tokens"] == stats["tokens_saved"] > 0
    json.dumps(stats, allow_nan=False)
    kinds = [type(event) for event in heard.events]
    assert kinds.index(CompressionEvent) < kinds.index(ReRankEndEvent)


async def test_a_handler_hears_the_same_of_an_async_call(heard):
    postprocessor = CtxCompressPostprocessor(ngram_threshold=1.0, top_n=1)
    postprocessor.postprocess_nodes(copies(), query_str=QUERY)
    await postprocessor.apostprocess_nodes(copies(), query_str=QUERY)
    first, second = heard.statistics()
    first.pop("stages"), second.pop("stages")
    assert first == second


def test_the_event_can_be_written_down(heard):
    processed(copies(), top_n=1)
    [event] = [event for event in heard.events if isinstance(event, CompressionEvent)]
    assert event.class_name() == "CompressionEvent"
    assert json.loads(event.model_dump_json())["stats"]["after_limit"] == 1


async def test_statistics_are_not_worked_out_where_nobody_hears_them(monkeypatch):
    def counted(self: Compression) -> None:
        raise AssertionError("nobody asked for it")

    monkeypatch.setattr(Compression, "stats", property(counted))
    postprocessor = CtxCompressPostprocessor(top_n=1)
    assert len(postprocessor.postprocess_nodes(copies(), query_str=QUERY)) == 1
    assert len(await postprocessor.apostprocess_nodes(copies(), query_str=QUERY)) == 1


def test_a_line_at_info_has_the_statistics(caplog):
    with caplog.at_level(logging.INFO, logger="ctxcompress"):
        processed(copies(), ngram_threshold=1.0, top_n=1)
    [record] = [record for record in caplog.records if record.name == "ctxcompress"]
    assert record.getMessage().startswith("4 -> 1 passages, ")
    assert record.ctxcompress["clusters_merged"] == 1


def test_a_node_says_that_it_is_a_line_and_where_it_has_markers():
    functions = "".join(f"def function_{n}(value):\n    value += {n}\n    return value\n\n\n" for n in range(99))
    nodes = [
        NodeWithScore(node=TextNode(text=functions, metadata={"file_path": "a.py"}), score=0.9),
        NodeWithScore(node=TextNode(text=functions, metadata={"file_path": "b.py"}, embedding=[1.0]), score=0.1),
    ]
    nodes[1].node.set_content(functions.replace("value", "number"))
    cut, line = processed(nodes, config=PUBLISHED["code"], max_tokens=5_000)
    assert cut.metadata["ctxcompress"]["markers"]
    assert "metadata_only" not in cut.metadata["ctxcompress"]
    assert line.text.startswith("[metadata-only] b.py:1-")
    assert line.metadata["ctxcompress"]["metadata_only"] is True
    assert line.metadata["ctxcompress"]["spans"] == []
    assert line.node.embedding is None
    json.dumps([cut.metadata, line.metadata], allow_nan=False)
