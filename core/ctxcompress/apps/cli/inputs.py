"""Reading the inputs of the command line: files, folders, JSON Lines and standard input."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, BinaryIO, NamedTuple

import typer
from pathspec import GitIgnoreSpec

from ctxcompress.apps.cli.report import PAGES, complain
from ctxcompress.apps.index.folder import MOST_BYTES, Folder, Unreadable, decoded, kinds_of
from ctxcompress.data.metadata import as_passages
from ctxcompress.data.passages import Passage
from ctxcompress.errors import ConfigError, InputError

__all__ = ["STDIN", "Choice", "Inputs", "Skipped", "usable_inputs"]

STDIN = "-"
_NO_FILES = "no file in it was chosen; name files, or choose some with --include"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which files of folders are read, and how: options of commands. Patterns are as in a `.gitignore` file."""

    include: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GLOB",
            help="In folders, read the files that match, such as '*.md' or 'api/**', instead of all text. Repeatable.",
        ),
    ] = None
    exclude: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GLOB",
            help="In folders, skip the files and folders that match, such as 'tests/' or '*.csv'. Repeatable.",
        ),
    ] = None
    jsonl: Annotated[
        bool,
        typer.Option(
            "--jsonl", help="Read standard input and every file as .jsonl: one JSON object per line, a passage each."
        ),
    ] = False
    output: str | None = None
    """The file that will be written. It may not be read."""

    def chosen(self) -> Callable[[str], bool]:
        """Return a function that decides whether to read a path within a folder. Paths of folders end in a slash.

        Raises ConfigError if a pattern is invalid.
        """
        return partial(
            _is_chosen, _spec("--include", self.include or ()), _spec("--exclude", (PAGES, *(self.exclude or ())))
        )


class Skipped(NamedTuple):
    """An input that was skipped, and why."""

    name: str
    reason: str

    def __str__(self) -> str:
        return f"{self.name!r} is skipped: {self.reason}"


class Inputs(NamedTuple):
    """The passages that were read, and what was not, in the order of the names."""

    passages: list[Passage]
    skipped: list[Skipped]
    others: list[str]
    """For each folder with files that are no text: how many of which kinds."""


def usable_inputs(names: Sequence[str] | None, choice: Choice) -> Inputs:
    """Read the inputs, or standard input if there are none, and name what is skipped on standard error.

    If there is no text, exit with code 1.
    """
    if not names and sys.stdin is not None and sys.stdin.isatty():
        complain("reading standard input; end it with Ctrl-D")
    inputs = _read_inputs(names or [STDIN], choice)
    for message in (*inputs.skipped, *inputs.others):
        complain(str(message))
    if not any(passage.text.strip() for passage in inputs.passages):
        if inputs.passages or not inputs.skipped:
            complain("there is no text in the input; name files that have some, or pipe a text into this command")
        raise typer.Exit(1)
    return inputs


def _read_inputs(names: Sequence[str], choice: Choice) -> Inputs:
    """Read one passage per file, or one per line of a `.jsonl` file. The name `-` is standard input.

    Files of a folder are read in the order of their paths. Texts stay as they are in the file, without a byte order
    mark. A passage without an id is named after its file, and its line in a `.jsonl` file. Inputs that cannot be used
    are skipped. Raises ConfigError if there are patterns but no folder, or if the output would be read.
    """
    chosen = choice.chosen()
    if (choice.include or choice.exclude) and not any(map(_is_folder, names)):
        raise ConfigError("--include and --exclude choose among the files of a folder; name a folder, or omit them")
    inputs = Inputs([], [], [])
    for name in names:
        for found in _in_folder(name, chosen, choice) if _is_folder(name) else _in_file(name, name, _read, choice):
            if isinstance(found, Skipped):
                inputs.skipped.append(found)
            elif isinstance(found, str):
                inputs.others.append(found)
            else:
                inputs.passages.extend(found)
    return inputs


def _is_folder(name: str) -> bool:
    try:
        return name not in (STDIN, "") and Path(name).is_dir()
    except OSError:
        return False  # opening it will tell the reason


def _in_folder(name: str, chosen: Callable[[str], bool], choice: Choice) -> Iterator[list[Passage] | Skipped | str]:
    try:
        folder = Folder(name, chosen=chosen, any_kind=bool(choice.include))
    except ConfigError as error:  # it was deleted meanwhile
        yield Skipped(name, str(error))
        return
    listing = folder.files()
    for path in listing.stamps:
        yield from _in_file(str(Path(name, path)), path, folder.read, choice)
    for path, reason in listing.unread.items():
        yield Skipped(str(Path(name, path)), reason)
    if not listing.is_all:
        yield Skipped(name, f"only its first {len(listing.stamps):,} files are read; name smaller folders")
    elif not (listing.stamps or listing.unread):
        yield Skipped(name, _NO_FILES)
    if listing.others:
        yield f"files in {name!r} that are no text are not read: {kinds_of(listing.others)}"


def _in_file(name: str, path: str, read: Callable[[str], bytes], choice: Choice) -> Iterator[list[Passage] | Skipped]:
    """Yield the passages of one file. path: the name under which `read` knows it."""
    if choice.output is not None and _is_same(name, choice.output):
        raise ConfigError(f"{choice.output!r} is an input, too; give another file for the output, or --exclude it")
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


def _is_same(one: str, other: str) -> bool:
    with suppress(OSError, ValueError):
        return one != STDIN and Path(one).samefile(other)
    return False


def _read(name: str) -> bytes:
    if name != STDIN:
        with Path(name).open("rb") as file:
            return _read_bounded(file)
    if sys.stdin is None:
        raise InputError("standard input is closed; give a FILE, or pipe a text into this command")
    return _read_bounded(sys.stdin.buffer)


def _read_bounded(file: BinaryIO) -> bytes:
    """Read a file up to a limit: a device may be endless."""
    content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise Unreadable(f"it has more than {MOST_BYTES:,} bytes; split it")
    return content


def _passages_of_lines(name: str, text: str) -> Iterator[Passage]:
    # Not splitlines(): a JSON string may contain other line separators.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield _passage(f"{name}:{number}", line)
            except (InputError, ValueError, RecursionError) as error:
                raise InputError(
                    f"line {number} is not a passage ({error}); "
                    'write one JSON object per line, such as {"id": "a", "text": "..."}'
                ) from error


def _passage(default_id: str, line: str) -> Passage:
    item = json.loads(line)
    (passage,) = as_passages([item])
    return passage if isinstance(item, dict) and item.get("id") is not None else replace(passage, id=default_id)


def _is_chosen(include: GitIgnoreSpec, exclude: GitIgnoreSpec, path: str) -> bool:
    if exclude.match_file(path):
        return False
    return path.endswith("/") or not len(include) or include.match_file(path)


def _spec(option: str, patterns: Sequence[str]) -> GitIgnoreSpec:
    """Compile the patterns. Each is tried alone first, so that the message can name an invalid one."""
    for pattern in patterns:
        try:
            (compiled,) = GitIgnoreSpec.from_lines([pattern]).patterns
        except ValueError:
            compiled = None
        if compiled is None or compiled.include is None:
            raise ConfigError(
                f"{option} is {pattern!r}, which is not a pattern; write it as in a .gitignore file, such as '*.md'"
            )
    return GitIgnoreSpec.from_lines(patterns)
