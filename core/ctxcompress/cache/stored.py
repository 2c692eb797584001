"""The base of caches outside the process, in a file or on a server: entries have checksums, and a store that fails is
not used for a while."""

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

__all__ = ["MAGIC", "Guard", "Store", "StoredCache", "seal", "unseal"]

T = TypeVar("T")

MAGIC = b"ctx1"
"""The first bytes of every entry."""
_CHECKSUM_BYTES = 16
_FIRST_PAUSE, _LONGEST_PAUSE = 30.0, 600.0
"""Seconds. The pause doubles each time that the store fails again."""

_log = logging.getLogger("ctxcompress")


class Store(Protocol):
    """Stores bytes under keys, for several threads.

    Its methods raise OSError or ConfigError if they fail, and TimeoutError (an OSError) if they would take longer than
    `seconds`.
    """

    def read(self, key: str, seconds: float, /) -> bytes | None:
        """Return the bytes last written under this key, if they are still there."""

    def write(self, key: str, data: bytes, seconds: float, /) -> None:
        """Store the bytes, unless they are too many."""


class StoredCache:
    """A cache over a store. A damaged entry counts as missing. It keeps to its allowance, and pauses if the store
    fails."""

    def __init__(self, name: str, store: Store, *, clock: Callable[[], float] = monotonic) -> None:
        """name: of the store, for the log."""
        self._name, self._store, self._guard = name, store, Guard(name, clock=clock)

    def get(self, key: str, codec: Codec[T], /) -> T | None:
        """Return the value stored under this key; None if there is none or it is damaged."""
        return self.within(Allowance()).get(key, codec)

    def put(self, key: str, value: T, codec: Codec[T], /) -> None:
        """Store the value, unless it is larger than the whole cache may be."""
        self.within(Allowance()).put(key, value, codec)

    def within(self, allowance: Allowance, /) -> Cache:
        """Return this cache for one compression, whose reading and writing together keep to the allowance."""
        return _Within(self._name, self._store, self._guard, allowance)


@dataclass(frozen=True, slots=True)
class _Within:
    name: str
    store: Store
    guard: "Guard"
    allowance: Allowance

    def get(self, key: str, codec: Codec[T], /) -> T | None:
        data = self.guard.call(partial(self.store.read, key), self.allowance)
        if data is None:
            return None
        try:
            return codec.decode(unseal(key, data))
        except ValueError as error:
            _log.warning("an entry of %s is damaged (%s) and will be replaced", self.name, error)
            return None

    def put(self, key: str, value: T, codec: Codec[T], /) -> None:
        data = codec.encode(value)
        if data is not None:
            self.guard.call(partial(self.store.write, key, seal(key, data)), self.allowance)


class Guard:
    """Calls a store as long as it answers in time.

    After a failure, or a call that uses up the allowance, the store is not called for a pause; then one thread tries
    again. The log has one warning until the store works again.
    """

    __slots__ = ("_clock", "_lock", "_name", "_pause", "_until")

    def __init__(self, name: str, *, clock: Callable[[], float] = monotonic) -> None:
        """name: of the store, for the log."""
        self._name, self._clock = name, clock
        self._lock = Lock()
        self._pause = self._until = 0.0

    def call(self, work: Callable[[float], T], allowance: Allowance) -> T | None:
        """Return the result of `work`, which is given the seconds left and raises OSError or ConfigError if it fails.

        None if it fails, if no time is left, or during a pause.
        """
        with allowance.spending() as left:
            if left <= 0 or not self._may_call():
                return None
            try:
                result = work(left)
            except (ConfigError, OSError) as error:
                self._note_failure(str(error))
                return None
        if allowance.left > 0:
            self._note_success()
        else:
            self._note_failure("it takes too long")
        return result

    def _may_call(self) -> bool:
        with self._lock:
            now = self._clock()
            if not self._pause:
                return True
            if now < self._until:
                return False
            self._pause = min(2 * self._pause, _LONGEST_PAUSE)
            self._until = now + self._pause  # for all other threads, while this one tries
            return True

    def _note_failure(self, reason: str) -> None:
        with self._lock:
            if self._pause:
                return
            self._pause, self._until = _FIRST_PAUSE, self._clock() + _FIRST_PAUSE
        _log.warning("%s cannot be used (%s); continuing without it, and trying again later", self._name, reason)

    def _note_success(self) -> None:
        with self._lock:
            was_paused, self._pause = self._pause, 0.0
        if was_paused:
            _log.info("%s works again", self._name)


def seal(key: str, data: bytes) -> bytes:
    """Return the data with a checksum of the key and the data in front."""
    return MAGIC + _checksum(key, data) + data


def unseal(key: str, data: object) -> bytes:
    """Return the data that was sealed under this key. Raises ValueError if it was not, or is damaged."""
    if not isinstance(data, bytes) or data[: len(MAGIC)] != MAGIC:
        raise ValueError("it does not begin like an entry")
    begin = len(MAGIC) + _CHECKSUM_BYTES
    checksum, content = data[len(MAGIC) : begin], data[begin:]
    if checksum != _checksum(key, content):
        raise ValueError("its checksum is wrong")
    return content


def _checksum(key: str, data: bytes) -> bytes:
    return blake2b(data, digest_size=_CHECKSUM_BYTES, key=blake2b(key.encode(), digest_size=32).digest()).digest()
