"""The SQLite file of a feedback log: bounded, and readable by its owner only."""

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ctxcompress.errors import ConfigError
from ctxcompress.private_database import FAILURES, PrivateDatabase

__all__ = ["FeedbackFile", "StoredCall", "is_feedback_file"]

_APPLICATION_ID = 0x63747866
_SCHEMA = (
    "CREATE TABLE calls (id TEXT PRIMARY KEY, scope TEXT NOT NULL, at REAL NOT NULL, sheet BLOB NOT NULL, used TEXT)",
    "CREATE INDEX by_scope ON calls (scope, used IS NULL, at)",
)
_BYTES = 10_000_000
"""The largest value of a row."""


def is_feedback_file(path: Path) -> bool:
    """Whether a feedback log has written this file, by its first bytes. Nothing is done to the file."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(72)
    return head.startswith(b"SQLite format 3\0") and int.from_bytes(head[68:]) == _APPLICATION_ID


class StoredCall(NamedTuple):
    """A row of the file."""

    id: str
    at: float
    """Seconds since 1970."""
    sheet: bytes
    used: str | None
    """The feedback as JSON; None until there is some."""


class FeedbackFile:
    """Stores calls and their feedback by scope. Threads and processes can share the file.

    Each scope has at most `max_records` calls with feedback and as many that wait for it; the oldest are deleted first.
    Only the owner can read the file. Every method raises ConfigError if the file cannot be used: if it is damaged, is
    something else, is a symbolic link, belongs to another user or is locked for too long. Nothing is done to it then.
    """

    __slots__ = ("_clock", "_max_records", "path")

    def __init__(self, path: Path, max_records: int, clock: Callable[[], float] = time.time) -> None:
        self.path, self._max_records, self._clock = path, max_records, clock

    def put(self, scope: str, id: str, sheet: bytes, used: str | None) -> None:
        """Store a call, in place of an earlier one with the same id."""
        with self._open() as connection:
            values = (id, scope, self._clock(), sheet, used)
            connection.execute("INSERT OR REPLACE INTO calls VALUES (?, ?, ?, ?, ?)", values)
            connection.execute(
                "DELETE FROM calls WHERE id IN (SELECT id FROM calls WHERE scope = ? AND (used IS NULL) = ? "
                "ORDER BY at DESC, rowid DESC LIMIT -1 OFFSET ?)",
                (scope, used is None, self._max_records),
            )

    def get(self, scope: str, id: str) -> StoredCall | None:
        """Return the call with this id; None if there is none in the scope."""
        with self._open() as connection:
            query = "SELECT id, at, sheet, used FROM calls WHERE id = ? AND scope = ?"
            found = connection.execute(query, (id, scope)).fetchone()
        return None if found is None else StoredCall(*found)

    def with_feedback(self, scope: str) -> list[StoredCall]:
        """Return the calls of a scope that have feedback, the oldest first."""
        with self._open() as connection:
            query = "SELECT id, at, sheet, used FROM calls WHERE scope = ? AND used IS NOT NULL ORDER BY at, rowid"
            return [StoredCall(*row) for row in connection.execute(query, (scope,))]

    def scopes(self) -> dict[str, int]:
        """Return the number of calls with feedback of each scope."""
        with self._open() as connection:
            return dict(connection.execute("SELECT scope, count(used) FROM calls GROUP BY scope ORDER BY scope"))

    def delete(self, scope: str) -> int:
        """Delete all calls of a scope, and return their number."""
        with self._open() as connection:
            return connection.execute("DELETE FROM calls WHERE scope = ?", (scope,)).rowcount

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """Open the file for one transaction."""
        try:
            with PrivateDatabase(self.path, _APPLICATION_ID, _SCHEMA, _BYTES).transaction() as connection:
                yield connection
        except (*FAILURES, OSError, ConfigError) as error:
            raise ConfigError(
                f"{self.path.name} cannot be used as a feedback log ({error}); {_remedy(error)}"
            ) from error


def _remedy(error: BaseException) -> str:
    if getattr(error, "sqlite_errorname", "").startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return "try again when no other process writes to it"
    return "give the path of another file, or rename this one"
