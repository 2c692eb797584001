"""Agents with and without the middleware: the same messages but for what tools returned, which is shorter."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import lc_tools
import pytest
from fresh_modules import fresh
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, ToolRetryMiddleware
from langchain.tools import ToolRuntime
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, tool
from langgraph.types import Command
from lc_tools import EACH_KIND, PAGE, AsyncListener, Listener, Scripted, calling, run, tokens
from search_shapes import CLOUDS, KUBERNETES, tavily

from ctxcompress import compress, compress_search_results
from langchain_ctxcompress import CtxCompressMiddleware


@tool
def commanding(query: str, runtime: ToolRuntime) -> Command:
    """Change the state."""
    message = ToolMessage(PAGE, tool_call_id=runtime.tool_call_id)
    return Command(update={"messages": [message]})


@tool
def broken(query: str) -> str:
    """Break."""
    raise RuntimeError(PAGE)


@tool(return_direct=True)
def direct(query: str) -> str:
    """Answer the user."""
    return PAGE


SHORTENED = [each for each in EACH_KIND if each[0] is not lc_tools.paragraphs]
LEFT_ALONE: list[tuple[BaseTool, dict[str, Any]]] = [
    (lc_tools.echo, {"text": "A short text."}),
    (lc_tools.pictures, {"question": "?"}),
    (lc_tools.failing, {"query": KUBERNETES}),
    (lc_tools.own_error, {"query": KUBERNETES}),
    (commanding, {"query": KUBERNETES}),
]
BOTH_TURNS = [*SHORTENED, *LEFT_ALONE]


def agent_of(model: Scripted, tools: list[BaseTool], *middleware: AgentMiddleware, **options: Any) -> Any:
    return create_agent(model, tools, middleware=middleware, **options)


def asked(query: str = KUBERNETES) -> dict[str, Any]:
    return {"messages": [HumanMessage(query, id="human-1")]}


def but_content(message: Any) -> dict[str, Any]:
    """Ids that the graph gives to messages without one are not the same in two runs."""
    dump = message.model_dump()
    given_id = dump["id"] if dump["id"] and "-" in dump["id"] and len(dump["id"]) < 20 else None
    return {**dump, "id": given_id, "content": None if isinstance(message, ToolMessage) else dump["content"]}


def tool_messages(state: dict[str, Any]) -> list[ToolMessage]:
    return [message for message in state["messages"] if isinstance(message, ToolMessage)]


@pytest.mark.parametrize("is_async", [False, True])
async def test_a_run_with_all_kinds_of_tools_at_once(is_async):
    def model() -> Scripted:
        return Scripted(responses=[calling(*BOTH_TURNS), AIMessage("done", id="ai-2")])

    tools = [called for called, _ in BOTH_TURNS]
    without = await run(agent_of(model(), tools), asked(), is_async=is_async)
    model_with = model()
    agent = agent_of(model_with, tools, CtxCompressMiddleware(max_tokens=100))
    state = await run(agent, asked(), is_async=is_async)

    assert [*map(but_content, state["messages"])] == [*map(but_content, without["messages"])]
    long, short = tool_messages(without), tool_messages(state)
    assert [message.name for message in short] == [message.name for message in long]
    saved = 0
    for (called, _), before, after in zip(BOTH_TURNS, long, short, strict=True):
        assert type(after.content) is type(before.content)
        if called in [shortened for shortened, _ in SHORTENED]:
            if isinstance(after.content, str):
                assert tokens(after.content) <= 100 or called.name in ("web_search", "no_schema", "json_schema")
                saved += tokens(before.content) - tokens(after.content)
            else:
                saved += tokens(before.content[0]["text"]) - tokens(after.content[0]["text"])
            assert tokens(after.content) < tokens(before.content)
        else:
            assert after.content == before.content
    assert state["ctxcompress"]["tokens_saved"] == saved
    assert state["ctxcompress"]["tool_results"] == len(SHORTENED)
    assert [message["content"] for message in model_with.shown[1] if message["type"] == "tool"] == [
        message.content for message in short
    ]


@pytest.mark.parametrize(
    ("middleware", "page", "documented"),
    [
        ([], "search.md", [4, 4_444, 6_826]),
        ([CtxCompressMiddleware()], "search.md", [4, 1_457, 2_015]),
        ([CtxCompressMiddleware(max_tokens=1_000, expandable=True)], "how-to/expand.md", [4, 1_445, 2_027]),
    ],
)
def test_what_a_model_reads_in_the_run_of_the_documentation(middleware, page, documented):
    page = (Path(__file__).parents[2] / "docs" / page).read_text(encoding="utf-8")
    assert " + ".join(f"{number:,}" for number in documented) in page
    turns = [
        calling((lc_tools.web_search, {"query": KUBERNETES}), (lc_tools.fetch_page, {"url": "a"})),
        calling((lc_tools.web_search, {"query": CLOUDS}), turn="2"),
        AIMessage("done"),
    ]
    model = Scripted(responses=turns)
    agent_of(model, [lc_tools.web_search, lc_tools.fetch_page], *middleware).invoke(asked())
    read = [sum(tokens(message["content"]) for message in messages) for messages in model.shown]
    assert read == pytest.approx(documented, rel=0.05)


@pytest.mark.parametrize(
    ("query", "is_words"),
    [
        ("default port of the router", True),
        ("What is the default port, e.g. of the router?", True),
        ("port", True),
        ("SELECT name, port FROM routers WHERE size = 5", False),
        ("select * from routers", False),
        ("MATCH (r:Router) RETURN r.port", False),
        ("cat /etc/router.conf | grep -v port", False),
        ("sum(rate(router_port_total[5m]))", False),
        ('{"match": {"router": "port"}}', False),
    ],
)
def test_a_query_that_is_no_words_gives_way_to_the_question_of_the_user(query, is_words):
    @tool
    def look(query: str) -> str:
        """Look it up."""
        noise = "".join(f"The lamp of room {n} is green, and its switch is old.\n\n" for n in range(200))
        return f"{noise}The default port of the router is 8080.\n\n{noise}The cellar key hangs beside the barrel.\n\n"

    model = Scripted(responses=[calling((look, {"query": query})), AIMessage("done")])
    agent_of(model, [look], CtxCompressMiddleware(max_tokens=60)).invoke(
        asked("Where does the key of the cellar hang?")
    )
    (read,) = (message["content"] for message in model.shown[1] if message["type"] == "tool")
    assert ("8080" in read, "beside the barrel" in read) == (is_words, not is_words)


async def test_the_query_is_the_argument_else_the_last_question_of_the_user():
    model = Scripted(
        responses=[
            calling((lc_tools.fetch_page, {"url": "https://a.example"}), (lc_tools.web_search, {"query": CLOUDS})),
            AIMessage("done", id="ai-2"),
        ]
    )
    agent = agent_of(model, [lc_tools.web_search, lc_tools.fetch_page], CtxCompressMiddleware(max_tokens=100))
    question = "What do three nodes cost in a month?"
    messages = [HumanMessage("Hello", id="h-1"), AIMessage("Hello", id="a-1"), HumanMessage(question, id="h-2")]
    page, search = tool_messages(agent.invoke({"messages": messages}))
    assert page.content == compress(question, [PAGE], max_tokens=100).text
    assert "between eighty and two hundred dollars" in page.content
    assert json.loads(search.content) == compress_search_results(tavily(), CLOUDS, max_tokens=100).results


@pytest.mark.parametrize("is_async", [False, True])
async def test_tools_can_be_chosen_left_out_and_have_budgets_of_their_own(is_async):
    calls = [
        (lc_tools.fetch_page, {"url": "a"}),
        (lc_tools.BothWays(), {"question": KUBERNETES}),
        (lc_tools.own_message, {"query": "x"}),
    ]
    tools = [called for called, _ in calls]

    async def sizes(**options: Any) -> list[int]:
        model = Scripted(responses=[calling(*calls), AIMessage("done", id="ai-2")])
        state = await run(agent_of(model, tools, CtxCompressMiddleware(**options)), asked(), is_async=is_async)
        assert state.get("ctxcompress", {}).get("tool_results", 0) == sum(
            tokens(message.content) < 1_500 for message in tool_messages(state)
        )
        return [tokens(message.content) for message in tool_messages(state)]

    whole = tokens(PAGE)
    page, both, own = await sizes(max_tokens=100, budgets={"both_ways": 300})
    assert page <= 100 < both <= 300
    assert own <= 100
    page, both, own = await sizes(max_tokens=100, tools=["fetch_page", lc_tools.own_message], exclude=["own_message"])
    assert (page <= 100, both >= whole, own) == (True, True, whole)
    assert await sizes(max_tokens=100, tools=[]) == await sizes(exclude=tools)
    assert await sizes(min_tokens=50_000, max_tokens=100) == await sizes(tools=[])


def test_two_of_them_and_others_work_together():
    model = Scripted(
        responses=[
            calling((lc_tools.fetch_page, {"url": "a"}), (lc_tools.web_search, {"query": KUBERNETES})),
            AIMessage("done", id="ai-2"),
        ]
    )
    pages = CtxCompressMiddleware(name="pages", tools=["fetch_page"], max_tokens=50)
    searches = CtxCompressMiddleware(name="searches", tools=["web_search"], complexity="complex")
    agent = agent_of(model, [lc_tools.fetch_page, lc_tools.web_search], ToolRetryMiddleware(), pages, searches)
    state = agent.invoke(asked())
    page, search = tool_messages(state)
    assert tokens(page.content) <= 50
    assert len(json.loads(search.content)["results"]) == 4  # one is below the floor
    assert state["ctxcompress"]["tool_results"] == 2
    assert (CtxCompressMiddleware().name, pages.name, searches.name) == ("CtxCompressMiddleware", "pages", "searches")


class Watching(AgentMiddleware):
    """What a middleware sees of tools' results."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def wrap_tool_call(self, request, handler):
        self.seen.append(handler(request))
        return self.seen[-1]

    async def awrap_tool_call(self, request, handler):
        self.seen.append(await handler(request))
        return self.seen[-1]


