"""What the command line compresses: files, folders, files of passages, standard input."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO, NamedTuple

from pathspec import GitIgnoreSpec

from ctxcompress.cli.report import PAGES
from ctxcompress.data.metadata import as_passages
from ctxcompress.data.passages import Passage
from ctxcompress.errors import ConfigError, InputError
from ctxcompress.index.folder import MOST_BYTES, Folder, Unreadable, decoded, is_text_path

__all__ = ["STDIN", "Choice", "Inputs", "Skipped", "read_inputs"]

STDIN = "-"
_NO_TEXT = "no file in it is chosen; name files, or say which with --include"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which files of folders are read, and how. Patterns are those of a `.gitignore` file."""

    include: Sequence[str] = ()
    """Files that match one are read; none of them stands for text, Markdown and code."""
    exclude: Sequence[str] = ()
    """Files and folders that match one are passed over."""
    jsonl: bool = False
    """Whether every file, and standard input, has one passage a line; else only files called `.jsonl`."""

    def chosen(self) -> Callable[[str], bool]:
        """Says of the path of a file in a folder, or of a folder with a slash at its end, whether it is read.

        Raises ConfigError if a pattern is none.
        """
        return partial(_is_chosen, _spec("--include", self.include), _spec("--exclude", (PAGES, *self.exclude)))


class Skipped(NamedTuple):
    """What could not be used."""

    name: str
    reason: str

    def __str__(self) -> str:
        return f"{self.name!r} is skipped: {self.reason}"


class Inputs(NamedTuple):
    """What was read, and what was not, each in the order of the names."""

    passages: list[Passage]
    skipped: list[Skipped]


def read_inputs(names: Sequence[str], choice: Choice) -> Inputs:
    """One passage for each file, or for each line of a file of passages; `-` is standard input.

    Of a folder its files, in the order of their paths. The text is the file's, character by character, but for a byte
    order mark. A passage without an id of its own is called after its file, and its line. What cannot be used is
    skipped. Raises ConfigError where patterns are given, and no folder.
    """
    chosen = choice.chosen()
    if (choice.include or choice.exclude) and not any(map(_is_folder, names)):
        raise ConfigError(
            "--include and --exclude choose among the files of a folder; name a folder, or leave them out"
        )
    inputs = Inputs([], [])
    for name in names:
        for found in _in_folder(name, chosen, choice) if _is_folder(name) else _in_file(name, name, _content, choice):
            if isinstance(found, Skipped):
                inputs.skipped.append(found)
            else:
                inputs.passages.extend(found)
    return inputs


def _is_folder(name: str) -> bool:
    try:
        return name not in (STDIN, "") and Path(name).is_dir()
    except OSError:
        return False  # opening it says why


def _in_folder(name: str, chosen: Callable[[str], bool], choice: Choice) -> Iterator[list[Passage] | Skipped]:
    try:
        folder = Folder(name, chosen=chosen)
    except ConfigError as error:  # it has gone
        yield Skipped(name, str(error))
        return
    listing = folder.files()
    for path in listing.stamps:
        yield from _in_file(str(Path(name, path)), path, folder.read, choice)
    for path, reason in listing.unread.items():
        yield Skipped(str(Path(name, path)), reason)
    if not listing.is_all:
        yield Skipped(
            name, f"all but its first {len(listing.stamps):,} files, which is the limit; name smaller folders"
        )
    elif not (listing.stamps or listing.unread):
        yield Skipped(name, _NO_TEXT)


def _in_file(name: str, path: str, read: Callable[[str], bytes], choice: Choice) -> Iterator[list[Passage] | Skipped]:
    """The passages of one file. path: what `read` calls it."""
    try:
        text = decoded(read(path))
        if choice.jsonl or name.lower().endswith(".jsonl"):
            yield list(_passages_of_lines(name, text))
        else:
            yield [Passage(name, text, file_path=None if name == STDIN else name)]
    except (InputError, Unreadable) as error:
        yield Skipped(name, str(error))
    except (OSError, ValueError) as error:  # ValueError: a null character in the name
        yield Skipped(name, f"{getattr(error, 'strerror', None) or error}; give a file that can be read")


def _content(name: str) -> bytes:
    """Of a file that was named, or of standard input."""
    if name != STDIN:
        with Path(name).open("rb") as file:
            return _bounded(file)
    if sys.stdin is None:
        raise InputError("standard input is closed; give a FILE, or pipe a text into this command")
    return _bounded(sys.stdin.buffer)


def _bounded(file: BinaryIO) -> bytes:
    """All of it, which has an end: a device may have none."""
    content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise Unreadable(f"it has more than {MOST_BYTES:,} bytes; split it")
    return content


def _passages_of_lines(name: str, text: str) -> Iterator[Passage]:
    # Not splitlines(): a JSON string may hold other line separators as they are.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield _passage(f"{name}:{number}", line)
            except (InputError, ValueError, RecursionError) as error:
                raise InputError(
                    f"line {number} is not a passage ({error}); "
                    'write one JSON object a line, such as {"id": "a", "text": "..."}'
                ) from error


def _passage(default_id: str, line: str) -> Passage:
    item = json.loads(line)
    if isinstance(item, str):
        return Passage(default_id, item)
    if isinstance(item, dict) and item.get("id") is None:
        item["id"] = default_id
    return as_passages([item])[0]


def _is_chosen(include: GitIgnoreSpec, exclude: GitIgnoreSpec, path: str) -> bool:
    if exclude.match_file(path):
        return False
    return (path.endswith("/") or include.match_file(path)) if len(include) else is_text_path(path)


def _spec(option: str, patterns: Sequence[str]) -> GitIgnoreSpec:
    """The patterns together; each is tried alone, so that the wrong one can be named."""
    for pattern in patterns:
        try:
            (made,) = GitIgnoreSpec.from_lines([pattern]).patterns
        except ValueError:
            made = None
        if made is None or made.include is None:
            raise ConfigError(
                f"{option} is {pattern!r}, which is no pattern; give one as in a .gitignore, such as '*.md'"
            )
    return GitIgnoreSpec.from_lines(patterns)
