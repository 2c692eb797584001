"""LangChain's own standard tests, of each retriever and each tool."""

from typing import Any

import lc_tools
import pytest
from langchain_core.documents import Document
from langchain_core.tools import BaseTool
from lc_documents import QUERY, make_documents, make_store

from ctxcompress.agents.left_out import MemoryStore
from langchain_ctxcompress import (
    CtxCompressor,
    CtxCompressRetriever,
    compress_tool,
    expand_tool,
    preview_tools,
    query_tool,
)
from langchain_ctxcompress.retriever import ScoredSearch

standard = pytest.importorskip("langchain_tests.integration_tests", reason="langchain-tests is not installed")
unit = pytest.importorskip("langchain_tests.unit_tests", reason="langchain-tests is not installed")


def _store() -> Any:
    return make_store(make_documents())


class _Retrievers(standard.RetrieversIntegrationTests):
    @property
    def retriever_query_example(self) -> str:
        return QUERY


class TestCtxCompressRetriever(_Retrievers):
    @property
    def retriever_constructor(self) -> type[CtxCompressRetriever]:
        return CtxCompressRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, object]:
        return {"base_retriever": _store().as_retriever(), "compressor": CtxCompressor(max_tokens=5_000)}


class TestDecomposingRetriever(TestCtxCompressRetriever):
    @property
    def retriever_constructor_params(self) -> dict[str, object]:
        return {"base_retriever": _store().as_retriever(), "preset": "web", "decompose": True}


class TestScoredSearch(_Retrievers):
    @property
    def retriever_constructor(self) -> type[ScoredSearch]:
        return ScoredSearch

    @property
    def retriever_constructor_params(self) -> dict[str, object]:
        return {"store": _store(), "score_kind": "similarity"}


def test_the_standard_tests_saw_documents():
    retriever = CtxCompressRetriever(**TestCtxCompressRetriever().retriever_constructor_params)
    assert all(isinstance(document, Document) for document in retriever.invoke(QUERY))
    assert len(retriever.invoke(QUERY)) == 4


class _Tools(unit.ToolsUnitTests, standard.ToolsIntegrationTests):
    """Both of the suites for tools, which are independent of each other."""

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        return {"query": QUERY}

    # Each suite has such a test of itself, which takes the tests of the other one for overrides.
    test_no_overrides_DO_NOT_OVERRIDE = None  # noqa: N815


class TestExpandTool(_Tools):
    @property
    def tool_constructor(self) -> BaseTool:
        store = MemoryStore()
        store.put("", "ctx-3f2a91c4", "The whole text.")
        return expand_tool(store)

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        return {"handle": "ctx-3f2a91c4", "lines": "1"}


class TestQueryTool(_Tools):
    @property
    def tool_constructor(self) -> BaseTool:
        return query_tool(_store().as_retriever())


class TestSearchPreviews(_Tools):
    @property
    def tool_constructor(self) -> BaseTool:
        return preview_tools(_store().as_retriever())[0]


class TestExpandChunk(_Tools):
    @property
    def tool_constructor(self) -> BaseTool:
        search, expand = preview_tools(_store().as_retriever())
        search.invoke({"query": QUERY})
        return expand

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        return {"chunk_id": "0", "max_tokens": 50}


class TestCompressedTool(_Tools):
    @property
    def tool_constructor(self) -> BaseTool:
        return compress_tool(lc_tools.web_search)


class TestCompressedPage(_Tools):
    @property
    def tool_constructor(self) -> BaseTool:
        return compress_tool(lc_tools.fetch_page, max_tokens=100)

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        return {"url": "https://a.example"}
