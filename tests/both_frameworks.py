"""One way through each adapter, so that a test can be the same for both."""

import ast
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import StructuredTool
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler
from langchain_core.utils.function_calling import convert_to_openai_tool
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.core.tools import FunctionTool
from pydantic import Field

import langchain_ctxcompress as lc
import llamaindex_ctxcompress as li
from ctxcompress.apps.feedback import FeedbackLog
from ctxcompress.apps.research import ResearchCache

__all__ = ["Chunk", "Framework", "both"]

Options = Mapping[str, Any]


@dataclass(frozen=True)
class Chunk:
    """What a retriever found."""

    text: str
    source: str = "page.md"
    score: float = 0.5
    section: str = ""

    @property
    def metadata(self) -> dict[str, Any]:
        return {"source": self.source, **({"header_path": self.section} if self.section else {})}


Find = Callable[[str], Sequence[Chunk]]
"""Returns what is found for a query."""


@dataclass(frozen=True)
class Framework:
    """One way through an adapter, for all situations."""

    compressed: Callable[[Sequence[Chunk], str, Options], tuple[list[str], str]]
    """From chunks, query and options to the texts, and all of them as the language model reads them."""
    stats: Callable[[Sequence[Chunk], str, Options], Mapping[str, Any]]
    """From the same to the statistics, as the framework's own observers get them."""
    searched: Callable[[Options, str, Options], Mapping[str, Any]]
    """From the results of a search service, query and options of the tool to what the agent gets."""
    query_tool: Callable[[Find, Options], tuple[Mapping[str, Any], Callable[..., str]]]
    """From a search and options to the search tool: its schema, and its answer to arguments."""
    preview_tools: Callable[[Find], tuple[Callable[..., str], Callable[..., str]]]
    """From a search to the tools that browse and expand its results."""
    decomposed: Callable[[Find, str], list[str]]
    """From a search and a question to the texts that the decomposing retriever returns."""
    researched: Callable[[Find, ResearchCache], Callable[[str], list[str]]]
    """From a search and a cache to a retriever that reuses the contexts of earlier questions."""
    built: Callable[[Sequence[tuple[Sequence[Chunk], str]], Options], tuple[list[str], int]]
    """From searches and options of a context builder to what it shows after each, and the room that is left."""
    recorded: Callable[[Sequence[Chunk], str, FeedbackLog, str], int]
    """From chunks, query, log and answer to the number of passages that the feedback names."""


def _documents(chunks: Sequence[Chunk]) -> list[Document]:
    return [
        Document(each.text, id=f"{each.source}-{n}", metadata={**each.metadata, "score": each.score})
        for n, each in enumerate(chunks)
    ]


def _nodes(chunks: Sequence[Chunk]) -> list[NodeWithScore]:
    return [
        NodeWithScore(node=TextNode(text=each.text, id_=f"{each.source}-{n}", metadata=each.metadata), score=each.score)
        for n, each in enumerate(chunks)
    ]


def _text(document: Document | NodeWithScore) -> str:
    return document.page_content if isinstance(document, Document) else document.node.get_content()


def _shape(options: Options) -> dict[str, Any]:
    return {"format": options["format"]} if "format" in options else {}


class _Results:
    """A tool that returns these results."""

    def __init__(self, results: Options) -> None:
        self._results = dict(results)

    def search(self, query: str) -> dict[str, Any]:
        """Search the web."""
        return self._results


# ---- LangChain


def _retriever(find: Find) -> Any:
    return RunnableLambda(lambda query: _documents(find(query)), name="finder")


def _compressor(options: Options) -> lc.CtxCompressor:
    return lc.CtxCompressor(**{"metadata_map": {"score": "score"}, **options})


def _langchain(chunks: Sequence[Chunk], query: str, options: Options) -> tuple[list[str], str]:
    kept = _compressor(options).compress_documents(_documents(chunks), query)
    return [_text(document) for document in kept], lc.format_documents(kept, **_shape(options))


def _langchain_stats(chunks: Sequence[Chunk], query: str, options: Options) -> Mapping[str, Any]:
    collector = RunCollectorCallbackHandler()
    _compressor(options).compress_documents(_documents(chunks), query, callbacks=[collector])
    stats: Mapping[str, Any] = (collector.traced_runs[0].outputs or {})["stats"]
    return stats


def _langchain_searched(results: Options, query: str, options: Options) -> Mapping[str, Any]:
    tool = lc.compress_tool(StructuredTool.from_function(_Results(results).search), min_tokens=1, **options)
    found = tool.invoke({"query": query})
    return json.loads(found) if isinstance(found, str) else found


def _langchain_query_tool(find: Find, options: Options) -> tuple[Mapping[str, Any], Callable[..., str]]:
    tool = lc.query_tool(_retriever(find), **{"metadata_map": {"score": "score"}, **options})
    return convert_to_openai_tool(tool)["function"], lambda **given: str(tool.invoke(given))


def _langchain_preview_tools(find: Find) -> tuple[Callable[..., str], Callable[..., str]]:
    search, expand = lc.preview_tools(_retriever(find))
    return lambda **given: str(search.invoke(given)), lambda **given: str(expand.invoke(given))


