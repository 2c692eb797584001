"""A folder whose text files can be listed and read safely: links are never followed, so nothing outside is read.

Each file and folder is opened by name relative to its open parent folder and never through a link (openat with
O_NOFOLLOW). So replacing something by a link between listing and reading gains nothing.
"""

import errno
import os
import stat
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
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
"""The most bytes of a file that is read."""
MOST_FILES = 20_000
"""The most files of a folder."""
MOST_BYTES = 200_000_000
"""The most bytes of all files together."""
_DEEPEST = 40
"""The most levels of nested folders."""

_TEXT_ENDINGS = frozenset("adoc asciidoc htm html log markdown md mdx org rst tex text textile txt wiki".split())
_TEXT_NAMES = frozenset(
    "authors changelog changes contributing copying dockerfile history install license makefile news notice readme "
    "todo".split()
)
_DOCUMENTS = {b"%PDF-": "a PDF", b"%!PS-Adobe-": "PostScript", b"{\\rtf": "RTF"}
"""How files begin that can be all ASCII and still hold markup or code for a program rather than text."""
_HEAD = 1_000
"""The bytes at the beginning of a file that tell."""
_THIRD_PARTY_FOLDERS = frozenset(
    "__pycache__ bower_components dist-packages node_modules site-packages venv vendor".split()
)
"""Names of folders with dependencies or programs, which are skipped."""

_HAS_OPENAT = os.open in os.supports_dir_fd and os.scandir in os.supports_fd
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_DIRECTORY = os.O_RDONLY | _NO_LINK | getattr(os, "O_DIRECTORY", 0)
# Non-blocking, because a file may have been replaced by a pipe.
_FILE = os.O_RDONLY | _NO_LINK | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class Stamp(NamedTuple):
    """The metadata of a file that changes whenever the file changes."""

    modified: int
    """When the content changed, in nanoseconds."""
    touched: int
    """When anything about the file changed, such as its permissions, in nanoseconds."""
    size: int
    inode: int


class Listing(NamedTuple):
    """The files of a folder."""

    stamps: Mapping[str, Stamp]
    """Path within the folder, with slashes -> stamp of the file, ordered by the parts of the paths."""
    is_all: bool
    """True if the limits on files and bytes excluded nothing."""
    unread: Mapping[str, str]
    """Path of a file or folder that could not be listed -> reason. The path of a folder ends with a slash."""


class Unreadable(Exception):  # noqa: N818 - the name says what is wrong
    """A file cannot be read as text. The message says why."""


class Folder:
    """A folder of text files: those whose names mark them as text, Markdown or code, or those that `chosen` accepts.

    Hidden files and folders are skipped, and so are folders of dependencies.
    """

    __slots__ = ("_chosen", "_root")

    def __init__(self, path: str | os.PathLike[str], *, chosen: Callable[[str], bool] | None = None) -> None:
        """Resolve `path`, which is the only time that links in it are followed.

        chosen: a function that is called with the path of each file and folder within the folder, and returns whether
        to read it. The path of a folder ends with a slash. None means `is_text_path`.

        Raises ConfigError if `path` is not a folder.
        """
        self._chosen = chosen or is_text_path
        try:
            self._root = Path(path).resolve(strict=True)
        except (OSError, ValueError) as error:  # ValueError: a null character
            reason = getattr(error, "strerror", None) or error
            raise ConfigError(f"{str(path)!r} cannot be opened ({reason}); give a folder that exists") from error
        if not self._root.is_dir():
            raise ConfigError(f"{str(path)!r} is not a folder; give the folder that contains the files")

    def files(self) -> Listing:
        """List the files of the folder, at most the first MOST_FILES files and MOST_BYTES bytes."""
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
        """Return the content of a file.

        Raises Unreadable if it is no file or too large, and OSError if it no longer exists or is now a link.
        """
        with self._opened(path.split("/"), _FILE) as opened:
            state = os.fstat(opened)
            if not stat.S_ISREG(state.st_mode):
                raise Unreadable("it is not a regular file")
            content = bytearray()
            while len(content) <= LARGEST and (more := os.read(opened, LARGEST + 1 - len(content))):
                content += more
        if len(content) > LARGEST:
            raise Unreadable(f"it has more than {LARGEST:,} bytes; split it")
        return bytes(content)

    def _walk(self, parts: tuple[str, ...], unread: dict[str, str]) -> Iterator[tuple[str, Stamp]]:
        """Yield the files below a folder, and add to `unread` what cannot be listed."""
        for name, stamp in sorted(self._listed(parts, unread).items()):
            path = "/".join((*parts, name))
            if stamp is not None:
                yield path, stamp
            elif len(parts) < _DEEPEST:
                yield from self._walk((*parts, name), unread)
            else:
                unread[f"{path}/"] = f"it is more than {_DEEPEST} folders deep"

    def _listed(self, parts: tuple[str, ...], unread: dict[str, str]) -> dict[str, Stamp | None]:
        """Return the names in a folder: file -> stamp, folder -> None. A folder that cannot be read gives none."""
        found: dict[str, Stamp | None] = {}
        within = "".join(f"{part}/" for part in parts)
        try:
            with self._scanned(parts) as entries:
                for entry in entries:
                    with suppress(FileNotFoundError):  # the entry was deleted meanwhile
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
        """Return whether an entry is a file or folder to read. Links are not."""
        if entry.name.startswith("."):
            return False
        if entry.is_dir(follow_symlinks=False):
            return entry.name.lower() not in _THIRD_PARTY_FOLDERS and self._chosen(f"{within}{entry.name}/")
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
        """Open a file or folder within this folder. parts: the names of its path. Raises OSError."""
        if any(part in ("", ".", "..") or "/" in part or os.sep in part for part in parts):
            raise FileNotFoundError(f"{parts!r} is not a path within the folder")
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
        """Return the full path of a file, for systems that cannot open files relative to an open folder (Windows)."""
        path = self._root.joinpath(*parts)
        if path.resolve(strict=True) != path:
            raise OSError(errno.ELOOP, "it is a link or is reached through one", str(path))
        return path


def is_text_path(path: str) -> bool:
    """Return whether `path` is a folder, with a slash at its end, or a file that `is_text_name` accepts."""
    name = path.rpartition("/")[2]
    return not name or is_text_name(name)


def is_text_name(name: str) -> bool:
    """Return whether a file with this name should be text, Markdown or code."""
    stem, _, ending = name.lower().rpartition(".")
    return is_code_name(name) or (ending in _TEXT_ENDINGS if stem else ending in _TEXT_NAMES)


def decoded(content: bytes) -> str:
    """Return the text of a file without the byte order mark. Raises Unreadable if it is not text in UTF-8."""
    if b"\0" in content and not content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        raise Unreadable("it is not text")
    for beginning, name in _DOCUMENTS.items():
        if content[:_HEAD].removeprefix(BOM_UTF8).lstrip().startswith(beginning):
            raise Unreadable(f"it is {name}, which is not text; convert it first")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(
            f"it is not UTF-8 (byte 0x{content[error.start]:02x} at offset {error.start}); "
            "convert it, for example with: iconv -f ENCODING -t UTF-8"
        ) from error


def _stamp(entry: os.DirEntry[str]) -> Stamp | None:
    """Return the stamp of a file, or None for a folder."""
    if entry.is_dir(follow_symlinks=False):
        return None
    state = entry.stat(follow_symlinks=False)
    return Stamp(state.st_mtime_ns, state.st_ctime_ns, state.st_size, state.st_ino)
