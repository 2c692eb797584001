"""The tools of `builder_tools` for a context that is kept in the state of a graph. Needs langgraph."""

from dataclasses import dataclass
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.retrievers import RetrieverLike
from langchain_core.runnables import run_in_executor
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.prebuilt import ToolRuntime
from langgraph.types import Command

from ctxcompress.adapters.input_models import SearchInput
from ctxcompress.agents.building import ADD, STATUS, Branches, aadd_found, add_found
from langchain_ctxcompress.building import AddedDocuments, CtxContextBuilder

__all__ = ["state_tools"]


def state_tools(builder: CtxContextBuilder, retriever: RetrieverLike | None, key: str, most: int) -> list[BaseTool]:
    """Return the tools: see `builder_tools`. key: of the state. most: the most tokens that one search adds."""
    calls = _Calls(builder, Branches(builder), retriever, key, most)
    # With a schema that has no arguments the tool would not be given its runtime.
    status = StructuredTool.from_function(calls.status, name="context_status", description=STATUS)
    if retriever is None:
        return [status]
    add = StructuredTool(
        name="search_and_add", description=ADD, args_schema=SearchInput, func=calls.add, coroutine=calls.aadd
    )
    return [add, status]


@dataclass(frozen=True, slots=True, eq=False)
class _Calls:
    """The calls of the tools. They return commands, which update the state and answer the model."""

    options: CtxContextBuilder
    branches: Branches[CtxContextBuilder]
    retriever: Any
    key: str
    most: int

    def add(self, query: str, runtime: ToolRuntime) -> Command[Any]:
        documents = self.retriever.invoke(query, runtime.config)
        builder = self._builder(runtime)
        return self._command(builder, *add_found(builder, documents, query, self.most), runtime)

    async def aadd(self, query: str, runtime: ToolRuntime) -> Command[Any]:
        documents = await self.retriever.ainvoke(query, runtime.config)
        builder = await run_in_executor(None, self._builder, runtime)
        found = await aadd_found(builder, documents, query, self.most)
        return await run_in_executor(None, self._command, builder, *found, runtime)

    def status(self, runtime: ToolRuntime) -> str:
        return str(self.options.resumed(runtime.state.get(self.key) or None).status())

    def _builder(self, runtime: ToolRuntime) -> CtxContextBuilder:
        running = getattr(runtime, "execution_info", None)  # new in langgraph 1.1
        step = running and (running.thread_id, running.checkpoint_id)
        return self.branches.join(runtime.state.get(self.key) or None, step, runtime.tool_call_id)

    def _command(
        self, builder: CtxContextBuilder, text: str, added: AddedDocuments | None, runtime: ToolRuntime
    ) -> Command[Any]:
        documents, update = (added.documents, {self.key: builder.to_dict()}) if added else ([], {})
        message = ToolMessage(text, tool_call_id=runtime.tool_call_id, name="search_and_add", artifact=documents)
        return Command(update={**update, "messages": [message]})
