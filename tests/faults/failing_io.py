"""Let the calls of a piece of work that read or write fail, one after the other."""

import builtins
import errno
import io
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

__all__ = ["FAULTS", "Fault", "each_failing"]

_OS = "open close fdopen stat lstat chmod mkdir unlink replace rename rmdir scandir listdir truncate fsync".split()
_FILE = "read readline write writelines flush truncate seek close __next__".split()
_SQLITE = "execute executemany executescript commit".split()


@dataclass
class Fault:
    """What happens to a call, and to those after it."""

    number: int
    """The errno of an OSError."""
    code: int
    """The code of an error of SQLite."""
    stays: bool = False
    """Whether each call after it fails, too: as when a disk is gone, or a process is killed there."""
    at: int = 0
    calls: int = 0
    where: list[str] = field(default_factory=list)

    def step(self, name: str, *, is_sqlite: bool = False) -> None:
        """Count a call, and raise if it is its turn."""
        self.calls += 1
        if self.calls == self.at or (self.stays and self.calls > self.at):
            self.where.append(name)
            raise self._sqlite_error() if is_sqlite else OSError(self.number, os.strerror(self.number), name)

    def _sqlite_error(self) -> sqlite3.Error:
        error = sqlite3.OperationalError(f"failed with {self.code}")
        error.sqlite_errorcode = self.code
        return error


FAULTS: dict[str, Callable[[], Fault]] = {
    "the disk is full": lambda: Fault(errno.ENOSPC, sqlite3.SQLITE_FULL),
    "access is denied": lambda: Fault(errno.EACCES, sqlite3.SQLITE_CANTOPEN),
    "the disk is broken": lambda: Fault(errno.EIO, sqlite3.SQLITE_IOERR),
    "the disk is gone": lambda: Fault(errno.EIO, sqlite3.SQLITE_IOERR, stays=True),
}


class _File:
    """A file whose methods may fail. A write that fails has written half."""

    def __init__(self, file: Any, fault: Fault) -> None:
        self._file, self._fault = file, fault

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._file, name)
        return self._failing(name, found) if name in _FILE else found

    def _failing(self, name: str, found: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any) -> Any:
            try:
                self._fault.step(f"file.{name}")
            except OSError:
                if name == "write":
                    found(given[0][: len(given[0]) // 2])
                if name == "close":
                    found()
                raise
            return found(*given)

        return call

    def __iter__(self) -> "_File":
        return self

    def __next__(self) -> Any:
        return self._failing("__next__", self._file.__next__)()

    def __enter__(self) -> "_File":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _connection_class(fault: Fault) -> type[sqlite3.Connection]:
    class Connection(sqlite3.Connection):
        """A connection whose statements may fail."""

    def failing(name: str) -> Callable[..., Any]:
        original = getattr(sqlite3.Connection, name)

        def call(self: Connection, *given: Any) -> Any:
            fault.step(f"sqlite.{name} {str(given[:1])[:40]}", is_sqlite=True)
            return original(self, *given)

        return call

    for name in _SQLITE:
        setattr(Connection, name, failing(name))
    return Connection


@contextmanager
def _failing(fault: Fault) -> Iterator[None]:
    opened, connect = builtins.open, sqlite3.connect

    def failing_open(*given: Any, **named: Any) -> Any:
        fault.step("open")
        return _File(opened(*given, **named), fault)

    def failing_connect(*given: Any, **named: Any) -> Any:
        fault.step("sqlite.connect", is_sqlite=True)
        return connect(*given, factory=_connection_class(fault), **named)

    def failing_call(name: str) -> Callable[..., Any]:
        original = getattr(os, name)

        def call(*given: Any, **named: Any) -> Any:
            fault.step(f"os.{name}")
            found = original(*given, **named)
            return _File(found, fault) if name == "fdopen" else found

        return call

    with ExitStack() as stack:
        for name in _OS:
            stack.enter_context(patch.object(os, name, failing_call(name)))
        stack.enter_context(patch.object(builtins, "open", failing_open))
        stack.enter_context(patch.object(io, "open", failing_open))
        stack.enter_context(patch.object(sqlite3, "connect", failing_connect))
        yield


def each_failing(make: Callable[[], Fault]) -> Iterator[tuple[Fault, Callable[[], Any]]]:
    """Yield a fault at the first call, at the second, and so on, until none is left.

    With each comes the context in which calls fail.
    """
    at = 0
    while True:
        at += 1
        fault = make()
        fault.at = at
        yield fault, lambda fault=fault: _failing(fault)
        if fault.calls < at:
            return
