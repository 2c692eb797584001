"""The tools with which an agent builds its context: one searches and adds, the other tells what is in it."""

from dataclasses import dataclass

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import Context

from ctxcompress.adapters.input_models import NoInput, SearchInput
from ctxcompress.adapters.retrieval import check_kind
from ctxcompress.agents.building import ADD, STATUS, BudgetTooSmall, message_for, message_without_room, room_for_search
from llamaindex_ctxcompress.building import CtxContextBuilder

__all__ = ["builder_tools"]


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
    if state_key is not None:
        calls = _InContext(builder, retriever, state_key, most)
        status = FunctionTool.from_defaults(
            async_fn=calls.status, name="context_status", description=STATUS, fn_schema=NoInput
        )
        add = FunctionTool.from_defaults(
            async_fn=calls.add, name="search_and_add", description=ADD, fn_schema=SearchInput
        )
        return [status] if retriever is None else [add, status]
    shared = _Shared(builder, retriever, most)
    status = FunctionTool.from_defaults(fn=shared.status, name="context_status", description=STATUS, fn_schema=NoInput)
    if retriever is None:
        return [status]
    add = FunctionTool.from_defaults(
        fn=shared.add, async_fn=shared.aadd, name="search_and_add", description=ADD, fn_schema=SearchInput
    )
    return [add, status]


@dataclass(frozen=True, slots=True, eq=False)
class _Shared:
    """The calls of the tools that add to one builder."""

    builder: CtxContextBuilder
    retriever: BaseRetriever | None
    most: int

    def add(self, query: str) -> str:
        nodes = self.retriever.retrieve(query) if self.retriever else []
        try:
            return message_for(self.builder.add(nodes, query, max_tokens=self.most), self.builder)
        except BudgetTooSmall as error:
            return message_without_room(error, self.builder)

    async def aadd(self, query: str) -> str:
        nodes = await self.retriever.aretrieve(query) if self.retriever else []
        try:
            return message_for(await self.builder.aadd(nodes, query, max_tokens=self.most), self.builder)
        except BudgetTooSmall as error:
            return message_without_room(error, self.builder)

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
            try:
                added = await builder.aadd(nodes, query, max_tokens=self.most)
            except BudgetTooSmall as error:
                return message_without_room(error, builder)
            state[self.key] = builder.to_dict()
        return message_for(added, builder)

    async def status(self, ctx: Context) -> str:
        saved = await ctx.store.get(self.key, default=None)
        return str(self.options.resumed(saved).status())
