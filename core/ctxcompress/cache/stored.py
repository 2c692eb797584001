"""A cache of what a store outside of the process holds: in a file, on a server."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Protocol, TypeVar

from ctxcompress.cache.guard import Guard
from ctxcompress.cache.sealed import opened, sealed
from ctxcompress.entries import Allowance, Cache, Form

__all__ = ["Store", "StoredCache"]

_log = logging.getLogger("ctxcompress")

T = TypeVar("T")


class Store(Protocol):
    """Holds bytes under keys, for several threads. Where it cannot, it raises OSError or ConfigError; TimeoutError,
    which is one, where it would take longer than `seconds`."""

    def read(self, key: str, seconds: float, /) -> bytes | None:
        """What was written under this key last, if it is still there."""

    def write(self, key: str, data: bytes, seconds: float, /) -> None:
        """Holds it, unless it is too much."""


class StoredCache:
    """Seals what it writes, and knows nothing of what is not as it was. Takes no longer than it is allowed, and leaves
    alone for a while a store that fails."""

    def __init__(self, name: str, store: Store, *, clock: Callable[[], float] = monotonic) -> None:
        """name: of the store, for the log."""
        self._name, self._store, self._guard = name, store, Guard(name, clock=clock)

    def get(self, key: str, form: Form[T], /) -> T | None:
        """The value under this key; None if there is none, or if it is damaged."""
        return self.within(Allowance()).get(key, form)

    def put(self, key: str, value: T, form: Form[T], /) -> None:
        """Writes the value; not one that is larger than all there may be."""
        self.within(Allowance()).put(key, value, form)

    def within(self, allowance: Allowance, /) -> Cache:
        """The same for one compression, whose reading and writing together keep to the allowance."""
        return _Within(self._name, self._store, self._guard, allowance)


@dataclass(frozen=True, slots=True)
class _Within:
    name: str
    store: Store
    guard: Guard
    allowance: Allowance

    def get(self, key: str, form: Form[T], /) -> T | None:
        data = self.guard.ask(partial(self.store.read, key), self.allowance)
        if data is None:
            return None
        try:
            return form.decode(opened(key, data))
        except ValueError as error:
            _log.warning("an entry of %s is damaged (%s); it is made anew", self.name, error)
            return None

    def put(self, key: str, value: T, form: Form[T], /) -> None:
        data = form.encode(value)
        if data is not None:
            self.guard.ask(partial(self.store.write, key, sealed(key, data)), self.allowance)
