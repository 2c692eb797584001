"""The cache: values in memory, and as bytes in a store, which is any mutable mapping. It never fails, and never holds a
compression up for long."""

import logging
import struct
from collections import OrderedDict
from collections.abc import Callable, MutableMapping
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from math import isfinite
from threading import Lock
from time import monotonic, time
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from ctxcompress.errors import ConfigError
from ctxcompress.guarded import begun, time_limit

__all__ = ["MAGIC", "Allowance", "Cache", "CacheStats", "Codec", "checked_ttl", "seal", "unseal", "whole_number"]

T = TypeVar("T")

MAGIC = b"ctxcache"
"""The first bytes of every entry in a store. A checksum, the time and the value follow."""
_CHECKSUM_BYTES = 16
_TIME = struct.Struct("<d")
_SECONDS = 1.0
"""How long a store is asked in one compression, and how long it may take for one answer: two seconds together."""
_PAUSE = 60.0
"""Seconds in which a store that failed is not asked."""

_log = logging.getLogger("ctxcompress")


class Codec(Protocol[T]):
    """Converts values of one type to bytes and back."""

    def encode(self, value: T, /) -> bytes | None:
        """Return the value as bytes, or None if it should be kept in memory only."""

    def decode(self, data: bytes, /) -> T:
        """Return the value that `encode` wrote; a checksum has told that it did. Raises ValueError, TypeError,
        LookupError or RecursionError, and nothing else, if it cannot."""

    def estimated_size(self, value: T, /) -> int:
        """Return about how many bytes of memory the value takes."""


class CacheStats(NamedTuple):
    """The use and the size of a cache."""

    hits: int
    """Lookups since the cache was made that found a value."""
    misses: int
    entries: int
    """In the store; in memory without one."""
    bytes: int
    """In memory, an estimate."""


@dataclass(slots=True)
class Allowance:
    """The seconds in which a store may still be asked in one compression. For one thread only."""

    left: float = _SECONDS
    failure: str = ""
    """Why the store was not used, if it was not."""


class _Entry(NamedTuple, Generic[T]):
    value: T
    made: float
    """Seconds since 1970."""


