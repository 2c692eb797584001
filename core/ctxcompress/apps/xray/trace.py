"""X-ray pages in a folder: one for each compression, of which only the last ones are kept."""

import os
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from uuid import uuid4

from ctxcompress.errors import warn
from ctxcompress.lazy_regex import lazy_regex

__all__ = ["LAST", "new_page", "write_page"]

LAST = 100
"""The most pages in a folder."""
_NAME = lazy_regex(r"ctxcompress-\d{8}T\d{6}\.\d{6}Z-[0-9a-f]{8}\.html")


def write_page(page: str, directory: str | PathLike[str]) -> Path | None:
    """Write a page into a folder, remove the oldest pages if there are too many, and return the path.

    A folder that is not there yet is made for its owner alone. Returns None and warns if the page could not be written.
    Names sort by time, and no two threads or processes use the same one.
    """
    folder = Path(directory)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = new_page(page, folder)
        _remove_oldest(folder)
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


def _remove_oldest(folder: Path) -> None:
    pages = sorted(entry.name for entry in folder.iterdir() if _NAME.fullmatch(entry.name))
    for name in pages[:-LAST]:
        (folder / name).unlink(missing_ok=True)  # another process may have removed it
