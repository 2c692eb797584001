"""Pairs of an agent's features: what must be kept beside markers, histories, contexts and shares of the window."""

import re
from typing import Annotated, Any, NotRequired

import pytest
from langchain.agents import AgentState, create_agent
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from lc_tools import Scripted, calling, tokens
from telemetry import Told

from ctxcompress.agents.left_out import MemoryStore
from langchain_ctxcompress import (
    CtxCompressMiddleware,
    CtxContextBuilder,
    builder_tools,
    compress_tool,
    expand_tool,
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


def test_a_result_that_can_be_expanded_has_what_must_be_kept():
    store = MemoryStore()
    shown = compress_tool(read_page, max_tokens=110, store=store, must_keep=["INV-77"]).invoke({"query": QUESTION})
    assert ANSWER in shown
    assert "INV-77" in shown
    assert tokens(shown) <= 110
    assert expand_tool(store, max_tokens=9_000).invoke({"handle": handle_in(shown)}) == read_page.func(QUESTION)


def test_what_must_be_kept_comes_before_the_marker():
    needed = IDS[:17]
    options: Any = {"max_tokens": 100, "store": MemoryStore(), "must_keep": needed}
    shown = compress_tool(read_tickets, **options).invoke({"query": QUESTION})
    assert all(ticket in shown for ticket in needed)
    assert tokens(shown) <= 100
    assert "left out" not in shown  # there was no room for it


def test_more_than_fits_does_not_end_the_run_where_the_whole_result_is_kept(warned):
    store = MemoryStore()
    shown = compress_tool(read_tickets, max_tokens=150, store=store, must_keep=["ids"]).invoke({"query": QUESTION})
    assert ANSWER in shown
    assert "must_keep does not hold for a tool's result" in warned.text
    expand = expand_tool(store, max_tokens=300, must_keep=["ids"])
    answer = expand.invoke({"handle": handle_in(shown), "question": QUESTION})
    assert ANSWER in answer
    assert tokens(answer) <= 300


def test_more_than_fits_is_an_error_where_it_is_not():
    with pytest.raises(ValueError, match="must_keep names 60 different texts"):
        compress_tool(read_tickets, max_tokens=150, must_keep=["ids"]).invoke({"query": QUESTION})


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


def test_a_saved_context_has_its_rules_and_needs_no_telemetry():
    builder = CtxContextBuilder(max_tokens=60, must_keep=[re.compile(r"INV-\d+"), "ids"], telemetry=Told().telemetry)
    builder.add([Document(f"{FILLER} The account is INV-77.", id="a")], "ship", max_tokens=30)
    saved = builder.to_dict()
    assert saved["options"]["must_keep"] == [{"regex": r"INV-\d+"}, "ids"]
    restored = CtxContextBuilder.from_dict(saved)
    assert restored.render() == builder.render()
    assert "INV-78" in restored.add([Document(f"{FILLER} The other is INV-78.", id="b")], "ship").text
