"""How SQLite tells that a file is damaged, and what is done with it then."""

import os
import sqlite3
import time
from pathlib import Path

from ctxcompress.cache.schema import companions

__all__ = ["BUSY", "FAILURES", "Watch", "is_damage", "number_of", "set_aside"]

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
