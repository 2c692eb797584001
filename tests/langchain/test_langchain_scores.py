"""What a retriever said of its documents, and what is left out by it: scores, copies, limits, presets, statistics."""

import json
import logging
import math
import re
from copy import deepcopy

import numpy as np
import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore
from lc_documents import QUERY, as_json, make_documents, record_of
from published_settings import PUBLISHED

from ctxcompress import Compression, CompressionConfig, CtxCompressError
from langchain_ctxcompress import CtxCompressor, CtxCompressRetriever
from langchain_ctxcompress.retriever import ScoredSearch

SIMILARITIES = (0.9, 0.6, 0.4, 0.2)


class Angles(Embeddings):
    """Embeds a text so that its cosine with any query is the last number in it."""

    def embed_query(self, text):
        return [1.0, 0.0]

    def embed_documents(self, texts):
        cosines = [float(re.findall(r"0\.\d+", text)[-1]) for text in texts]
        return [[cosine, math.sqrt(1 - cosine**2)] for cosine in cosines]


class Listed(VectorStore):
    """A store that gives what it is made of, scores included, as they are: distances, or whatever a driver returns."""

    def __init__(self, found):
        self.found = found

    @classmethod
    def from_texts(cls, texts, embedding, metadatas=None, **kwargs):
        raise NotImplementedError

    def similarity_search(self, query, k=4, **kwargs):
        return [document for document, _ in self.found[:k]]

    def similarity_search_with_score(self, query, k=4, **kwargs):
        return self.found[:k]


def page(number: int, similarity: float | None = None) -> Document:
    words = ("harbour", "museum", "bridge", "lighthouse", "market", "garden")[number]
    text = f"The {words} opens at {number + 5} o'clock and is not far from the station of line {number}."
    if similarity is not None:
        text += f" How near: {similarity}"
    return Document(text, id=f"page-{number}", metadata={"source": f"{words}.md", "loc": {"lines": [1, 2]}})


def store() -> InMemoryVectorStore:
    made = InMemoryVectorStore(Angles())
    made.add_documents([page(number, similarity) for number, similarity in enumerate(SIMILARITIES)])
    return made


def listed(*scores: object) -> Listed:
    return Listed([(page(number), score) for number, score in enumerate(scores)])


def of_store(made: VectorStore, score_kind: str = "similarity", **options: object) -> CtxCompressRetriever:
    return CtxCompressRetriever.from_vectorstore(made, score_kind=score_kind, **options)


def numbers(documents: list[Document]) -> list[int]:
    return [int(document.id.removeprefix("page-")) for document in documents]


def scored(**fields: object) -> list[Document]:
    """Documents that each have one value of each field in their metadata."""
    [[name, values]] = fields.items()
    made = [page(number) for number in range(len(values))]
    for document, value in zip(made, values, strict=True):
        document.metadata[name] = value
    return made


def kept(documents: list[Document], **options: object) -> list[int]:
    return numbers(CtxCompressor(**options).compress_documents(documents, "When does it open?"))


# ---- asking a vector store for scores


def test_scores_of_a_vector_store_are_in_the_record():
    documents = of_store(store()).invoke("When does it open?")
    assert numbers(documents) == [0, 1, 2, 3]
    assert [record_of(document)["score"] for document in documents] == pytest.approx(SIMILARITIES)
    assert all(type(record_of(document)["score"]) is float for document in documents)
    as_json(documents)


async def test_async_gives_the_same_as_sync():
    retriever = of_store(store(), min_score=0.5)
    assert await retriever.ainvoke("When does it open?") == retriever.invoke("When does it open?")


def test_k_and_a_filter_are_arguments_of_the_search():
    assert numbers(of_store(store(), k=2).invoke("open?")) == [0, 1]
    assert numbers(of_store(store()).invoke("open?", k=1)) == [0]
    not_the_first = {"filter": lambda document: document.id != "page-0"}
    assert numbers(of_store(store(), k=2, search_kwargs=not_the_first).invoke("open?")) == [1, 2]


def test_the_search_is_a_run_of_its_own():
    collector = RunCollectorCallbackHandler()
    of_store(store()).invoke("open?", {"callbacks": [collector]})
    [run] = collector.traced_runs
    assert [child.name for child in run.child_runs] == ["ScoredSearch", "CtxCompressor"]


