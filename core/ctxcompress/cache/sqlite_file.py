"""Bytes under keys in an SQLite file, whatever becomes of the file."""

import logging
import os
import sqlite3
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import TypeVar

from ctxcompress.cache.sqlite_schema import (
    BUSY,
    FAILURES,
    Watch,
    companions,
    has_traces,
    is_damage,
    is_made,
    make,
    number_of,
    set_aside,
)
from ctxcompress.errors import ConfigError

__all__ = ["SqliteFile", "make_private"]

_OWNER = 0o700


def make_private(path: Path) -> None:
    """Makes an empty file where there is none, and takes from others what they may do with one that is there, and with
    what SQLite has beside it. What SQLite makes later has the permissions of the file.

    Raises ConfigError for a symbolic link, which could lead anywhere, for what is no file and for somebody else's, who
    could change what is kept. Raises OSError if there can be no file.
    """
    if not os.path.lexists(path):
        _make(path)
    for file in (path, *companions(path)):
        with suppress(FileNotFoundError):
            _close_to_others(file)


def _make(path: Path) -> None:
    # Under another name at first: closing a file ends the locks on it that SQLite has in other threads.
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    os.close(handle)
    try:
        _name(Path(name), path)
    finally:
        Path(name).unlink()


def _name(file: Path, path: Path) -> None:
    """Gives the file this name too, unless another process was faster."""
    with suppress(FileExistsError):
        try:
            path.hardlink_to(file)
        except FileExistsError:
            raise
        except OSError:  # there are disks on which a file has one name
            os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))


def _close_to_others(file: Path) -> None:
    found = file.lstat()
    if stat.S_ISLNK(found.st_mode):
        raise ConfigError(f"{file.name} is a symbolic link")
    if not stat.S_ISREG(found.st_mode):
        raise ConfigError(f"{file.name} is no file")
    if os.name != "posix":
        return
    if found.st_uid != os.geteuid():
        raise ConfigError(f"{file.name} belongs to another user")
    allowed = stat.S_IMODE(found.st_mode)
    if allowed & ~_OWNER:
        file.chmod(allowed & _OWNER)


_log = logging.getLogger("ctxcompress")

T = TypeVar("T")

_LARGEST = 100_000_000
"""Bytes of an entry. A damaged length cannot ask for more memory than that."""
_PAUSE = 0.01
_TOUCHED = 60
"""Seconds after which being read counts as being used again: a note of each time would cost more than the reading."""
_SPARE, _SPARE_BYTES, _SPARE_ENTRIES = 0.1, 10_000_000, 1000
"""Share of the room that is freed when it is exceeded, so that this is seldom; and the most bytes and entries, so that
it does not take long."""
_SETTINGS = (
    *("journal_mode = WAL", "synchronous = NORMAL", "recursive_triggers = ON"),
    # What SQLite advises for files that may be damaged.
    *("cell_size_check = ON", "trusted_schema = OFF", "mmap_size = 0"),
)


