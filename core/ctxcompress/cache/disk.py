"""A cache in a file, for many processes and for tomorrow."""

import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from os import PathLike
from pathlib import Path
from threading import Lock
from typing import TypeVar

from ctxcompress.cache.sealed import opened, sealed
from ctxcompress.entries import Form
from ctxcompress.errors import ConfigError

__all__ = ["DiskCache"]

_log = logging.getLogger("ctxcompress")

T = TypeVar("T")

_IS_OURS = 0x63747863
_WAIT = 10.0
"""Seconds that a process waits for another one's writing."""
_PAUSE = 0.01
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_BUSY_RECOVERY, sqlite3.SQLITE_BUSY_SNAPSHOT)
_TOUCHED = 60
"""Seconds after which being read counts as being used again: a note of each time would cost more than the reading."""
_LEFT = 0.9
"""Share of the room that is left filled when it is exceeded, so that this is seldom."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY, used INTEGER NOT NULL, data BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS by_use ON entries (used);
CREATE TABLE IF NOT EXISTS room (bytes INTEGER NOT NULL);
INSERT INTO room SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM room);
CREATE TRIGGER IF NOT EXISTS more AFTER INSERT ON entries
    BEGIN UPDATE room SET bytes = bytes + length(NEW.data); END;
CREATE TRIGGER IF NOT EXISTS less AFTER DELETE ON entries
    BEGIN UPDATE room SET bytes = bytes - length(OLD.data); END;
"""


class DiskCache:
    """Remembers in an SQLite file, what was used last the longest. Threads and processes can share it, and one that is
    killed while it writes leaves a file that can be used.

    The entries have at most `max_bytes` bytes together; the file has some more. The file's folder must be on a disk of
    this machine, because SQLite's write-ahead log needs that. The entries contain no text of the passages but what
    was kept of them. Checksums tell damage, not malice: whoever may write into the file may change what is kept.

    Raises ConfigError if the file is something else than such a cache, or cannot be made. Afterwards, a cache that
    cannot be read or written is one that knows nothing, with a warning in the log.
    """

    def __init__(self, path: str | PathLike[str], *, max_bytes: int = 1_000_000_000) -> None:
        if isinstance(max_bytes, bool) or not isinstance(max_bytes, int) or max_bytes < 1:
            raise ConfigError(f"max_bytes is {max_bytes!r}; give a whole number of bytes, at least 1")
        self.path, self.max_bytes = Path(path).absolute(), max_bytes
        self._lock = Lock()
        self._connection: sqlite3.Connection | None = None
        self._process = os.getpid()
        self._inherited: list[sqlite3.Connection | None] = []
        try:
            with self._connected() as connection:
                connection.execute("SELECT bytes FROM room").fetchone()
        except (sqlite3.Error, OSError) as error:
            raise ConfigError(
                f"{self.path} cannot be used as a cache ({error}); give the path of another file"
            ) from None

    def get(self, key: str, form: Form[T], /) -> T | None:
        """The value under this key; None if there is none, or if it is damaged."""
        try:
            with self._connected() as connection:
                found = connection.execute(
                    "SELECT CAST(data AS BLOB), CAST(used AS INTEGER) FROM entries WHERE key = ?", (key,)
                ).fetchone()
                if found is None:
                    return None
                data, used = found
                now = int(time.time())
                if abs(now - used) > _TOUCHED:
                    connection.execute("UPDATE entries SET used = ? WHERE key = ?", (now, key))
        except (sqlite3.Error, OSError) as error:
            _log.warning("the cache %s cannot be read (%s); going on without", self.path.name, error)
            return None
        try:
            return form.decode(opened(key, data))
        except ValueError as error:
            _log.warning("an entry of the cache %s is damaged (%s); it is made anew", self.path.name, error)
            return None

    def put(self, key: str, value: T, form: Form[T], /) -> None:
        """Writes the value; not one that is larger than all there may be."""
        data = form.encode(value)
        if data is None:
            return
        data = sealed(key, data)
        if len(data) > self.max_bytes:
            return
        try:
            with self._connected() as connection:
                _write(connection, key, data, self.max_bytes)
        except (sqlite3.Error, OSError) as error:
            _log.warning("the cache %s cannot be written (%s); going on without", self.path.name, error)

    def close(self) -> None:
        """Closes the file; the next use opens it again."""
        with self._lock:
            if self._connection is not None and self._process == os.getpid():
                self._connection.close()
                self._connection = None

    def __reduce__(self) -> tuple[Callable[[str], "DiskCache"], tuple[str]]:
        return partial(DiskCache, max_bytes=self.max_bytes), (str(self.path),)

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """The connection, for one thread at a time. SQLite's must not be used after a fork, nor closed there."""
        with self._lock:
            if self._process != os.getpid():
                self._inherited.append(self._connection)
                self._connection, self._process = None, os.getpid()
            if self._connection is None:
                self._connection = _opened(self.path)
            yield self._connection


def _opened(path: Path) -> sqlite3.Connection:
    """A connection to the file. SQLite does not wait where several processes make a new file at the same time."""
    patience = time.monotonic() + _WAIT
    while True:
        try:
            return _prepared(path)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode not in _BUSY or time.monotonic() > patience:
                raise
        time.sleep(_PAUSE)


def _prepared(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_WAIT, isolation_level=None, check_same_thread=False)
    try:
        # In this order: whoever sees tables that another process is making sees whose they are.
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        (is_ours,) = connection.execute("PRAGMA application_id").fetchone()
        if tables and is_ours != _IS_OURS:
            raise sqlite3.DatabaseError("it is a database of something else")
        for setting in ("journal_mode = WAL", "synchronous = NORMAL", "recursive_triggers = ON"):
            connection.execute(f"PRAGMA {setting}").fetchone()
        if not tables:
            # All or nothing, and by one process: others wait, and find it done.
            connection.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA application_id = {_IS_OURS}; COMMIT;")
    except BaseException:
        connection.close()
        raise
    return connection


def _write(connection: sqlite3.Connection, key: str, data: bytes, max_bytes: int) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute("REPLACE INTO entries VALUES (?, ?, ?)", (key, int(time.time()), data))
        (size,) = connection.execute("SELECT bytes FROM room").fetchone()
        if size > max_bytes:
            _make_room(connection, key, size - int(_LEFT * max_bytes))
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _make_room(connection: sqlite3.Connection, newest: str, wanted: int) -> None:
    """Deletes what was not used for the longest time, until so many bytes are free, but not what came just now."""
    oldest = connection.execute("SELECT key, length(data) FROM entries WHERE key <> ? ORDER BY used, rowid", (newest,))
    doomed = []
    for key, size in oldest:
        doomed.append((key,))
        wanted -= size
        if wanted <= 0:
            break
    oldest.close()
    connection.executemany("DELETE FROM entries WHERE key = ?", doomed)
