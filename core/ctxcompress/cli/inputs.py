"""What the command line compresses: files, files of passages, standard input."""

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from ctxcompress.errors import InputError
from ctxcompress.metadata import as_passages
from ctxcompress.passages import Passage

__all__ = ["STDIN", "read_passages"]

STDIN = "-"


def read_passages(names: Iterable[str]) -> Iterator[Passage]:
    """One passage for each file, or one for each line of a `.jsonl` file; `-` is standard input.

    The text is the file's, character by character, but for a byte order mark. A passage without an
    id of its own is called after its file, and its line. Raises InputError if a file cannot be used.
    """
    for name in names:
        text = _decoded(name, _content(name))
        if name.lower().endswith(".jsonl"):
            yield from _passages_of_lines(name, text)
        else:
            yield Passage(name, text, file_path=None if name == STDIN else name)


def _content(name: str) -> bytes:
    try:
        return _standard_input() if name == STDIN else Path(name).read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a null character in the name
        reason = getattr(error, "strerror", None) or str(error)
        remedy = "give files, such as FOLDER/*.md" if isinstance(error, IsADirectoryError) else "check its name"
        raise InputError(f"{name!r} cannot be read ({reason}); {remedy}") from error


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise InputError("standard input is closed; give a FILE, or pipe a text into this command")
    return sys.stdin.buffer.read()


def _decoded(name: str, content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name!r} is not UTF-8 (byte 0x{content[error.start]:02x} at offset {error.start}); "
            "convert it, for example with: iconv -f ENCODING -t UTF-8"
        ) from error


def _passages_of_lines(name: str, text: str) -> Iterator[Passage]:
    # Not splitlines(): a JSON string may hold other line separators as they are.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield _passage(f"{name}:{number}", line)
            except (InputError, ValueError, RecursionError) as error:
                raise InputError(
                    f"{name!r}, line {number}, is not a passage ({error}); "
                    'write one JSON object a line, such as {"id": "a", "text": "..."}'
                ) from error


def _passage(default_id: str, line: str) -> Passage:
    item = json.loads(line)
    if isinstance(item, str):
        return Passage(default_id, item)
    if isinstance(item, dict) and item.get("id") is None:
        item["id"] = default_id
    return as_passages([item])[0]
