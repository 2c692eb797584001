"""Tools for agents: two that show a line for each result and open a result, and one whose results are compressed."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.response.schema import RESPONSE_TYPE, AsyncStreamingResponse, Response
from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.schema import NodeWithScore
from llama_index.core.tools import FunctionTool

from ctxcompress import Compression, Compressor, Passage
from ctxcompress.adapters.component_options import ConfigSource, Preset
from ctxcompress.adapters.input_models import ExpandInput, SearchInput, query_input
from ctxcompress.adapters.records import check_kind
from ctxcompress.agents.framework_models import with_window
from ctxcompress.agents.preview_tools import EXPAND, NOTHING, SEARCH, PreviewTools
from ctxcompress.agents.query_tool import DESCRIPTION, NAME, Answer, QueryTool
from ctxcompress.errors import InputError
from llamaindex_ctxcompress.convert import compressed_or_same, passage_from_node
from llamaindex_ctxcompress.models import context_window
from llamaindex_ctxcompress.postprocessor import CtxCompressPostprocessor

__all__ = ["Found", "Previews", "preview_tools", "query_tool"]


class Previews(BaseModel):
    """The `raw_output` of `search_previews`."""

    text: str
    """The lines: everything that the language model reads."""
    nodes: list[NodeWithScore]
    """The nodes of the lines: copies with the sentence, as CtxCompressPostprocessor makes them."""

    def __str__(self) -> str:
        return self.text


def preview_tools(
    retriever: BaseRetriever,
    *,
    max_tokens: int | None = None,
    max_remembered: int = 1_000,
    preset: Preset | None = None,
    config: ConfigSource | None = None,
    **options: Any,
) -> tuple[FunctionTool, FunctionTool]:
    """Return the tools `search_previews` and `expand_chunk`, with which an agent sees much and reads what it needs.

    `search_previews(query)` returns one line for each result, `[id] (relevance) title › headings: best sentence`, in at
    most `max_tokens` tokens (1,000 if neither this nor `tier` is given), the most relevant ones if not all fit. Its raw
    output is a `Previews`, with copies of the nodes of these lines. Nodes never change.
    `expand_chunk(chunk_id, max_tokens=None)` returns the full text, or the parts of it that best answer the last query
    that found it. An unknown id gives a message that says what to do.

    The id is the node's: the same in every search. Two different texts never have the same id: where two nodes would,
    or where the id does not fit into a line, it is a short hash of the text and its source. The pair remembers the last
    `max_remembered` nodes that were found, or all of the last search if these are more; the least recently found are
    forgotten first.

    preset, config: the options to start from; config is a CompressionConfig or the path of a TOML or JSON file.
    options: those of CtxCompressPostprocessor other than `format`, `metadata_mode` and `trace_to`, such as
    `min_score`, `top_n`, `adaptive`.

    Raises ValueError for a wrong value or an unknown option. The tools raise ValueError for a `max_tokens` below 1,
    which agents show to the model, and whatever the retriever or an encoder raises.
    """
    check_kind("retriever", retriever, BaseRetriever, "a BaseRetriever")
    given = dict(format="preview", max_tokens=max_tokens, preset=preset, config=config, **options)
    previews = CtxCompressPostprocessor.config_of(given)
    pair = _Pair(retriever, PreviewTools(Compressor(previews), max_remembered=max_remembered))
    search = FunctionTool.from_defaults(
        fn=pair.search, async_fn=pair.asearch, name="search_previews", description=SEARCH, fn_schema=SearchInput
    )
    expand = FunctionTool.from_defaults(
        fn=pair.expand, async_fn=pair.aexpand, name="expand_chunk", description=EXPAND, fn_schema=ExpandInput
    )
    return search, expand


@dataclass(frozen=True, slots=True, eq=False)
class _Pair:
    """The calls of the two tools."""

    retriever: BaseRetriever
    tools: PreviewTools

    def search(self, query: str) -> Previews:
        found = self._found(query, self.retriever.retrieve(query))
        return _shown(found, self.tools.compressor.compress(query, [passage for _, passage in found]))

    async def asearch(self, query: str) -> Previews:
        nodes = await self.retriever.aretrieve(query)
        found = await asyncio.to_thread(self._found, query, nodes)
        compression = await self.tools.compressor.acompress(query, [passage for _, passage in found])
        return await asyncio.to_thread(_shown, found, compression)

    def expand(self, chunk_id: str, max_tokens: int | None = None) -> str:
        # The tool does not check what a model gives: an id of digits may come as a number.
        try:
            return self.tools.expand(str(chunk_id), max_tokens)
        except InputError as error:
            return str(error)

    async def aexpand(self, chunk_id: str, max_tokens: int | None = None) -> str:
        try:
            return await self.tools.aexpand(str(chunk_id), max_tokens)
        except InputError as error:
            return str(error)

    def _found(self, query: str, nodes: Sequence[NodeWithScore]) -> list[tuple[NodeWithScore, Passage]]:
        config = self.tools.compressor.config
        passages = [passage_from_node(item, config.metadata_map) for item in nodes]
        return self.tools.remember_items(query, nodes, passages)


def _shown(found: Sequence[tuple[NodeWithScore, Passage]], compression: Compression) -> Previews:
    nodes = [compressed_or_same(found[kept.index][0], kept) for kept in compression.passages]
    return Previews(text=compression.text or NOTHING, nodes=nodes)


class Found(BaseModel):
    """The `raw_output` of `query_documents_compressed`."""

    text: str
    """Everything that the language model reads."""
    response: str = ""
    """The full answer of a query engine."""
    nodes: list[NodeWithScore]
    """Copies of the nodes with the kept text, as CtxCompressPostprocessor makes them."""
    compression_stats: dict[str, Any]
    """The results after each step, the tokens before and after, and the steps that were skipped."""

    def __str__(self) -> str:
        return self.text


def query_tool(
    source: BaseRetriever | BaseQueryEngine,
    *,
    max_tokens: int | None = None,
    preset: Preset | None = None,
    config: ConfigSource | None = None,
    **options: Any,
) -> FunctionTool:
    """Make the tool `query_documents_compressed` with the arguments query, top_n, min_score, similarity_threshold,
    ngram_threshold, show_stats and filters.

    It returns the parts of the found nodes that answer the query, each under a line with its source, in at most
    `max_tokens` tokens (1,000 if neither this nor `tier` is given), statistics included. The answer of a query engine
    comes first, cut to half of these tokens. Results that score below `min_score`, relative to the best one, are
    dropped, and so are duplicates. The tool's raw output is a `Found`. Nodes never change.

    preset, config: the options to start from, by default the preset "docs"; config is a CompressionConfig or the path
    of a TOML or JSON file. options: those of CtxCompressPostprocessor other than `metadata_mode`. The arguments of a
    call default to them.

    Raises ValueError for an unknown option or a wrong value, also for the format "json" or "xml" with a query engine,
    whose answer comes first. The tool raises ValueError for an argument outside its limits (top_n 1 to 100, min_score 0
    to 1, similarity_threshold 0.5 to 1, ngram_threshold 0.1 to 1; null switches each of them off), which agents show to
    the model, and whatever the retriever, the engine or an encoder raises.
    """
    check_kind("source", source, (BaseRetriever, BaseQueryEngine), "a BaseRetriever or a BaseQueryEngine")
    given = CtxCompressPostprocessor.of_core(with_window(options, context_window))
    tool = QueryTool.of(config, preset=preset, max_tokens=max_tokens, **given)
    if tool.config.format in ("json", "xml") and not isinstance(source, BaseRetriever):
        raise ValueError(
            f"format is {tool.config.format!r} with a query engine, whose answer comes first as text; give 'compact', "
            "'verbose' or 'plain', or a retriever"
        )
    search = _Search(source, tool)
    return FunctionTool.from_defaults(
        fn=search.query,
        async_fn=search.aquery,
        name=NAME,
        description=DESCRIPTION,
        fn_schema=query_input(tool.parameters),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """The calls of the tool."""

    source: BaseRetriever | BaseQueryEngine
    tool: QueryTool

    def query(self, **given: Any) -> Found:
        asked = self.tool.parameters.read(given)
        if isinstance(self.source, BaseRetriever):
            lead, nodes = "", self.source.retrieve(asked.query)
        else:
            lead, nodes = _read(self.source.query(asked.query))
        found = self.tool.answer(asked, self._passages(nodes), lead=lead)
        return _found(lead, nodes, found)

    async def aquery(self, **given: Any) -> Found:
        asked = self.tool.parameters.read(given)
        if isinstance(self.source, BaseRetriever):
            lead, nodes = "", await self.source.aretrieve(asked.query)
        else:
            response = await self.source.aquery(asked.query)
            if isinstance(response, AsyncStreamingResponse):
                response = await response.get_response()
            lead, nodes = _read(response)
        passages = await asyncio.to_thread(self._passages, nodes)
        found = await self.tool.answer_off_loop(asked, passages, lead=lead)
        return await asyncio.to_thread(_found, lead, nodes, found)

    def _passages(self, nodes: Sequence[NodeWithScore]) -> list[Passage]:
        config = self.tool.config
        return [passage_from_node(item, config.metadata_map) for item in nodes]


def _read(response: RESPONSE_TYPE) -> tuple[str, list[NodeWithScore]]:
    is_empty = isinstance(response, Response) and not response.response
    return "" if is_empty else str(response), response.source_nodes


def _found(lead: str, nodes: Sequence[NodeWithScore], found: Answer) -> Found:
    kept = [compressed_or_same(nodes[part.index], part) for part in found.kept]
    return Found(text=found.text, response=lead, nodes=kept, compression_stats=found.compression_stats())
