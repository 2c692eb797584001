"""A folder whose files are read, and nothing outside of it: no link is followed.

Every file and folder is opened by its name within the folder above it, which is open, and never through a link
(openat with O_NOFOLLOW). So nothing is gained by putting a link in the place of something between listing and reading.
"""

import errno
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from ctxcompress.errors import ConfigError
from ctxcompress.text.source import is_code_name

__all__ = ["LARGEST", "MOST_BYTES", "MOST_FILES", "Folder", "Listing", "Stamp", "Unreadable", "is_text_name"]

LARGEST = 5_000_000
"""Bytes of a file that is read."""
MOST_FILES = 20_000
MOST_BYTES = 200_000_000
"""Of all files together."""
_DEEPEST = 40
"""Folders within one another."""

_TEXT_ENDINGS = frozenset("adoc asciidoc htm html log markdown md mdx org rst tex text textile txt wiki".split())
_TEXT_NAMES = frozenset(
    "authors changelog changes contributing copying dockerfile history install license makefile news notice readme "
    "todo".split()
)
_OF_OTHERS = frozenset("__pycache__ bower_components dist-packages node_modules site-packages venv vendor".split())
"""Folders of what others have written, or programs."""

_HAS_OPENAT = os.open in os.supports_dir_fd and os.scandir in os.supports_fd
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_DIRECTORY = os.O_RDONLY | _NO_LINK | getattr(os, "O_DIRECTORY", 0)
# Without waiting, since what was a file may have become a pipe.
_FILE = os.O_RDONLY | _NO_LINK | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class Stamp(NamedTuple):
    """What changes when a file does."""

    modified: int
    """Nanoseconds: when the content changed."""
    touched: int
    """Nanoseconds: when anything about the file did, such as its rights."""
    size: int
    inode: int


class Listing(NamedTuple):
    """The files of a folder."""

    stamps: Mapping[str, Stamp]
    """Path within the folder, with slashes -> the stamp of the file, in the order of the paths' parts."""
    is_all: bool
    """Whether there are no more than can be indexed."""


class Unreadable(Exception):  # noqa: N818 - the name says what is the matter
    """A file is not for reading. The message says why."""


class Folder:
    """The texts of a folder: files whose names say that they are text, Markdown or code.

    Hidden files and folders, folders of dependencies, and names that cannot be shown are passed over.
    """

    __slots__ = ("_root",)

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """path: links in it are followed here, once. Raises ConfigError if it is no folder."""
        try:
            self._root = Path(path).resolve(strict=True)
        except (OSError, ValueError) as error:  # ValueError: a null character
            reason = getattr(error, "strerror", None) or error
            raise ConfigError(f"{str(path)!r} cannot be opened ({reason}); give a folder that exists") from error
        if not self._root.is_dir():
            raise ConfigError(f"{str(path)!r} is no folder; give the folder that the files are in")

    def files(self) -> Listing:
        """At most MOST_FILES files, and of MOST_BYTES bytes, the first ones. A folder that cannot be read has none."""
        stamps: dict[str, Stamp] = {}
        left = MOST_BYTES
        for path, stamp in self._walk(()):
            left -= min(stamp.size, LARGEST)
            if left < 0 or len(stamps) == MOST_FILES:
                return Listing(stamps, is_all=False)
            stamps[path] = stamp
        return Listing(stamps, is_all=True)

    def read(self, path: str) -> bytes:
        """The content of a file. Raises Unreadable, or OSError, such as where it is gone or has become a link."""
        with self._opened(path.split("/"), _FILE) as opened:
            state = os.fstat(opened)
            if not stat.S_ISREG(state.st_mode):
                raise Unreadable("it is no regular file")
            content = bytearray()
            while len(content) <= LARGEST and (more := os.read(opened, LARGEST + 1 - len(content))):
                content += more
        if len(content) > LARGEST:
            raise Unreadable(f"it has more than {LARGEST:,} bytes")
        return bytes(content)

    def _walk(self, parts: tuple[str, ...]) -> Iterator[tuple[str, Stamp]]:
        for name, stamp in sorted(self._listed(parts).items()):
            if stamp is not None:
                yield "/".join((*parts, name)), stamp
            elif len(parts) < _DEEPEST:
                yield from self._walk((*parts, name))

    def _listed(self, parts: tuple[str, ...]) -> dict[str, Stamp | None]:
        """Names of the files in a folder, with their stamps, and of the folders; none where it cannot be read."""
        found: dict[str, Stamp | None] = {}
        with suppress(OSError), self._scanned(parts) as entries:
            for entry in entries:
                if entry.name.startswith(".") or not entry.name.isprintable():
                    continue
                with suppress(FileNotFoundError):  # it vanished
                    if entry.is_dir(follow_symlinks=False) and entry.name.lower() not in _OF_OTHERS:
                        found[entry.name] = None
                    elif entry.is_file(follow_symlinks=False) and is_text_name(entry.name):
                        state = entry.stat(follow_symlinks=False)
                        found[entry.name] = Stamp(state.st_mtime_ns, state.st_ctime_ns, state.st_size, state.st_ino)
        return found

    @contextmanager
    def _scanned(self, parts: Sequence[str]) -> Iterator[Iterator[os.DirEntry[str]]]:
        if _HAS_OPENAT:
            with self._opened(parts, _DIRECTORY) as opened, os.scandir(opened) as entries:
                yield entries
        else:
            with os.scandir(self._unlinked(parts)) as entries:
                yield entries

    @contextmanager
    def _opened(self, parts: Sequence[str], flags: int) -> Iterator[int]:
        """A file or folder within this folder, open. parts: the names on the way to it. Raises OSError."""
        if any(part in ("", ".", "..") or "/" in part or os.sep in part for part in parts):
            raise FileNotFoundError(f"{parts!r} is no path within the folder")
        if _HAS_OPENAT:
            opened = os.open(self._root, _DIRECTORY)
        else:
            opened = os.open(self._unlinked(parts), flags)
            parts = ()
        try:
            for number, part in enumerate(parts, 1):
                above = opened
                opened = os.open(part, flags if number == len(parts) else _DIRECTORY, dir_fd=above)
                os.close(above)
            yield opened
        finally:
            os.close(opened)

    def _unlinked(self, parts: Sequence[str]) -> Path:
        """Where a file is by its path, for systems that cannot open one within an open folder (Windows)."""
        path = self._root.joinpath(*parts)
        if path.resolve(strict=True) != path:
            raise OSError(errno.ELOOP, "it is a link, or behind one", str(path))
        return path


def is_text_name(name: str) -> bool:
    """Whether a file with this name is expected to be text, Markdown or code."""
    stem, _, ending = name.lower().rpartition(".")
    return is_code_name(name) or (ending in _TEXT_ENDINGS if stem else ending in _TEXT_NAMES)