class WatchingOutside(Watching):
    """An agent has each class once."""


@pytest.mark.parametrize("is_async", [False, True])
async def test_what_is_listed_after_it_sees_the_whole_message_and_what_is_listed_before_it_a_command(is_async):
    before, after = WatchingOutside(), Watching()
    model = Scripted(responses=[calling((lc_tools.fetch_page, {"url": "a"})), AIMessage("done", id="ai-2")])
    agent = agent_of(model, [lc_tools.fetch_page], before, CtxCompressMiddleware(max_tokens=50), after)
    state = await run(agent, asked(), is_async=is_async)
    (command,), (whole,), (message,) = before.seen, after.seen, tool_messages(state)
    assert (whole.content, type(whole)) == (PAGE, ToolMessage)
    assert isinstance(command, Command)
    (shortened,) = command.update["messages"]
    assert shortened.content == message.content
    assert tokens(message.content) <= 50
    assert but_content(shortened) == but_content(whole)


def test_what_goes_directly_to_the_user_is_whole():
    model = Scripted(responses=[calling((direct, {"query": KUBERNETES}))])
    state = agent_of(model, [direct], CtxCompressMiddleware(max_tokens=50)).invoke(asked())
    assert tool_messages(state)[0].content == PAGE
    assert "ctxcompress" not in state


