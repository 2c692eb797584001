"""The schema of a cache file, how such a file is recognized even if it is damaged, and which errors mean damage."""

import operator
import os
import sqlite3
import time
from pathlib import Path

from ctxcompress.cache.private_file import companions
from ctxcompress.cache.stored import MAGIC
from ctxcompress.errors import ConfigError
from ctxcompress.lazy_regex import lazy_regex

__all__ = [
    "BUSY",
    "FAILURES",
    "FIRST_KEY",
    "Watch",
    "create_tables",
    "error_number",
    "has_tables",
    "has_traces",
    "is_damage",
]

_APPLICATION_ID = 0x63747863
_APPLICATION_ID_OFFSET = 68
_SCHEMA = (
    b"CREATE TABLE entries\n"
    b"    (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, used INTEGER NOT NULL, data BLOB NOT NULL)",
    b"CREATE INDEX by_use ON entries (used)",
    b"CREATE TABLE origins (document INTEGER, entry INTEGER, PRIMARY KEY (document, entry)) WITHOUT ROWID",
    b"CREATE INDEX by_entry ON origins (entry)",
    b"CREATE TABLE room (bytes INTEGER NOT NULL)",
    b"CREATE TRIGGER more AFTER INSERT ON entries\n    BEGIN UPDATE room SET bytes = bytes + length(NEW.data); END",
    b"CREATE TRIGGER less AFTER DELETE ON entries\n    BEGIN UPDATE room SET bytes = bytes - length(OLD.data); END",
    b"CREATE TRIGGER unlink AFTER DELETE ON entries\n    BEGIN DELETE FROM origins WHERE entry = OLD.id; END",
)
"""The statements, as SQLite stores them."""
_FILE_HEADER = b"SQLite format 3\0"
_PAGE_BYTES = 4096
"""A file of one page has tables but no entries."""
_TRACES = (MAGIC, *_SCHEMA)
_KEY = lazy_regex(rb"(?:text|outcome):[0-9a-f]{64}")
FIRST_KEY = "text:" + 64 * "0"
"""The key of a one-byte entry in every new file: a trace beyond the first page, even while all other entries are in the
write-ahead log."""
_HEAD_BYTES = 1 << 20
"""How much of a file is searched for traces."""

FAILURES = (sqlite3.Error, UnicodeDecodeError, MemoryError)
"""What the sqlite3 module raises. UnicodeDecodeError: an error's message may quote damaged text."""
BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_NO_DAMAGE = (
    *BUSY,
    *(sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_FULL, sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_IOERR),
    *(sqlite3.SQLITE_NOLFS, sqlite3.SQLITE_PERM, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_READONLY),
)
"""Errors that are not the file's fault. All others are, because the statements are always the same."""
_MOST_STEPS = 5_000_000
"""Steps of SQLite's virtual machine. Making room, the longest work, takes a fiftieth of that."""


def has_tables(connection: sqlite3.Connection) -> bool:
    """Whether the file has the tables already; False if it has none at all.

    Raises DatabaseError if they are damaged, and ConfigError if it is another program's database.
    """
    # As bytes, because damaged text cannot be decoded.
    found = {sql for (sql,) in connection.execute("SELECT CAST(sql AS BLOB) FROM sqlite_master WHERE sql IS NOT NULL")}
    if not found:
        return False
    # In this order: whoever sees tables that another process has just created also sees the id.
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    if application_id != _APPLICATION_ID and not found.intersection(_SCHEMA):
        raise ConfigError("it is a database of something else")
    if application_id != _APPLICATION_ID or found != set(_SCHEMA):
        raise sqlite3.DatabaseError("its tables have changed")
    return True


def create_tables(connection: sqlite3.Connection) -> None:
    """Create all tables in one transaction. Other processes wait, and then find them."""
    connection.execute("BEGIN IMMEDIATE")
    if not has_tables(connection):
        for statement in _SCHEMA:
            connection.execute(statement.decode())
        connection.execute("INSERT INTO room VALUES (0)")
        connection.execute("INSERT INTO entries (key, used, data) VALUES (?, 0, x'00')", (FIRST_KEY,))
        connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
    connection.execute("COMMIT")


def has_traces(path: Path) -> bool:
    """Whether a file that SQLite cannot read was a cache once, or contains nothing that could be lost."""
    head = _head(path)
    matching = sum(map(operator.eq, head, _FILE_HEADER))
    is_empty = not head.strip(b"\0") or (
        len(head) <= _PAGE_BYTES and matching >= min(len(head), len(_FILE_HEADER) // 2)
    )
    has_id = head[_APPLICATION_ID_OFFSET : _APPLICATION_ID_OFFSET + 4] == _APPLICATION_ID.to_bytes(4, "big")
    content = b"".join([head, *map(_head, companions(path))])
    return is_empty or has_id or any(trace in content for trace in _TRACES) or bool(_KEY.search(content))


def _head(path: Path) -> bytes:
    if not path.is_file():
        return b""
    with path.open("rb") as file:
        return file.read(_HEAD_BYTES)


def is_damage(error: BaseException, path: Path) -> bool:
    """Whether an error, one of FAILURES, means that the file is damaged."""
    if isinstance(error, MemoryError):
        return False
    if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_IOERR_SHORT_READ:
        return True
    if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_READONLY and os.access(path, os.W_OK):
        return True  # only the file's content says that it is read-only
    return error_number(error) not in _NO_DAMAGE


def error_number(error: BaseException) -> int | None:
    """Return SQLite's primary error code; None for other errors."""
    number = getattr(error, "sqlite_errorcode", None)
    return number & 0xFF if isinstance(number, int) else None


class Watch:
    """A progress handler for SQLite that ends statements when the time is over or they run in circles."""

    __slots__ = ("_calls", "_end")

    STEPS = 10_000
    """Steps of SQLite's virtual machine between two calls."""

    def __init__(self) -> None:
        self._end, self._calls = 0.0, 0

    def begin(self, end: float) -> None:
        """end: when the time is over, on the monotonic clock."""
        self._end, self._calls = end, 0

    @property
    def is_circling(self) -> bool:
        """Whether there were more steps than any undamaged file needs."""
        return self._calls * self.STEPS > _MOST_STEPS

    def __call__(self) -> bool:
        self._calls += 1
        return self.is_circling or time.monotonic() > self._end
