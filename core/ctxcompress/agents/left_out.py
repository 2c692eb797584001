"""Stores that keep what was left out of the results of tools, so that an agent can read it later."""

import sqlite3
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from os import PathLike
from pathlib import Path
from threading import Lock
from typing import Protocol, Self, runtime_checkable

from ctxcompress.cache.cache import checked_ttl, whole_number
from ctxcompress.errors import ConfigError
from ctxcompress.private_database import PrivateDatabase

__all__ = ["MONTH", "DiskStore", "LeftOutStore", "MemoryStore", "as_bytes", "check_bounds"]

MONTH = 30 * 86_400.0
"""Seconds that a text is kept unless told otherwise."""
_MEMORY_BYTES, _DISK_BYTES = 100_000_000, 1_000_000_000
_APPLICATION_ID = 0x6C656674
_SCHEMA = (
    "CREATE TABLE texts (conversation TEXT NOT NULL, handle TEXT NOT NULL, at REAL NOT NULL, bytes INTEGER NOT NULL, "
    "text BLOB NOT NULL, PRIMARY KEY (conversation, handle))",
    "CREATE INDEX by_age ON texts (at, bytes)",
)
_DELETE_OLDEST = """
DELETE FROM texts WHERE rowid IN (
    SELECT rowid FROM (SELECT rowid, sum(bytes) OVER (ORDER BY at DESC, rowid DESC) AS newer FROM texts) WHERE newer > ?
)
"""


@runtime_checkable
class LeftOutStore(Protocol):
    """Keeps texts by conversation and handle, for a time and up to a size. The oldest are forgotten first.

    A text is found only under the conversation that it was put under. Threads can share a store. Methods raise OSError
    if the store fails.
    """

    def put(self, conversation: str, handle: str, text: str, /) -> bool:
        """Keep a text, and return whether it is kept: a text that is larger than the store is not."""

    def get(self, conversation: str, handle: str, /) -> str | None:
        """Return the text; None if there is none or it has expired."""

    def handles(self, conversation: str, /) -> list[str]:
        """Return the handles of a conversation, the newest first."""

    def forget(self, conversation: str, handle: str | None = None, /) -> None:
        """Forget one text, or all texts of a conversation."""


class MemoryStore:
    """A store in the memory of this process.

    max_bytes: the most bytes of all texts together. ttl: the seconds after which a text expires; None for never. clock:
    returns the time in seconds.

    Copies are the same store. A pickled store is empty when it is loaded. Raises ConfigError for a wrong value.
    """

    def __init__(
        self, *, max_bytes: int = _MEMORY_BYTES, ttl: float | None = MONTH, clock: Callable[[], float] = time.time
    ) -> None:
        check_bounds(max_bytes, ttl)
        self.max_bytes, self.ttl, self._clock = max_bytes, ttl, clock
        self._texts: OrderedDict[tuple[str, str], tuple[float, str, int]] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def put(self, conversation: str, handle: str, text: str, /) -> bool:
        """Keep a text, and return whether it is kept: a text that is larger than the store is not."""
        size = len(as_bytes(text))
        with self._lock:
            self._drop((conversation, handle))
            if size > self.max_bytes:
                return False
            self._texts[conversation, handle] = self._clock(), text, size
            self._bytes += size
            while self._bytes > self.max_bytes:
                self._drop(next(iter(self._texts)))
            self._drop_expired()
        return True

    def get(self, conversation: str, handle: str, /) -> str | None:
        """Return the text; None if there is none or it has expired."""
        with self._lock:
            self._drop_expired()
            _, text, _ = self._texts.get((conversation, handle), (0, None, 0))
        return text

    def handles(self, conversation: str, /) -> list[str]:
        """Return the handles of a conversation, the newest first."""
        with self._lock:
            self._drop_expired()
            return [handle for kept, handle in reversed(self._texts) if kept == conversation]

    def forget(self, conversation: str, handle: str | None = None, /) -> None:
        """Forget one text, or all texts of a conversation."""
        with self._lock:
            for key in [key for key in self._texts if key[0] == conversation and handle in (None, key[1])]:
                self._drop(key)

    def _drop(self, key: tuple[str, str]) -> None:
        _, _, size = self._texts.pop(key, (0, "", 0))
        self._bytes -= size

    def _drop_expired(self) -> None:
        while self._texts and self.ttl is not None:
            key, (at, _, _) = next(iter(self._texts.items()))
            if at + self.ttl > self._clock():
                break
            self._drop(key)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _: object) -> Self:
        return self

    def __reduce__(self) -> tuple[Callable[[], "MemoryStore"], tuple[()]]:
        return partial(MemoryStore, max_bytes=self.max_bytes, ttl=self.ttl, clock=self._clock), ()


