"""Pairs of an agent's features: what must be kept beside markers, histories, contexts and shares of the window."""

import re
from typing import Annotated, Any, NotRequired

import pytest
from langchain.agents import AgentState, create_agent
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from lc_tools import Scripted, calling

from langchain_ctxcompress import (
    CtxCompressMiddleware,
    CtxContextBuilder,
    builder_tools,
    latest_context,
)

FILLER = "\n".join(f"Ship {n} came late, and nobody saw the cat." for n in range(120))
IDS = [f"TICKET-{number}" for number in range(100, 160)]
ANSWER = "The default timeout is 30 seconds."
QUESTION = "default timeout"


@tool
def read_page(query: str) -> str:
    """Read a page."""
    return f"{FILLER}\n{ANSWER}\n{FILLER}\nThe account is INV-77."


@tool
def read_tickets(query: str) -> str:
    """Read all tickets."""
    return "\n".join(f"{ticket} is open. {FILLER[:200]}" for ticket in IDS) + f"\n{ANSWER}"


def handle_in(text: str) -> str:
    found = re.search(r"expand (ctx-[0-9a-f]+)\]\Z", text)
    assert found, text
    return found[1]


def long_run(**options: Any) -> tuple[Scripted, dict[str, Any]]:
    """Read a page in each of ten steps, and the tickets in the second."""
    steps = [calling((read_tickets if n == 1 else read_page, {"query": QUESTION}), turn=str(n)) for n in range(10)]
    model = Scripted(responses=[*steps, AIMessage("done", id="ai-done")], profile={"max_input_tokens": 40_000})
    agent = create_agent(model, [read_page, read_tickets], middleware=[CtxCompressMiddleware(**options)])
    return model, agent.invoke({"messages": [HumanMessage("What is the default timeout?", id="human")]})


def last_results(model: Scripted) -> list[str]:
    return [message["content"] for message in model.shown[-1] if message["type"] == "tool"]


def test_the_history_keeps_what_must_be_kept_and_may_fill_its_whole_room_with_it():
    model, state = long_run(tools=[], history_tokens=9_000, keep_last=1, must_keep=["TICKET-103"])
    assert state["ctxcompress_history"]["number"] >= 1
    assert any("TICKET-103" in text for text in last_results(model))


def test_a_history_without_room_for_what_must_be_kept_goes_on(warned):
    model, state = long_run(tools=[], history_tokens=3_400, keep_last=1, must_keep=["ids"])
    assert "it does not hold for older messages" in warned.text
    assert state["ctxcompress_history"]["compressed_tokens"] <= 3_400
    assert len(model.shown) == 11


def test_a_history_keeps_the_handles_of_shares_of_the_window():
    model, state = long_run(max_tokens="1%", expandable=True, history_tokens=2_200, keep_last=1)
    assert state["ctxcompress_history"]["number"] >= 1
    whole = {m.tool_call_id: str(m.text) for m in state["messages"] if isinstance(m, ToolMessage)}
    results = [message for message in model.shown[-1] if message["type"] == "tool"]
    assert results
    assert any(re.search(r"\[… left out: expand ctx-", result["content"]) for result in results)
    for result in results:
        assert handle_in(result["content"]) == handle_in(whole[result["tool_call_id"]])


def test_a_share_leaves_room_for_a_marker():
    with pytest.raises(ValueError, match="min_tokens is 20; give at least 100 where results can be expanded"):
        CtxCompressMiddleware(max_tokens="5%", min_tokens=20, expandable=True)
    with pytest.raises(ValueError, match="min_tokens is 20"):
        CtxCompressMiddleware(budgets={"read_page": "5%"}, min_tokens=20, expandable=True)


class State(AgentState[Any]):
    context: NotRequired[Annotated[dict[str, Any], latest_context]]


@pytest.mark.parametrize("state_key", [None, "context"])
@pytest.mark.parametrize("is_async", [False, True])
async def test_a_full_context_tells_the_model_what_has_no_room(state_key, is_async):
    found = {"a": [Document(ANSWER, id="a")], "b": [Document(" ".join(IDS), id="b")]}
    builder = CtxContextBuilder(max_tokens=60, must_keep=["ids"])
    search, _ = builder_tools(builder, RunnableLambda(lambda query: found[query]), state_key=state_key)
    steps = [calling((search, {"query": query}), turn=query) for query in found]
    agent = create_agent(Scripted(responses=[*steps, AIMessage("done")]), [search], state_schema=State)
    asked = {"messages": [HumanMessage("Search.")]}
    state = await agent.ainvoke(asked) if is_async else agent.invoke(asked)
    first, second = [str(message.text) for message in state["messages"] if isinstance(message, ToolMessage)]
    assert first == ANSWER
    assert second.startswith("Nothing was added: ")
    assert "must be kept" in second
