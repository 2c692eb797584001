"""A server for the Model Context Protocol that searches a folder. It needs the extra `mcp`; importing this does not."""

import os
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ctxcompress.agents.query_tool import QueryTool
from ctxcompress.apps.index import FolderIndex
from ctxcompress.compressor import Compressor
from ctxcompress.config.options import ConfigSource, Format, Preset
from ctxcompress.data.stats import observer_of
from ctxcompress.encoders.encoder import Comparer, Encoder
from ctxcompress.errors import ConfigError, MissingExtra

if TYPE_CHECKING:
    from ctxcompress.apps.mcp.metrics import ServerMetrics

__all__ = ["serve"]


def serve(
    docs: str | os.PathLike[str],
    *,
    config: ConfigSource | None = None,
    preset: Preset | None = None,
    max_tokens: int | None = None,
    format: Format | None = None,
    encoder: Encoder | Comparer | str | None = None,
    port: int | None = None,
    metrics: bool = False,
    ready: Callable[[str], object] = lambda _: None,
) -> None:
    """Serve the text files of a folder until the client disconnects or the server is interrupted.

    config, preset: the options that the search tool starts from, by default the preset "docs"; config is a
    CompressionConfig or the path of a TOML or JSON file. `top_n`, `min_score` and the thresholds of duplicates are the
    defaults of the tool's arguments.
    max_tokens: the budget of an answer, by default 1,000.
    format: the format of an answer, by default "compact".
    encoder: replaces the encoder of `config`.
    port: serves over streamable HTTP on this port of 127.0.0.1; 0 picks a free port. None serves over standard input
    and output.
    metrics: serves a page for Prometheus at /metrics; needs a port.
    ready: called with the server's address once it listens.

    Raises ConfigError (no such folder, an invalid budget, a port in use, metrics without a port), MissingExtra or
    TokenizerUnavailable.
    """
    if metrics and port is None:
        raise ConfigError("metrics=True is given without a port; give a port: metrics are served over HTTP only")
    given = {name: value for name, value in (("format", format), ("encoder", encoder)) if value is not None}
    index, tool = FolderIndex(docs), QueryTool.of(config, preset=preset, max_tokens=max_tokens, **given)
    try:
        from ctxcompress.apps.mcp import server as transports
    except ImportError as error:  # also if an incompatible release is installed
        missing = (error.name or "").partition(".")[0]
        if missing not in ("anyio", "mcp", "mcp_types", "uvicorn"):
            raise
        raise MissingExtra(
            f"the server needs the extra mcp ({missing} is missing or too old); run: pip install 'ctxcompress[mcp]'"
        ) from error
    Compressor(tool.config).count("")  # reports an unavailable tokenizer now, not in every call
    told = _metrics(index, tool) if metrics else None
    if told is not None:
        tool = replace(tool, config=tool.config.with_options(telemetry=told))
    server = transports.make_server(index, tool, told)
    if port is None:
        ready("standard input and output")
        transports.serve_stdio(server, index)
    else:
        transports.serve_http(server, index, port, ready, told)


def _metrics(index: FolderIndex, tool: QueryTool) -> "ServerMetrics":
    try:
        from ctxcompress.apps.mcp.metrics import ServerMetrics
    except ImportError as error:
        raise MissingExtra("metrics need prometheus-client; run: pip install 'ctxcompress[mcp]'") from error
    return ServerMetrics(index, observer_of(tool.config.telemetry))
