"""A small SQLite database that only its owner can read. Threads, processes and forks can share its file."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from ctxcompress.cache.private_file import make_private
from ctxcompress.errors import ConfigError

__all__ = ["PrivateDatabase"]

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
