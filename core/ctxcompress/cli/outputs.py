"""Writing: the text to standard output as it is, messages for a person to standard error."""

import os
import sys
from pathlib import Path
from typing import BinaryIO

import typer

from ctxcompress.traces import new_page

__all__ = ["PAGES", "complain", "write_file", "write_new_page", "write_text"]

_PAGE = "ctxcompress-xray"
PAGES = f"{_PAGE}-*.html"
"""Pattern of the names that new pages have."""


def write_text(text: str) -> None:
    """Write `text` to standard output as UTF-8, whatever the locale, and end its last line.

    A reader that wants no more, such as `head`, ends the program with success. Another failure, such
    as a full disk, ends it with exit code 1 and a message.
    """
    if text and not text.endswith("\n"):
        text += "\n"
    if sys.stdout is None:
        complain("standard output is closed")
        raise typer.Exit(1)
    stream = sys.stdout.buffer
    try:
        # A JSON string can hold half of a surrogate pair; it goes out as it came in.
        stream.write(text.encode("utf-8", "surrogatepass"))
        stream.flush()
    except BrokenPipeError:
        _abandon(stream)
        raise typer.Exit(0) from None
    except OSError as error:
        _abandon(stream)
        complain(f"standard output cannot be written ({error.strerror})")
        raise typer.Exit(1) from error


def write_file(name: str, text: str) -> None:
    """Write `text` to a file as UTF-8. A failure ends the program with exit code 1 and a message."""
    try:
        Path(name).write_bytes(text.encode())
    except (OSError, ValueError) as error:  # ValueError: a null character in the name
        complain(f"{name!r} cannot be written ({getattr(error, 'strerror', None) or error})")
        raise typer.Exit(1) from error


def write_new_page(page: str) -> Path:
    """Write a page into a new file in the current folder, for its owner alone; where it is.

    A failure ends the program with exit code 1 and a message.
    """
    try:
        return new_page(page, Path.cwd(), _PAGE)
    except OSError as error:
        complain(f"no page can be written into the current folder ({error.strerror}); give another place with --output")
        raise typer.Exit(1) from error


def complain(message: str) -> None:
    """Write a message for a person to standard error."""
    typer.echo(f"ctxcompress: {message}", err=True)


def _abandon(stream: BinaryIO) -> None:
    """Let what is still buffered go nowhere: Python would fail on it once more when it exits."""
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, stream.fileno())
    os.close(sink)
