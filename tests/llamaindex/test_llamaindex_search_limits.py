"""The limits on search results that a user sets."""

import ast
from typing import Any

import pytest
from llama_index.core.tools import FunctionTool
from search_shapes import KUBERNETES, tavily

from ctxcompress import compress_search_results
from ctxcompress.apps.search import SearchLimits
from llamaindex_ctxcompress import compress_tool


def web_search(query: str) -> dict[str, Any]:
    """Search the web."""
    return tavily()


TOOL = FunctionTool.from_defaults(web_search)
LIMITS = SearchLimits(max_results=2, max_characters=150, max_sentences=1)
EXPECTED = compress_search_results(tavily(), KUBERNETES, max_results=2, max_characters=150, max_sentences=1).results


@pytest.mark.parametrize("is_async", [False, True])
async def test_limits_hold_for_results_of_a_tool_that_fit(is_async):
    shorter = compress_tool(TOOL, max_tokens=50_000, search_limits=LIMITS)
    output = await shorter.acall(query=KUBERNETES) if is_async else shorter.call(query=KUBERNETES)
    assert ast.literal_eval(output.content) == EXPECTED
    assert output.raw_output == tavily()


def test_limits_can_hold_only_for_results_that_do_not_fit():
    only = SearchLimits(max_results=1, only_over_budget=True)
    fitting = compress_tool(TOOL, max_tokens=50_000, search_limits=only).call(query=KUBERNETES)
    assert fitting.content == TOOL.call(query=KUBERNETES).content
    output = compress_tool(TOOL, max_tokens=1_000, search_limits=only).call(query=KUBERNETES)
    assert len(ast.literal_eval(output.content)["results"]) == 1


def test_results_that_answer_nothing_go_with_adaptive_also_if_they_fit():
    answer, other = "The default timeout of the client is 30 seconds.", "The museum opens at nine on Sundays."

    def search(query: str) -> dict[str, Any]:
        """Search."""
        return {
            "results": [{"url": f"https://a.example/{n}", "content": text} for n, text in enumerate((other, answer))]
        }

    adaptive = compress_tool(FunctionTool.from_defaults(search), min_tokens=0, adaptive=True)
    output = adaptive.call(query="what is the default timeout of the client?")
    assert ast.literal_eval(output.content)["results"] == [{"url": "https://a.example/1", "content": answer}]


def test_an_emptied_mapping_stays_one():
    def rows(query: str) -> dict[str, Any]:
        """Read rows."""
        return {"count": 40, "rows": [{"name": "Apple", "colour": "red"}] * 40}

    emptied = compress_tool(FunctionTool.from_defaults(rows), min_tokens=0, adaptive=True, on_empty="drop")
    assert emptied.call(query="zebra stripes in kenya").content == "{'rows': []}"


def test_limits_that_are_none_are_refused():
    with pytest.raises(ValueError, match=r"search_limits is 3; give ctxcompress.apps.search.SearchLimits\(...\)"):
        compress_tool(TOOL, search_limits=3)
