"""The MCP server and its transports, built on the official SDK's low-level server, which accepts any JSON schema."""

from asyncio import wrap_future
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, Any

import anyio
import uvicorn
from mcp import MCPError
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from ctxcompress.agents.query_tool import QueryTool
from ctxcompress.apps.index import FolderIndex
from ctxcompress.apps.loopback import Limits, local_server, serve_on
from ctxcompress.apps.mcp.tools import DocumentTools, ToolSpec
from ctxcompress.errors import CtxCompressError
from ctxcompress.guarded import cancellable
from ctxcompress.version import __version__

if TYPE_CHECKING:  # the page needs a library that the server does not
    from ctxcompress.apps.mcp.metrics import ServerMetrics

__all__ = ["http_server", "make_server", "serve_http", "serve_stdio"]

_THREADS = 2
"""Calls handled at the same time. More threads would only slow each other and the event loop down."""
_UNCHECKED = TransportSecuritySettings(enable_dns_rebinding_protection=False)
_INSTRUCTIONS = (
    "Searches a folder of documents. query_documents_compressed returns the parts of the best results that answer a "
    "query; expand_chunk returns a result in full."
)
_READS_ONLY = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)


def make_server(index: FolderIndex, tool: QueryTool, metrics: "ServerMetrics | None" = None) -> "Server[Any]":
    """Make a server with the tools for `index`. metrics: is told of each call.

    Invalid arguments lead to a result with `is_error`, whose text names the value, the limit and the remedy.
    """
    found = DocumentTools(index, tool).specs()
    specs = {spec.name: spec if metrics is None else metrics.timed(spec) for spec in found}
    return Server(
        "ctxcompress",
        version=__version__,
        instructions=_INSTRUCTIONS,
        on_list_tools=partial(_list_tools, specs),
        on_call_tool=partial(_call_tool, specs, ThreadPoolExecutor(_THREADS, "ctxcompress-mcp")),
    )


async def _list_tools(
    specs: Mapping[str, ToolSpec], _: "ServerRequestContext[Any]", __: PaginatedRequestParams | None
) -> ListToolsResult:
    return ListToolsResult(
        tools=[
            Tool(
                name=spec.name,
                description=spec.description,
                input_schema=dict(spec.input_schema),
                output_schema=dict(spec.output_schema),
                annotations=_READS_ONLY,
            )
            for spec in specs.values()
        ]
    )


async def _call_tool(
    specs: Mapping[str, ToolSpec],
    threads: ThreadPoolExecutor,
    _: "ServerRequestContext[Any]",
    params: CallToolRequestParams,
) -> CallToolResult:
    spec = specs.get(params.name)
    if spec is None:
        raise MCPError(INVALID_PARAMS, f"there is no tool {params.name[:100]!r}; the tools are {', '.join(specs)}")
    try:
        # On a thread, so that other clients are served meanwhile. If the client disconnects, a call that has not begun
        # is dropped and one that has ends at its next stage, so disconnecting clients cannot pile up threads.
        with cancellable() as call:
            result = await wrap_future(threads.submit(call, spec.call, params.arguments or {}))
    except CtxCompressError as error:
        return CallToolResult(content=[TextContent(text=str(error))], is_error=True)
    return CallToolResult(content=[TextContent(text=result.text)], structured_content=result.structured)


def serve_stdio(server: "Server[Any]", index: FolderIndex) -> None:
    """Serve one client until it closes standard input."""

    async def run() -> None:
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())

    _read_ahead(index)
    anyio.run(run)


def serve_http(
    server: "Server[Any]",
    index: FolderIndex,
    port: int,
    ready: Callable[[str], object],
    metrics: "ServerMetrics | None" = None,
) -> None:
    """Serve any number of clients on 127.0.0.1 until interrupted. port: 0 picks a free one.

    metrics: served at /metrics if given.

    Raises ConfigError if the port is in use.
    """

    def begin(address: str) -> None:
        _read_ahead(index)
        ready(f"{address}/mcp")

    serve_on(port, lambda port: http_server(server, port, metrics=metrics), begin)


def http_server(
    server: "Server[Any]", port: int, limits: Limits | None = None, metrics: "ServerMetrics | None" = None
) -> uvicorn.Server:
    """Make a server for a socket that listens on `port` of 127.0.0.1: see `local_server`."""
    # The SDK's own checks are off: `local_server` has them. Without sessions, so that a client that disconnects leaves
    # nothing behind.
    app: ASGIApp = _OnlyPost(server.streamable_http_app(stateless_http=True, transport_security=_UNCHECKED))
    return local_server(app if metrics is None else metrics.page_before(app), port, limits or Limits())


@dataclass(frozen=True, slots=True)
class _OnlyPost:
    """An application that refuses GET with 405: it would wait for messages of a session, and there are no sessions."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refused = scope["type"] == "http" and scope["method"] != "POST"
        app = Response("only POST is served", 405, {"Allow": "POST"}) if refused else self.app
        await app(scope, receive, send)


def _read_ahead(index: FolderIndex) -> None:
    """Read the folder in the background while the client connects. The first search waits for it."""
    Thread(target=index.refresh, name="ctxcompress-index", daemon=True).start()
