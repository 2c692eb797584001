"""What users of LangChain complain about in other compressors and rerankers, one test each."""

import json

import numpy as np
import pytest
from langchain_core.documents import Document
from langchain_core.load import dumpd
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler
from lc_documents import QUERY, TEXTS, check_verbatim, make_documents, make_store, record_of, tokens_in_prompt

from langchain_ctxcompress import CtxCompressor, CtxCompressRetriever

COMPRESSOR = CtxCompressor(max_tokens=60)
LONG = " ".join(f"Sentence number {i} tells about the harbour and the ships in it." for i in range(60))
ANSWER = "The default timeout of the client is 30 seconds."


def test_plain_documents_come_out():  # LC#28511
    for document in COMPRESSOR.compress_documents(make_documents(), QUERY):
        assert type(document) is Document
        assert dumpd(document)["id"] == ["langchain", "schema", "document", "Document"]


def test_no_metadata_is_dropped_or_replaced():  # LC#19142
    given = make_documents()
    kept = COMPRESSOR.compress_documents(given, QUERY)
    assert kept
    for document in kept:
        before = given[record_of(document)["index"]].metadata
        assert document.metadata == {**before, "ctxcompress": record_of(document)}


def test_results_go_into_json_though_scores_were_of_numpy():
    given = [
        Document(page_content=text, metadata={"relevance_score": np.float32(0.1 * n)}) for n, text in enumerate(TEXTS)
    ]
    compressor = CtxCompressor(metadata_map={"score": "relevance_score"})
    for document in compressor.compress_documents(given, QUERY):
        assert json.loads(json.dumps(record_of(document), allow_nan=False)) == record_of(document)


@pytest.mark.parametrize("direction", [1, -1], ids=["similarity", "distance"])
def test_a_score_is_not_taken_for_a_similarity_unasked(direction):  # LC#4517, LC#38506
    def scored(sign: int) -> list[Document]:
        texts = enumerate(TEXTS)
        return [
            Document(page_content=text, metadata={"score": sign * n, "relevance_score": sign * n}) for n, text in texts
        ]

    plain = COMPRESSOR.compress_documents([Document(page_content=text) for text in TEXTS], QUERY)
    kept = COMPRESSOR.compress_documents(scored(direction), QUERY)
    assert [document.page_content for document in kept] == [document.page_content for document in plain]


def test_a_retriever_that_loses_scores_is_enough():  # LC#4710, LC#5416
    base = make_store(make_documents()).as_retriever()
    kept = CtxCompressRetriever(base_retriever=base, compressor=COMPRESSOR).invoke(QUERY)
    assert kept
    assert all("score" not in document.metadata for document in kept)


@pytest.mark.parametrize("max_tokens", [10, 50, 200])
def test_tokens_are_capped_in_the_joined_text(max_tokens):  # LC#28018, and a target of 10 that gave 19
    kept = CtxCompressor(max_tokens=max_tokens).compress_documents(make_documents(20), QUERY)
    assert tokens_in_prompt(kept) <= max_tokens


def test_something_comes_back_though_no_document_fits():  # LC#7640, LC#7168
    given = [Document(page_content=f"{LONG} {ANSWER} {LONG}"), Document(page_content=LONG)]
    kept = COMPRESSOR.compress_documents(given, QUERY)
    assert ANSWER in "".join(document.page_content for document in kept)
    assert tokens_in_prompt(kept) <= 60


def test_something_comes_back_though_no_word_of_the_query_occurs():  # LC#7640, LC#7168
    assert COMPRESSOR.compress_documents([Document(page_content=LONG)], "zyzzyva quokka")


async def test_async_is_there_and_gives_the_same():  # LC#3587
    base = make_store(make_documents(12)).as_retriever(search_kwargs={"k": 12})
    retriever = CtxCompressRetriever(base_retriever=base, compressor=COMPRESSOR)
    assert await retriever.ainvoke(QUERY) == retriever.invoke(QUERY)


def test_the_compressor_is_visible_in_the_trace():
    collector = RunCollectorCallbackHandler()
    base = make_store(make_documents()).as_retriever()
    CtxCompressRetriever(base_retriever=base, compressor=COMPRESSOR).invoke(QUERY, {"callbacks": [collector]})
    [run] = collector.traced_runs
    assert [child.name for child in run.child_runs] == ["VectorStoreRetriever", "CtxCompressor"]


def test_a_document_with_the_score_none_is_not_dropped_for_it():
    compressor = CtxCompressor(metadata_map={"score": "relevance_score"})
    given = [
        Document(page_content=TEXTS[n], metadata={"relevance_score": score}) for n, score in enumerate((0.9, None))
    ]
    assert [document.page_content for document in compressor.compress_documents(given, QUERY)] == list(TEXTS[:2])


def test_sentences_and_documents_stay_in_their_order():
    given = [Document(page_content=f"{LONG} {ANSWER} {LONG} Again: {ANSWER}") for _ in range(3)]
    check_verbatim(given, CtxCompressor(max_tokens=150).compress_documents(given, QUERY))


def test_the_retrieval_score_is_not_overwritten_and_stays_with_its_document():
    given = [Document(page_content=text, metadata={"relevance_score": n / 7}) for n, text in enumerate(TEXTS)]
    kept = COMPRESSOR.compress_documents(given, QUERY)
    assert kept
    check_verbatim(given, kept)
    assert all(document.metadata["relevance_score"] == record_of(document)["index"] / 7 for document in kept)


def test_what_is_kept_can_be_cited_by_exact_offsets():
    given = [Document(page_content=f"# Ships\n\n{LONG}\n\n{ANSWER} {LONG}")]
    check_verbatim(given, COMPRESSOR.compress_documents(given, QUERY))


@pytest.mark.parametrize("text", ["", "a", "Yes.", "\n"], ids=repr)
def test_tiny_texts_pass_through(text):
    kept = COMPRESSOR.compress_documents([Document(page_content=text)], QUERY)
    assert "".join(document.page_content for document in kept).strip() == text.strip()


def test_no_word_is_garbled():
    words = set(f"{LONG} {ANSWER}".split())
    kept = COMPRESSOR.compress_documents([Document(page_content=f"{LONG} {ANSWER} {LONG}")], QUERY)
    assert {word for document in kept for word in document.page_content.split()} <= words
