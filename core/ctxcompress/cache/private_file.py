"""Files and SQLite databases that only their owner can read; a damaged one is renamed."""

import os
import sqlite3
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from ctxcompress.errors import ConfigError

__all__ = ["PrivateDatabase", "companions", "identity", "make_private", "remove_damaged", "set_aside"]

_OWNER_ONLY = 0o700


def make_private(path: Path) -> None:
    """Create an empty file if there is none, and revoke other users' access to it and to SQLite's companion files.

    Companion files created later have the permissions of the file. Raises ConfigError for a symbolic link, which could
    lead anywhere, for anything that is not a regular file, and for another user's file, because that user could change
    the entries. Raises OSError if the file cannot be created.
    """
    if "\0" in str(path):
        raise ConfigError("there is a null character in the path")
    if not os.path.lexists(path):
        _create(path)
    for file in (path, *companions(path)):
        with suppress(FileNotFoundError):
            _revoke_access(file)


def companions(path: Path) -> list[Path]:
    """Return the files that SQLite keeps next to an open file, and leaves behind after a crash."""
    return [path.with_name(f"{path.name}{ending}") for ending in ("-wal", "-shm")]


def identity(path: Path) -> tuple[int, int] | None:
    """Return what distinguishes the file from all other existing files; None if there is no file."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def set_aside(path: Path) -> Path:
    """Rename a damaged file, replacing one that was set aside before, and return its new path. Raises OSError."""
    for name in companions(path):
        name.unlink(missing_ok=True)  # first: a new file must not find them
    return path.replace(_aside(path))


def remove_damaged(path: Path) -> None:
    """Delete the damaged file that was set aside, if there is one. Raises OSError."""
    _aside(path).unlink(missing_ok=True)


def _aside(path: Path) -> Path:
    return path.with_name(f"{path.name}.damaged")


def _create(path: Path) -> None:
    # First under a temporary name: closing the file itself would release the locks that SQLite holds in other threads.
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    os.close(handle)
    try:
        _link(Path(name), path)
    finally:
        Path(name).unlink()


def _link(file: Path, path: Path) -> None:
    """Make `path` another name of the file, unless another process has just created it."""
    with suppress(FileExistsError):
        try:
            path.hardlink_to(file)
        except FileExistsError:
            raise
        except OSError:  # some disks have no hard links
            os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))


def _revoke_access(file: Path) -> None:
    found = file.lstat()
    if stat.S_ISLNK(found.st_mode):
        raise ConfigError(f"{file.name} is a symbolic link")
    if not stat.S_ISREG(found.st_mode):
        raise ConfigError(f"{file.name} is not a regular file")
    if os.name != "posix":
        return
    if found.st_uid != os.geteuid():
        raise ConfigError(f"{file.name} belongs to another user")
    allowed = stat.S_IMODE(found.st_mode)
    if allowed & ~_OWNER_ONLY:
        file.chmod(allowed & _OWNER_ONLY)


_SECONDS = 5.0
"""How long another process that writes is waited for."""
_MOST_BYTES = 1_000_000_000
"""The largest value that SQLite itself allows."""


@dataclass(frozen=True, slots=True)
class PrivateDatabase:
    """A file that is opened for one transaction at a time: connections can be shared by neither threads nor forks."""

    path: Path
    application_id: int
    """Distinguishes the file from other programs' databases."""
    schema: Sequence[str]
    """The statements that create the tables of a new file."""
    largest: int = _MOST_BYTES
    """The most bytes of a value. A damaged length then cannot make SQLite allocate more memory."""

    @contextmanager
    def transaction(self, *, writes: bool = True) -> Iterator[sqlite3.Connection]:
        """Open the file, created if there is none, for one transaction, which an exception rolls back.

        Raises ConfigError if the file is a database of something else, a symbolic link or another user's, OSError if it
        cannot be created, and what sqlite3 raises.
        """
        make_private(self.path)
        with closing(sqlite3.connect(self.path, timeout=_SECONDS, isolation_level=None)) as connection:
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, self.largest)
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
            self._create_tables(connection)
            yield connection
            connection.execute("COMMIT")

    def _create_tables(self, connection: sqlite3.Connection) -> None:
        (application_id,) = connection.execute("PRAGMA application_id").fetchone()
        if application_id == self.application_id:
            return
        if connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
            raise ConfigError("it is a database of something else")
        for statement in self.schema:
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {self.application_id}")
