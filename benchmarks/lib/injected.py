"""A plugin of pytest that puts this package into every agent that the tests make.

`pytest -p lib.injected` gives each `create_agent` of LangChain a CtxCompressMiddleware, and makes each FunctionAgent of
LlamaIndex a CtxCompressFunctionAgent whose tools are compressed.
"""

import functools
import sys
from collections.abc import Callable
from typing import Any

import langchain.agents
import langchain.agents.factory
from llama_index.core.agent import workflow
from llama_index.core.agent.workflow import function_agent, multi_agent_workflow
from llama_index.core.tools import BaseTool, FunctionTool

from langchain_ctxcompress import CtxCompressMiddleware
from llamaindex_ctxcompress import CtxCompressFunctionAgent, compress_tool

__all__ = ["inject_middleware", "pytest_configure"]


def pytest_configure() -> None:
    """Replace what makes agents, before any test imports it."""
    inject_middleware(lambda: CtxCompressMiddleware(max_tokens=1_000, history_tokens=100_000))
    for module in (workflow, function_agent, multi_agent_workflow, sys.modules["llama_index.core.agent"]):
        module.FunctionAgent = _FunctionAgent  # type: ignore[attr-defined]


def inject_middleware(made: Callable[[], Any]) -> None:
    """Give each agent of LangChain the middleware that this makes, before its own."""
    create = langchain.agents.factory.create_agent

    @functools.wraps(create)
    def create_agent(*args: Any, middleware: Any = (), **options: Any) -> Any:
        return create(*args, middleware=[made(), *middleware], **options)

    langchain.agents.factory.create_agent = create_agent
    langchain.agents.create_agent = create_agent


class _FunctionAgent(CtxCompressFunctionAgent):
    def __init__(self, *args: Any, tools: Any = None, **options: Any) -> None:
        made = [tool if isinstance(tool, BaseTool) else FunctionTool.from_defaults(tool) for tool in tools or ()]
        shorter = None if tools is None else [compress_tool(tool, max_tokens=1_000) for tool in made]
        super().__init__(*args, tools=shorter, **{"history_tokens": 100_000, **options})
