"""Pages that show what a compression kept and dropped, and why; and folders of them, with only the last ones."""

import os
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from uuid import uuid4

from ctxcompress.apps.prices import InputPrice
from ctxcompress.apps.xray.collect import collect_xray
from ctxcompress.apps.xray.facts import explained
from ctxcompress.apps.xray.page import brief as brief_page
from ctxcompress.apps.xray.page import page as whole_page
from ctxcompress.apps.xray.run import RunXray
from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.results import Compression, Explanation
from ctxcompress.errors import CtxCompressError, warn
from ctxcompress.lazy_regex import lazy_regex

__all__ = ["LAST", "RunXray", "explanations", "html_page", "new_page", "write_page", "written_page"]


LAST = 100
"""The most pages in a folder."""
_NAME = lazy_regex(r"ctxcompress-\d{8}T\d{6}\.\d{6}Z-[0-9a-f]{8}\.html")


def html_page(
    compression: Compression, config: CompressionConfig, *, brief: bool = False, price: InputPrice | None = None
) -> str:
    """Return an HTML page about a compression with these options: see `Compression.xray`.

    brief: return the short form that notebooks show. price: that of the language model, to say what is saved.
    """
    return brief_page(compression) if brief else whole_page(collect_xray(compression, config, price=price))


def explanations(compression: Compression, config: CompressionConfig, quote: str) -> tuple[Explanation, ...]:
    """Return why the pieces of a quote were kept or dropped: see `Compression.explain`."""
    return explained(collect_xray(compression, config), quote)


def written_page(compression: Compression, config: CompressionConfig, directory: str | PathLike[str]) -> Path | None:
    """Write that page into a folder: see `Compression.trace`."""
    try:  # the encoder is not called again: that could be expensive, or fail
        return write_page(whole_page(collect_xray(compression, config, asks_encoder=False)), directory)
    except CtxCompressError as error:
        warn(f"the page of a compression could not be made ({error})")
        return None


def write_page(page: str, directory: str | PathLike[str]) -> Path | None:
    """Write a page into a folder, remove the oldest pages if there are too many, and return the path.

    A folder that is not there yet is made for its owner alone. Returns None and warns if the page could not be written.
    Names sort by time, and no two threads or processes use the same one.
    """
    folder = Path(directory)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = new_page(page, folder)
        pages = sorted(entry.name for entry in folder.iterdir() if _NAME.fullmatch(entry.name))
        for name in pages[:-LAST]:
            (folder / name).unlink(missing_ok=True)  # another process may have removed it
    except OSError as error:
        warn(f"the page of a compression could not be written into {folder} ({error})")
        return None
    return path


def new_page(page: str, folder: Path, name: str = "ctxcompress") -> Path:
    """Write a page into a new file in the folder, named after `name` and the time. Raises OSError."""
    path = folder / f"{name}-{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}-{uuid4().hex[:8]}.html"
    # Readable by its owner only, because it contains texts of documents.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(page.encode())
    except OSError:  # also of closing, which writes the rest
        path.unlink(missing_ok=True)  # never leave half a page
        raise
    return path