def test_the_documents_in_the_store_are_never_changed_or_shared():
    made = store()
    before = deepcopy(made.store)
    for document in of_store(made, max_tokens=30).invoke("open?"):
        document.metadata["loc"]["lines"].append(3)
    assert made.store == before


def test_a_store_without_scores_says_so():
    class Silent(Listed):
        similarity_search_with_score = VectorStore.similarity_search_with_score

    with pytest.raises(NotImplementedError):
        of_store(Silent([])).invoke("open?")


def test_a_search_for_nothing_is_refused():
    with pytest.raises(ValueError, match="greater than or equal to 1"):
        of_store(store(), k=0)


@pytest.mark.parametrize("score", [np.float32(0.5), np.float64(0.5), np.int64(1), 1])
def test_numbers_of_numpy_become_pythons(score):
    [document] = of_store(listed(score)).invoke("open?")
    assert type(record_of(document)["score"]) is float
    assert record_of(document)["score"] == score
    as_json([document])


@pytest.mark.parametrize("score", [None, "0.9"])
def test_a_score_that_is_no_number_is_unknown(score):
    documents = of_store(listed(0.8, score, 0.1), min_score=0.5).invoke("open?")
    assert numbers(documents) == [0, 1]
    assert "score" not in record_of(documents[1])


@pytest.mark.parametrize("score", [math.nan, math.inf, True])
def test_a_score_that_is_not_finite_or_no_number_really_leaves_the_document_and_its_record_alone(score):
    documents = of_store(listed(0.8, score, 0.1), min_score=0.5).invoke("open?")
    assert numbers(documents) == [0, 1]
    assert "score" not in record_of(documents[1])
    as_json(documents)


def test_scores_survive_a_second_compression():
    documents = of_store(store(), max_tokens=500).invoke("open?")
    again = CtxCompressor(min_score=0.5).compress_documents(documents, "open?")
    assert numbers(again) == [0, 1]
    assert [record_of(document)["score"] for document in again] == pytest.approx([0.9, 0.6])


# ---- what is below a score


def test_min_score_is_relative_to_the_best_one():
    assert numbers(of_store(store(), min_score=0.5).invoke("open?")) == [0, 1]
    assert numbers(of_store(store(), min_score=0.4).invoke("open?")) == [0, 1, 2]
    assert numbers(of_store(store(), min_score=1.0).invoke("open?")) == [0]


def test_min_score_can_be_absolute():
    assert numbers(of_store(store(), "absolute", min_score=0.59).invoke("open?")) == [0, 1]
    found = ScoredSearch(store=store(), k=20, score_kind="similarity").invoke("open?")
    assert kept(found, score_kind="absolute", min_score=0.59) == [0, 1]


def test_of_distances_the_small_ones_stay():
    distances = listed(0.0, 0.5, 1.0, 3.0)  # 1, 2/3, 1/2 and 1/4 of the best
    assert numbers(of_store(distances, "distance", min_score=0.5).invoke("open?")) == [0, 1, 2]
    assert numbers(of_store(distances, "similarity", min_score=0.5).invoke("open?")) == [3]


def test_of_ranks_the_first_ones_stay():
    assert numbers(of_store(listed(1, 2, 3, 4), "rank", min_score=0.5).invoke("open?")) == [0, 1]


def test_scores_that_mean_nothing_choose_nothing():
    assert numbers(of_store(listed(0.1, 0.2, 0.9), "none", top_n=2).invoke("open?")) == [0, 1]
    with pytest.raises(ValueError, match=r'min_score=0\.9 is given with score_kind="none"'):
        of_store(store(), "none", min_score=0.9)


def test_without_min_score_nothing_is_left_out_by_score():
    assert numbers(of_store(store()).invoke("open?")) == [0, 1, 2, 3]


def test_distances_that_are_declared_to_be_similarities_are_a_warning(warned):
    found = listed(0.2, 0.3, 0.5, 0.6, 0.8)
    of_store(found, "distance", min_score=0.1).invoke("open?")
    assert not warned.messages
    of_store(found, "similarity", min_score=0.1).invoke("open?")
    assert [message for message in warned.messages if 'declare score_kind="distance"' in message] == warned.messages
    assert len(warned.messages) == 1


