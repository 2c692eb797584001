"""A folder whose files are read, and nothing outside of it: no link is followed.

Every file and folder is opened by its name within the folder above it, which is open, and never through a link
(openat with O_NOFOLLOW). So nothing is gained by putting a link in the place of something between listing and reading.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from ctxcompress.code.detection import is_code_name
from ctxcompress.errors import ConfigError

__all__ = [
    "LARGEST",
    "MOST_BYTES",
    "MOST_FILES",
    "Folder",
    "Listing",
    "Stamp",
    "Unreadable",
    "decoded",
    "is_text_name",
    "is_text_path",
]

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
    """Whether there are no more than can be read."""
    unread: Mapping[str, str]
    """Path, of a folder with a slash at its end -> why it is not in here although it belongs here."""


class Unreadable(Exception):  # noqa: N818 - the name says what is the matter
    """A file is not for reading. The message says why."""


class Folder:
    """The texts of a folder: files whose names say that they are text, Markdown or code, or those that are chosen.

    Hidden files and folders, and folders of dependencies, are passed over.
    """

    __slots__ = ("_chosen", "_root")

    def __init__(self, path: str | os.PathLike[str], *, chosen: Callable[[str], bool] | None = None) -> None:
        """path: links in it are followed here, once. chosen: called with the path within the folder of each file, and
        of each folder with a slash at its end, says whether it is read; None takes what `is_text_path` takes.

        Raises ConfigError if it is no folder.
        """
        self._chosen = chosen or is_text_path
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
        unread: dict[str, str] = {}
        left = MOST_BYTES
        for path, stamp in self._walk((), unread):
            left -= min(stamp.size, LARGEST)
            if left < 0 or len(stamps) == MOST_FILES:
                return Listing(stamps, is_all=False, unread=unread)
            stamps[path] = stamp
        return Listing(stamps, is_all=True, unread=unread)

    def read(self, path: str) -> bytes:
        """The content of a file of text. Raises Unreadable, or OSError where it is gone or has become a link."""
        with self._opened(path.split("/"), _FILE) as opened:
            state = os.fstat(opened)
            if not stat.S_ISREG(state.st_mode):
                raise Unreadable("it is no regular file")
            content = bytearray()
            while len(content) <= LARGEST and (more := os.read(opened, LARGEST + 1 - len(content))):
                content += more
        if len(content) > LARGEST:
            raise Unreadable(f"it has more than {LARGEST:,} bytes; split it")
        if b"\0" in content:
            raise Unreadable("it is no text")
        return bytes(content)

    def _walk(self, parts: tuple[str, ...], unread: dict[str, str]) -> Iterator[tuple[str, Stamp]]:
        """The files below a folder. unread: what cannot be read is added."""
        for name, stamp in sorted(self._listed(parts, unread).items()):
            path = "/".join((*parts, name))
            if stamp is not None:
                yield path, stamp
            elif len(parts) < _DEEPEST:
                yield from self._walk((*parts, name), unread)
            else:
                unread[f"{path}/"] = f"it is more than {_DEEPEST} folders deep"

    def _listed(self, parts: tuple[str, ...], unread: dict[str, str]) -> dict[str, Stamp | None]:
        """Names of the files in a folder, with their stamps, and of the folders; none where it cannot be read."""
        found: dict[str, Stamp | None] = {}
        within = "".join(f"{part}/" for part in parts)
        try:
            with self._scanned(parts) as entries:
                for entry in entries:
                    with suppress(FileNotFoundError):  # it vanished
                        if not self._belongs(entry, within):
                            continue
                        if entry.name.isprintable():
                            found[entry.name] = _stamp(entry)
                        else:
                            unread[within + entry.name] = "its name cannot be shown; rename it"
        except FileNotFoundError:
            pass
        except OSError as error:
            unread[within or "./"] = error.strerror or str(error)
        return found

    def _belongs(self, entry: os.DirEntry[str], within: str) -> bool:
        """Whether it is a file or folder, and no link, that is chosen."""
        if entry.name.startswith("."):
            return False
        if entry.is_dir(follow_symlinks=False):
            return entry.name.lower() not in _OF_OTHERS and self._chosen(f"{within}{entry.name}/")
        return entry.is_file(follow_symlinks=False) and self._chosen(within + entry.name)

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


def is_text_path(path: str) -> bool:
    """Whether it is the path of a folder, with a slash at its end, or of a file that `is_text_name` takes."""
    name = path.rpartition("/")[2]
    return not name or is_text_name(name)


def is_text_name(name: str) -> bool:
    """Whether a file with this name is expected to be text, Markdown or code."""
    stem, _, ending = name.lower().rpartition(".")
    return is_code_name(name) or (ending in _TEXT_ENDINGS if stem else ending in _TEXT_NAMES)


def decoded(content: bytes) -> str:
    """The text of a file, without a byte order mark. Raises Unreadable if it is not UTF-8."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(
            f"it is not UTF-8 (byte 0x{content[error.start]:02x} at offset {error.start}); "
            "convert it, for example with: iconv -f ENCODING -t UTF-8"
        ) from error


def _stamp(entry: os.DirEntry[str]) -> Stamp | None:
    """Of a file; None of a folder."""
    if entry.is_dir(follow_symlinks=False):
        return None
    state = entry.stat(follow_symlinks=False)
    return Stamp(state.st_mtime_ns, state.st_ctime_ns, state.st_size, state.st_ino)
