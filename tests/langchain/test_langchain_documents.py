"""What comes out: copies of the given documents, with less text and one metadata key more."""

import copy
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from langchain_core.documents import Document
from lc_documents import QUERY, TEXTS, as_json, check_verbatim, make_documents, make_store, record_of, tokens_in_prompt
from pydantic import Field, PrivateAttr

from ctxcompress import CompressionConfig
from langchain_ctxcompress import CtxCompressor
from langchain_ctxcompress.convert import passages_from_documents

ROOMY = CtxCompressor(max_tokens=100_000)
TIGHT = CtxCompressor(max_tokens=60)


class Chunk(Document):
    """A user's own document class."""

    page: int = 0
    boxes: list[list[float]] = Field(default_factory=list)
    _seen: list[str] = PrivateAttr(default_factory=list)

    @property
    def seen(self) -> list[str]:
        """By whom it was seen."""
        return self._seen


class DocumentWithState(Document):
    """Shaped like the working state of LangChain's embedding filters."""

    state: dict[str, Any] = Field(default_factory=dict)

    def to_document(self) -> Document:
        return Document(page_content=self.page_content, metadata=self.metadata)


def test_no_documents_give_no_documents():
    assert ROOMY.compress_documents([], QUERY) == []


def test_what_fits_keeps_its_text_and_id_and_gains_one_key():
    given = make_documents()
    kept = ROOMY.compress_documents(given, QUERY)
    assert [(d.id, d.page_content) for d in kept] == [(d.id, d.page_content) for d in given]
    for index, (before, after) in enumerate(zip(given, kept, strict=True)):
        record = after.metadata.pop("ctxcompress")
        assert after.metadata == before.metadata
        assert list(after.metadata) == list(before.metadata)
        assert set(record) == {"spans", "tokens", "relevance", "index"}
        assert record["index"] == index
        assert record["tokens"] == tokens_in_prompt([before])


@pytest.mark.parametrize("compressor", [ROOMY, TIGHT], ids=["roomy", "tight"])
def test_texts_are_verbatim_and_in_source_order(compressor):
    given = make_documents(12)
    check_verbatim(given, compressor.compress_documents(given, QUERY))


@pytest.mark.parametrize("compressor", [ROOMY, TIGHT], ids=["roomy", "tight"])
def test_inputs_are_neither_changed_nor_shared(compressor):
    given = make_documents()
    before = copy.deepcopy(given)
    for document in compressor.compress_documents(given, QUERY):
        assert all(document is not other for other in given)
        document.metadata["loc"]["lines"]["from"] = 99
        document.metadata["tags"].append("changed")
        document.metadata["ctxcompress"]["spans"].clear()
        document.metadata["new"] = True
    assert given == before


def test_the_vector_store_is_not_changed_through_its_shared_metadata():
    store = make_store(make_documents())
    before = copy.deepcopy(store.store)
    for document in ROOMY.compress_documents(store.as_retriever(search_kwargs={"k": 5}).invoke(QUERY), QUERY):
        document.metadata["loc"]["lines"]["from"] = 99
    assert store.store == before


def test_the_same_list_in_two_places_of_the_metadata_stays_one_list():
    shared = ["a"]
    given = Document(page_content="A text.", metadata={"first": shared, "second": {"nested": shared}})
    [kept] = ROOMY.compress_documents([given], QUERY)
    assert kept.metadata["first"] is kept.metadata["second"]["nested"]
    assert kept.metadata["first"] is not shared


def test_metadata_that_contains_itself_is_copied():
    metadata = {"source": "a"}
    metadata["self"] = metadata
    given = Document(page_content="A text.", metadata=metadata)
    [kept] = ROOMY.compress_documents([given], QUERY)
    assert kept.metadata["source"] == "a"
    assert kept.metadata["self"] is not given.metadata["self"]


def test_a_value_that_refuses_to_be_copied_is_shared_and_its_neighbours_are_not():
    lock = threading.Lock()
    given = Document(page_content="A text.", metadata={"client": {"lock": lock, "hosts": ["a"]}, "tags": ["b"]})
    [kept] = ROOMY.compress_documents([given], QUERY)
    assert kept.metadata["client"]["lock"] is lock
    assert kept.metadata["client"]["hosts"] == ["a"]
    assert kept.metadata["client"]["hosts"] is not given.metadata["client"]["hosts"]
    assert kept.metadata["tags"] is not given.metadata["tags"]


