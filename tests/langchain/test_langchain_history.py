"""Agents that run for long: what the model reads of older messages, with checkpoints, parallel calls and images."""

import copy
import json
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from lc_tools import IMAGE, Listener, Scripted, calling, run, tokens
from long_runs import generations

from langchain_ctxcompress import CtxCompressMiddleware
from langchain_ctxcompress.history import agent_messages

GOAL = "Which port does the relay of the harbour listen on?"
PAGES = 14
LIMIT = 6_000


@tool
def read_page(number: int) -> str:
    """Read a page of the manual."""
    fact = "The relay of the harbour listens on port 7411. " if number == 2 else ""
    before = "".join(f"Page {number}, line {n}: the cranes were painted in spring. " for n in range(12))
    return before + fact + "".join(f"Page {number}, note {n}: nobody has seen the cat. " for n in range(12))


@tool
def photograph(number: int) -> list[dict[str, Any]]:
    """Take a photograph."""
    return [{"type": "text", "text": read_page.invoke({"number": number})}, IMAGE]


def script(pages: int = PAGES) -> list[AIMessage]:
    """Reads two pages at once, page by page, then answers."""
    return [
        calling((read_page, {"number": n}), (photograph, {"number": n + 100}), turn=str(n)) for n in range(pages)
    ] + [AIMessage("I have read them all.", id="ai-last")]


def agent_of(model: Scripted, *middleware: Any, **options: Any) -> Any:
    return create_agent(model, [read_page, photograph], middleware=middleware, **options)


def history(**options: Any) -> CtxCompressMiddleware:
    return CtxCompressMiddleware(tools=[], **{"history_tokens": LIMIT, "keep_last": 1, **options})


def asked(text: str = GOAL, id: str = "human-1") -> dict[str, Any]:
    return {"messages": [HumanMessage(text, id=id)]}


def size(messages: list[dict[str, Any]]) -> int:
    return sum(
        4 + tokens("".join(texts_of(message))) + tokens(json.dumps(message.get("tool_calls") or ""))
        for message in messages
        if message["type"] != "system"
    )


def texts_of(message: dict[str, Any]) -> list[str]:
    blocks = [message["content"]] if isinstance(message["content"], str) else message["content"]
    return [block if isinstance(block, str) else block.get("text", "") for block in blocks]


def assert_paired(messages: list[dict[str, Any]]) -> None:
    waiting: set[str] = set()
    for message in messages:
        if message["type"] == "tool":
            assert message["tool_call_id"] in waiting
            waiting.remove(message["tool_call_id"])
        else:
            assert not waiting
            waiting = {call["id"] for call in message.get("tool_calls", ())}
    assert not waiting


@pytest.mark.parametrize("is_async", [False, True])
async def test_a_long_run_stays_within_its_tokens_and_keeps_what_the_user_wants(is_async):
    model = Scripted(responses=script())
    agent = agent_of(model, history(), system_prompt="You work in a harbour.")
    state = await run(agent, asked(), is_async=is_async)

    assert len(model.shown) == PAGES + 1
    for messages in model.shown:
        assert messages[0]["content"] == "You work in a harbour."
        assert messages[1]["content"] == GOAL
        assert size(messages) <= LIMIT + 100  # images count, calls are written a little differently
        assert_paired(messages)
    assert 2 <= generations(model.shown) <= 8
    assert any("port 7411" in text for message in model.shown[-1] for text in texts_of(message))
    assert all(IMAGE in message["content"] for message in model.shown[-1] if message.get("name") == "photograph")

    whole = await run(agent_of(Scripted(responses=script())), asked(), is_async=is_async)
    assert [message.content for message in state["messages"]] == [message.content for message in whole["messages"]]
    saved = state["ctxcompress_history"]
    assert saved["number"] == generations(model.shown)
    assert saved["original_tokens"] > LIMIT > saved["compressed_tokens"]
    known = {message.id for message in state["messages"]}
    assert {*saved["shortened"], *saved["dropped"]} <= known
    assert saved["shortened"]


