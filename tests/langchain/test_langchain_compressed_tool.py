"""A tool with shortened results is otherwise the same tool for models, agents and traces."""

import copy
import json
import pickle
from typing import Annotated, Any

import lc_tools
import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, InjectedToolCallId, ToolException, tool
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedState, InjectedStore, ToolNode, ToolRuntime
from langgraph.store.memory import InMemoryStore
from lc_tools import EACH_KIND, IMAGE, PAGE, AsyncListener, Listener, tokens
from search_shapes import KUBERNETES, exa, tavily

from ctxcompress import compress_search_results
from langchain_ctxcompress import compress_tool


def call(called: BaseTool, *, config: RunnableConfig | None = None, **arguments: Any) -> ToolMessage:
    return called.invoke({"type": "tool_call", "id": "call-1", "name": called.name, "args": arguments}, config)


async def acall(called: BaseTool, *, config: RunnableConfig | None = None, **arguments: Any) -> ToolMessage:
    return await called.ainvoke({"type": "tool_call", "id": "call-1", "name": called.name, "args": arguments}, config)


def but_content(message: ToolMessage) -> dict[str, Any]:
    return {**message.model_dump(), "content": None}


@pytest.mark.parametrize(("inner", "arguments"), EACH_KIND, ids=lambda given: getattr(given, "name", ""))
async def test_the_message_differs_in_its_content_alone(inner, arguments):
    outer = compress_tool(inner, max_tokens=150)
    short, long = call(outer, **arguments), call(inner, **arguments)
    assert but_content(short) == but_content(long)
    assert type(short.content) is type(long.content)
    assert tokens(short.content) < tokens(long.content)
    if isinstance(short.content, str):
        assert tokens(short.content) <= 150
    again = await acall(outer, **arguments)
    assert but_content(again) == but_content(long)
    assert again.content == short.content or inner.name == "both_ways"
    assert call(inner, **arguments).content == long.content  # the tool itself is as it was


async def test_each_way_is_the_tools_own_and_runs_once():
    outer = compress_tool(lc_tools.BothWays(), min_tokens=0, max_tokens=5_000)
    assert call(outer, question=KUBERNETES).content == PAGE + "sync"
    assert (await acall(outer, question=KUBERNETES)).content == PAGE + "async"
    inner = lc_tools.NoSchema()
    await acall(compress_tool(inner), query="a")
    call(compress_tool(inner), query="b")
    assert inner.calls == ["a", "b"]


def test_results_keep_their_type_without_a_call_of_a_model():
    expected = compress_search_results(tavily(), KUBERNETES, max_results=9, max_tokens=1_000).results
    assert compress_tool(lc_tools.web_search).invoke({"query": KUBERNETES}) == expected
    response = compress_tool(lc_tools.exa_search).invoke({"query": KUBERNETES})
    assert response == compress_search_results(exa(), KUBERNETES, max_results=9, max_tokens=1_000).results
    assert compress_tool(lc_tools.duckduckgo).invoke(KUBERNETES).startswith("snippet: ")
    found = compress_tool(lc_tools.documents, max_tokens=300).invoke({"question": KUBERNETES})
    assert all(isinstance(document, Document) and set(document.metadata) == {"source"} for document in found)
    assert tokens(str(found)) <= 300


def test_blocks_stay_blocks_and_images_stay():
    (text, image) = call(compress_tool(lc_tools.screenshot, max_tokens=80), question=KUBERNETES).content
    assert image == IMAGE
    assert {**text, "text": PAGE} == lc_tools.screenshot.invoke({"question": ""})[0]
    assert 0 < tokens(text["text"]) <= 80
    kept = call(compress_tool(lc_tools.paragraphs, max_tokens=80), question=KUBERNETES).content
    assert all(block["type"] == "text" and block["text"] for block in kept)
    assert tokens("\n\n".join(block["text"] for block in kept)) <= 80
    assert call(compress_tool(lc_tools.pictures), question="?").content == [IMAGE, IMAGE]


@pytest.mark.parametrize(
    ("inner", "arguments"),
    [
        (lc_tools.echo, {"text": "A short text."}),
        (lc_tools.own_error, {"query": KUBERNETES}),
        (lc_tools.failing, {"query": KUBERNETES}),
    ],
    ids=["short", "own-error", "error"],
)
async def test_what_stays_as_it_is(inner, arguments):
    outer = compress_tool(inner, max_tokens=50)
    assert call(outer, **arguments) == call(inner, **arguments)
    assert await acall(outer, **arguments) == await acall(inner, **arguments)