class Cache:
    """Stores values under keys, which name everything that the values depend on. Threads can share it.

    store: a mutable mapping from strings to bytes, which can outlive the process or be shared; None for memory alone.
    If it fails or takes too long, it is not asked for a minute, with a warning in the log. It is asked on another
    thread, unless it has a true `never_hangs`: then it gives up within a second by itself.

    max_bytes: the most that values in memory take, estimated from the lengths of texts; the least recently used are
    forgotten first. ttl: the seconds after which a value counts as missing. clock: tells the seconds since 1970.

    Reading and writing never raise: a value that cannot be read, or is damaged, counts as missing. Nobody may change a
    value that `get` returns. A copy has the same store and nothing in memory. Raises ConfigError for a wrong argument.
    """

    def __init__(
        self,
        store: MutableMapping[str, bytes] | None = None,
        *,
        max_bytes: int = 256_000_000,
        ttl: float | None = None,
        clock: Callable[[], float] = time,
    ) -> None:
        if not isinstance(store, MutableMapping | None):
            raise ConfigError(f"store is a {type(store).__name__}; give a mutable mapping from strings to bytes")
        self.store, self.ttl, self._clock = store, checked_ttl(ttl), clock
        self.max_bytes = whole_number("max_bytes", max_bytes, "bytes", least=int(store is None))
        self._memory: OrderedDict[str, tuple[_Entry[Any], int]] = OrderedDict()
        """Values with their sizes, the least recently used first."""
        self._lock = Lock()
        self._bytes = self._hits = self._misses = 0
        self._until = 0.0
        """When the store may be asked again, on the monotonic clock."""
        self._late: Future[Any] | None = None
        """An answer that did not come in time."""

    def get(self, key: str, codec: Codec[T], allowance: Allowance | None = None) -> T | None:
        """Return the value stored under this key; None if there is none, or it is too old."""
        entry = self._remembered(key) or self._read(key, codec, allowance)
        is_hit = entry is not None and (self.ttl is None or entry.made >= self._clock() - self.ttl)
        with self._lock:
            self._hits, self._misses = self._hits + is_hit, self._misses + (not is_hit)
        return entry.value if entry and is_hit else None

    def put(self, key: str, value: T, codec: Codec[T], allowance: Allowance | None = None) -> None:
        """Store the value, unless it is larger than the whole cache may be."""
        entry = _Entry(value, self._clock())
        self._remember(key, entry, codec)
        content = None if self.store is None else codec.encode(value)
        if self.store is not None and content is not None:
            self._ask(partial(self.store.__setitem__, key, seal(key, _TIME.pack(entry.made) + content)), allowance)

    def clear(self) -> None:
        """Delete all values. The counts of hits and misses start again. Raises what the store raises."""
        if self.store is not None:
            self.store.clear()
        with self._lock:
            self._memory.clear()
            self._bytes = self._hits = self._misses = 0

    def stats(self) -> CacheStats:
        """Return the hits and misses of this object, and how much it holds. Raises what the store raises."""
        entries = len(self._memory if self.store is None else self.store)
        return CacheStats(self._hits, self._misses, entries, self._bytes)

    def _read(self, key: str, codec: Codec[T], allowance: Allowance | None) -> _Entry[T] | None:
        data = None if self.store is None else self._ask(partial(self.store.get, key), allowance)
        if data is None:
            return None
        try:
            content = unseal(key, data)
            entry = _Entry(codec.decode(content[_TIME.size :]), *_TIME.unpack_from(content))
        except (ValueError, TypeError, LookupError, RecursionError) as error:
            _log.warning("an entry of %s is damaged (%s) and will be replaced", type(self.store).__name__, error)
            return None
        self._remember(key, entry, codec)
        return entry

    def _remembered(self, key: str) -> _Entry[Any] | None:
        with self._lock:
            entry, _ = self._memory.get(key, (None, 0))
            if entry is not None:
                self._memory.move_to_end(key)
            return entry

    def _remember(self, key: str, entry: _Entry[T], codec: Codec[T]) -> None:
        size = codec.estimated_size(entry.value) if self.max_bytes else 1
        with self._lock:
            self._bytes -= self._memory.pop(key, (None, 0))[1]
            if size <= self.max_bytes:
                self._memory[key] = entry, size
                self._bytes += size
            while self._bytes > self.max_bytes:
                self._bytes -= self._memory.popitem(last=False)[1][1]

    def _ask(self, work: Callable[[], T], allowance: Allowance | None) -> T | None:
        """Return what the store answers; None if it fails, or is not asked."""
        allowance, begin = allowance or Allowance(), monotonic()
        if allowance.left <= 0 or begin < self._until or (self._late and not self._late.done()):
            allowance.failure = allowance.failure or "it failed less than a minute ago"
            return None
        try:
            with time_limit() as left:
                if left <= 0:
                    return None
                is_quick = getattr(self.store, "never_hangs", False)
                return work() if is_quick else self._asked_on_a_thread(work, min(left, _SECONDS))
        except Exception as error:  # noqa: BLE001 - whatever it is, there is no value
            allowance.failure = f"it raised {type(error).__name__}"  # the message may quote addresses and passwords
            self._leave_alone(type(error).__name__)
            return None
        finally:
            allowance.left -= monotonic() - begin
            if allowance.left <= 0:
                allowance.failure = "it takes too long"
                self._leave_alone("it takes too long")

    def _asked_on_a_thread(self, work: Callable[[], T], seconds: float) -> T:
        (answer,) = begun([work])
        try:
            return answer.result(seconds)
        except TimeoutError:
            self._late = answer
            raise

    def _leave_alone(self, reason: str) -> None:
        """Do not ask the store for a while."""
        with self._lock:
            was_until, self._until = self._until, monotonic() + _PAUSE
        if was_until <= self._until - _PAUSE:  # otherwise another thread has just said so
            message = "the cache in %s cannot be used (%s); continuing without it, and trying again in a minute"
            _log.warning(message, type(self.store).__name__, reason)

    def __reduce__(self) -> tuple[Callable[..., "Cache"], tuple[Any, ...]]:
        return partial(Cache, max_bytes=self.max_bytes, ttl=self.ttl, clock=self._clock), (self.store,)


def seal(key: str, data: bytes) -> bytes:
    """Return the data with a checksum of the key and the data in front."""
    return MAGIC + _checksum(key, data) + data


def unseal(key: str, data: object) -> bytes:
    """Return the data that was sealed under this key. Raises ValueError if it was not, or is damaged."""
    begin = len(MAGIC) + _CHECKSUM_BYTES
    if not isinstance(data, bytes) or len(data) < begin + _TIME.size or not data.startswith(MAGIC):
        raise ValueError("it does not begin like an entry")
    if data[len(MAGIC) : begin] != _checksum(key, data[begin:]):
        raise ValueError("its checksum is wrong")
    return data[begin:]


def _checksum(key: str, data: bytes) -> bytes:
    return blake2b(data, digest_size=_CHECKSUM_BYTES, key=blake2b(key.encode(), digest_size=32).digest()).digest()


def checked_ttl(ttl: object) -> float | None:
    """Return the value of `ttl`. Raises ConfigError unless it is None or a number of seconds above 0."""
    if ttl is None:
        return None
    if isinstance(ttl, bool) or not isinstance(ttl, int | float) or not (isfinite(ttl) and ttl > 0):
        raise ConfigError(f"ttl is {ttl!r}; give a number of seconds above 0, or None for no limit of age")
    return float(ttl)


def whole_number(name: str, value: object, of: str, *, least: int = 1) -> int:
    """Return the value of an option. Raises ConfigError unless it is a whole number, at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ConfigError(f"{name} is {value!r}; give a whole number of {of}, at least {least}")
    return value
