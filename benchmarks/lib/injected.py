"""A plugin of pytest that puts this package into every agent that the tests make.

`pytest -p lib.injected` gives each `create_agent` of LangChain a CtxCompressMiddleware, and makes each FunctionAgent,
ReActAgent and CodeActAgent of LlamaIndex one of this package, whose tools are compressed.
"""

import functools
import sys
from collections.abc import Callable
from typing import Any

import langchain.agents
import langchain.agents.factory
from llama_index.core.agent import workflow
from llama_index.core.agent.workflow import codeact_agent, function_agent, multi_agent_workflow, react_agent
from llama_index.core.tools import BaseTool, FunctionTool

from langchain_ctxcompress import CtxCompressMiddleware
from llamaindex_ctxcompress import (
    CtxCompressCodeActAgent,
    CtxCompressFunctionAgent,
    CtxCompressReActAgent,
    compress_tool,
)

__all__ = ["inject_middleware", "pytest_configure"]


def pytest_configure() -> None:
    """Replace what makes agents, before any test imports it."""
    inject_middleware(lambda: CtxCompressMiddleware(max_tokens=1_000, history_tokens=100_000))
    for name, agent in _AGENTS.items():
        for module in (*_MODULES, sys.modules["llama_index.core.agent"]):
            if hasattr(module, name):
                setattr(module, name, agent)


def inject_middleware(made: Callable[[], Any]) -> None:
    """Give each agent of LangChain the middleware that this makes, before its own."""
    create = langchain.agents.factory.create_agent

    @functools.wraps(create)
    def create_agent(*args: Any, middleware: Any = (), **options: Any) -> Any:
        return create(*args, middleware=[made(), *middleware], **options)

    langchain.agents.factory.create_agent = create_agent
    langchain.agents.create_agent = create_agent


def _with_ours(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of an agent with a limit, and with compressed tools."""
    tools = options.get("tools")
    made = [tool if isinstance(tool, BaseTool) else FunctionTool.from_defaults(tool) for tool in tools or ()]
    shorter = None if tools is None else [compress_tool(tool, max_tokens=1_000) for tool in made]
    return {"history_tokens": 100_000, **options, "tools": shorter}


class _FunctionAgent(CtxCompressFunctionAgent):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **_with_ours(options))


class _ReActAgent(CtxCompressReActAgent):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **_with_ours(options))


class _CodeActAgent(CtxCompressCodeActAgent):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **_with_ours(options))


_MODULES = (workflow, function_agent, react_agent, codeact_agent, multi_agent_workflow)
_AGENTS = {"FunctionAgent": _FunctionAgent, "ReActAgent": _ReActAgent, "CodeActAgent": _CodeActAgent}
