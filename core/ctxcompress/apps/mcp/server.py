"""The MCP server and its transports, built on the official SDK's low-level server, which accepts any JSON schema."""

import logging
import socket
from asyncio import wrap_future
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
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
from starlette.types import ASGIApp

from ctxcompress.agents.query_tool import QueryTool
from ctxcompress.apps.index import FolderIndex
from ctxcompress.apps.mcp.connections import Limits, WholeRequests, bounded_protocol
from ctxcompress.apps.mcp.tools import DocumentTools, ToolSpec
from ctxcompress.data.stats import cancellable
from ctxcompress.errors import ConfigError, CtxCompressError
from ctxcompress.version import __version__

if TYPE_CHECKING:  # the page needs a library that the server does not
    from ctxcompress.apps.mcp.metrics import ServerMetrics

__all__ = ["http_server", "make_server", "serve_http", "serve_stdio"]

_THREADS = 2
"""Calls handled at the same time. More threads would only slow each other and the event loop down."""
_HOST = "127.0.0.1"
_NAMES = (_HOST, "localhost")
_BACKLOG = 64
"""Connections that the system accepts before the event loop handles them."""
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
    _read_ahead(index)
    anyio.run(_serve_stdio, server)


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
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind((_HOST, port))
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            raise ConfigError(f"port is {port} ({reason}); give a free port up to 65535, or 0 for any") from error
        port = listening.getsockname()[1]
        _read_ahead(index)
        listening.listen()
        ready(f"http://{_HOST}:{port}/mcp")
        http_server(server, port, metrics=metrics).run(sockets=[listening])


def http_server(
    server: "Server[Any]", port: int, limits: Limits | None = None, metrics: "ServerMetrics | None" = None
) -> uvicorn.Server:
    """Make a server for a socket that listens on `port` of 127.0.0.1, with limits on slow and numerous clients.

    Requests for another host or from another origin are refused, so that no web page can reach the documents through a
    name that it points to this address (DNS rebinding).
    """
    limits = limits or Limits()
    hosts = [f"{name}:{port}" for name in _NAMES]
    security = TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=[f"http://{host}" for host in hosts])
    # Without sessions, so that a client that disconnects leaves nothing behind.
    app = server.streamable_http_app(stateless_http=True, transport_security=security)
    # Refused requests are no warnings: anyone could flood the log with them.
    logging.getLogger("mcp.server.transport_security").setLevel(logging.ERROR)
    served: ASGIApp = WholeRequests(app, limits.body_bytes)
    if metrics is not None:
        served = metrics.page_before(served, hosts)
    return uvicorn.Server(
        uvicorn.Config(
            served,
            lifespan="on",
            http=bounded_protocol(limits),
            ws="none",
            backlog=_BACKLOG,
            h11_max_incomplete_event_size=limits.header_bytes,
            timeout_keep_alive=limits.idle_seconds,
            timeout_graceful_shutdown=2,
            log_config=None,
            log_level="error",
            access_log=False,
        )
    )


async def _serve_stdio(server: "Server[Any]") -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def _read_ahead(index: FolderIndex) -> None:
    """Read the folder in the background while the client connects. The first search waits for it."""
    Thread(target=index.refresh, name="ctxcompress-index", daemon=True).start()