def _langchain_decomposed(find: Find, query: str) -> list[str]:
    retriever = lc.CtxCompressRetriever(
        base_retriever=_retriever(find), compressor=lc.CtxCompressor(max_tokens=500), decompose=True
    )
    return [_text(document) for document in retriever.invoke(query)]


def _langchain_researched(find: Find, cache: ResearchCache) -> Callable[[str], list[str]]:
    retriever = lc.CtxResearchRetriever(base_retriever=_retriever(find), research_cache=cache)
    return lambda query: [_text(document) for document in retriever.invoke(query)]


def _langchain_built(searches: Sequence[tuple[Sequence[Chunk], str]], options: Options) -> tuple[list[str], int]:
    builder, shown = lc.CtxContextBuilder(**options), []
    for chunks, query in searches:
        builder.add(_documents(chunks), query=query)
        shown.append(builder.render())
    return shown, builder.remaining


def _langchain_recorded(chunks: Sequence[Chunk], query: str, log: FeedbackLog, answer: str) -> int:
    return lc.record(
        _compressor({"feedback": log}).compress_documents(_documents(chunks), query), log=log, answer=answer
    )


# ---- LlamaIndex


class _Finder(BaseRetriever):
    def __init__(self, find: Find) -> None:
        super().__init__()
        self._find = find

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return _nodes(self._find(query_bundle.query_str))


class _Heard(BaseEventHandler):
    stats: list[Mapping[str, Any]] = Field(default_factory=list)

    @classmethod
    def class_name(cls) -> str:
        return "Heard"

    def handle(self, event: Any, **_: Any) -> None:
        if event.class_name() == "CompressionEvent":
            self.stats.append(event.stats)


@contextmanager
def _hearing() -> Iterator[_Heard]:
    handler, root = _Heard(), get_dispatcher()
    before = list(root.event_handlers)
    root.event_handlers = [*before, handler]
    yield handler
    root.event_handlers = before


def _llamaindex(chunks: Sequence[Chunk], query: str, options: Options) -> tuple[list[str], str]:
    kept = li.CtxCompressPostprocessor(**options).postprocess_nodes(_nodes(chunks), QueryBundle(query))
    return [_text(node) for node in kept], li.format_nodes(kept, **_shape(options))


def _llamaindex_stats(chunks: Sequence[Chunk], query: str, options: Options) -> Mapping[str, Any]:
    with _hearing() as heard:
        _llamaindex(chunks, query, options)
    return heard.stats[0]


def _llamaindex_searched(results: Options, query: str, options: Options) -> Mapping[str, Any]:
    tool = li.compress_tool(FunctionTool.from_defaults(_Results(results).search), min_tokens=1, **options)
    found: Mapping[str, Any] = ast.literal_eval(tool(query=query).content)
    return found


def _llamaindex_query_tool(find: Find, options: Options) -> tuple[Mapping[str, Any], Callable[..., str]]:
    tool = li.query_tool(_Finder(find), **options)
    return tool.metadata.to_openai_tool()["function"], lambda **given: tool(**given).content


def _llamaindex_preview_tools(find: Find) -> tuple[Callable[..., str], Callable[..., str]]:
    search, expand = li.preview_tools(_Finder(find))
    return lambda **given: search(**given).content, lambda **given: expand(**given).content


def _llamaindex_decomposed(find: Find, query: str) -> list[str]:
    return [_text(node) for node in li.CtxCompressRetriever(_Finder(find), max_tokens=500).retrieve(query)]


def _llamaindex_researched(find: Find, cache: ResearchCache) -> Callable[[str], list[str]]:
    retriever = li.CtxResearchRetriever(_Finder(find), cache)
    return lambda query: [_text(node) for node in retriever.retrieve(query)]


def _llamaindex_built(searches: Sequence[tuple[Sequence[Chunk], str]], options: Options) -> tuple[list[str], int]:
    builder, shown = li.CtxContextBuilder(**options), []
    for chunks, query in searches:
        builder.add(_nodes(chunks), query=query)
        shown.append(builder.render())
    return shown, builder.remaining


def _llamaindex_recorded(chunks: Sequence[Chunk], query: str, log: FeedbackLog, answer: str) -> int:
    kept = li.CtxCompressPostprocessor(feedback=log).postprocess_nodes(_nodes(chunks), QueryBundle(query))
    return li.record(kept, log=log, answer=answer)


_FRAMEWORKS = {
    "langchain": Framework(
        _langchain,
        _langchain_stats,
        _langchain_searched,
        _langchain_query_tool,
        _langchain_preview_tools,
        _langchain_decomposed,
        _langchain_researched,
        _langchain_built,
        _langchain_recorded,
    ),
    "llamaindex": Framework(
        _llamaindex,
        _llamaindex_stats,
        _llamaindex_searched,
        _llamaindex_query_tool,
        _llamaindex_preview_tools,
        _llamaindex_decomposed,
        _llamaindex_researched,
        _llamaindex_built,
        _llamaindex_recorded,
    ),
}
both = pytest.mark.parametrize("framework", _FRAMEWORKS.values(), ids=_FRAMEWORKS)