def test_a_users_subclass_keeps_class_fields_and_private_attributes():
    given = Chunk(page_content=TEXTS[0], id="c", page=7, boxes=[[0.0, 1.0]], metadata={"tags": ["a"]})
    given.seen.append("index")
    [kept] = ROOMY.compress_documents([given], QUERY)
    assert type(kept) is Chunk
    assert (kept.id, kept.page, kept.boxes, kept.seen) == ("c", 7, [[0.0, 1.0]], ["index"])
    kept.boxes[0].append(2.0)
    kept.seen.append("changed")
    assert (given.boxes, given.seen) == ([[0.0, 1.0]], ["index"])
    assert "ctxcompress" not in given.metadata


def test_a_users_subclass_survives_metadata_that_refuses_to_be_copied():
    given = Chunk(page_content=TEXTS[0], page=7, boxes=[[0.0]], metadata={"lock": threading.Lock()})
    [kept] = ROOMY.compress_documents([given], QUERY)
    assert (type(kept), kept.page) == (Chunk, 7)
    assert kept.boxes is not given.boxes
    assert kept.metadata["lock"] is given.metadata["lock"]


def test_a_transformers_state_does_not_leak_out():  # LC#28511
    given = DocumentWithState(page_content=TEXTS[0], id="s", metadata={"source": "a"}, state={"embedded_doc": [0.1]})
    [kept] = ROOMY.compress_documents([given], QUERY)
    assert type(kept) is Document
    assert (kept.id, kept.metadata["source"]) == ("s", "a")
    assert "embedded_doc" not in kept.model_dump_json()


def test_compressing_again_gives_spans_into_the_document_that_was_given():
    once = TIGHT.compress_documents(make_documents(), QUERY)
    again = TIGHT.compress_documents(once, QUERY)
    assert [document.page_content for document in again] == [document.page_content for document in once]
    check_verbatim(once, again)
    assert [record_of(document)["index"] for document in again] == list(range(len(once)))


@pytest.mark.parametrize("max_tokens", [1, 2, 7, 25, 60, 120, 400])
@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base"])
def test_the_joined_text_never_exceeds_the_budget(max_tokens, encoding):
    compressor = CtxCompressor(max_tokens=max_tokens, encoding=encoding)
    kept = compressor.compress_documents(make_documents(12), QUERY)
    assert tokens_in_prompt(kept, encoding) <= max_tokens


def test_the_separator_counts_in_the_budget():
    separator = "\n\n======== another source ========\n\n"
    compressor = CtxCompressor(max_tokens=80, separator=separator)
    kept = compressor.compress_documents(make_documents(12), QUERY)
    assert tokens_in_prompt(kept, separator=separator) <= 80


def test_a_callable_counts_instead_of_tiktoken():
    compressor = CtxCompressor(max_tokens=40, encoding=str.split)
    kept = compressor.compress_documents(make_documents(), QUERY)
    assert 0 < len("\n\n".join(document.page_content for document in kept).split()) <= 40


def test_duplicate_ids_are_told_apart_by_position():
    given = [Document(page_content=text, id="same", metadata={"n": n}) for n, text in enumerate(TEXTS[:4])]
    kept = ROOMY.compress_documents(given, QUERY)
    assert [(document.id, document.metadata["n"]) for document in kept] == [("same", n) for n in range(4)]
    assert [document.page_content for document in kept] == list(TEXTS[:4])


def test_a_document_without_an_id_gets_none():
    [kept] = ROOMY.compress_documents([Document(page_content=TEXTS[0])], QUERY)
    assert kept.id is None


@pytest.mark.parametrize("query", [None, "", "   ", "?!", "\ud800"], ids=repr)
def test_a_query_that_asks_nothing_is_answered_within_the_budget(query):
    kept = TIGHT.compress_documents(make_documents(), query)
    assert tokens_in_prompt(kept) <= 60
    check_verbatim(make_documents(), kept)


