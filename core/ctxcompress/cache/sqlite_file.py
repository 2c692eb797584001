"""A store in a SQLite file that survives whatever happens to the file."""

import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import NamedTuple, TypeVar

from ctxcompress.cache.private_file import identity, make_private, remove_damaged, set_aside
from ctxcompress.cache.protocol import Documents
from ctxcompress.cache.sqlite_schema import (
    BUSY,
    FAILURES,
    FIRST_KEY,
    Watch,
    create_tables,
    error_number,
    has_tables,
    has_traces,
    is_damage,
)
from ctxcompress.errors import ConfigError

__all__ = ["SqliteFile"]

T = TypeVar("T")

_LARGEST_ENTRY = 100_000_000
"""Bytes. A damaged length cannot make SQLite allocate more memory."""
_PAUSE = 0.01
"""Seconds between two attempts to open a file that another process is creating."""
_USE_INTERVAL = 60
"""Seconds after which a read is recorded as a use. Recording every read would cost more than the read."""
_SPARE, _SPARE_BYTES, _SPARE_ENTRIES = 0.1, 10_000_000, 1000
"""Extra share of the maximum to free when it is exceeded, so that this happens rarely; at most this many bytes and
entries, so that it stays fast."""
_BATCH = 1000
"""Entries that one transaction deletes, so that others need not wait long."""
_SETTINGS = (
    # Deleted entries are overwritten with zeros.
    *("journal_mode = WAL", "synchronous = NORMAL", "recursive_triggers = ON", "secure_delete = ON"),
    # SQLite's advice for files that may be damaged.
    *("cell_size_check = ON", "trusted_schema = OFF", "mmap_size = 0"),
)

_log = logging.getLogger("ctxcompress")


