"""The output of the command line: results as JSON or a table, files, pages and messages."""

import json
import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import typer
from rich.console import Console, RenderableType
from rich.table import Table

from ctxcompress.apps.prices import InputPrice
from ctxcompress.apps.xray import new_page
from ctxcompress.data.results import Compression, Stats
from ctxcompress.errors import ConfigError, CtxCompressError

__all__ = [
    "INCOMPLETE",
    "PAGES",
    "as_json",
    "complain",
    "error_screen",
    "readable_errors",
    "stats_table",
    "write_file",
    "write_new_page",
    "write_parts",
    "write_text",
]

INCOMPLETE = 3
"""Exit code: there is a result, but some inputs were skipped."""
SCHEMA = "ctxcompress/1"
_PAGE = "ctxcompress-xray"
PAGES = f"{_PAGE}-*.html"
"""The pattern of new pages' names."""
_PICTURES = {code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\t\n"}
_PICTURES |= dict.fromkeys(range(0x7F, 0xA0), "\u2421")
"""Control character -> what is shown of it: a picture of its own, or that of a deletion."""


def as_json(result: Compression) -> str:
    """Return a compression as one JSON object in ASCII. Spans are half-open offsets in code points."""
    kept = [
        {
            "index": item.index,
            "id": item.id,
            "file": item.original.file_path,
            "text": item.text,
            "spans": [[*span] for span in item.spans],
            "markers": [[before, text] for before, text in item.markers],
            "metadata_only": item.metadata_only,
            "tokens": item.tokens,
            "relevance": item.relevance,
            "stands_for": list(item.stands_for),
        }
        for item in result.passages
    ]
    dropped = [
        {
            "index": item.index,
            "id": item.passage.id,
            "spans": [[*span] for span in item.spans],
            "reason": item.reason.value,
            "duplicate_of": item.duplicate_of,
        }
        for item in result.dropped
    ]
    document = {
        "schema": SCHEMA,
        "query": result.query,
        "max_tokens": result.max_tokens,
        "text": result.text,
        "passages": kept,
        "dropped": dropped,
        "stats": result.stats.to_dict(),
    }
    return json.dumps(document, indent=2)


def stats_table(stats: Stats, max_tokens: int, price: InputPrice | None) -> Table:
    """Return the statistics as a table of two columns."""
    table = Table("ctxcompress", "", show_edge=False)
    table.add_row("passages", f"{stats.original_count} -> {stats.kept_count}")
    table.add_row("tokens", f"{stats.original_tokens:,} -> {stats.compressed_tokens:,} (limit {max_tokens:,})")
    table.add_row("saved", f"{stats.tokens_saved:,} tokens, {stats.savings_percent:.1f} %")
    if price:
        table.add_row("money saved", price.saving([(stats.original_tokens, stats.compressed_tokens)], 1_000).summary())
    for stage in stats.stages:
        note = f", {stage.note}" if stage.note else ""
        table.add_row(stage.name, f"{stage.items_in} -> {stage.items_out} in {stage.milliseconds:.1f} ms{note}")
    return table


def error_screen() -> Console:
    """Return the screen behind standard error. File names and messages may contain brackets: they are no markup."""
    return Console(stderr=True, markup=False)


def write_parts(parts: Iterable[RenderableType], width: int) -> None:
    """Write lines and tables to standard output, in lines of so many characters: see `write_text`."""
    screen = Console(markup=False, highlight=False, width=width)
    with screen.capture() as shown:
        for part in parts:
            screen.print(part)
    _write(shown.get())


def write_text(text: str) -> None:
    """Write `text` to standard output as UTF-8 in any locale, with a line break at the end.

    A terminal gets pictures of control characters: no document moves its cursor or colours its lines. If the reader
    stops reading, as `head` does, the program exits with code 0. On another failure, such as a full disk, it exits with
    code 1 and a message.
    """
    _write(text.translate(_PICTURES) if sys.stdout is not None and sys.stdout.isatty() else text)


def _write(text: str) -> None:
    if text and not text.endswith("\n"):
        text += "\n"
    if sys.stdout is None:
        complain("standard output is closed")
        raise typer.Exit(1)
    stream = sys.stdout.buffer
    try:
        # A JSON string can contain half of a surrogate pair, which is written as it was read.
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
    """Write `text` to a file as UTF-8. On failure, exit with code 1 and a message."""
    try:
        Path(name).write_bytes(text.encode())
    except (OSError, ValueError) as error:  # ValueError: a null character in the name
        complain(f"{name!r} cannot be written ({getattr(error, 'strerror', None) or error})")
        raise typer.Exit(1) from error


def write_new_page(page: str) -> Path:
    """Write a page to a new file in the current folder that only its owner can read, and return its path.

    On failure, exit with code 1 and a message.
    """
    try:
        return new_page(page, Path.cwd(), _PAGE)
    except OSError as error:
        complain(f"no page can be written to the current folder ({error.strerror}); give another place with --output")
        raise typer.Exit(1) from error


def complain(message: str) -> None:
    """Print a message to standard error."""
    typer.echo(f"ctxcompress: {message}", err=True)


@contextmanager
def readable_errors() -> Iterator[None]:
    """Turn this library's errors into a message and an exit code, and warnings into messages."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: complain(str(message))
        try:
            yield
        except CtxCompressError as error:
            complain(str(error))
            raise typer.Exit(2 if isinstance(error, ConfigError) else 1) from error


def _abandon(stream: BinaryIO) -> None:
    """Discard what is still buffered: Python would fail on it again when it exits."""
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, stream.fileno())
    os.close(sink)
