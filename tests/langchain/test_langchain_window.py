"""A budget that is a share of the model's context window, and what a prompt takes of the window."""

from typing import Any

import lc_tools
import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver
from lc_tools import Scripted, calling, tokens
from search_shapes import KUBERNETES

from langchain_ctxcompress import (
    CtxCompressMiddleware,
    prompt_tokens,
)


def test_system_prompt_messages_tool_calls_and_schemas_count():
    call = AIMessage("", tool_calls=[{"name": "f", "args": {"query": "x" * 400}, "id": "1"}])
    empty = prompt_tokens()
    assert empty == 0
    assert (
        prompt_tokens(system_prompt=SystemMessage("Be brief."))
        == prompt_tokens(["Be brief."])
        == tokens("Be brief.") + 4
    )
    assert prompt_tokens([call]) > 50
    schema = prompt_tokens(tools=[lc_tools.web_search])
    assert 40 < schema == prompt_tokens(tools=[convert_to_openai_tool(lc_tools.web_search)])
    assert prompt_tokens(tools=[{"type": "web_search_preview"}]) == tokens({"type": "web_search_preview"}) + 3
    assert prompt_tokens([HumanMessage("a b c")], encoding=lambda text: len(text.split())) == 7


def _steps(share: str, window: int | None, steps: int = 3, **options: Any) -> list[int]:
    """Return the tokens of the tool's results in an agent's run, and check that the prompt is within the window."""
    answers = [calling((lc_tools.fetch_page, {"url": f"https://a.example/{n}"}), turn=str(n)) for n in range(steps)]
    profile = {"max_input_tokens": window} if window else None
    model = Scripted(responses=[*answers, AIMessage("done")], profile=profile)
    middleware = CtxCompressMiddleware(max_tokens=share, min_tokens=20, **options)
    agent = create_agent(
        model,
        [lc_tools.fetch_page],
        system_prompt="Be brief. " * 20,
        middleware=[middleware],
        checkpointer=InMemorySaver(),
    )
    config = {"configurable": {"thread_id": "1"}}
    result = agent.invoke({"messages": [HumanMessage(KUBERNETES)]}, config)
    assert "ctxcompress_tokens_left" not in result
    taken = prompt_tokens(result["messages"], system_prompt="Be brief. " * 20, tools=[lc_tools.fetch_page])
    assert taken <= (window or options["context_window"] or 1_000)
    return [tokens(message.content) for message in result["messages"] if isinstance(message, ToolMessage)]


def test_in_an_agent_a_share_is_of_what_each_request_leaves_of_its_models_window():
    results = _steps("50%", 1_000)
    fixed = prompt_tokens([KUBERNETES], system_prompt="Be brief. " * 20, tools=[lc_tools.fetch_page])
    left = 1_000 - fixed
    for result in results:
        assert 0.3 * left < result <= 0.5 * left
        left -= result


def test_an_option_gives_the_window_where_the_profile_does_not():
    assert max(_steps("50%", None, context_window=1_000)) <= 500
    with pytest.raises(
        ValueError, match=r"the profile of the model \(Scripted\) has no max_input_tokens; give context_window"
    ):
        _steps("50%", None)
