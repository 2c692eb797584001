"""Agents of LangChain behave with the middleware as they do without: the same steps, messages, state and interrupts."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    AgentState,
    ContextEditingMiddleware,
    HumanInTheLoopMiddleware,
    ModelCallLimitMiddleware,
    TodoListMiddleware,
    ToolCallLimitMiddleware,
    ToolRetryMiddleware,
)
from langchain.agents.structured_output import ToolStrategy
from langchain.tools import InjectedState, InjectedToolCallId, ToolRuntime
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, ToolException, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from lc_tools import PAGE, Scripted, calling
from pydantic import BaseModel

from langchain_ctxcompress import CtxCompressMiddleware


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool
def read_page(query: str) -> str:
    """Read a page."""
    return PAGE


@tool
def refuse(reason: str) -> str:
    """Refuse."""
    raise ToolException(f"refused: {reason}")


refuse.handle_tool_error = True


@tool(return_direct=True)
def answer(text: str) -> str:
    """Answer the user."""
    return text


@tool(response_format="content_and_artifact")
def look_up(query: str) -> tuple[str, dict[str, str]]:
    """Look it up."""
    return "short", {"raw": query}


@tool
def remember(fact: str, call_id: Annotated[str, InjectedToolCallId]) -> Command[Any]:
    """Remember a fact in the state."""
    return Command(update={"facts": [fact], "messages": [ToolMessage("noted", tool_call_id=call_id)]})


@tool
def count_messages(state: Annotated[dict[str, Any], InjectedState], runtime: ToolRuntime) -> str:
    """Count the messages."""
    return f"{len(state['messages'])} {runtime.tool_call_id}"


class Facts(AgentState[Any]):
    facts: list[str]


class Weather(BaseModel):
    """The weather."""

    degrees: int


@tool
def flaky(query: str) -> str:
    """Fail the first time."""
    FAILURES.append(query)
    if len(FAILURES) == 1:
        raise ConnectionError("try again")
    return "worked"


FAILURES: list[str] = []
DONE = AIMessage("Done.")
ASKED = {"messages": [HumanMessage("Do it.", id="h")]}

Script = Sequence[AIMessage]
BEHAVIOURS: dict[str, tuple[list[BaseTool], Script, dict[str, Any]]] = {
    "no tools": ([], [DONE], {}),
    "one call": ([add], [calling((add, {"a": 1, "b": 2})), DONE], {}),
    "parallel calls": (
        [add, look_up],
        [calling((add, {"a": 1, "b": 2}), (look_up, {"query": "x"}), (add, {"a": 3, "b": 4})), DONE],
        {},
    ),
    "several turns": (
        [add],
        [calling((add, {"a": 1, "b": 2})), calling((add, {"a": 3, "b": 3}), turn="2"), DONE],
        {},
    ),
    "an error that the tool handles": ([refuse], [calling((refuse, {"reason": "no"})), DONE], {}),
    "wrong arguments": ([add], [calling((add, {"a": "x", "b": 2})), DONE], {}),
    "an unknown tool": ([look_up], [calling((add, {"a": 1, "b": 2})), DONE], {}),
    "an answer to the user": ([answer], [calling((answer, {"text": "Here."})), DONE], {}),
    "an artifact": ([look_up], [calling((look_up, {"query": "x"})), DONE], {}),
    "a command": ([remember], [calling((remember, {"fact": "It rains."})), DONE], {"state_schema": Facts}),
    "injected arguments": ([count_messages], [calling((count_messages, {})), DONE], {}),
    "a structured answer": (
        [add],
        [
            calling((add, {"a": 1, "b": 2})),
            AIMessage("", tool_calls=[{"name": "Weather", "args": {"degrees": 7}, "id": "w"}]),
        ],
        {"response_format": ToolStrategy(Weather)},
    ),
    "a limit on calls of tools": (
        [add],
        [calling((add, {"a": 1, "b": 2}), (add, {"a": 3, "b": 4})), DONE],
        {"middleware": [ToolCallLimitMiddleware(run_limit=1)]},
    ),
    "a limit on calls of the model": (
        [add],
        [calling((add, {"a": 1, "b": 2})), DONE],
        {"middleware": [ModelCallLimitMiddleware(run_limit=1)]},
    ),
    "a tool that is tried again": (
        [flaky],
        [calling((flaky, {"query": "x"})), DONE],
        {"middleware": [ToolRetryMiddleware(initial_delay=0, jitter=False)]},
    ),
    "a list of things to do, and edits of the context": (
        [add],
        [calling((add, {"a": 1, "b": 2})), DONE],
        {"middleware": [TodoListMiddleware(), ContextEditingMiddleware()]},
    ),
}


def steps(state: dict[str, Any]) -> dict[str, Any]:
    """Return all of a state but the ids that are made at random."""
    messages = [message.model_dump(exclude={"id"}) for message in state["messages"]]
    return {**{key: value for key, value in state.items() if key != "ctxcompress"}, "messages": messages}


async def run(behaviour: str, *before: AgentMiddleware, is_async: bool) -> tuple[dict[str, Any], Any]:
    FAILURES.clear()
    tools, script, options = BEHAVIOURS[behaviour]
    others = options.get("middleware", ())
    model = Scripted(responses=list(script))
    agent = create_agent(model, tools, **{**options, "middleware": [*before, *others]})
    state = await agent.ainvoke(ASKED) if is_async else agent.invoke(ASKED)
    shown = [[{**message, "id": None} for message in messages] for messages in model.shown]
    return steps(state), shown


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("behaviour", BEHAVIOURS)
async def test_an_agent_takes_the_same_steps_and_shows_its_model_the_same(behaviour: str, is_async: bool) -> None:
    injected = CtxCompressMiddleware(max_tokens=1_000, history_tokens=10_000)
    assert await run(behaviour, injected, is_async=is_async) == await run(behaviour, is_async=is_async)


def long_run(*middleware: AgentMiddleware, **options: Any) -> Any:
    script = [calling((read_page, {"query": "What is Kubernetes?"}), (add, {"a": 1, "b": 2})), DONE]
    return create_agent(Scripted(responses=script), [read_page, add], middleware=middleware, **options)


def but_long_content(messages: Sequence[Any]) -> list[dict[str, Any]]:
    found = [message.model_dump(exclude={"id"}) for message in messages]
    return [{**one, "content": None} if one.get("name") == "read_page" else one for one in found]


def test_a_long_result_changes_in_its_content_alone() -> None:
    plain, compressed = (long_run(*some).invoke(ASKED) for some in ((), (CtxCompressMiddleware(max_tokens=200),)))
    assert but_long_content(plain["messages"]) == but_long_content(compressed["messages"])
    assert len(str(compressed["messages"])) < len(str(plain["messages"]))


@pytest.mark.parametrize("mode", ["updates", "values", "messages"])
def test_a_stream_has_the_same_events(mode: str) -> None:
    def names(agent: Any) -> list[Any]:
        events = list(agent.stream(ASKED, stream_mode=mode))
        if mode == "messages":
            return [(type(message).__name__, meta["langgraph_node"]) for message, meta in events]
        return [sorted(event.keys() - {"ctxcompress"}) for event in events]

    plain, compressed = names(long_run()), names(long_run(CtxCompressMiddleware(max_tokens=200)))
    assert sorted(map(str, plain)) == sorted(map(str, compressed))


class Adding(AgentMiddleware):
    """Adds to the messages of the request in place, which the framework then has in its state."""

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        request.messages.append(HumanMessage("Be nice.", id="added"))
        return handler(request)

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        request.messages.append(HumanMessage("Be nice.", id="added"))
        return await handler(request)


@pytest.mark.parametrize("is_async", [False, True])
async def test_what_other_middleware_adds_to_a_request_stays(is_async: bool) -> None:
    async def finished(*before: AgentMiddleware) -> list[dict[str, Any]]:
        agent: Any = create_agent(Scripted(responses=[DONE]), [add], middleware=[*before, Adding()])
        state = await agent.ainvoke(ASKED) if is_async else agent.invoke(ASKED)
        return steps(state)["messages"]

    alone = await finished()
    assert [message["content"] for message in alone] == ["Do it.", "Be nice.", "Done."]
    assert await finished(CtxCompressMiddleware(max_tokens=1_000, history_tokens=10_000)) == alone


DECISIONS: dict[str, Callable[[], dict[str, Any]]] = {
    "approve": lambda: {"type": "approve"},
    "edit": lambda: {"type": "edit", "edited_action": {"name": "add", "args": {"a": 5, "b": 5}}},
    "reject": lambda: {"type": "reject", "message": "No."},
}


@pytest.mark.parametrize("decision", DECISIONS)
def test_a_human_in_the_loop_is_asked_and_obeyed_the_same(decision: str) -> None:
    def finished(*middleware: AgentMiddleware) -> tuple[Any, list[dict[str, Any]]]:
        asking = HumanInTheLoopMiddleware(interrupt_on={"add": True})
        agent = long_run(*middleware, asking, checkpointer=InMemorySaver())
        config: Any = {"configurable": {"thread_id": "1"}}
        interrupted = agent.invoke(ASKED, config)["__interrupt__"][0].value
        state = agent.invoke(Command(resume={"decisions": [DECISIONS[decision]()]}), config)
        return interrupted, but_long_content(state["messages"])

    assert finished(CtxCompressMiddleware(max_tokens=200)) == finished()


def test_a_thread_goes_on_from_its_checkpoint_the_same() -> None:
    def two_turns(*middleware: AgentMiddleware) -> list[dict[str, Any]]:
        script = [calling((read_page, {"query": "What is Kubernetes?"})), DONE, AIMessage("Again.")]
        saver, config = InMemorySaver(), {"configurable": {"thread_id": "1"}}
        for responses in (script[:2], script[2:]):  # a new agent, as after a restart
            agent: Any = create_agent(
                Scripted(responses=responses), [read_page], middleware=middleware, checkpointer=saver
            )
            state = agent.invoke({"messages": [HumanMessage("Go on.", id=str(len(responses)))]}, config)
        return but_long_content(state["messages"])

    assert two_turns(CtxCompressMiddleware(max_tokens=200)) == two_turns()
