"""A store for caches in a SQLite file, which processes share and which outlives them. A damaged file is renamed."""

import logging
import os
import sqlite3
from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

from ctxcompress.cache.cache import MAGIC, whole_number
from ctxcompress.errors import ConfigError
from ctxcompress.private_database import FAILURES, PrivateDatabase, companions, identity

__all__ = ["SqliteStore"]

T = TypeVar("T")

_APPLICATION_ID, _ID_PLACE = int.from_bytes(MAGIC[:4]), slice(68, 72)
"""The id, and where in a file it is."""
_SCHEMA = "CREATE TABLE ctxcache (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, data BLOB NOT NULL)"
"""A new row has the greatest id. The table's name is that of MAGIC, by which a damaged file is recognized."""
_SIZE = (
    "SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size"
)
"""The bytes of all pages in use."""
_LARGEST_ENTRY = 100_000_000
"""Bytes."""
_SECONDS = 0.5
"""How long other threads, and then other processes, are waited for: a second in all."""
_SETTINGS = ("synchronous = NORMAL", "cell_size_check = ON", "mmap_size = 0", f"busy_timeout = {1_000 * _SECONDS:.0f}")
_AT_ONCE = 20
"""Entries that are deleted before the size of the file is looked at again."""
_PAGE_BYTES, _HEAD_BYTES = 4096, 1 << 20
"""A file of one page has no entries. So much of a file is searched for MAGIC."""
_DAMAGE = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_IOERR_SHORT_READ)
"""OperationalErrors that are the file's fault, because the statements are always the same."""

_log = logging.getLogger("ctxcompress")