def test_the_kind_of_scores_has_to_be_said():
    with pytest.raises(TypeError, match="score_kind"):
        CtxCompressRetriever.from_vectorstore(store())
    with pytest.raises(ValueError, match=r"score_kind\n.*'similarity', 'absolute', 'distance', 'rank' or 'none'"):
        of_store(store(), "cosine")


@pytest.mark.parametrize(("on_empty", "left"), [("keep_best", [0]), ("original", [0, 1, 2, 3]), ("drop", [])])
def test_where_scores_would_drop_everything_on_empty_decides(on_empty, left):
    options = {"min_score": 0.95, "on_empty": on_empty}
    assert numbers(of_store(store(), "absolute", **options).invoke("open?")) == left


# ---- scores in the metadata


def test_a_mapped_key_reads_what_rerankers_leave():
    documents = scored(relevance_score=[0.1, 0.9, 0.5, 0.2])
    assert kept(documents, metadata_map={"score": "relevance_score"}, min_score=0.5) == [1, 2]
    assert kept(documents, min_score=0.5) == [0, 1, 2, 3]
    [best] = CtxCompressor(metadata_map={"score": "relevance_score"}, top_n=1).compress_documents(documents, "open?")
    assert record_of(best)["score"] == 0.9
    assert best.metadata["relevance_score"] == 0.9


def test_logits_of_a_reranker_can_be_compared_as_they_are():
    documents = scored(relevance_score=[-2.5, 3.1, 0.4])
    assert kept(documents, metadata_map={"score": "relevance_score"}, min_score=0.0, score_kind="absolute") == [1, 2]


def test_words_for_scores_are_unknown_and_nothing_is_left_out(caplog):
    documents = scored(score=["VERY_HIGH", "HIGH", "LOW"])  # Amazon Kendra's
    with caplog.at_level(logging.INFO, logger="ctxcompress"):
        assert kept(documents, metadata_map={"score": "score"}, min_score=0.9) == [0, 1, 2]
    [threshold] = [stage for stage in caplog.records[-1].ctxcompress["stages"] if stage["name"] == "threshold"]
    assert threshold["note"] == "skipped: no usable scores"


@pytest.mark.parametrize("unknown", [None, math.nan, "0.01", True, math.inf], ids=str)
def test_an_unknown_score_among_others_is_no_low_one(unknown):
    assert kept(scored(score=[0.9, unknown, 0.1]), metadata_map={"score": "score"}, min_score=0.5) == [0, 1]


def test_a_score_in_the_metadata_that_is_not_finite_keeps_the_record_json():
    documents = CtxCompressor(metadata_map={"score": "score"}).compress_documents(
        scored(score=[math.inf, 0.5]), "open?"
    )
    json.dumps([record_of(document) for document in documents], allow_nan=False)


# ---- copies, limits and order


def copies() -> list[Document]:
    text = "The client waits thirty seconds for an answer before it gives up and closes the connection for good."
    return [
        Document(text, id="page-0"),
        Document("Coffee is free on all floors of the building but the third.", id="page-1"),
        Document(text.replace("for good", "for ever"), id="page-2"),
        Document(text, id="page-3"),
    ]


def test_a_document_says_for_which_copies_it_stands():
    documents = copies()
    documents[0].metadata["score"] = 0.9
    compressor = CtxCompressor(ngram_threshold=0.6, metadata_map={"score": "score"})
    [first, second] = compressor.compress_documents(documents, "timeout?")
    assert numbers([first, second]) == [0, 1]
    assert record_of(first)["stands_for"] == [2, 3]
    assert "stands_for" not in record_of(second)
    as_json([first, second])


def test_exact_copies_go_where_that_is_asked_for_and_stay_where_all_fits():
    assert kept(copies()) == [0, 1, 2, 3]
    assert kept(copies(), ngram_threshold=1.0) == [0, 1, 2]


def test_of_copies_the_best_scored_one_stays():
    documents = copies()
    for document, score in zip(documents, (0.1, 0.5, 0.2, 0.9), strict=True):
        document.metadata["score"] = score
    assert kept(documents, metadata_map={"score": "score"}, ngram_threshold=0.6) == [1, 3]


