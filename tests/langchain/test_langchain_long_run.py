"""An agent of LangChain with everything on: 500 documents, 30 steps, and a restart in the middle."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NotRequired

import pytest
from langchain.agents import AgentState, create_agent
from langchain_core.documents import Document
from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import BaseTool, StructuredTool, create_retriever_tool
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from long_runs import (
    FACTS,
    GOALS,
    MUST_KEEP,
    RESTART_AFTER,
    STEPS,
    Seen,
    as_json,
    corpus,
    count,
    handles,
    list_documents,
    must_keep_in,
    names,
    plan,
    ranked,
    read_document,
    read_log,
    web_search,
)
from pydantic import Field
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

WINDOW = 30_000
HISTORY = 6_000
MOST, EXPANDED, CONTEXT = 500, 700, 1_500
SHARE = 2
SYSTEM = "You are a librarian. Answer from the documents."
CONFIG: Any = {"configurable": {"thread_id": "1", "user_id": "ada"}}


class EndedError(Exception):
    """The process ends here."""


class Librarian(FakeMessagesListChatModel):
    """Calls tools by the plan, and fails before a step, as if the process had ended."""

    prompts: list[list[BaseMessage]] = Field(default_factory=list)
    schemas: list[Any] = Field(default_factory=list)
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
        result = super()._generate(messages, *args, **kwargs)
        message = result.generations[0].message.model_copy(deep=True)
        known = [handle for m in messages for handle in handles(str(m.text))]
        for call in message.tool_calls:
            if call["args"].get("handle") == "?":
                call["args"]["handle"] = known[-1]
        result.generations[0].message = message
        return result


class State(AgentState[Any]):
    context: NotRequired[Annotated[dict[str, Any], latest_context]]


class Library(BaseRetriever):
    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return [
            Document(corpus()[name], id=name, metadata={"source": name, "title": name}) for name, _ in ranked(query, 6)
        ]


def script() -> list[BaseMessage]:
    """Three turns of ten steps, each with an answer at its end."""
    said: list[BaseMessage] = []
    for step, calls in enumerate(plan()):
        made = [{"name": name, "args": args, "id": f"{step}-{n}"} for n, (name, args) in enumerate(calls)]
        said.append(AIMessage("", id=f"ai-{step}", tool_calls=made))
        if step % 10 == 9:
            said.append(AIMessage(f"That is all about it, part {step // 10 + 1}.", id=f"answer-{step}"))
    return said


def library_tools() -> list[BaseTool]:
    library = Library()
    compressor = CtxCompressor(max_tokens=400, must_keep=MUST_KEEP)
    retriever = CtxCompressRetriever(base_retriever=library, compressor=compressor, decompose=True)
    builder = CtxContextBuilder(max_tokens=CONTEXT, must_keep=MUST_KEEP)
    return [
        *(StructuredTool.from_function(function) for function in (web_search, read_document, list_documents, read_log)),
        create_retriever_tool(retriever, "find_passages", "Find passages."),
        *builder_tools(builder, library, state_key="context"),
    ]


class Process:
    """All that lives in one process: model, middleware, store, cache and tools. Only the files are shared."""

    def __init__(self, folder: Path, *, first: int = 0, stop: int | None = None) -> None:
        self.told = Told()
        self.store = DiskStore(folder / "left_out.db")
        self.model = Librarian(
            responses=[*script(), AIMessage("done")],
            profile={"max_input_tokens": WINDOW},
            first=first,
            stop=stop,
        )
        self.middleware = CtxCompressMiddleware(
            max_tokens=MOST,
            budgets={"web_search": f"{SHARE}%", "list_documents": f"{SHARE}%"},
            expandable=True,
            store=self.store,
            expand_tokens=EXPANDED,
            history_tokens=HISTORY,
            must_keep=MUST_KEEP,
            telemetry=self.told.telemetry,
            cache=Cache(),
        )
        self.options: Any = {
            "tools": library_tools(),
            "middleware": [self.middleware],
            "system_prompt": SYSTEM,
            "state_schema": State,
        }

    @contextmanager
    def agent(self, folder: Path) -> Iterator[Any]:
        with SqliteSaver.from_conn_string(str(folder / "checkpoints.db")) as saver:
            yield create_agent(self.model, checkpointer=saver, **self.options)


def asked(turn: int) -> dict[str, Any]:
    return {"messages": [HumanMessage(GOALS[turn], id=f"human-{turn}")]}


@dataclass
class Run:
    """The run, before and after the restart."""

    folder: Path
    before: Process
    after: Process
    state: dict[str, Any]

    @property
    def prompts(self) -> list[list[BaseMessage]]:
        return self.before.model.prompts + self.after.model.prompts

    def answer_to(self, prompt: list[BaseMessage]) -> AIMessage:
        """Return what the model answered."""
        number = next(number for number, other in enumerate(self.prompts) if other is prompt)
        answers = [message for message in self.state["messages"] if isinstance(message, AIMessage)]
        return answers[number]


def in_two_processes(folder: Path) -> Run:
    before = Process(folder, stop=RESTART_AFTER + 1)  # the answer of the first turn is a step of its own
    with before.agent(folder) as agent:
        agent.invoke(asked(0), CONFIG)
        with pytest.raises(EndedError):
            agent.invoke(asked(1), CONFIG)
    after = Process(folder, first=RESTART_AFTER + 1)

    async def rest() -> Any:
        async with AsyncSqliteSaver.from_conn_string(str(folder / "checkpoints.db")) as saver:
            agent = create_agent(after.model, checkpointer=saver, **after.options)
            await agent.ainvoke(None, CONFIG)
            return await agent.ainvoke(asked(2), CONFIG)

    state = asyncio.run(rest())
    return Run(folder, before, after, state)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run one half of the plan, throw everything away but the files, and run the other half."""
    return in_two_processes(tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def seen(run: Run) -> Seen:
    return Seen([[(message.type, as_text(message)) for message in prompt] for prompt in run.prompts])


def as_text(message: BaseMessage) -> str:
    calls = getattr(message, "tool_calls", None)
    return str(message.text) + (as_json([(call["name"], call["args"]) for call in calls]) if calls else "")


def results(run: Run) -> list[ToolMessage]:
    return [message for message in run.state["messages"] if isinstance(message, ToolMessage)]


def test_every_step_is_made_once(run):
    assert len(run.prompts) == STEPS + len(GOALS)
    made = [call["id"] for message in run.state["messages"] for call in getattr(message, "tool_calls", ())]
    assert made == [f"{step}-{n}" for step, calls in enumerate(plan()) for n in range(len(calls))]
    assert sorted(made) == sorted(result.tool_call_id for result in results(run))
    assert {result.status for result in results(run)} == {"success"}


def test_every_result_is_within_its_budget(run):
    budgets = {"expand": EXPANDED, "search_and_add": CONTEXT // 4, "context_status": 300, "find_passages": 400}
    left: dict[str, int] = {}
    for prompt in run.prompts:
        answer = run.answer_to(prompt)
        taken = prompt_tokens([*prompt[1:], answer], system_prompt=prompt[0], tools=run.after.model.schemas)
        left |= dict.fromkeys((call["id"] for call in answer.tool_calls), WINDOW - taken)
    for result in results(run):
        share = left[result.tool_call_id] * SHARE // 100
        shares = {"web_search": share, "list_documents": share}
        assert count(str(result.text)) <= (budgets | shares).get(str(result.name), MOST), result.tool_call_id


def test_the_history_is_within_its_tokens(run):
    for prompt in run.prompts:
        assert prompt[0].text == SYSTEM
        assert prompt_tokens(prompt[1:]) <= HISTORY


def test_the_prompt_changes_its_beginning_only_with_a_new_generation(run, seen):
    generations = run.state["ctxcompress_history"]["number"]
    assert seen.generations() == generations
    assert 2 <= generations <= STEPS // 4
    assert seen.known() > 0.6


def test_all_handles_give_the_whole_results(run, seen):
    expand = expand_tool(DiskStore(run.folder / "left_out.db"), max_tokens=1_000_000)
    whole = {"read_log": read_log(""), "list_documents": as_json(list_documents(""))}
    asked = {call["id"]: call["args"] for prompt in run.prompts for call in run.answer_to(prompt).tool_calls}
    for result in results(run):
        for handle in handles(str(result.text)):
            text = expand.invoke({"handle": handle}, CONFIG)
            args = asked[result.tool_call_id]
            if result.name == "read_document":
                assert text == corpus()[names()[args["number"]]]
            elif result.name == "web_search":
                assert json.loads(text) == web_search(args["query"])
            elif result.name in whole:
                assert text == whole[result.name]
            else:
                assert result.name == "expand"
    assert len({handle for result in results(run) for handle in handles(str(result.text))}) > 15


def test_handles_stay_in_the_prompt(run, seen):
    """What is left out of the history has been kept whole, so its handle is still shown."""
    for prompt in run.prompts:
        for message in prompt:
            whole = next((m for m in run.state["messages"] if m.id == message.id), None)
            if isinstance(message, ToolMessage) and whole is not None:
                assert handles(str(message.text)) == handles(str(whole.text)), message.text


def test_facts_that_were_left_out_can_be_read_at_the_end(run):
    expand = expand_tool(DiskStore(run.folder / "left_out.db"), max_tokens=EXPANDED)
    first = {result.tool_call_id: result for result in results(run)}
    for step, fact in zip(range(0, STEPS, 6), FACTS, strict=True):
        (handle,) = handles(str(first[f"{step}-0"].text))
        answer = expand.invoke({"handle": handle, "question": fact.question}, CONFIG)
        assert fact.sentence in answer
        assert count(answer) <= EXPANDED


def test_what_must_be_kept_is_in_every_prompt_after_it_was_found(run, seen):
    due: set[str] = set()
    for before, messages in zip(seen.prompts, run.prompts, strict=True):
        assert due <= must_keep_in("\n".join(text for _, text in before))
        for message in messages:
            if isinstance(message, ToolMessage):
                due |= must_keep_in(str(message.text))
    assert due >= {"INC-2041", "INC-3310", "INC-7702"}


def test_the_context_goes_on_after_the_restart(run):
    builder = CtxContextBuilder.from_dict(run.state["context"], must_keep=MUST_KEEP)
    added = [str(result.text) for result in results(run) if result.name == "search_and_add"]
    assert builder.render() == "\n\n".join(text for text in added if not text.startswith("Nothing"))
    assert 0 <= builder.remaining < CONTEXT // 4


def test_what_is_told_covers_all_results(run):
    saved = run.state["ctxcompress"]
    assert saved["tool_results"] == sum(
        1 for result in results(run) if handles(str(result.text)) and result.name != "expand"
    )
    assert run.before.told.metric("ctxcompress.token.saved") > 0