class SqliteFile:
    """Holds at most `max_bytes` bytes in a file, and forgets first what was not used for the longest time. Threads and
    processes share it.

    Only its owner can read it. A damaged file is set aside, with a warning in the log, and a new one begun. Each method
    raises TimeoutError where it would take longer than `seconds`, another OSError where the file cannot be used, and
    ConfigError if there is something else in its place, which is left alone.
    """

    def __init__(self, path: Path, max_bytes: int) -> None:
        self._path, self._max_bytes = path, max_bytes
        self._lock = Lock()
        self._watch = Watch()
        self._connection: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None
        """Of the file that is open, or was opened last."""
        self._is_ours = False
        """Whether what was opened last was a file of entries, damaged or not."""
        self._process = os.getpid()
        self._inherited: list[sqlite3.Connection | None] = []

    def check(self, seconds: float) -> None:
        """Makes the file if there is none, and begins it anew if it is damaged."""
        self._surely(_size, seconds)

    def read(self, key: str, seconds: float, /) -> bytes | None:
        """What was written under this key, or what damage made of it; None for nothing."""
        return self._do(lambda connection: _read(connection, key), seconds)

    def write(self, key: str, data: bytes, seconds: float, /) -> None:
        """Not what is larger than all there may be, nor what no room can be made for at once."""
        if len(data) <= min(self._max_bytes, _LARGEST):
            self._surely(lambda connection: _write(connection, key, data, self._max_bytes), seconds)

    def close(self) -> None:
        """Closes the file; the next use opens it again."""
        with self._lock:
            self._let_go()

    def _surely(self, work: Callable[[sqlite3.Connection], int], seconds: float) -> None:
        """The work; once more where the file turns out to be damaged, with the new one."""
        if self._do(work, seconds) is None:
            self._do(work, seconds)

    def _do(self, work: Callable[[sqlite3.Connection], T], seconds: float) -> T | None:
        """What comes of the work, for one thread at a time; None where the file turns out to be damaged."""
        end = time.monotonic() + seconds
        if not self._lock.acquire(timeout=max(seconds, 0)):
            raise TimeoutError("other threads have it")
        try:
            self._watch.begin(end)
            return work(self._ready(end))
        except FAILURES as error:
            if self._is_damage(error):
                self._begin_anew(error)
                return None
            is_late = number_of(error) in (*BUSY, sqlite3.SQLITE_INTERRUPT)
            raise (TimeoutError if is_late else OSError)(str(error)) from error
        finally:
            self._lock.release()

    def _ready(self, end: float) -> sqlite3.Connection:
        """The connection to the file that is there now: another process may have deleted it, or set it aside."""
        if self._connection is None or self._process != os.getpid() or self._identity != _identity(self._path):
            self._let_go()
            make_private(self._path)
            self._identity = _identity(self._path)
            self._connection = self._opened(end)
        left = int(100 * (end - time.monotonic()))
        self._connection.execute(f"PRAGMA busy_timeout = {max(10 * left, 1)}")
        return self._connection

    def _let_go(self) -> None:
        """SQLite's connections must not be used after a fork, nor closed there."""
        if self._process != os.getpid():
            self._inherited.append(self._connection)
            self._process = os.getpid()
        elif self._connection is not None:
            self._connection.close()
        self._connection = None

    def _opened(self, end: float) -> sqlite3.Connection:
        """SQLite does not wait where several processes make a new file at the same time."""
        while True:
            try:
                return self._prepared(end)
            except sqlite3.OperationalError as error:
                if number_of(error) not in BUSY or time.monotonic() > end:
                    raise
            time.sleep(_PAUSE)

    def _prepared(self, end: float) -> sqlite3.Connection:
        patience = max(end - time.monotonic(), 0)
        connection = sqlite3.connect(self._path, timeout=patience, isolation_level=None, check_same_thread=False)
        try:
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LARGEST + 1000)
            connection.set_progress_handler(self._watch, Watch.STEPS)
            if not is_made(connection):
                make(connection)  # before there is a log: the tables are in the file itself
            for setting in _SETTINGS:
                connection.execute(f"PRAGMA {setting}").fetchone()
        except BaseException as error:
            if self._is_damage(error):
                self._is_ours = has_traces(self._path)  # now: closing deletes a log that is damaged
            connection.close()
            raise
        self._is_ours = True
        return connection

    def _is_damage(self, error: BaseException) -> bool:
        return isinstance(error, FAILURES) and (self._watch.is_circling or is_damage(error, self._path))

    def _begin_anew(self, error: BaseException) -> None:
        """Sets the file aside, if it is still there and was one of entries."""
        self._let_go()
        if self._identity is None or self._identity != _identity(self._path):
            return
        if not self._is_ours:
            raise ConfigError(f"there is something else in it ({error})") from error
        place = set_aside(self._path)
        _log.warning(
            "the cache %s is damaged (%s); it begins anew, what is left of it is %s", self._path.name, error, place.name
        )


def _identity(path: Path) -> tuple[int, int] | None:
    """What no other file that is there has; None if there is no file."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _read(connection: sqlite3.Connection, key: str) -> bytes | None:
    question = "SELECT CAST(data AS BLOB), CAST(used AS INTEGER) FROM entries WHERE key = ?"
    found = connection.execute(question, (key,)).fetchone()
    if found is None:
        return None
    data, used = found
    now = int(time.time())
    if not isinstance(used, int) or abs(now - used) > _TOUCHED:
        _note_use(connection, key, now)
    return bytes(data or b"")


def _note_use(connection: sqlite3.Connection, key: str, now: int) -> None:
    """Nobody waits for that, where another process is writing."""
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        connection.execute("UPDATE entries SET used = ? WHERE key = ?", (now, key))
    except sqlite3.OperationalError as error:
        if number_of(error) not in BUSY:
            raise


def _write(connection: sqlite3.Connection, key: str, data: bytes, max_bytes: int) -> int:
    """Gives the bytes of all entries then."""
    with _transaction(connection):
        connection.execute("DELETE FROM entries WHERE key = ?", (key,))
        excess = _size(connection) + len(data) - max_bytes
        if excess > 0:
            excess -= _make_room(connection, excess, excess + int(min(_SPARE * max_bytes, _SPARE_BYTES)))
        if excess <= 0:
            connection.execute("INSERT INTO entries VALUES (?, ?, ?)", (key, int(time.time()), data))
        return _size(connection)


def _size(connection: sqlite3.Connection) -> int:
    """Bytes of all entries. Raises DatabaseError if that is damaged."""
    found = connection.execute("SELECT bytes FROM room WHERE typeof(bytes) = 'integer' AND bytes >= 0").fetchone()
    if found is None:
        raise sqlite3.DatabaseError("it has lost how much is in it")
    size: int = found[0]
    return size


def _make_room(connection: sqlite3.Connection, needed: int, wanted: int) -> int:
    """Deletes what was not used for the longest time, and gives how many bytes are free then. Raises DatabaseError if
    there is less than what is needed."""
    question = "SELECT rowid, length(data) FROM entries ORDER BY used, rowid LIMIT ?"
    doomed, freed = [], 0
    for row, size in connection.execute(question, (_SPARE_ENTRIES,)).fetchall():
        doomed.append((row,))
        freed += size or 0
        if freed >= wanted:
            break
    if freed < needed and len(doomed) < _SPARE_ENTRIES:
        raise sqlite3.DatabaseError("it has less in it than it says")
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
