"""The long run in LangChain: an agent with everything on, in two processes that share files alone."""

import asyncio
import json
from pathlib import Path
from typing import Annotated, Any, NotRequired

import long_runs
import pytest
from langchain.agents import AgentState, create_agent
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import StructuredTool, create_retriever_tool
from langchain_way import Scripted, finder
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from telemetry import Told

from ctxcompress.agents.left_out import DiskStore
from ctxcompress.cache import Cache
from langchain_ctxcompress import (
    CtxCompressMiddleware,
    CtxCompressor,
    CtxCompressRetriever,
    CtxContextBuilder,
    builder_tools,
    expand_tool,
    latest_context,
    prompt_tokens,
)

WINDOW, HISTORY, MOST, EXPANDED, CONTEXT, SHARE = 30_000, 6_000, 500, 700, 1_500, 2
SYSTEM = "You are a librarian. Answer from the documents."
CONFIG: Any = {"configurable": {"thread_id": "1", "user_id": "ada"}}
BUDGETS = {"expand": EXPANDED, "search_and_add": CONTEXT // 4, "context_status": 300, "find_passages": 400}


class EndedError(Exception):
    """The process ends here."""


class Librarian(Scripted):
    """Calls tools by the plan, and fails before a step, as if the process had ended."""

    prompts: list[list[BaseMessage]] = []  # noqa: RUF012 - pydantic copies it
    schemas: list[Any] = []  # noqa: RUF012
    first: int = 0
    stop: int | None = None

    def bind_tools(self, tools: Any, **_: Any) -> "Librarian":
        self.schemas[:] = tools
        return self

    def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
        number = self.first + len(self.prompts)
        if number == self.stop:
            raise EndedError
        self.prompts.append([*messages])
        self.i = number
        return super()._generate(messages, *args, **kwargs)


class State(AgentState[Any]):
    context: NotRequired[Annotated[dict[str, Any], latest_context]]


def found(query: str) -> list[Document]:
    return [
        Document(long_runs.corpus()[name], id=name, metadata={"source": name, "title": name})
        for name, _ in long_runs.ranked(query, 6)
    ]


def script() -> list[BaseMessage]:
    """Three turns of ten steps, each with an answer at its end."""
    said: list[BaseMessage] = []
    for step, calls in enumerate(long_runs.plan()):
        made = [{"name": name, "args": args, "id": f"{step}-{n}"} for n, (name, args) in enumerate(calls)]
        said.append(AIMessage("", id=f"ai-{step}", tool_calls=made))
        if step % 10 == 9:
            said.append(AIMessage(f"That is all about it, part {step // 10 + 1}.", id=f"answer-{step}"))
    return [*said, AIMessage("done")]


class Process:
    """All that lives in one process. Only the files are shared."""

    def __init__(self, folder: Path, **given: Any) -> None:
        self.told = Told()
        self.model = Librarian(responses=script(), profile={"max_input_tokens": WINDOW}, **given)
        middleware = CtxCompressMiddleware(
            max_tokens=MOST,
            budgets={"web_search": f"{SHARE}%", "list_documents": f"{SHARE}%"},
            expandable=True,
            store=DiskStore(folder / "left_out.db"),
            expand_tokens=EXPANDED,
            history_tokens=HISTORY,
            must_keep=long_runs.MUST_KEEP,
            telemetry=self.told.telemetry,
            cache=Cache(),
        )
        compressor, library = CtxCompressor(max_tokens=400, must_keep=long_runs.MUST_KEEP), finder(found)
        retriever = CtxCompressRetriever(base_retriever=library, compressor=compressor, decompose=True)
        functions = (long_runs.web_search, long_runs.read_document, long_runs.list_documents, long_runs.read_log)
        tools = [
            *map(StructuredTool.from_function, functions),
            create_retriever_tool(retriever, "find_passages", "Find passages."),
            *builder_tools(
                CtxContextBuilder(max_tokens=CONTEXT, must_keep=long_runs.MUST_KEEP), library, state_key="context"
            ),
        ]
        given = {"middleware": [middleware], "system_prompt": SYSTEM, "state_schema": State}
        self.agent = lambda saver: create_agent(self.model, tools, checkpointer=saver, **given)


def asked(turn: int) -> Any:
    return {"messages": [HumanMessage(long_runs.GOALS[turn], id=f"human-{turn}")]}


def run_in(folder: Path) -> long_runs.LongRun:
    """Run one half of the plan, throw everything away but the files, and run the other half."""
    file = str(folder / "checkpoints.db")
    before = Process(folder, stop=long_runs.RESTART_AFTER + 1)  # the answer of the first turn is a step of its own
    with SqliteSaver.from_conn_string(file) as saver:
        before.agent(saver).invoke(asked(0), CONFIG)
        with pytest.raises(EndedError):
            before.agent(saver).invoke(asked(1), CONFIG)
    after = Process(folder, first=long_runs.RESTART_AFTER + 1)

    async def rest() -> Any:
        async with AsyncSqliteSaver.from_conn_string(file) as saver:
            agent = after.agent(saver)
            await agent.ainvoke(None, CONFIG)
            return await agent.ainvoke(asked(2), CONFIG)

    state = asyncio.run(rest())
    prompts = before.model.prompts + after.model.prompts
    answers = [message for message in state["messages"] if isinstance(message, AIMessage)]
    messages = {message.tool_call_id: message for message in state["messages"] if isinstance(message, ToolMessage)}
    results = []
    for prompt, answer in zip(prompts, answers, strict=True):
        taken = prompt_tokens([*prompt[1:], answer], system_prompt=prompt[0], tools=after.model.schemas)
        share = (WINDOW - taken) * SHARE // 100
        budgets = {**BUDGETS, "web_search": share, "list_documents": share}
        for call in answer.tool_calls:
            message, name = messages[call["id"]], call["name"]
            is_error = message.status == "error"
            results.append(long_runs.Result(name, call["args"], str(message.text), budgets.get(name, MOST), is_error))

    def expand(handle: str, max_tokens: int = EXPANDED, **wanted: Any) -> str:
        tool = expand_tool(DiskStore(folder / "left_out.db"), max_tokens=max_tokens)
        return str(tool.invoke({"handle": handle, **wanted}, CONFIG))

    return long_runs.LongRun(
        [[(message.type, _text(message)) for message in prompt] for prompt in prompts],
        [prompt_tokens(prompt[1:]) for prompt in prompts],
        HISTORY,
        results,
        expand,
        CtxContextBuilder.from_dict(state["context"], must_keep=long_runs.MUST_KEEP),
        state["ctxcompress_history"]["number"],
        [before.told, after.told],
        len(long_runs.GOALS),
        [
            str(message.text)
            for prompt in prompts
            for message in prompt
            if isinstance(message, ToolMessage)
            and long_runs.handles(str(message.text)) != long_runs.handles(str(messages[message.tool_call_id].text))
        ],
    )


def _text(message: BaseMessage) -> str:
    calls = getattr(message, "tool_calls", None)
    return str(message.text) + (json.dumps([(call["name"], call["args"]) for call in calls]) if calls else "")