class SqliteFile:
    """A store of at most `max_bytes` in a file that forgets the least recently used entries first. Threads and
    processes can share it.

    Only the owner can read the file. A damaged file is set aside, with a warning in the log, and replaced by an empty
    one. Each method raises TimeoutError if it would take longer than `seconds`, another OSError if the file cannot be
    used, and ConfigError if the file is not a cache; then it is not touched.
    """

    def __init__(
        self, path: Path, max_bytes: int, *, ttl: float | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        """ttl: seconds without a use after which an entry is deleted. clock: tells the seconds since 1970."""
        self._path, self._max_bytes = path, max_bytes
        self._ttl, self._clock = ttl, clock
        self._lock = Lock()
        self._watch = Watch()
        self._connection: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None
        """The file that is open, or was opened last."""
        self._is_ours = False
        """Whether the file opened last was a cache, damaged or not."""
        self._process = os.getpid()
        self._inherited: list[sqlite3.Connection | None] = []
        """Connections from before a fork, which must not be closed."""

    def check(self, seconds: float) -> None:
        """Create the file if there is none, and replace it if it is damaged."""
        self._run_twice_if_damaged(_size, seconds)

    def read(self, key: str, seconds: float, /) -> bytes | None:
        """Return the bytes written under this key, which may be damaged; None if there are none."""
        return self._run(lambda connection: _read(connection, key, int(self._clock())), seconds)

    def write(self, key: str, data: bytes, documents: Documents, seconds: float, /) -> None:
        """Store the bytes, unless they exceed the maximum or too many entries would have to be deleted for them."""
        if len(data) > min(self._max_bytes, _LARGEST_ENTRY):
            return
        entry = _New(key, data, documents, int(self._clock()))
        unused = 0 if self._ttl is None else entry.made - int(self._ttl)
        self._run_twice_if_damaged(lambda connection: _write(connection, entry, self._max_bytes, unused), seconds)

    def forget(self, document: int, seconds: float, /) -> int:
        """Delete the entries that were made from a document, also from the write-ahead log; return their number."""
        return self._delete_all("id IN (SELECT entry FROM origins WHERE document = ?)", document, seconds)

    def clear(self, seconds: float, /) -> None:
        """Delete all entries, and the damaged file that was set aside. Make the file small."""
        self._delete_all("key <> ?", FIRST_KEY, seconds)
        self._run(lambda connection: connection.execute("VACUUM").fetchone(), seconds)
        self._run(_empty_log, seconds)
        remove_damaged(self._path)

    def contents(self, seconds: float, /) -> tuple[int, int]:
        """Return the number of entries and their bytes."""
        return self._run(_contents, seconds) or (0, 0)

    def _delete_all(self, condition: str, value: int | str, seconds: float) -> int:
        """Delete the entries that meet a condition, in batches. Return their number."""
        end, deleted = time.monotonic() + seconds, 0
        statement = f"DELETE FROM entries WHERE id IN (SELECT id FROM entries WHERE {condition} LIMIT {_BATCH})"  # noqa: S608
        while found := self._run(
            lambda connection: connection.execute(statement, (value,)).rowcount, end - time.monotonic()
        ):
            deleted += found
        self._run(_empty_log, end - time.monotonic())
        return deleted

    def close(self) -> None:
        """Close the file. The next use opens it again."""
        with self._lock:
            self._disconnect()

    def _run_twice_if_damaged(self, work: Callable[[sqlite3.Connection], int], seconds: float) -> None:
        """Do the work, and repeat it with the new file if the file turns out to be damaged."""
        if self._run(work, seconds) is None:
            self._run(work, seconds)

    def _run(self, work: Callable[[sqlite3.Connection], T], seconds: float) -> T | None:
        """Return the result of the work, one thread at a time; None if the file turns out to be damaged."""
        end = time.monotonic() + seconds
        if not self._lock.acquire(timeout=max(seconds, 0)):
            raise TimeoutError("other threads are using it")
        try:
            self._watch.begin(end)
            return work(self._connect(end))
        except FAILURES as error:
            if self._is_damage(error):
                self._replace_file(error)
                return None
            is_late = error_number(error) in (*BUSY, sqlite3.SQLITE_INTERRUPT)
            raise (TimeoutError if is_late else OSError)(str(error)) from error
        finally:
            self._lock.release()

    def _connect(self, end: float) -> sqlite3.Connection:
        """Return a connection to the file that is there now: another process may have deleted it, or set it aside."""
        if self._connection is None or self._process != os.getpid() or self._identity != identity(self._path):
            self._disconnect()
            make_private(self._path)
            self._identity = identity(self._path)
            self._connection = self._open(end)
        left = int(100 * (end - time.monotonic()))
        self._connection.execute(f"PRAGMA busy_timeout = {max(10 * left, 1)}")
        return self._connection

    def _disconnect(self) -> None:
        """Close the connection, except after a fork, where SQLite's connections must be neither used nor closed."""
        if self._process != os.getpid():
            self._inherited.append(self._connection)
            self._process = os.getpid()
        elif self._connection is not None:
            self._connection.close()
        self._connection = None

    def _open(self, end: float) -> sqlite3.Connection:
        """Open the file, with retries: SQLite does not wait while several processes create the same file."""
        while True:
            try:
                return self._open_once(end)
            except sqlite3.OperationalError as error:
                if error_number(error) not in BUSY or time.monotonic() > end:
                    raise
            time.sleep(_PAUSE)

    def _open_once(self, end: float) -> sqlite3.Connection:
        timeout = max(end - time.monotonic(), 0)
        connection = sqlite3.connect(self._path, timeout=timeout, isolation_level=None, check_same_thread=False)
        try:
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LARGEST_ENTRY + 1000)
            connection.set_progress_handler(self._watch, Watch.STEPS)
            if not has_tables(connection):
                create_tables(connection)  # before there is a write-ahead log, so that the file itself has the tables
            for setting in _SETTINGS:
                connection.execute(f"PRAGMA {setting}").fetchone()
        except BaseException as error:
            if self._is_damage(error):
                self._is_ours = has_traces(self._path)  # now, because closing deletes a damaged log
            connection.close()
            raise
        self._is_ours = True
        return connection

    def _is_damage(self, error: BaseException) -> bool:
        return isinstance(error, FAILURES) and (self._watch.is_circling or is_damage(error, self._path))

    def _replace_file(self, error: BaseException) -> None:
        """Set the file aside if it is still there and was a cache."""
        self._disconnect()
        if self._identity is None or self._identity != identity(self._path):
            return
        if not self._is_ours:
            raise ConfigError(f"it contains something else than a cache ({error})") from error
        damaged = set_aside(self._path)
        _log.warning(
            "the cache %s is damaged (%s); it starts empty, and the damaged file is now %s",
            self._path.name,
            error,
            damaged.name,
        )