@pytest.mark.parametrize("is_async", [False, True])
async def test_what_a_tool_raises_is_raised(is_async):
    agent = agent_of(Scripted(responses=[calling((broken, {"query": "x"}))]), [broken], CtxCompressMiddleware())
    with pytest.raises(RuntimeError, match="container"):
        await run(agent, asked(), is_async=is_async)


@pytest.mark.parametrize("listener", [Listener(), AsyncListener()])
async def test_callbacks_are_told_of_each_result(listener):
    is_async = isinstance(listener, AsyncListener)
    calls = [
        (lc_tools.fetch_page, {"url": "a"}),
        (lc_tools.echo, {"text": "short"}),
        (lc_tools.fetch_page, {"url": "b"}),
    ]
    model = Scripted(responses=[calling(*calls), AIMessage("done", id="ai-2")])
    agent = agent_of(model, [lc_tools.fetch_page, lc_tools.echo], CtxCompressMiddleware(max_tokens=90))
    state = await run(agent, asked(), is_async=is_async, config={"callbacks": [listener]})
    assert [(name, data["tool"], data["original_tokens"]) for name, data in listener.events] == [
        ("ctxcompress", "fetch_page", tokens(PAGE))
    ] * 2
    assert sum(data["tokens_saved"] for _, data in listener.events) == state["ctxcompress"]["tokens_saved"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_tokens": 0}, "max_tokens is 0"),
        ({"budgets": {"a": 0}}, "max_tokens is 0"),
        ({"min_tokens": 1.5}, "min_tokens is 1.5"),
        ({"tools": "fetch_page"}, "tools is 'fetch_page'; give a list"),
        ({"exclude": [5]}, r"exclude is \[5\]; give a list"),
        ({"budgets": ["fetch_page"]}, r"budgets is \['fetch_page'\]; give a mapping"),
        ({"name": 5}, "name is 5; give a string"),
        ({"context_window": 0}, "context_window is 0; give a whole number"),
        # Of features that are off:
        ({"keep_last": -1}, "keep_last is -1; give a whole number, at least 1"),
        ({"history_share": 5}, "history_share is 5; give a number between 0 and 1"),
        ({"expand_tokens": 5}, "expand_tokens is 5; give a whole number, at least 300"),
        ({"expandable": "yes"}, "expandable is 'yes'; give True or False"),
        ({"metadata_only": 7}, "metadata_only is 7; the best score"),
        ({"max_tokens": "5%", "min_tokens": 20, "expandable": True}, "min_tokens is 20; give at least 100 where"),
        ({"budgets": {"a": "5%"}, "min_tokens": 20, "expandable": True}, "min_tokens is 20"),
        ({"history_tokens": 0}, "history_tokens is 0"),
        ({"history_tokens": "200%"}, "history_tokens is '200%'"),
    ],
)
def test_values_that_cannot_work_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        CtxCompressMiddleware(**options)


