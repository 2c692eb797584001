"""A SQLite file that only its owner can read: for caches, feedback and what agents left out."""

import os
import sqlite3
import stat
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from ctxcompress.errors import ConfigError

__all__ = ["FAILURES", "PrivateDatabase", "companions", "identity"]

_OWNER_ONLY = 0o700
_creating = Lock()


def make_private(path: Path) -> None:
    """Create an empty file if there is none, and revoke other users' access to it and to SQLite's companion files.

    Companion files created later have the permissions of the file. Raises ConfigError for a symbolic link, which could
    lead anywhere, for anything that is not a regular file, and for another user's file, because that user could change
    the entries. Raises OSError if the file cannot be created.
    """
    if "\0" in str(path):
        raise ConfigError("there is a null character in the path")
    # Closing a file releases the locks that SQLite holds on it in other threads, so none may open it before.
    with _creating, suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))
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
    except (FileNotFoundError, ValueError):  # there is none with a null character in its name
        return None
    return found.st_dev, found.st_ino


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


FAILURES = (sqlite3.Error, UnicodeDecodeError)
"""What the sqlite3 module raises. UnicodeDecodeError: an error's message may quote damaged text."""


@dataclass(frozen=True, slots=True)
class PrivateDatabase:
    """A SQLite file that only its owner can read."""

    path: Path
    application_id: int
    """Distinguishes the file from other programs' databases."""
    schema: Sequence[str]
    """The statements that create the tables of a new file."""
    largest: int = 1_000_000_000
    """The most bytes of a value; SQLite itself allows so many. A damaged length then cannot make it allocate more."""
    seconds: float = 5.0
    """How long another process that writes is waited for."""

    @contextmanager
    def transaction(self, *, writes: bool = True) -> Iterator[sqlite3.Connection]:
        """Open the file for one transaction, which an exception rolls back. Raises what `connect` raises."""
        with closing(self.connect()) as connection:
            connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
            yield connection
            connection.execute("COMMIT")

    def connect(self) -> sqlite3.Connection:
        """Open the file, created if there is none. A connection must not be used after a fork.

        Raises ConfigError if the file is a symbolic link or another user's, OSError if it cannot be created, and what
        sqlite3 raises, DatabaseError also if it is a database of something else.
        """
        make_private(self.path)
        connection = sqlite3.connect(self.path, timeout=self.seconds, isolation_level=None, check_same_thread=False)
        try:
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, self.largest)
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA secure_delete = ON")
            if not self._is_known(connection):
                self._create_tables(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _is_known(self, connection: sqlite3.Connection) -> bool:
        return bool(connection.execute("PRAGMA application_id").fetchone() == (self.application_id,))

    def _create_tables(self, connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN IMMEDIATE")
        if not self._is_known(connection):  # another process may have been faster
            if connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
                raise sqlite3.DatabaseError("it is a database of something else")
            for statement in self.schema:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {self.application_id}")
        connection.execute("COMMIT")