def test_top_n_keeps_the_best_scored_in_their_order():
    documents = scored(score=[0.1, 0.9, 0.2, 0.5])
    assert kept(documents, metadata_map={"score": "score"}, top_n=2) == [1, 3]
    assert kept(documents, top_n=2) == [0, 1]


def test_so_many_documents_of_one_source_are_kept():
    documents = scored(score=[0.1, 0.9, 0.2, 0.5])
    for document in documents[:3]:
        document.metadata["source"] = "https://example.com/guide/?utm_source=mail#top"
    documents[1].metadata["source"] = "https://example.com/guide"
    assert kept(documents, metadata_map={"score": "score"}, max_chunks_per_doc=1) == [1, 3]
    assert kept(documents, metadata_map={"score": "score"}, max_chunks_per_doc=2) == [1, 2, 3]
    assert kept(documents, max_chunks_per_doc=1) == [0, 3]


def test_the_best_document_comes_first_or_the_best_ones_at_both_ends():
    documents = [page(1), page(2), Document("The default timeout of the client is 30 seconds.", id="page-9")]
    by_relevance = CtxCompressor(order="relevance").compress_documents(documents, QUERY)
    assert numbers(by_relevance)[0] == 9
    assert record_of(by_relevance[0])["index"] == 2
    assert [d.page_content for d in sorted(by_relevance, key=numbers_of)] == [d.page_content for d in documents]
    ranked = [record_of(document)["relevance"] for document in by_relevance]
    assert ranked == sorted(ranked, reverse=True)
    edges = CtxCompressor(order="edges").compress_documents(documents, QUERY)
    assert numbers(edges) == [numbers(by_relevance)[place] for place in (0, 2, 1)]
    assert numbers(CtxCompressor(order="source").compress_documents(documents, QUERY)) == [1, 2, 9]


def numbers_of(document: Document) -> int:
    return numbers([document])[0]


def test_a_preview_of_each_document_is_its_best_sentence():
    [preview, *_] = CtxCompressor(format="preview").compress_documents(make_documents(2), QUERY)
    assert preview.page_content == "The default timeout is 30 seconds."


# ---- presets and options of a call


def test_a_preset_is_where_options_start_from():
    compressor = CtxCompressor(preset="docs", max_chunks_per_doc=5)
    assert compressor.config == CompressionConfig.from_preset("docs", max_chunks_per_doc=5)
    assert (compressor.min_score, compressor.max_chunks_per_doc, compressor.ngram_threshold) == (0.3, 5, 0.7)
    assert CtxCompressor(preset="docs", min_score=None).min_score is None
    assert CtxCompressor(preset="page", max_tokens=50).config.budget == 50


def test_the_docs_preset_leaves_out_the_long_tail():
    assert numbers(of_store(store(), preset="docs").invoke("open?")) == [0, 1, 2]
    assert numbers(of_store(store(), preset="docs", min_score=0.9).invoke("open?")) == [0]
    assert numbers(of_store(store(), preset="docs", min_score=None).invoke("open?")) == [0, 1, 2, 3]


def test_the_web_preset_keeps_all_results_rather_than_none_and_the_published_one_five():
    documents = scored(score=[0.9, 0.8, 0.7, 0.6, 0.5, 0.4])
    assert kept(documents, preset="web", metadata_map={"score": "score"}) == [0, 1, 2, 3, 4, 5]
    assert kept(documents, config=PUBLISHED["web"], metadata_map={"score": "score"}) == [0, 1, 2, 3, 4]
    raw = {"config": PUBLISHED["web"], "metadata_map": {"score": "score"}, "min_score": 0.95, "score_kind": "absolute"}
    assert kept(documents, **raw) == [0, 1, 2, 3, 4]


def test_a_wrong_preset_is_refused():
    with pytest.raises(ValueError, match="preset is 'books'"):
        CtxCompressor(preset="books")


def test_a_compressor_with_a_preset_goes_through_json():
    compressor = CtxCompressor(preset="page", max_tokens=70, min_score=0.2)
    again = CtxCompressor.model_validate_json(compressor.model_dump_json())
    assert again == compressor
    assert again.config == compressor.config