class SqliteStore(MutableMapping[str, bytes]):
    """Bytes in a SQLite file that forgets the oldest first. Threads and processes can share it, and it stays usable if
    a process is killed while it writes.

    The file takes about `max_bytes` at most, and nothing larger than that is stored. It must be on a local disk,
    because SQLite's write-ahead log requires that. Only the owner can read the file, and other users' access to an
    existing file is revoked. What is deleted is overwritten with zeros.

    A damaged file is renamed to end in ".damaged", with a warning in the log, and an empty one takes its place. Raises
    ConfigError if the file cannot be created, is something else, is a symbolic link or belongs to another user; later,
    what sqlite3 raises and OSError.
    """

    never_hangs = True

    def __init__(self, path: str | PathLike[str], *, max_bytes: int = 1_000_000_000) -> None:
        self.path, self.max_bytes = Path(path).absolute(), whole_number("max_bytes", max_bytes, "bytes")
        self._file = PrivateDatabase(self.path, _APPLICATION_ID, (_SCHEMA,), _LARGEST_ENTRY + 1_000)
        self._damaged = self.path.with_name(f"{self.path.name}.damaged")
        self._lock = Lock()
        self._connections: dict[int, sqlite3.Connection] = {}
        """One for each process: after a fork, that of the parent must be neither used nor closed."""
        self._identity: tuple[int, int] | None = None
        """The file that was opened last."""
        try:
            self.get("")
        except (ConfigError, OSError, *FAILURES) as error:
            raise ConfigError(
                f"{self.path} cannot be used as a cache ({error}); give the path of another file"
            ) from None
        self._file = replace(self._file, seconds=_SECONDS)  # only when it is made, there is time to wait for others

    def __getitem__(self, key: str) -> bytes:
        rows = self._rows("SELECT CAST(data AS BLOB) FROM ctxcache WHERE key = ?", key)
        if not rows:
            raise KeyError(key)
        return bytes(rows[0][0])

    def __setitem__(self, key: str, value: bytes) -> None:
        if len(value) <= min(self.max_bytes, _LARGEST_ENTRY):
            self._run(lambda connection: _write(connection, key, value, self.max_bytes))

    def __delitem__(self, key: str) -> None:
        self[key]
        self._rows("DELETE FROM ctxcache WHERE key = ?", key)

    def __iter__(self) -> Iterator[str]:
        return (key for (key,) in self._rows("SELECT key FROM ctxcache ORDER BY id"))

    def __len__(self) -> int:
        return int(self._rows("SELECT count(*) FROM ctxcache")[0][0])

    def clear(self) -> None:
        """Delete all entries, and the damaged file that was set aside. Make the file small."""
        for statement in ("DELETE FROM ctxcache", "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"):
            self._rows(statement)
        self._damaged.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file. The next use opens it again."""
        connection = self._connections.pop(os.getpid(), None)
        if connection is not None:
            connection.close()

    def _rows(self, statement: str, *values: str) -> list[Any]:
        return self._run(lambda connection: connection.execute(statement, values).fetchall())

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Return the result of the work, one thread at a time. If the file is damaged, do it with a new one."""
        if not self._lock.acquire(timeout=_SECONDS):
            raise TimeoutError("other threads are using it")
        try:
            try:
                return work(self._connection())
            except FAILURES as error:
                if not self._is_damage(error):
                    raise
                self._set_aside(error)
            return work(self._connection())
        finally:
            self._lock.release()

    def _connection(self) -> sqlite3.Connection:
        """Return a connection to the file that is there now: another process may have deleted it, or set it aside."""
        found = identity(self.path)
        if os.getpid() not in self._connections or found is None or found != self._identity:
            self.close()
            self._identity = found  # before it is opened, which fails if it is damaged
            connection = self._connections[os.getpid()] = self._file.connect()
            self._identity = identity(self.path)
            _use_log(connection)
            for setting in _SETTINGS:
                connection.execute(f"PRAGMA {setting}")
        return self._connections[os.getpid()]

    def _is_damage(self, error: Exception) -> bool:
        code = getattr(error, "sqlite_errorcode", None)
        if not isinstance(error, sqlite3.OperationalError) or code in _DAMAGE:
            return True
        # If it is writable, only its content says that it is not.
        return code == sqlite3.SQLITE_READONLY and os.access(self.path, os.W_OK)

    def _set_aside(self, error: Exception) -> None:
        """Rename the damaged file if it is still there. Raises ConfigError if it never was a cache."""
        is_ours = _is_ours(self.path)  # before closing, which deletes a damaged log
        self.close()
        if self._identity is None or self._identity != identity(self.path):
            return
        if not is_ours:
            raise ConfigError(f"it contains something else than a cache ({error})") from error
        for file in companions(self.path):
            file.unlink(missing_ok=True)  # first: a new file must not find them
        self.path.replace(self._damaged)
        message = "the cache %s is damaged (%s); it starts empty, and the damaged file is now %s"
        _log.warning(message, self.path.name, error, self._damaged.name)

    def __reduce__(self) -> tuple[Callable[[str], "SqliteStore"], tuple[str]]:
        return partial(SqliteStore, max_bytes=self.max_bytes), (str(self.path),)


def _use_log(connection: sqlite3.Connection) -> None:
    """Have SQLite write ahead into a log, unless others use the file just now. The file remembers it."""
    try:
        connection.execute("PRAGMA journal_mode = WAL")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
            raise


def _write(connection: sqlite3.Connection, key: str, value: bytes, most: int) -> None:
    """Store an entry, and delete the oldest ones until the file is small enough."""
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT OR REPLACE INTO ctxcache (key, data) VALUES (?, ?)", (key, value))
        oldest = f"DELETE FROM ctxcache WHERE id IN (SELECT id FROM ctxcache ORDER BY id LIMIT {_AT_ONCE})"  # noqa: S608
        while connection.execute(_SIZE).fetchone()[0] > most and connection.execute(oldest).rowcount:
            pass


def _is_ours(path: Path) -> bool:
    """Tell whether a damaged file was a cache once, or contains nothing that could be lost."""
    head, *others = (_head(file) for file in (path, *companions(path)))
    is_empty = not head.strip(b"\0") or (len(head) <= _PAGE_BYTES and b"SQLite" in head[:16])
    return is_empty or head[_ID_PLACE] == MAGIC[:4] or any(MAGIC in content for content in (head, *others))


def _head(path: Path) -> bytes:
    if not path.is_file():
        return b""
    with path.open("rb") as file:
        return file.read(_HEAD_BYTES)