class _New(NamedTuple):
    """An entry to write."""

    key: str
    data: bytes
    documents: Documents
    made: int


def _read(connection: sqlite3.Connection, key: str, now: int) -> bytes | None:
    query = "SELECT CAST(data AS BLOB), CAST(used AS INTEGER) FROM entries WHERE key = ?"
    found = connection.execute(query, (key,)).fetchone()
    if found is None:
        return None
    data, used = found
    if not isinstance(used, int) or abs(now - used) > _USE_INTERVAL:
        _record_use(connection, key, now)
    return bytes(data or b"")


def _record_use(connection: sqlite3.Connection, key: str, now: int) -> None:
    """Record the time, unless another process is writing: a read must not wait for that."""
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        connection.execute("UPDATE entries SET used = ? WHERE key = ?", (now, key))
    except sqlite3.OperationalError as error:
        if error_number(error) not in BUSY:
            raise


def _write(connection: sqlite3.Connection, entry: _New, max_bytes: int, unused: int) -> int:
    """Store an entry, and return the bytes of all entries. unused: delete entries that were last used before this."""
    with _transaction(connection):
        connection.execute("DELETE FROM entries WHERE key = ?", (entry.key,))
        stale = "SELECT id FROM entries WHERE used < ? AND key <> ? ORDER BY used LIMIT ?"
        connection.execute(f"DELETE FROM entries WHERE id IN ({stale})", (unused, FIRST_KEY, _BATCH))  # noqa: S608
        excess = _size(connection) + len(entry.data) - max_bytes
        if excess > 0:
            excess -= _make_room(connection, excess, excess + int(min(_SPARE * max_bytes, _SPARE_BYTES)))
        if excess <= 0:
            _insert(connection, entry)
        return _size(connection)


def _insert(connection: sqlite3.Connection, entry: _New) -> None:
    values = (entry.key, entry.made, entry.data)
    made = connection.execute("INSERT INTO entries (key, used, data) VALUES (?, ?, ?)", values).lastrowid
    rows = [(document, made) for document in entry.documents]
    connection.executemany("INSERT OR IGNORE INTO origins VALUES (?, ?)", rows)


def _empty_log(connection: sqlite3.Connection) -> bool:
    """Move the write-ahead log into the file and empty it. Raises TimeoutError if readers keep it busy."""
    (is_busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if is_busy:
        raise TimeoutError("other processes are reading it")
    return True


def _contents(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return the number of entries and their bytes, without the one that every file has."""
    (count,) = connection.execute("SELECT count(*) FROM entries").fetchone()
    first = connection.execute("SELECT length(data) FROM entries WHERE key = ?", (FIRST_KEY,)).fetchone()
    return count - bool(first), _size(connection) - (first[0] if first else 0)


def _size(connection: sqlite3.Connection) -> int:
    """Return the bytes of all entries. Raises DatabaseError if the number is damaged."""
    found = connection.execute("SELECT bytes FROM room WHERE typeof(bytes) = 'integer' AND bytes >= 0").fetchone()
    if found is None:
        raise sqlite3.DatabaseError("its total size is missing")
    size: int = found[0]
    return size


def _make_room(connection: sqlite3.Connection, needed: int, wanted: int) -> int:
    """Delete the least recently used entries, and return how many bytes that frees.

    Raises DatabaseError if all entries together have fewer bytes than needed, which contradicts their total size.
    """
    query = "SELECT rowid, length(data) FROM entries ORDER BY used, rowid LIMIT ?"
    doomed, freed = [], 0
    for row, size in connection.execute(query, (_SPARE_ENTRIES,)).fetchall():
        doomed.append((row,))
        freed += size or 0
        if freed >= wanted:
            break
    if freed < needed and len(doomed) < _SPARE_ENTRIES:
        raise sqlite3.DatabaseError("its total size is wrong")
    connection.executemany("DELETE FROM entries WHERE rowid = ?", doomed)
    return freed


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
