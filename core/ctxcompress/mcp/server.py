"""The protocol's side of the tools: on the low-level server of the official SDK, which takes schemas as they are."""

from asyncio import wrap_future
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from mcp import MCPError
from mcp.server import Server, ServerRequestContext
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

from ctxcompress.errors import CtxCompressError
from ctxcompress.index import FolderIndex
from ctxcompress.mcp.tools import DocumentTools, ToolSpec
from ctxcompress.tools.query import QueryTool
from ctxcompress.version import __version__
from ctxcompress.waiting import waiting

__all__ = ["make_server"]

_THREADS = 2
"""Calls that are worked on at one time. More would take turns with one another, and with whoever answers the others."""
_INSTRUCTIONS = (
    "Searches a folder of documents. query_documents_compressed returns what of the best results answers a query; "
    "expand_chunk returns a result in full."
)
_READS_ONLY = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)


def make_server(index: FolderIndex, tool: QueryTool) -> "Server[Any]":
    """Make a server with the tools over `index`.

    Wrong arguments are results with `is_error`, whose text says the value, the limit and the remedy.
    """
    specs = {spec.name: spec for spec in DocumentTools(index, tool).specs()}
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
        # On a thread, so that others are served meanwhile. Nobody waits for one whose client has gone, and where none
        # has begun yet, none does; one that has stops at its next stage. So clients that go cannot pile up threads.
        with waiting() as call:
            told = await wrap_future(threads.submit(call, spec.call, params.arguments or {}))
    except CtxCompressError as error:
        return CallToolResult(content=[TextContent(text=str(error))], is_error=True)
    return CallToolResult(content=[TextContent(text=told.text)], structured_content=told.structured)
