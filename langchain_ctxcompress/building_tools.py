"""The tools with which an agent builds its context: one searches and adds, the other tells what is in it."""

from dataclasses import dataclass

from langchain_core.callbacks import Callbacks
from langchain_core.documents import Document
from langchain_core.retrievers import RetrieverLike
from langchain_core.tools import BaseTool, StructuredTool

from ctxcompress.adapters.input_models import NoInput, SearchInput
from ctxcompress.agents.building import (
    ADD,
    STATUS,
    BudgetTooSmall,
    latest_context,
    message_for,
    message_without_room,
    room_for_search,
)
from langchain_ctxcompress.building import CtxContextBuilder
from langchain_ctxcompress.convert import check_retriever

__all__ = ["builder_tools", "latest_context"]


def builder_tools(
    builder: CtxContextBuilder,
    retriever: RetrieverLike | None = None,
    *,
    state_key: str | None = None,
    tokens_per_search: int | None = None,
) -> list[BaseTool]:
    """Return the tools `search_and_add` and `context_status`, with which an agent builds one context.

    `search_and_add(query)` searches, adds what answers the query to the context, and returns only the new text. Its
    artifact is the new documents. `context_status()` tells which sources are in the context, and how many tokens are
    left. Without a retriever there is only `context_status`.

    retriever: a retriever, or any runnable from a query to a list of documents.
    state_key: the key of the graph's state under which the context is kept as `CtxContextBuilder.to_dict` returns it.
    `builder` then only gives the options. The state needs that key, with a reducer for searches of the same step:

        class State(AgentState):
            context: NotRequired[Annotated[dict, latest_context]]

    Without a state_key the tools add to `builder` itself, which all runs of the agent then share.

    tokens_per_search: the most tokens that one search adds; None for a quarter of the budget.

    The tools raise what the retriever or an encoder raises.
    """
    most = room_for_search(builder, tokens_per_search)
    if retriever is not None:
        check_retriever(retriever)
    if state_key is not None:
        return _state_tools(builder, retriever, state_key, most)
    status = StructuredTool.from_function(
        lambda: str(builder.status()), name="context_status", description=STATUS, args_schema=NoInput
    )
    if retriever is None:
        return [status]
    calls = _Calls(builder, retriever, most)
    add = StructuredTool(
        name="search_and_add",
        description=ADD,
        args_schema=SearchInput,
        func=calls.add,
        coroutine=calls.aadd,
        response_format="content_and_artifact",
    )
    return [add, status]


@dataclass(frozen=True, slots=True, eq=False)
class _Calls:
    """The calls of the tools that add to one builder."""

    builder: CtxContextBuilder
    retriever: RetrieverLike
    most: int
    """The most tokens that one search adds."""

    def add(self, query: str, callbacks: Callbacks = None) -> tuple[str, list[Document]]:
        documents = self.retriever.invoke(query, {"callbacks": callbacks})
        try:
            added = self.builder.add(documents, query, max_tokens=self.most)
        except BudgetTooSmall as error:
            return message_without_room(error, self.builder), []
        return message_for(added, self.builder), added.documents

    async def aadd(self, query: str, callbacks: Callbacks = None) -> tuple[str, list[Document]]:
        documents = await self.retriever.ainvoke(query, {"callbacks": callbacks})
        try:
            added = await self.builder.aadd(documents, query, max_tokens=self.most)
        except BudgetTooSmall as error:
            return message_without_room(error, self.builder), []
        return message_for(added, self.builder), added.documents


def _state_tools(
    builder: CtxContextBuilder, retriever: RetrieverLike | None, state_key: str, most: int
) -> list[BaseTool]:
    try:
        from langchain_ctxcompress.graph_state import state_tools
    except ModuleNotFoundError as error:
        raise ImportError(
            f"state_key needs langgraph, and there is no {error.name}; install ctxcompress[agents]"
        ) from error
    return state_tools(builder, retriever, state_key, most)
