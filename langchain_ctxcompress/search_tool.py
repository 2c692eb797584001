"""The search tool for agents: it compresses what a retriever finds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from langchain_core.callbacks import Callbacks
from langchain_core.documents import Document
from langchain_core.retrievers import RetrieverLike
from langchain_core.runnables import run_in_executor
from langchain_core.tools import BaseTool, StructuredTool

from ctxcompress.adapters.component_options import ConfigSource, Preset
from ctxcompress.adapters.input_models import query_input
from ctxcompress.agents.prompt_size import with_window
from ctxcompress.agents.query_tool import DESCRIPTION, NAME, Answer, QueryTool
from langchain_ctxcompress.compressor import CtxCompressor, load_tracers
from langchain_ctxcompress.convert import check_retriever, compressed_document, passages_from_documents
from langchain_ctxcompress.window import context_window

__all__ = ["Found", "query_tool"]


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
