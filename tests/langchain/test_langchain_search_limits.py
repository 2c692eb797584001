"""The limits on search results that a user sets, in a tool and in an agent."""

import json
from typing import Any

import lc_tools
import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from lc_tools import Scripted, calling
from search_shapes import KUBERNETES, tavily

from ctxcompress import compress_search_results
from ctxcompress.apps.search import SearchLimits
from langchain_ctxcompress import CtxCompressMiddleware, compress_tool

LIMITS = SearchLimits(max_results=2, max_characters=150, max_sentences=1)
EXPECTED = compress_search_results(tavily(), KUBERNETES, max_results=2, max_characters=150, max_sentences=1).results


def call(called: Any, query: str = KUBERNETES) -> ToolMessage:
    return called.invoke({"type": "tool_call", "id": "call-1", "name": called.name, "args": {"query": query}})


def test_limits_hold_for_results_of_a_tool_that_fit():
    message = call(compress_tool(lc_tools.web_search, max_tokens=50_000, search_limits=LIMITS))
    assert json.loads(message.content) == EXPECTED


def test_limits_can_hold_only_for_results_that_do_not_fit():
    only = SearchLimits(max_results=1, only_over_budget=True)
    assert call(compress_tool(lc_tools.web_search, max_tokens=50_000, search_limits=only)) == call(lc_tools.web_search)
    message = call(compress_tool(lc_tools.web_search, max_tokens=1_000, search_limits=only))
    assert len(json.loads(message.content)["results"]) == 1


@pytest.mark.parametrize("is_async", [False, True])
async def test_limits_hold_for_the_results_of_an_agents_tools(is_async):
    middleware = CtxCompressMiddleware(max_tokens=50_000, search_limits=LIMITS)
    model = Scripted(responses=[calling((lc_tools.web_search, {"query": KUBERNETES})), AIMessage("Done.")])
    agent = create_agent(model, [lc_tools.web_search], middleware=[middleware])
    given = {"messages": [("user", "Look it up.")]}
    state = await agent.ainvoke(given) if is_async else agent.invoke(given)
    [message] = [message for message in state["messages"] if isinstance(message, ToolMessage)]
    assert json.loads(message.content) == EXPECTED


def test_results_that_answer_nothing_go_with_adaptive_also_if_they_fit():
    answer, other = "The default timeout of the client is 30 seconds.", "The museum opens at nine on Sundays."

    @tool
    def search(query: str) -> dict[str, Any]:
        """Search."""
        return {
            "results": [{"url": f"https://a.example/{n}", "content": text} for n, text in enumerate((other, answer))]
        }

    question = "what is the default timeout of the client?"
    adaptive = compress_tool(search, min_tokens=0, adaptive=True)
    assert json.loads(call(adaptive, question).content)["results"] == [
        {"url": "https://a.example/1", "content": answer}
    ]
    assert call(compress_tool(search, min_tokens=0), question) == call(search, question)


def test_an_emptied_mapping_stays_one():
    @tool
    def rows(query: str) -> dict[str, Any]:
        """Read rows."""
        return {"count": 40, "rows": [{"name": "Apple", "colour": "red"}] * 40}

    emptied = compress_tool(rows, min_tokens=0, adaptive=True, on_empty="drop")
    assert emptied.invoke({"query": "zebra stripes in kenya"}) == {"rows": []}

    @tool
    def as_text(query: str) -> str:
        """Read rows as text."""
        return json.dumps(rows.invoke({"query": query}))

    emptied = compress_tool(as_text, min_tokens=0, adaptive=True, on_empty="drop")
    assert emptied.invoke({"query": "zebra stripes in kenya"}) == '{"rows": []}'


@pytest.mark.parametrize("make", [lambda **options: compress_tool(lc_tools.echo, **options), CtxCompressMiddleware])
def test_limits_that_are_none_are_refused(make):
    with pytest.raises(ValueError, match=r"search_limits is 3; give ctxcompress.apps.search.SearchLimits\(...\)"):
        make(search_limits=3)