def test_options_of_a_call_make_another_compressor():
    compressor = CtxCompressor(preset="docs", tier="detailed")
    other = compressor.with_options(max_tokens=40, top_n=1, min_score=None)
    assert (other.config.budget, other.top_n, other.min_score, other.ngram_threshold) == (40, 1, None, 0.7)
    assert (compressor.config.budget, compressor.top_n, compressor.min_score) == (5_000, None, 0.3)
    documents = scored(score=[0.1, 0.9])
    assert numbers(other.with_options(metadata_map={"score": "score"}).compress_documents(documents, "open?")) == [1]


def test_options_of_a_call_are_checked():
    compressor = CtxCompressor()
    with pytest.raises(CtxCompressError, match="top_n is 0"):
        compressor.with_options(top_n=0)
    with pytest.raises(CtxCompressError, match="did you mean 'top_n'"):
        compressor.with_options(topn=1)


def test_an_embedding_model_stays_with_a_compressor():
    embeddings = Angles()
    compressor = CtxCompressor(encoder=embeddings)
    assert compressor.with_options(top_n=1).encoder is embeddings
    assert compressor.with_options(encoder=None).encoder is None


def test_an_embedding_model_can_be_given_for_a_call():
    embeddings = Angles()
    assert CtxCompressor().with_options(encoder=embeddings).encoder is embeddings


# ---- statistics


def test_statistics_are_in_the_outputs_of_the_run():
    collector = RunCollectorCallbackHandler()
    CtxCompressor(ngram_threshold=1.0, top_n=1).compress_documents(copies(), "timeout?", callbacks=[collector])
    stats = collector.traced_runs[0].outputs["stats"]
    counts = ("original_count", "after_threshold", "after_dedup", "after_limit", "clusters_merged", "kept_count")
    assert [stats[name] for name in counts] == [4, 4, 3, 1, 1, 1]
    assert stats["original_tokens"] - stats["compressed_tokens"] == stats["tokens_saved"] > 0
    json.dumps(stats, allow_nan=False)


async def test_statistics_are_in_the_outputs_of_an_async_run():
    collector = RunCollectorCallbackHandler()
    await CtxCompressor(top_n=1).acompress_documents(copies(), "timeout?", callbacks=[collector])
    assert collector.traced_runs[0].outputs["stats"]["after_limit"] == 1


async def test_statistics_are_not_worked_out_where_nobody_reads_them(monkeypatch):
    def counted(self):
        raise AssertionError("nobody asked for it")

    monkeypatch.setattr(Compression, "stats", property(counted))
    compressor = CtxCompressor(top_n=1)
    assert len(compressor.compress_documents(copies(), "timeout?")) == 1
    assert len(await compressor.acompress_documents(copies(), "timeout?")) == 1


async def test_a_line_at_info_has_the_statistics(caplog):
    compressor = CtxCompressor(ngram_threshold=1.0, top_n=1)
    with caplog.at_level(logging.INFO, logger="ctxcompress"):
        compressor.compress_documents(copies(), "timeout?")
        await compressor.acompress_documents(copies(), "timeout?")
    first, second = caplog.records
    for record in (first, second):
        assert (record.name, record.levelname) == ("ctxcompress", "INFO")
        assert re.fullmatch(r"4 -> 1 passages, \d+ -> \d+ tokens", record.getMessage())
        assert record.ctxcompress["clusters_merged"] == 1
        json.dumps(record.ctxcompress, allow_nan=False)


def test_nothing_is_logged_above_that_level_in_a_quiet_call(caplog):
    CtxCompressor(top_n=1).compress_documents(copies(), "timeout?")
    assert caplog.records == []


def test_a_document_says_that_it_is_a_line_and_where_it_has_markers():
    functions = "".join(f"def function_{n}(value):\n    value += {n}\n    return value\n\n\n" for n in range(99))
    documents = [
        Document(functions, metadata={"source": "a.py", "score": 0.9}),
        Document(functions.replace("value", "number"), metadata={"source": "b.py", "score": 0.1}),
    ]
    compressor = CtxCompressor(config=PUBLISHED["code"], metadata_map={"score": "score"}, max_tokens=5_000)
    [cut, line] = compressor.compress_documents(documents, "function_5")
    assert record_of(cut)["markers"]
    assert "metadata_only" not in record_of(cut)
    assert line.page_content.startswith("[metadata-only] b.py:1-")
    assert record_of(line)["metadata_only"] is True
    assert record_of(line)["spans"] == []
    as_json([cut, line])
