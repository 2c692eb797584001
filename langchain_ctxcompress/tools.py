"""Tools for agents: two that show a line for each result and open a result, and one whose results are compressed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict

from langchain_core.callbacks import Callbacks
from langchain_core.documents import Document
from langchain_core.retrievers import RetrieverLike
from langchain_core.runnables import run_in_executor
from langchain_core.tools import BaseTool, StructuredTool, ToolException

from ctxcompress import Compression, CompressionConfig, Compressor, Passage
from ctxcompress.adapters.component_options import ConfigSource, Preset
from ctxcompress.adapters.input_models import ExpandInput, SearchInput, query_input
from ctxcompress.agents.framework_models import with_window
from ctxcompress.agents.preview_tools import EXPAND, NOTHING, SEARCH, PreviewTools
from ctxcompress.agents.query_tool import DESCRIPTION, NAME, Answer, QueryTool
from ctxcompress.errors import InputError
from langchain_ctxcompress.compressor import CtxCompressor, load_tracers
from langchain_ctxcompress.convert import check_retriever, compressed_document, passages_from_documents
from langchain_ctxcompress.window import context_window

__all__ = ["Found", "preview_tools", "query_tool"]


def preview_tools(
    retriever: RetrieverLike,
    *,
    max_tokens: int | None = None,
    max_remembered: int = 1_000,
    preset: Preset | None = None,
    config: ConfigSource | None = None,
    **options: Any,
) -> tuple[BaseTool, BaseTool]:
    """Return the tools `search_previews` and `expand_chunk`, with which an agent sees much and reads what it needs.

    `search_previews(query)` returns one line for each result, `[id] (relevance) title › headings: best sentence`, in at
    most `max_tokens` tokens (1,000 if neither this nor `tier` is given), the most relevant ones if not all fit. Its
    artifact is the documents of these lines: copies with the sentence, as CtxCompressor makes them, under the ids of
    the lines.
    `expand_chunk(chunk_id, max_tokens=None)` returns the full text, or the parts of it that best answer the last query
    that found it. An unknown id gives a message with status "error".

    The id is the document's own if it fits into a line, otherwise a short hash of its text and source: the same in
    every search. Two different texts never have the same id. The pair remembers the last `max_remembered` documents
    that were found, or all of the last search if these are more; the least recently found are forgotten first.

    retriever: a retriever, or any runnable from a query to a list of documents; its run is a child of the tool's run.
    preset, config: the options to start from; config is a CompressionConfig or the path of a TOML or JSON file.
    options: those of CtxCompressor other than `format`, such as `min_score`, `top_n`, `order`, `adaptive`.

    Raises ValueError for a wrong value. The tools raise what the retriever or an encoder raises.
    """
    check_retriever(retriever)
    previews = CtxCompressor(max_tokens=max_tokens, format="preview", preset=preset, config=config, **options).config
    pair = _Pair(retriever, PreviewTools(Compressor(previews), max_remembered=max_remembered))
    search = StructuredTool(
        name="search_previews",
        description=SEARCH,
        args_schema=SearchInput,
        func=pair.search,
        coroutine=pair.asearch,
        response_format="content_and_artifact",
    )
    expand = StructuredTool(
        name="expand_chunk",
        description=EXPAND,
        args_schema=ExpandInput,
        func=pair.expand,
        coroutine=pair.aexpand,
        handle_tool_error=True,
    )
    return search, expand


@dataclass(frozen=True, slots=True, eq=False)
class _Pair:
    """The calls of the two tools."""

    retriever: RetrieverLike
    tools: PreviewTools

    def search(self, query: str, callbacks: Callbacks = None) -> tuple[str, list[Document]]:
        documents = self.retriever.invoke(query, {"callbacks": callbacks})
        found = self._found(query, documents)
        compression = self.tools.compressor.compress(query, [passage for _, passage in found])
        return _shown(found, compression, self.tools.compressor.config)

    async def asearch(self, query: str, callbacks: Callbacks = None) -> tuple[str, list[Document]]:
        documents = await self.retriever.ainvoke(query, {"callbacks": callbacks})
        # Documents with large metadata take time to read and copy.
        found = await run_in_executor(None, self._found, query, documents)
        compression = await self.tools.compressor.acompress(query, [passage for _, passage in found])
        return await run_in_executor(None, _shown, found, compression, self.tools.compressor.config)

    def expand(self, chunk_id: str, max_tokens: int | None = None) -> str:
        try:
            return self.tools.expand(chunk_id, max_tokens)
        except InputError as error:
            raise ToolException(str(error)) from error

    async def aexpand(self, chunk_id: str, max_tokens: int | None = None) -> str:
        try:
            return await self.tools.aexpand(chunk_id, max_tokens)
        except InputError as error:
            raise ToolException(str(error)) from error

    def _found(self, query: str, documents: Sequence[Document]) -> list[tuple[Document, Passage]]:
        passages = passages_from_documents(documents, self.tools.compressor.config)
        own = [replace(passage, id=document.id or "") for document, passage in zip(documents, passages, strict=True)]
        return self.tools.remember_items(query, documents, own)


def _shown(
    found: Sequence[tuple[Document, Passage]], compression: Compression, config: CompressionConfig
) -> tuple[str, list[Document]]:
    copies = [compressed_document(found[kept.index][0], kept, config) for kept in compression.passages]
    for copy, kept in zip(copies, compression.passages, strict=True):
        copy.id = kept.id
    return compression.text or NOTHING, copies


class Found(TypedDict):
    """The artifact of `query_documents_compressed`."""

    documents: list[Document]
    """Copies with the kept text, as CtxCompressor makes them."""
    compression_stats: dict[str, Any]
    """The results after each step, the tokens before and after, and the steps that were skipped."""


def query_tool(
    retriever: RetrieverLike,
    *,
    max_tokens: int | None = None,
    preset: Preset | None = None,
    config: ConfigSource | None = None,
    **options: Any,
) -> BaseTool:
    """Make the tool `query_documents_compressed` with the arguments query, top_n, min_score, similarity_threshold,
    ngram_threshold, show_stats and filters.

    It returns the parts of the found documents that answer the query, each under a line with its source, in at most
    `max_tokens` tokens (1,000 if neither this nor `tier` is given), statistics included. Results that score below
    `min_score`, relative to the best one, are dropped, and so are duplicates. The tool's artifact has "documents",
    copies with the kept text, as CtxCompressor makes them, and "compression_stats", the numbers of `show_stats`.

    top_n is 1 to 100, min_score 0 to 1, similarity_threshold 0.5 to 1, ngram_threshold 0.1 to 1; null switches one
    filter off, filters=false all of them. Another value gives a message with status "error". Scores and embeddings are
    used where documents carry them; see `CtxCompressRetriever` and `ScoredSearch`.

    retriever: a retriever, or any runnable from a query to a list of documents; its run is a child of the tool's run.
    It should find more documents than fit, so that there is a choice.
    preset, config: the options to start from, by default the preset "docs"; config is a CompressionConfig or the path
    of a TOML or JSON file. options: those of CtxCompressor. The arguments of a call default to them.

    Raises ValueError for a wrong value. The tool raises what the retriever or an encoder raises.
    """
    check_retriever(retriever)
    given = CtxCompressor.of_core(with_window(options, context_window))
    tool = QueryTool.of(config, preset=preset, max_tokens=max_tokens, **given)
    load_tracers()
    search = _Search(retriever, tool)
    return StructuredTool(
        name=NAME,
        description=DESCRIPTION,
        args_schema=query_input(tool.parameters),
        func=search.query,
        coroutine=search.aquery,
        response_format="content_and_artifact",
        handle_validation_error=_message,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """The calls of the tool."""

    retriever: RetrieverLike
    tool: QueryTool

    def query(self, callbacks: Callbacks = None, **given: Any) -> tuple[str, Found]:
        asked = self.tool.parameters.read(given)
        documents = self.retriever.invoke(asked.query, {"callbacks": callbacks})
        found = self.tool.answer(asked, passages_from_documents(documents, self.tool.config))
        return self._shown(documents, found)

    async def aquery(self, callbacks: Callbacks = None, **given: Any) -> tuple[str, Found]:
        asked = self.tool.parameters.read(given)
        documents = await self.retriever.ainvoke(asked.query, {"callbacks": callbacks})
        # Documents with large metadata take time to read and copy.
        passages = await run_in_executor(None, passages_from_documents, documents, self.tool.config)
        found = await self.tool.answer_off_loop(asked, passages)
        return await run_in_executor(None, self._shown, documents, found)

    def _shown(self, documents: Sequence[Document], found: Answer) -> tuple[str, Found]:
        kept = [compressed_document(documents[part.index], part, self.tool.config) for part in found.kept]
        return found.text, Found(documents=kept, compression_stats=found.compression_stats())


def _message(error: Any) -> str:
    """Return what is wrong with the arguments, for the model to read. error: pydantic's, of either version."""
    return "; ".join(found["msg"].removeprefix("Value error, ") for found in error.errors())