def test_errors_are_handled_as_the_tool_handles_them():
    @tool
    def wrong(query: str) -> str:
        """Fail."""
        raise ToolException("not today")

    with pytest.raises(ToolException, match="not today"):
        call(compress_tool(wrong), query="x")
    wrong.handle_tool_error = "nothing"
    assert call(compress_tool(wrong), query="x").content == "nothing"
    with pytest.raises(ValueError, match="two-tuple"):
        call(compress_tool(lc_tools.echo.model_copy(update={"response_format": "content_and_artifact"})), text="x")


async def test_injected_arguments_arrive_and_are_no_query():
    seen = []

    @tool(response_format="content_and_artifact")
    def search(
        query: str,
        state: Annotated[dict, InjectedState],
        store: Annotated[Any, InjectedStore()],
        tool_call_id: Annotated[str, InjectedToolCallId],
        runtime: ToolRuntime,
        config: RunnableConfig,
    ) -> Any:
        """Search."""
        seen.append((state["messages"][-1].id, store, tool_call_id, runtime.tool_call_id, config["metadata"]["who"]))
        return tavily(), [tool_call_id]

    store = InMemoryStore()
    outer = compress_tool(search)
    graph = StateGraph(MessagesState)
    graph.add_node("tools", ToolNode([outer]))
    graph.add_edge(START, "tools")
    graph.add_edge("tools", END)
    made = graph.compile(store=store)
    calls: Any = [{"name": "search", "args": {"query": KUBERNETES}, "id": "c"}]
    asked = {"messages": [AIMessage("", id="ai-1", tool_calls=calls)]}
    config = {"metadata": {"who": "me"}}
    expected = compress_search_results(tavily(), KUBERNETES, max_results=9, max_tokens=1_000).results
    for state in (made.invoke(asked, config), await made.ainvoke(asked, config)):
        message = state["messages"][-1]
        assert json.loads(message.content) == expected
        assert message.artifact == ["c"]
    assert seen == [("ai-1", store, "c", "c", "me")] * 2
    assert "state" not in outer.args


async def test_a_call_is_one_run_and_reports_what_was_saved():
    collector, listener, alistener = RunCollectorCallbackHandler(), Listener(), AsyncListener()
    config = {"callbacks": [collector, listener], "tags": ["called"]}
    outer = compress_tool(lc_tools.BothWays(), max_tokens=100)
    message = call(outer, question=KUBERNETES, config=config)
    (run,) = collector.traced_runs
    assert (run.name, run.run_type, run.child_runs) == ("both_ways", "tool", [])
    assert {"a-tag", "called"} <= set(run.tags)
    assert run.extra["metadata"]["a"] == "b"
    assert listener.ended == [message]
    expected = {
        "tool": "both_ways",
        "original_tokens": tokens(PAGE + "sync"),
        "compressed_tokens": tokens(message.content),
        "tokens_saved": tokens(PAGE + "sync") - tokens(message.content),
    }
    assert listener.events == [("ctxcompress", expected)]
    for inner, argument in ((lc_tools.BothWays(), "question"), (lc_tools.fetch_page, "url")):
        shorter = compress_tool(inner, max_tokens=100)
        await acall(shorter, config={"callbacks": [alistener]}, **{argument: KUBERNETES})
    assert [data["tool"] for _, data in alistener.events] == ["both_ways", "fetch_page"]


@pytest.mark.parametrize("copied", [lambda tool: pickle.loads(pickle.dumps(tool)), copy.deepcopy, copy.copy])
@pytest.mark.parametrize("encoding", ["o200k_base", len])
def test_it_can_be_pickled_and_copied_where_the_tool_can(copied, encoding):
    outer = compress_tool(lc_tools.Counting(many=70), max_tokens=80, encoding=encoding, query_argument="query")
    outer.invoke({"query": "x"})
    twin = copied(outer)
    twin.many = 90
    assert (type(twin).__name__, twin.called, outer.many) == ("Counting", 1, 70)
    found = twin.invoke({"query": "sentence 88"})
    assert "Sentence 88 of 90, in call 2." in found
    assert (len(found) if encoding is len else tokens(found)) <= 80
