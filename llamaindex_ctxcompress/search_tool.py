"""The search tool for agents: it compresses what a retriever or a query engine finds."""

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

from ctxcompress import Passage
from ctxcompress.adapters.component_options import ConfigSource, Preset
from ctxcompress.adapters.input_models import query_input
from ctxcompress.adapters.records import check_kind
from ctxcompress.agents.prompt_size import with_window
from ctxcompress.agents.query_tool import DESCRIPTION, NAME, Answer, QueryTool
from llamaindex_ctxcompress.convert import compressed_or_same, passage_from_node
from llamaindex_ctxcompress.postprocessor import CtxCompressPostprocessor
from llamaindex_ctxcompress.window import context_window

__all__ = ["Found", "query_tool"]


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
        return _shown(lead, nodes, found)

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
        return await asyncio.to_thread(_shown, lead, nodes, found)

    def _passages(self, nodes: Sequence[NodeWithScore]) -> list[Passage]:
        config = self.tool.config
        return [passage_from_node(item, config.metadata_map) for item in nodes]


def _read(response: RESPONSE_TYPE) -> tuple[str, list[NodeWithScore]]:
    is_empty = isinstance(response, Response) and not response.response
    return "" if is_empty else str(response), response.source_nodes


def _shown(lead: str, nodes: Sequence[NodeWithScore], found: Answer) -> Found:
    kept = [compressed_or_same(nodes[part.index], part) for part in found.kept]
    return Found(text=found.text, response=lead, nodes=kept, compression_stats=found.compression_stats())
