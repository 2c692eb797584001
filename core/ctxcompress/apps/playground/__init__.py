"""A page on this machine where one tries out options and sees at once what is kept. It needs the extra `mcp`; importing
this does not."""

from collections.abc import Callable, Sequence

from ctxcompress.apps.index import FolderIndex
from ctxcompress.apps.prices import InputPrice
from ctxcompress.data.passages import Passage
from ctxcompress.errors import MissingExtra

__all__ = ["Source", "found_in", "play"]

Source = Callable[[str], Sequence[Passage]]
"""From a question to the passages that are compressed for it."""

_CANDIDATES = 20
"""Passages that are taken from a folder for one question."""


def found_in(index: FolderIndex) -> Source:
    """Return a source of the passages that the index finds for a question, the best first."""
    return lambda question: [hit.passage() for hit in index.search(question, _CANDIDATES)]


def play(
    source: Source,
    name: str,
    *,
    port: int = 0,
    price: InputPrice | None = None,
    ready: Callable[[str], object] = lambda _: None,
) -> None:
    """Serve the page on this port of 127.0.0.1 until interrupted; 0 picks a free one.

    name: what the page says of its texts. price: that of the language model, to say what is saved. ready: called with
    the address once the server listens.

    Raises ConfigError if the port is in use, and MissingExtra.
    """
    try:
        from ctxcompress.apps.playground.server import serve_page
    except ImportError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in ("starlette", "uvicorn", "h11"):
            raise
        raise MissingExtra(f"the playground needs {missing}; run: pip install 'ctxcompress[mcp]'") from error
    serve_page(source, name, port, price, ready)