def test_a_share_is_of_the_window_that_the_profile_of_each_requests_model_tells():
    def largest(window: int | None, **options: Any) -> int:
        model = Scripted(responses=script(), profile={"max_input_tokens": window} if window else None)
        agent_of(model, history(**options)).invoke(asked())
        return max(map(size, model.shown))

    assert LIMIT * 3 // 4 < largest(4 * LIMIT, history_tokens="25%") <= LIMIT + 100
    assert largest(4 * LIMIT, history_tokens="25%", context_window=3 * LIMIT) <= LIMIT * 3 // 4 + 100
    assert largest(None, history_tokens="25%", context_window=4 * LIMIT) <= LIMIT + 100
    with pytest.raises(ValueError, match=r"history_tokens is '25%', a share of a context window whose size is not"):
        largest(None, history_tokens="25%")


@pytest.mark.parametrize("is_async", [False, True])
async def test_a_restart_from_the_checkpoint_gives_the_same_bytes(is_async):
    at_once = Scripted(responses=script())
    await run(agent_of(at_once, history()), asked(), is_async=is_async)

    saver, config = InMemorySaver(), {"configurable": {"thread_id": "1"}}
    shown: list[Any] = []
    given: Any = asked()
    for step in range(PAGES + 1):  # a new agent, with nothing in memory, for each step
        model = Scripted(responses=script()[step:])
        agent = agent_of(model, history(), checkpointer=saver, interrupt_before=["tools"])
        await run(agent, given, is_async=is_async, config=config)
        shown += copy.deepcopy(model.shown)
        given = None
    assert [*map(essence, shown)] == [*map(essence, at_once.shown)]
    assert generations(at_once.shown) > 1


def essence(messages: list[dict[str, Any]]) -> list[Any]:
    """Ids of results are random."""
    return [{**message, "id": None} for message in messages]


@pytest.mark.parametrize("is_async", [False, True])
async def test_each_generation_is_reported(is_async):
    model, events = Scripted(responses=script()), Listener()
    state = await run(agent_of(model, history()), asked(), is_async=is_async, config={"callbacks": [events]})
    found = [data for name, data in events.events if name == "ctxcompress_history"]
    assert [data["generation"] for data in found] == list(range(1, generations(model.shown) + 1))
    last, saved = found[-1], state["ctxcompress_history"]
    assert last["tokens_saved"] == saved["original_tokens"] - saved["compressed_tokens"] > 0
    assert (last["messages_shortened"], last["messages_dropped"]) == (len(saved["shortened"]), len(saved["dropped"]))


def test_a_huge_message_of_the_user_and_none_at_all():
    huge = asked(GOAL + " " + read_page.invoke({"number": 5}) * 40)
    model = Scripted(responses=script(5))
    agent_of(model, history()).invoke(huge)
    assert model.shown[-1][0]["content"] == huge["messages"][0].content
    assert_paired(model.shown[-1])

    model = Scripted(responses=script()[1:])
    first = script()[0]
    results = [ToolMessage("Nothing.", tool_call_id=call["id"]) for call in first.tool_calls]
    agent_of(model, history()).invoke({"messages": [first, *results]})
    assert max(map(size, model.shown)) <= LIMIT + 100


def test_what_the_core_reads_of_messages():
    call = {"name": "read_page", "args": {"number": 1}, "id": "1"}
    blocks: Any = [{"type": "text", "text": "I read."}, {"type": "tool_use", "id": "1", "name": "x", "input": {}}]
    system, with_blocks, answer, plain = agent_messages(
        [
            SystemMessage("Rules.", id="s"),
            AIMessage(blocks, id="a", tool_calls=[call]),
            ToolMessage(["One.", IMAGE, {"type": "text", "text": "Two."}], id="t", tool_call_id="1"),
            AIMessage("", id="b", tool_calls=[call]),
        ]
    )
    assert (system.role, with_blocks.role, answer.role) == ("other", "assistant", "tool")
    assert (with_blocks.texts, with_blocks.calls, with_blocks.media) == (["I read."], ["1"], 0)
    assert json.loads(with_blocks.rest) == blocks[1]
    assert (answer.texts, answer.media, answer.answers, answer.title) == (["One.", "Two."], 1, "1", "1")
    assert json.loads(plain.rest) == {"name": "read_page", "args": {"number": 1}}


def test_a_history_without_room_for_what_must_be_kept_goes_on(warned):
    model = Scripted(responses=script())
    names = [f"Page {number}, line {line}" for number in range(PAGES) for line in range(12)]
    state = agent_of(model, history(history_tokens=2_000, must_keep=names)).invoke(asked())
    assert "it does not hold for older messages" in warned.text
    assert state["ctxcompress_history"]["compressed_tokens"] <= 2_000
    assert len(model.shown) == PAGES + 1
