"""A folder of documents as a server of the Model Context Protocol. Needs the extra `mcp`; importing this does not."""

import os
from collections.abc import Callable

from ctxcompress.compressor import Compressor
from ctxcompress.config.options import CompressionConfig, Format, Options
from ctxcompress.encoders.encoder import Comparer, Encoder
from ctxcompress.errors import MissingExtra
from ctxcompress.index import FolderIndex
from ctxcompress.tools.query_tool import QueryTool

__all__ = ["serve"]

_TOP_N = 5
"""Chunks of an answer where the options say nothing: the index ranks well, so that more cost more than they bring."""


def serve(
    docs: str | os.PathLike[str],
    *,
    config: CompressionConfig | None = None,
    max_tokens: int | None = None,
    format: Format | None = None,
    encoder: Encoder | Comparer | None = None,
    port: int | None = None,
    ready: Callable[[str], object] = lambda _: None,
) -> None:
    """Serve the text, Markdown and code files of a folder until the client goes, or until it is interrupted.

    config: where the options of the search tool start from, the preset "docs" if it is not given. What it says of
    `top_n` and `min_score`, and of duplicates, are the defaults of the tool's arguments; without a `top_n` that is 5.
    max_tokens: of an answer, 2,000 if nothing says it. format: of an answer, "compact" if nothing says it. encoder: in
    place of that of `config`. port: serves over streamable HTTP on 127.0.0.1, on a free port
    if it is 0; None serves over standard input and output. ready: called with where the server is, once it listens.

    Raises ConfigError (no such folder, a wrong budget, a port that is taken), MissingExtra or TokenizerUnavailable.
    """
    index, tool = FolderIndex(docs), _tool(config, max_tokens, format, encoder)
    try:
        from ctxcompress.mcp import server as transports
        from ctxcompress.mcp.server import make_server
    except ImportError as error:  # of a name, where another release is installed
        missing = (error.name or "").partition(".")[0]
        if missing not in ("anyio", "mcp", "mcp_types", "uvicorn"):
            raise
        raise MissingExtra(
            f"serving documents needs {missing} (mcp from 2 on); install it with: pip install 'ctxcompress[mcp]'"
        ) from error
    Compressor(tool.config).count("")  # a tokenizer that cannot be had is told now, not in every call
    server = make_server(index, tool)
    if port is None:
        ready("standard input and output")
        transports.serve_stdio(server, index)
    else:
        transports.serve_http(server, index, port, ready)


def _tool(
    config: CompressionConfig | None,
    max_tokens: int | None,
    format: Format | None,
    encoder: Encoder | Comparer | None,
) -> QueryTool:
    """The search tool with these options, as far as they are given."""
    options: Options = {"max_tokens": max_tokens}
    if config is None or config.top_n is None:
        options["top_n"] = _TOP_N
    if format is not None:
        options["format"] = format
    if encoder is not None:
        options["encoder"] = encoder
    return QueryTool.of(config, **options)