class DiskStore:
    """A store in a SQLite file, which processes share and which outlives them. Only its owner can read the file.

    max_bytes: the most bytes of all texts together; the file is slightly larger. ttl: the seconds after which a text
    expires; None for never. clock: returns the time in seconds since 1970.

    Raises ConfigError for a wrong value, and if the file cannot be created, is something else, is a symbolic link or
    belongs to another user.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        *,
        max_bytes: int = _DISK_BYTES,
        ttl: float | None = MONTH,
        clock: Callable[[], float] = time.time,
    ) -> None:
        check_bounds(max_bytes, ttl)
        self.path, self.max_bytes, self.ttl, self._clock = Path(path).absolute(), max_bytes, ttl, clock
        try:
            with self._opened():
                pass
        except (ConfigError, OSError) as error:
            raise ConfigError(
                f"{self.path} cannot be used as a store ({error}); give the path of another file"
            ) from None

    def put(self, conversation: str, handle: str, text: str, /) -> bool:
        """Keep a text, and return whether it is kept: a text that is larger than the store is not."""
        data, now = as_bytes(text), self._clock()
        if len(data) > self.max_bytes:
            self.forget(conversation, handle)
            return False
        with self._opened() as database:
            row = (_key(conversation), handle, now, len(data), data)
            database.execute("INSERT OR REPLACE INTO texts VALUES (?, ?, ?, ?, ?)", row)
            database.execute("DELETE FROM texts WHERE at <= ?", (self._oldest(),))
            (total,) = database.execute("SELECT sum(bytes) FROM texts").fetchone()
            if total > self.max_bytes:
                database.execute(_DELETE_OLDEST, (self.max_bytes,))
        return True

    def get(self, conversation: str, handle: str, /) -> str | None:
        """Return the text; None if there is none or it has expired."""
        query = "SELECT text FROM texts WHERE conversation = ? AND handle = ? AND at > ?"
        with self._opened(writes=False) as database:
            found = database.execute(query, (_key(conversation), handle, self._oldest())).fetchone()
        return None if found is None else bytes(found[0]).decode("utf-8", "surrogatepass")

    def handles(self, conversation: str, /) -> list[str]:
        """Return the handles of a conversation, the newest first."""
        query = "SELECT handle FROM texts WHERE conversation = ? AND at > ? ORDER BY at DESC, rowid DESC"
        with self._opened(writes=False) as database:
            return [handle for (handle,) in database.execute(query, (_key(conversation), self._oldest()))]

    def forget(self, conversation: str, handle: str | None = None, /) -> None:
        """Forget one text, or all texts of a conversation."""
        query = "DELETE FROM texts WHERE conversation = ? AND (? IS NULL OR handle = ?)"
        with self._opened() as database:
            database.execute(query, (_key(conversation), handle, handle))

    def _oldest(self) -> float:
        """Return the time of which texts have expired."""
        return float("-inf") if self.ttl is None else self._clock() - self.ttl

    @contextmanager
    def _opened(self, *, writes: bool = True) -> Iterator[sqlite3.Connection]:
        """Open the file for one transaction."""
        try:
            with PrivateDatabase(self.path, _APPLICATION_ID, _SCHEMA).transaction(writes=writes) as database:
                yield database
        except sqlite3.Error as error:
            raise OSError(f"{self.path.name}: {error}") from error

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _: object) -> Self:
        return self

    def __reduce__(self) -> tuple[Callable[[str], "DiskStore"], tuple[str]]:
        return partial(DiskStore, max_bytes=self.max_bytes, ttl=self.ttl, clock=self._clock), (str(self.path),)


def check_bounds(max_bytes: object, ttl: object) -> None:
    """Raise ConfigError unless both are finite numbers above 0, or `ttl` is None."""
    whole_number("max_bytes", max_bytes, "bytes")
    checked_ttl(ttl)


def as_bytes(text: str) -> bytes:
    """Return the text in UTF-8. Lone surrogates are kept."""
    return text.encode("utf-8", "surrogatepass")


def _key(conversation: str) -> str:
    return conversation.encode("utf-8", "backslashreplace").decode()