def test_a_star_import_has_the_middleware_and_no_other_framework():
    code = """
import sys, langchain_ctxcompress
assert "langchain" not in sys.modules
from langchain_ctxcompress import *
assert CtxCompressMiddleware.__name__ == "CtxCompressMiddleware"
sys.exit(any(name in sys.modules for name in ("torch", "transformers", "sentence_transformers", "llama_index")))
"""
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_without_langchain_the_error_names_the_extra(monkeypatch):
    import langchain_ctxcompress

    monkeypatch.setitem(sys.modules, "langchain", None)
    monkeypatch.setitem(sys.modules, "langchain.agents", None)
    monkeypatch.setitem(sys.modules, "langchain.agents.middleware", None)
    monkeypatch.delitem(sys.modules, "langchain_ctxcompress.middleware")
    monkeypatch.delattr(langchain_ctxcompress, "middleware")
    monkeypatch.delattr(langchain_ctxcompress, "CtxCompressMiddleware", raising=False)
    with pytest.raises(ImportError, match=r"pip install 'ctxcompress\[agents\]'"):
        from langchain_ctxcompress import CtxCompressMiddleware  # noqa: F401
    assert not hasattr(langchain_ctxcompress, "SomethingElse")
    rest = fresh("langchain_ctxcompress").__all__  # what a star imports
    assert ("CtxCompressor" in rest, "CtxCompressMiddleware" in rest) == (True, False)