@pytest.mark.parametrize(
    "text", ["", " ", "\n\n", "x", "\ud800", "👩‍👩‍👧", "a" * 5_000], ids=lambda text: repr(text[:9])
)
def test_an_odd_text_is_answered_within_the_budget(text):
    given = [Document(page_content=text), *make_documents(2)]
    kept = TIGHT.compress_documents(given, QUERY)
    check_verbatim(given, kept)
    assert kept


@pytest.mark.parametrize(
    "score",
    [None, "VERY_HIGH", "0.5", np.float32(0.5), np.float64(0.5), np.int64(3), float("nan"), True, [0.1], object()],
    ids=lambda score: type(score).__name__,
)
def test_any_score_in_the_metadata_is_kept_as_it_is(score):
    compressor = CtxCompressor(metadata_map={"score": "relevance_score"})
    given = [Document(page_content=TEXTS[0], metadata={"relevance_score": score, "score": score}), *make_documents(2)]
    kept = compressor.compress_documents(given, QUERY)
    assert len(kept) == 3
    assert type(kept[0].metadata["relevance_score"]) is type(score)
    assert str(kept[0].metadata["score"])[:8] == str(score)[:8]


def test_metadata_keys_need_not_be_strings():
    [kept] = ROOMY.compress_documents([Document(page_content="A text.", metadata={1: "one", None: 2})], QUERY)
    assert kept.metadata[1] == "one"


def test_the_record_is_made_of_native_types_and_goes_into_json():
    kept = TIGHT.compress_documents(make_documents(12), QUERY)
    assert as_json(kept)
    for record in map(record_of, kept):
        assert type(record["tokens"]) is int
        assert type(record["index"]) is int
        assert type(record["relevance"]) is float
        assert {type(offset) for span in record["spans"] for offset in span} == {int}
        assert {type(span) for span in record["spans"]} == {list}


@pytest.mark.parametrize(
    "given", ["text", ["text"], [None], [{"page_content": "text"}], Document(page_content="a"), None]
)
def test_what_is_not_a_list_of_documents_is_a_type_error(given):
    with pytest.raises(TypeError):
        ROOMY.compress_documents(given, QUERY)


async def test_async_gives_what_sync_gives():
    given = make_documents(12)
    assert await TIGHT.acompress_documents(given, QUERY) == TIGHT.compress_documents(given, QUERY)


def test_many_threads_share_one_compressor():
    given = make_documents(12)
    expected = TIGHT.compress_documents(given, QUERY)
    with ThreadPoolExecutor(16) as pool:
        results = list(pool.map(lambda _: TIGHT.compress_documents(given, QUERY), range(64)))
    assert all(result == expected for result in results)


def test_passages_get_what_the_metadata_says_of_where_they_come_from():
    given = [
        Document(page_content="a", id="x", metadata={"title": "T", "Header 1": "H", "Header 2": "I", "source": "a.md"}),
        Document(page_content="b", metadata={"name": "N", "headings": ["H", "I"], "rank": 0.5, "client": object()}),
    ]
    first, second = passages_from_documents(given, CompressionConfig(metadata_map={"title": "name", "score": "rank"}))
    assert (first.id, first.text, first.title, first.header_path) == ("x", "a", None, ("H", "I"))
    assert (first.file_path, first.score) == ("a.md", None)
    assert (second.id, second.title, second.header_path, second.score) == ("1", "N", ("H", "I"), 0.5)


def test_metadata_map_says_where_the_title_is():
    texts = ("It takes five days in spring and in summer.", "They ask for a form with two names on it.")
    subjects = ("Shipping", "Refunds")
    given = [
        Document(page_content=text, metadata={"subject": subject})
        for text, subject in zip(texts, subjects, strict=True)
    ]
    mapped = CtxCompressor(max_tokens=14, metadata_map={"title": "subject"})
    assert [kept.page_content for kept in mapped.compress_documents(given, "refunds")] == [texts[1]]
    assert [kept.page_content for kept in CtxCompressor(max_tokens=14).compress_documents(given, "refunds")] == [
        texts[0]
    ]
