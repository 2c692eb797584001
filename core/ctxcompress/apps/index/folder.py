"""A folder whose text files can be listed and read safely: links are never followed, so nothing outside is read.

A file is text if its name says so, or if its beginning is text in UTF-8, whatever its ending.

Each file and folder is opened by name relative to its open parent folder and never through a link (openat with
O_NOFOLLOW). So replacing something by a link between listing and reading gains nothing.
"""

import errno
import os
import stat
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, getincrementaldecoder
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from ctxcompress.code.detection import is_code_name
from ctxcompress.errors import ConfigError

__all__ = ["MOST_BYTES", "MOST_FILES", "Folder", "Listing", "Stamp", "Unreadable", "decoded", "kinds_of"]

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
_ARMOUR = b"-----BEGIN "
"""How keys and certificates begin, which are ASCII, and nothing to read."""
_GENERATED = (
    *(".lock", "-lock.json", "-lock.yaml", "-lock.yml", "npm-shrinkwrap.json", "go.sum"),
    *(".map", ".min.js", ".min.mjs", ".min.css"),
)
"""How the names of files end that programs write for programs: lists of locked versions, source maps, minified code."""
_MOST_KINDS = 8
"""The kinds of files that a message names."""
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
    others: Mapping[str, int]
    """Kind of file that is not text -> number of such files. The kind is the ending of the name, "" if it has none."""


class Unreadable(Exception):  # noqa: N818 - the name says what is wrong
    """A file cannot be read as text. The message says why."""


class Folder:
    """A folder of text files, or of those that `chosen` accepts.

    Hidden files and folders are skipped, and so are folders of dependencies, and files that are only for programs:
    lists of locked versions, minified code, keys.
    """

    __slots__ = ("_any_kind", "_chosen", "_heads", "_root")

    def __init__(
        self, path: str | os.PathLike[str], *, chosen: Callable[[str], bool] | None = None, any_kind: bool = False
    ) -> None:
        """Resolve `path`, which is the only time that links in it are followed.

        chosen: a function that is called with the path of each file and folder within the folder, and returns whether
        to read it. The path of a folder ends with a slash. None means all.
        any_kind: whether to list all these files, also those that are no text.

        Raises ConfigError if `path` is not a folder.
        """
        self._chosen, self._any_kind = chosen, any_kind
        self._heads: dict[str, tuple[Stamp, bool]] = {}
        """Path of a file whose name does not tell -> its stamp, and whether it began as a text then."""
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
        left, is_all = MOST_BYTES, True
        unread: dict[str, str] = {}
        others: Counter[str] = Counter()
        for path, stamp in self._walk((), unread):
            if not self._is_text(path, stamp):
                others[_kind(path)] += 1
                continue
            left -= min(stamp.size, LARGEST)
            if left < 0 or len(stamps) == MOST_FILES:
                is_all = False
                break
            stamps[path] = stamp
        return Listing(stamps, is_all, unread, others)

    def read(self, path: str) -> bytes:
        """Return the content of a file.

        Raises Unreadable if it is no file or too large, and OSError if it no longer exists or is now a link.
        """
        content = self._beginning(path, LARGEST + 1)
        if len(content) > LARGEST:
            raise Unreadable(f"it has more than {LARGEST:,} bytes; split it")
        return content

    def _beginning(self, path: str, most: int) -> bytes:
        """Return the first `most` bytes of a file."""
        with self._opened(path.split("/"), _FILE) as opened:
            if not stat.S_ISREG(os.fstat(opened).st_mode):
                raise Unreadable("it is not a regular file")
            content = bytearray()
            while len(content) < most and (more := os.read(opened, most - len(content))):
                content += more
        return bytes(content)

    def _is_text(self, path: str, stamp: Stamp) -> bool:
        """Return whether to list a file: its name decides, or else its beginning, which is read once."""
        if self._any_kind or path.lower().endswith(_GENERATED):
            return self._any_kind
        if is_text_name(path.rpartition("/")[2]):
            return True
        known = self._heads.get(path)
        if known is None or known[0] != stamp:
            known = self._heads[path] = (stamp, self._begins_as_text(path))
        return known[1]

    def _begins_as_text(self, path: str) -> bool:
        try:
            return _is_text_head(self._beginning(path, _HEAD))
        except (OSError, Unreadable):
            return False

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
                        elif (stamp := _stamp(entry)) is None or self._is_text(within + entry.name, stamp):
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
            return entry.name.lower() not in _THIRD_PARTY_FOLDERS and self._is_chosen(f"{within}{entry.name}/")
        return entry.is_file(follow_symlinks=False) and self._is_chosen(within + entry.name)

    def _is_chosen(self, path: str) -> bool:
        return self._chosen is None or self._chosen(path)

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


def is_text_name(name: str) -> bool:
    """Return whether a file with this name should be text, Markdown or code."""
    stem, _, ending = name.lower().rpartition(".")
    return is_code_name(name) or (ending in _TEXT_ENDINGS if stem else ending in _TEXT_NAMES)


def kinds_of(others: Mapping[str, int]) -> str:
    """Return the kinds of files that are not read as a text, the most frequent first: "12 .png, 3 .zip"."""
    kinds = sorted(others, key=lambda kind: (-others[kind], kind))
    named = [f"{others[kind]:,} {f'.{kind}' if kind else 'without an ending'}" for kind in kinds[:_MOST_KINDS]]
    more = sum(others[kind] for kind in kinds[_MOST_KINDS:])
    return ", ".join((*named, f"{more:,} of other kinds") if more else named)


def _kind(path: str) -> str:
    """Return the ending of a file's name if it can be shown, else an empty string."""
    stem, _, ending = path.rpartition("/")[2].lower().rpartition(".")
    return ending if stem and ending.isascii() and ending.isalnum() else ""


def _is_text_head(head: bytes) -> bool:
    """Return whether the beginning of a file is text in UTF-8: no binary, no document for a program, and no key."""
    if b"\0" in head or head.removeprefix(BOM_UTF8).lstrip().startswith((*_DOCUMENTS, _ARMOUR)):
        return False
    try:
        getincrementaldecoder("utf-8")().decode(head, final=len(head) < _HEAD)  # a longer one may end in a character
    except UnicodeDecodeError:
        return False
    return True


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
