"""One context of several retrievals, in nodes, and the tools with which an agent builds it."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeWithScore
from llama_index.core.storage.docstore.utils import doc_to_json, json_to_doc
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import Context
from typing_extensions import override

from ctxcompress import CompressionConfig, Passage
from ctxcompress.adapters.input_models import NoInput, SearchInput
from ctxcompress.adapters.records import check_kind
from ctxcompress.agents.building import (
    ADD,
    STATUS,
    Addition,
    FrameworkBuilder,
    ItemPassage,
    KeptPassage,
    aadd_found,
    add_found,
    plain_data,
    room_for_search,
)
from llamaindex_ctxcompress.convert import (
    RECORD_KEY,
    compressed_node,
    dropped_node,
    is_text_only,
    passage_from_node,
    passed_through,
)
from llamaindex_ctxcompress.postprocessor import CtxCompressPostprocessor

__all__ = ["AddedNodes", "CtxContextBuilder", "builder_tools"]


@dataclass(frozen=True, slots=True)
class AddedNodes:
    """What one add kept and dropped."""

    query: str
    text: str
    """The text added to the context, without the separator before it; after a rebalance, the whole context."""
    nodes: list[NodeWithScore]
    """The kept nodes: copies with the kept text, as CtxCompressPostprocessor makes them. Positions ("index",
    "stands_for") count all nodes that were ever added."""
    dropped: list[NodeWithScore]
    """Copies with the dropped text. The metadata key "ctxcompress" has its "spans", "index" and "reason"."""
    tokens: int
    """The tokens by which the context grew."""
    remaining: int
    """The tokens left in the budget."""

    @property
    def reasons(self) -> list[str]:
        """The drop reasons, one for each of `dropped`."""
        return [item.node.metadata[RECORD_KEY]["reason"] for item in self.dropped]

    def __str__(self) -> str:
        return self.text


class CtxContextBuilder(FrameworkBuilder[NodeWithScore]):
    """Builds one context from the nodes of several retrievals, such as an agent's, under a hard budget.

        builder = CtxContextBuilder(max_tokens=4000)
        added = builder.add(retriever.retrieve(query), query=query)

    `render()` never has more than `max_tokens` tokens. The bare text of the nodes counts; `format="compact"` shows and
    counts their sources. Without `rebalance`, earlier content never changes, so that a prompt cache stays valid. Text
    that the context already has is not added again. Threads and tasks can share it.

    It can be kept in the store of a workflow's Context, which writes it by `to_dict()`. The options are those of
    CtxCompressPostprocessor other than `metadata_mode` and `trace_to`; the formats "json", "xml" and "preview"
    are refused, and so are nodes with more than text. Raises ValueError for a wrong value.
    """

    _TYPE = "llamaindex_ctxcompress.context"

    @classmethod
    def class_name(cls) -> str:
        """Return the name under which LlamaIndex writes it."""
        return "CtxContextBuilder"

    @property
    def nodes(self) -> list[NodeWithScore]:
        """The kept nodes in the order of the context. One is listed again if a later add kept more of it."""
        return self._nodes(self._builder.passages)

    def add(
        self,
        nodes: Sequence[NodeWithScore],
        query: str | None = None,
        *,
        max_tokens: int | None = None,
        rebalance: bool = False,
    ) -> AddedNodes:
        """Add the parts of `nodes` that best answer `query` and are not in the context yet.

        New nodes that fit are added unchanged. Without a query, the beginning of the nodes is added.

        max_tokens: the maximum for this add; None for all that remains. rebalance: compress all nodes that were ever
        added again, for all queries together and within the whole budget; earlier content may change.

        Raises ValueError for nodes that have more than text, such as an image. If this raises, the context is
        unchanged.
        """
        passages = self._passages(nodes)
        return self._added(self._builder.add(passages, query=query, max_tokens=max_tokens, rebalance=rebalance))

    async def aadd(
        self,
        nodes: Sequence[NodeWithScore],
        query: str | None = None,
        *,
        max_tokens: int | None = None,
        rebalance: bool = False,
    ) -> AddedNodes:
        """Do the same on another thread. An encoder that can be awaited is awaited on this event loop."""
        passages = await asyncio.to_thread(self._passages, nodes)
        added = await self._builder.aadd(passages, query=query, max_tokens=max_tokens, rebalance=rebalance)
        return await asyncio.to_thread(self._added, added)

    def _passages(self, nodes: Sequence[NodeWithScore]) -> list[Passage]:
        return [self._passage(item) for item in nodes]

    def _passage(self, item: NodeWithScore) -> Passage:
        if not is_text_only(item.node):
            raise ValueError(
                f"node {item.node.node_id} is a {type(item.node).__name__} with more than text; a context is a text: "
                "give it to the model beside the context"
            )
        passage = passage_from_node(item, self._config.metadata_map)
        return ItemPassage.of(passage, passed_through(item))

    def _added(self, added: Addition) -> AddedNodes:
        return AddedNodes(
            added.query,
            added.text,
            self._nodes(added.passages),
            [dropped_node(item, found) for item, found in self._dropped(added.dropped)],
            added.tokens,
            added.remaining,
        )

    def _nodes(self, parts: Sequence[KeptPassage]) -> list[NodeWithScore]:
        return [compressed_node(item, part, part.index, part.stands_for) for item, part in self._kept(parts)]

    @staticmethod
    def _config_of(options: Mapping[str, Any]) -> CompressionConfig:
        return CtxCompressPostprocessor.config_of(options)

    def _write(self, item: NodeWithScore) -> Any:
        data = plain_data(doc_to_json(item.node))
        return {"score": item.score, "node": data}

    @override
    def _read(self, data: Any, text: str) -> NodeWithScore:
        return NodeWithScore(node=json_to_doc(data["node"]), score=data["score"])


def builder_tools(
    builder: CtxContextBuilder,
    retriever: BaseRetriever | None = None,
    *,
    state_key: str | None = None,
    tokens_per_search: int | None = None,
) -> list[FunctionTool]:
    """Return the tools `search_and_add` and `context_status`, with which an agent builds one context.

    `search_and_add(query)` searches, adds what answers the query to the context, and returns only the new text.
    `context_status()` tells which sources are in the context, and how many tokens are left. Without a retriever there
    is only `context_status`.

    state_key: the key in the state of the workflow's Context (`ctx.store`) under which the context is kept as
    `CtxContextBuilder.to_dict` returns it. `builder` then only gives the options, and the tools are for agents, which
    pass their Context. Without it the tools add to `builder` itself, which all runs of the agent then share.

    tokens_per_search: the most tokens that one search adds; None for a quarter of the budget.

    The tools raise what the retriever or an encoder raises.
    """
    most = room_for_search(builder, tokens_per_search)
    if retriever is not None:
        check_kind("retriever", retriever, BaseRetriever, "a BaseRetriever")
    add: dict[str, Any]
    status: dict[str, Any]
    if state_key is None:
        shared = _Shared(builder, retriever, most)
        add, status = {"fn": shared.add, "async_fn": shared.aadd}, {"fn": shared.status}
    else:
        calls = _InContext(builder, retriever, state_key, most)
        add, status = {"async_fn": calls.add}, {"async_fn": calls.status}
    tells = FunctionTool.from_defaults(**status, name="context_status", description=STATUS, fn_schema=NoInput)
    if retriever is None:
        return [tells]
    return [FunctionTool.from_defaults(**add, name="search_and_add", description=ADD, fn_schema=SearchInput), tells]


@dataclass(frozen=True, slots=True, eq=False)
class _Shared:
    """The calls of the tools that add to one builder."""

    builder: CtxContextBuilder
    retriever: BaseRetriever | None
    most: int

    def add(self, query: str) -> str:
        nodes = self.retriever.retrieve(query) if self.retriever else []
        return add_found(self.builder, nodes, query, self.most)[0]

    async def aadd(self, query: str) -> str:
        nodes = await self.retriever.aretrieve(query) if self.retriever else []
        return (await aadd_found(self.builder, nodes, query, self.most))[0]

    def status(self) -> str:
        return str(self.builder.status())


@dataclass(frozen=True, slots=True, eq=False)
class _InContext:
    """The calls of the tools that keep the context in the state of a workflow."""

    options: CtxContextBuilder
    retriever: BaseRetriever | None
    key: str
    most: int

    async def add(self, ctx: Context, query: str) -> str:
        nodes = await self.retriever.aretrieve(query) if self.retriever else []
        async with ctx.store.edit_state() as state:  # searches at the same time add one after the other
            builder = self.options.resumed(state.get(self.key))
            text, added = await aadd_found(builder, nodes, query, self.most)
            if added is not None:
                state[self.key] = builder.to_dict()
        return text

    async def status(self, ctx: Context) -> str:
        saved = await ctx.store.get(self.key, default=None)
        return str(self.options.resumed(saved).status())
