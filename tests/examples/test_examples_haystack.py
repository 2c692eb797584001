"""The component of examples/ in real pipelines of Haystack."""

from copy import deepcopy
from itertools import pairwise
from typing import Any

import pytest

pytest.importorskip("haystack", reason="haystack-ai is not installed")

from example_texts import ANSWER, LOG, MANUAL, QUERY
from haystack import Document, Pipeline
from haystack.components.builders import PromptBuilder
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack_component import CtxDocumentCompressor

from ctxcompress import Compressor

TEMPLATE = "{% for document in documents %}{{ document.content }}\n\n{% endfor %}{{ query }}"


def given() -> list[Document]:
    return [
        Document(id="manual", content=MANUAL, score=0.4, meta={"title": "Manual", "pages": [1, 2]}, embedding=[0.5]),
        Document(id="log", content=LOG, score=0.9, meta={"file_path": "build.log"}),
        Document(id="picture", meta={"alt": ["a harbour"]}),
    ]


def pipeline_of(compressor: CtxDocumentCompressor, documents: list[Document]) -> Pipeline:
    store = InMemoryDocumentStore()
    store.write_documents(documents)
    pipeline = Pipeline()
    pipeline.add_component("retriever", InMemoryBM25Retriever(store))
    pipeline.add_component("compressor", compressor)
    pipeline.add_component("prompt", PromptBuilder(TEMPLATE, required_variables=["documents", "query"]))
    pipeline.connect("retriever.documents", "compressor.documents")
    pipeline.connect("compressor.documents", "prompt.documents")
    return pipeline


def inputs() -> dict[str, Any]:
    return {name: {"query": QUERY} for name in ("retriever", "compressor", "prompt")}


def test_the_prompt_has_the_answer_within_the_budget() -> None:
    prompt = pipeline_of(CtxDocumentCompressor(max_tokens=120), given()[:2]).run(inputs())["prompt"]["prompt"]
    assert ANSWER in prompt
    assert Compressor().count(prompt.removesuffix(QUERY).strip()) <= 120


async def test_async_pipelines_have_the_same_documents() -> None:
    compressor = CtxDocumentCompressor(max_tokens=120)
    assert await compressor.run_async(query=QUERY, documents=given()) == compressor.run(query=QUERY, documents=given())
    ran = await pipeline_of(CtxDocumentCompressor(max_tokens=120), given()[:2]).run_async(inputs())
    assert ANSWER in ran["prompt"]["prompt"]


def test_documents_are_new_and_say_where_their_texts_come_from() -> None:
    documents = given()
    found = CtxDocumentCompressor(max_tokens=200, keep_all_sources=True).run(query=QUERY, documents=documents)
    assert documents == given()
    for one, new in zip(documents, found["documents"], strict=True):
        assert (new.id, new.score) == (one.id, one.score)
        assert new is not one
        assert new.meta is not one.meta
        record = new.meta.pop("ctxcompress", None)
        assert new.meta == one.meta
        if one.content is None:
            assert record is None
            continue
        assert documents[record["index"]] is one
        assert all(end <= start for (_, end), (start, _) in pairwise(record["spans"]))
        pieces = "".join(one.content[start:end] for start, end in record["spans"])
        assert "".join(pieces.split()) == "".join(new.content.replace("[…]", "").split())
        assert record["tokens"] == Compressor().count(new.content)
    assert found["documents"][0].embedding is None
    found["documents"][0].meta["pages"].append(3)
    assert documents == given()


def test_what_fits_is_untouched() -> None:
    documents = [Document(content="The timeout is 30 seconds.", embedding=[0.5]), Document(content="No.")]
    kept = CtxDocumentCompressor(max_tokens=100).run(query=QUERY, documents=deepcopy(documents))["documents"]
    assert [(each.content, each.embedding) for each in kept] == [(each.content, each.embedding) for each in documents]
    assert CtxDocumentCompressor().run(query=QUERY, documents=[]) == {"documents": []}


def test_the_scores_of_the_retriever_count() -> None:
    kept = CtxDocumentCompressor(min_score=0.6).run(query=QUERY, documents=given())["documents"]
    assert [each.id for each in kept] == ["log", "picture"]


def test_the_index_counts_documents_without_text() -> None:
    documents = list(reversed(given()))
    kept = CtxDocumentCompressor(max_tokens=120).run(query=QUERY, documents=documents)["documents"]
    assert kept[-1] == documents[0]
    assert all(documents[each.meta["ctxcompress"]["index"]].id == each.id for each in kept[:-1])


def test_a_pipeline_is_written_down_and_read_again() -> None:
    compressor = CtxDocumentCompressor(max_tokens=150, must_keep=["INFO compiled module 12"], adaptive=0.2)
    pipeline = pipeline_of(compressor, given()[:2])
    read = Pipeline.loads(pipeline.dumps(), allowed_modules=["haystack_component"])
    assert read.to_dict()["components"] == pipeline.to_dict()["components"]
    again = read.get_component("compressor")
    assert again.run(query=QUERY, documents=given()) == compressor.run(query=QUERY, documents=given())
    assert CtxDocumentCompressor.from_dict(compressor.to_dict()).options == compressor.options


def test_a_wrong_option_is_refused_when_the_component_is_made() -> None:
    with pytest.raises(ValueError, match="did you mean 'max_tokens'"):
        CtxDocumentCompressor(max_token=5)
    with pytest.raises(ValueError, match="max_tokens"):
        CtxDocumentCompressor(max_tokens=0)
