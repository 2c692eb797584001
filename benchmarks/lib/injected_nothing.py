"""A plugin of pytest that puts middleware which does nothing into every agent of LangChain that the tests make."""

from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware import AgentMiddleware

from lib.injected import inject_middleware

__all__ = ["pytest_configure"]


class _Nothing(AgentMiddleware):
    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        return handler(request)

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        return await handler(request)

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        return handler(request)

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        return await handler(request)


def pytest_configure() -> None:
    """Replace what makes agents, before any test imports it."""
    inject_middleware(_Nothing)
