"""What a file of entries looks like, and how it is told from other files, even if little of it is left."""

import operator
import re
import sqlite3
from pathlib import Path

from ctxcompress.cache.sealed import MARK
from ctxcompress.errors import ConfigError

__all__ = ["companions", "has_traces", "is_made", "make"]

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
