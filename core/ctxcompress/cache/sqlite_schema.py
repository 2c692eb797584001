"""What a file of entries looks like, and how it is told from other files, even if little of it is left."""

import operator
import os
import re
import sqlite3
import time
from pathlib import Path

from ctxcompress.cache.stored import MARK
from ctxcompress.errors import ConfigError

__all__ = [
    "BUSY",
    "FAILURES",
    "Watch",
    "companions",
    "has_traces",
    "is_damage",
    "is_made",
    "make",
    "number_of",
    "set_aside",
]

_ID = 0x63747863
_ID_AT = 68
_SCHEMA = (
    b"CREATE TABLE entries (key TEXT PRIMARY KEY, used INTEGER NOT NULL, data BLOB NOT NULL)",
    b"CREATE INDEX by_use ON entries (used)",
    b"CREATE TABLE room (bytes INTEGER NOT NULL)",
    b"CREATE TRIGGER more AFTER INSERT ON entries\n    BEGIN UPDATE room SET bytes = bytes + length(NEW.data); END",
    b"CREATE TRIGGER less AFTER DELETE ON entries\n    BEGIN UPDATE room SET bytes = bytes - length(OLD.data); END",
)
"""As SQLite writes it down."""
_BEGINNING = b"SQLite format 3\0"
_PAGE = 4096
"""Bytes: a file of one page has tables, and nothing in them."""
_TRACES = (MARK, *_SCHEMA)
_KEY = re.compile(rb"(?:text|outcome):[0-9a-f]{64}")
_FIRST = "text:" + 64 * "0"
"""The key of an entry of one byte that each new file has: a trace beyond its first page, before any other is written
into the file itself."""
_LOOKED_AT = 1 << 20
"""Bytes at the beginning of a file."""


def is_made(connection: sqlite3.Connection) -> bool:
    """Whether the file has its tables already; not so of one without any.

    Raises DatabaseError if they are damaged, and ConfigError if it is a database of something else.
    """
    # As bytes, because damaged text is none.
    found = {sql for (sql,) in connection.execute("SELECT CAST(sql AS BLOB) FROM sqlite_master WHERE sql IS NOT NULL")}
    if not found:
        return False
    # In this order: whoever sees tables that another process has just made sees whose they are.
    (name,) = connection.execute("PRAGMA application_id").fetchone()
    if name != _ID and not found.intersection(_SCHEMA):
        raise ConfigError("it is a database of something else")
    if name != _ID or found != set(_SCHEMA):
        raise sqlite3.DatabaseError("its tables are not as they were made")
    return True


def make(connection: sqlite3.Connection) -> None:
    """Makes the tables: all or none, and by one process. Others wait, and find them made."""
    connection.execute("BEGIN IMMEDIATE")
    if not is_made(connection):
        for statement in _SCHEMA:
            connection.execute(statement.decode())
        connection.execute("INSERT INTO room VALUES (0)")
        connection.execute("INSERT INTO entries VALUES (?, 0, x'00')", (_FIRST,))
        connection.execute(f"PRAGMA application_id = {_ID}")
    connection.execute("COMMIT")


def has_traces(path: Path) -> bool:
    """Whether a file that SQLite cannot read was one of entries once, or has nothing in it that could be lost."""
    head = _head(path)
    begins = sum(map(operator.eq, head, _BEGINNING))
    is_nothing = not head.strip(b"\0") or (len(head) <= _PAGE and begins >= min(len(head), len(_BEGINNING) // 2))
    is_named = head[_ID_AT : _ID_AT + 4] == _ID.to_bytes(4, "big")
    written = b"".join([head, *map(_head, companions(path))])
    return is_nothing or is_named or any(trace in written for trace in _TRACES) or bool(_KEY.search(written))


def _head(path: Path) -> bytes:
    if not path.is_file():
        return b""
    with path.open("rb") as file:
        return file.read(_LOOKED_AT)


def companions(path: Path) -> list[Path]:
    """The files that SQLite has beside one, as long as it is open and after a crash."""
    return [path.with_name(f"{path.name}{ending}") for ending in ("-wal", "-shm")]


FAILURES = (sqlite3.Error, UnicodeDecodeError, MemoryError)
"""What SQLite's module raises. UnicodeDecodeError: the message of an error may quote damaged text."""
BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_CIRCUMSTANCES = (
    *BUSY,
    *(sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_FULL, sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_IOERR),
    *(sqlite3.SQLITE_NOLFS, sqlite3.SQLITE_PERM, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_READONLY),
)
"""Errors that are not the file's fault. All others are, since the statements are always the same."""
_LONGEST = 5_000_000
"""Steps of SQLite's machine. Making room, which takes most, takes a fiftieth."""


class Watch:
    """Ends statements when the time is over, and those that go round in circles. A handler of SQLite's progress."""

    __slots__ = ("_calls", "_end")

    STEPS = 10_000
    """After how many of them it wants to be called."""

    def __init__(self) -> None:
        self._end, self._calls = 0.0, 0

    def begin(self, end: float) -> None:
        """end: when the time is over, of the monotonic clock."""
        self._end, self._calls = end, 0

    @property
    def is_circling(self) -> bool:
        """Whether there were more steps than any file that is whole needs."""
        return self._calls * self.STEPS > _LONGEST

    def __call__(self) -> bool:
        self._calls += 1
        return self.is_circling or time.monotonic() > self._end


def number_of(error: BaseException) -> int | None:
    """SQLite's number of an error, without what it adds in detail; None if it is not SQLite's."""
    number = getattr(error, "sqlite_errorcode", None)
    return number & 0xFF if isinstance(number, int) else None


def is_damage(error: BaseException, path: Path) -> bool:
    """Whether the error, one of FAILURES, says that the file is damaged."""
    if isinstance(error, MemoryError):
        return False
    if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_IOERR_SHORT_READ:
        return True
    if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_READONLY and os.access(path, os.W_OK):
        return True  # the file alone says that nobody may write into it
    return number_of(error) not in _CIRCUMSTANCES


def set_aside(path: Path) -> Path:
    """Renames the file, in the place of what was set aside before, and gives where it is. Raises OSError."""
    for name in companions(path):
        name.unlink(missing_ok=True)  # first: a new file must not find them
    return path.replace(path.with_name(f"{path.name}.damaged"))
