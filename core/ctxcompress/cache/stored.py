"""A cache of what a store outside of the process holds: in a file, on a server."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from threading import Lock
from time import monotonic
from typing import Protocol, TypeVar

from ctxcompress.cache.protocol import Allowance, Cache, Codec
from ctxcompress.errors import ConfigError

__all__ = ["MARK", "Guard", "Store", "StoredCache", "opened", "sealed"]

MARK = b"ctx1"
"""What every entry begins with."""
_SIZE = 16


def sealed(key: str, data: bytes) -> bytes:
    """The data with a checksum of it and of the key in front."""
    return MARK + _checksum(key, data) + data


def opened(key: str, data: object) -> bytes:
    """What was sealed under this key. Raises ValueError if this is not that."""
    if not isinstance(data, bytes) or data[: len(MARK)] != MARK:
        raise ValueError("it does not begin as entries do")
    begin = len(MARK) + _SIZE
    checksum, content = data[len(MARK) : begin], data[begin:]
    if checksum != _checksum(key, content):
        raise ValueError("its checksum is wrong")
    return content


def _checksum(key: str, data: bytes) -> bytes:
    return blake2b(data, digest_size=_SIZE, key=blake2b(key.encode(), digest_size=32).digest()).digest()


_log = logging.getLogger("ctxcompress")

T = TypeVar("T")

_FIRST, _LONGEST = 30.0, 600.0
"""Seconds for which a store is left alone, doubled each time that it fails again."""


class Guard:
    """Asks a store as long as it answers in time. One that fails, or takes all that it is allowed, is left alone for a
    while; then one thread tries it again. Of all that, a warning in the log tells once, until it works again."""

    __slots__ = ("_clock", "_lock", "_name", "_pause", "_until")

    def __init__(self, name: str, *, clock: Callable[[], float] = monotonic) -> None:
        """name: of the store, for the log."""
        self._name, self._clock = name, clock
        self._lock = Lock()
        self._pause = self._until = 0.0

    def ask(self, work: Callable[[float], T], allowance: Allowance) -> T | None:
        """What the work makes of the seconds that are left. It raises OSError or ConfigError where it fails.

        None where it did, where the time was over before it began, and where the store is being left alone.
        """
        with allowance.spending() as left:
            if left <= 0 or not self._may_ask():
                return None
            try:
                found = work(left)
            except (ConfigError, OSError) as error:
                self._has_failed(str(error))
                return None
        if allowance.left > 0:
            self._has_worked()
        else:
            self._has_failed("it takes too long")
        return found

    def _may_ask(self) -> bool:
        with self._lock:
            now = self._clock()
            if not self._pause:
                return True
            if now < self._until:
                return False
            self._pause = min(2 * self._pause, _LONGEST)
            self._until = now + self._pause  # for all others, while this one tries
            return True

    def _has_failed(self, reason: str) -> None:
        with self._lock:
            if self._pause:
                return
            self._pause, self._until = _FIRST, self._clock() + _FIRST
        _log.warning("%s cannot be used (%s); going on without, and trying again later", self._name, reason)

    def _has_worked(self) -> None:
        with self._lock:
            was_left, self._pause = self._pause, 0.0
        if was_left:
            _log.info("%s works again", self._name)


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

    def get(self, key: str, codec: Codec[T], /) -> T | None:
        """The value under this key; None if there is none, or if it is damaged."""
        return self.within(Allowance()).get(key, codec)

    def put(self, key: str, value: T, codec: Codec[T], /) -> None:
        """Writes the value; not one that is larger than all there may be."""
        self.within(Allowance()).put(key, value, codec)

    def within(self, allowance: Allowance, /) -> Cache:
        """The same for one compression, whose reading and writing together keep to the allowance."""
        return _Within(self._name, self._store, self._guard, allowance)


@dataclass(frozen=True, slots=True)
class _Within:
    name: str
    store: Store
    guard: Guard
    allowance: Allowance

    def get(self, key: str, codec: Codec[T], /) -> T | None:
        data = self.guard.ask(partial(self.store.read, key), self.allowance)
        if data is None:
            return None
        try:
            return codec.decode(opened(key, data))
        except ValueError as error:
            _log.warning("an entry of %s is damaged (%s); it is made anew", self.name, error)
            return None

    def put(self, key: str, value: T, codec: Codec[T], /) -> None:
        data = codec.encode(value)
        if data is not None:
            self.guard.ask(partial(self.store.write, key, sealed(key, data)), self.allowance)
