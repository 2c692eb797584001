"""A folder of documents as a server of the Model Context Protocol. Needs the extra `mcp`; importing this does not."""

import os
from collections.abc import Callable

from ctxcompress.errors import MissingExtra
from ctxcompress.index import FolderIndex
from ctxcompress.pipeline import Compressor
from ctxcompress.querying import tool_config

__all__ = ["serve"]


def serve(
    docs: str | os.PathLike[str],
    *,
    max_tokens: int | None = None,
    port: int | None = None,
    ready: Callable[[str], object] = lambda _: None,
) -> None:
    """Serve the text, Markdown and code files of a folder until the client goes, or until it is interrupted.

    max_tokens: of an answer, 2,000 if it is not given. port: serves over streamable HTTP on 127.0.0.1, on a free port
    if it is 0; None serves over standard input and output. ready: called with where the server is, once it listens.

    Raises ConfigError (no such folder, a wrong budget, a port that is taken), MissingExtra or TokenizerUnavailable.
    """
    index, config = FolderIndex(docs), tool_config(max_tokens)
    try:
        from ctxcompress.mcp import transports
        from ctxcompress.mcp.server import make_server
    except ImportError as error:  # of a name, where another release is installed
        missing = (error.name or "").partition(".")[0]
        if missing not in ("anyio", "mcp", "mcp_types", "uvicorn"):
            raise
        raise MissingExtra(
            f"serving documents needs {missing} (mcp from 2 on); install it with: pip install 'ctxcompress[mcp]'"
        ) from error
    Compressor(config).count("")  # a tokenizer that cannot be had is told now, not in every call
    server = make_server(index, config)
    if port is None:
        ready("standard input and output")
        transports.serve_stdio(server, index)
    else:
        transports.serve_http(server, index, port, ready)
