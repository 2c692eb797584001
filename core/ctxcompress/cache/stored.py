"""The base of caches outside the process, in a file or on a server: entries have checksums, and a store that fails is
not used for a while."""

import logging
import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from threading import Lock
from time import monotonic, time
from typing import Protocol, TypeVar

from ctxcompress.cache.protocol import Allowance, Codec, Documents, Entry, EntryCache, ManagedCache
from ctxcompress.errors import CacheUnavailable, ConfigError

__all__ = ["MAGIC", "Guard", "Store", "StoredCache", "seal", "unseal"]

T = TypeVar("T")

MAGIC = b"ctx2"
"""The first bytes of every entry."""
_CHECKSUM_BYTES = 16
_FIRST_PAUSE, _LONGEST_PAUSE = 30.0, 600.0
"""Seconds. The pause doubles each time that the store fails again."""
_MANAGING_SECONDS = 30.0
"""How long clearing, forgetting and counting may wait for the store. They are rare, and must not fail quietly."""
_HEADER = struct.Struct("<dI")
"""When an entry was made, and the number of its documents. The documents' numbers and the value follow."""

_log = logging.getLogger("ctxcompress")


class Store(Protocol):
    """Stores bytes under keys, for several threads.

    Its methods raise OSError or ConfigError if they fail, and TimeoutError (an OSError) if they would take longer than
    `seconds`.
    """

    def read(self, key: str, seconds: float, /) -> bytes | None:
        """Return the bytes last written under this key, if they are still there."""

    def write(self, key: str, data: bytes, documents: Documents, seconds: float, /) -> None:
        """Store the bytes, unless they are too many. documents: what they were made from."""

    def forget(self, document: int, seconds: float, /) -> int:
        """Delete all that was made from a document, and return the number of entries deleted."""

    def clear(self, seconds: float, /) -> None:
        """Delete all entries."""

    def contents(self, seconds: float, /) -> tuple[int, int]:
        """Return the number of entries and their bytes."""


class StoredCache(ManagedCache):
    """A cache over a store. A damaged entry counts as missing. It keeps to its allowance, and pauses if the store
    fails."""

    def __init__(
        self,
        name: str,
        store: Store,
        *,
        ttl: float | None = None,
        clock: Callable[[], float] = time,
        guard: "Guard | None" = None,
    ) -> None:
        """name: of the store, for the log. clock: tells the seconds since 1970."""
        super().__init__(ttl, clock)
        self._name, self._store, self._guard = name, store, guard or Guard(name)

    def find(self, key: str, codec: Codec[T], /, *, oldest: float = 0.0) -> Entry[T] | None:
        """Return the entry stored under this key; None if there is none, or it is damaged or too old."""
        return self.within(Allowance()).find(key, codec, oldest=oldest)

    def keep(
        self, key: str, value: T, codec: Codec[T], /, *, documents: Documents = frozenset(), made: float | None = None
    ) -> None:
        """Store the value, unless it is larger than the whole cache may be."""
        self.within(Allowance()).keep(key, value, codec, documents=documents, made=made)

    def within(self, allowance: Allowance, /) -> EntryCache:
        """Return this cache for one compression, whose reading and writing together keep to the allowance."""
        return _Within(self, allowance)

    def clear(self) -> None:
        """Delete all entries. The counts of hits and misses start again.

        Raises CacheUnavailable if the cache cannot be reached: the entries may then still be there.
        """
        self._managed(self._store.clear)
        self._start_counting()

    def _forget(self, document: int) -> int:
        return self._managed(partial(self._store.forget, document))

    def _contents(self) -> tuple[int, int]:
        return self._managed(self._store.contents)

    def _managed(self, work: Callable[[float], T]) -> T:
        try:
            return work(_MANAGING_SECONDS)
        except (ConfigError, OSError) as error:
            raise CacheUnavailable(f"{self._name} cannot be used ({error}); make it available and try again") from error

    def _read(self, key: str, codec: Codec[T], oldest: float, allowance: Allowance) -> Entry[T] | None:
        data = self._guard.call(partial(self._store.read, key), allowance)
        if data is None:
            return None
        try:
            made, documents, content = _unpacked(unseal(key, data))
            return Entry(codec.decode(content), made, documents) if made >= self._oldest(oldest) else None
        except ValueError as error:
            _log.warning("an entry of %s is damaged (%s) and will be replaced", self._name, error)
            return None

    def _write(self, key: str, entry: Entry[T], codec: Codec[T], allowance: Allowance) -> None:
        content = codec.encode(entry.value)
        if content is not None:
            data = seal(key, _packed(entry.made, entry.documents, content))
            self._guard.call(partial(self._store.write, key, data, entry.documents), allowance)


@dataclass(frozen=True, slots=True)
class _Within:
    """A stored cache for one compression."""

    cache: StoredCache
    allowance: Allowance

    def get(self, key: str, codec: Codec[T], /) -> T | None:
        entry = self.find(key, codec)
        return None if entry is None else entry.value

    def put(self, key: str, value: T, codec: Codec[T], /) -> None:
        self.keep(key, value, codec)

    def find(self, key: str, codec: Codec[T], /, *, oldest: float = 0.0) -> Entry[T] | None:
        return self.cache._counted(self.cache._read(key, codec, oldest, self.allowance))

    def keep(
        self, key: str, value: T, codec: Codec[T], /, *, documents: Documents = frozenset(), made: float | None = None
    ) -> None:
        entry = Entry(value, self.cache._clock() if made is None else made, documents)
        self.cache._write(key, entry, codec, self.allowance)


def _packed(made: float, documents: Documents, content: bytes) -> bytes:
    numbers = sorted(documents)
    return _HEADER.pack(made, len(numbers)) + struct.pack(f"<{len(numbers)}Q", *numbers) + content


def _unpacked(data: bytes) -> tuple[float, Documents, bytes]:
    """Raises ValueError if the data is too short."""
    try:
        made, count = _HEADER.unpack_from(data)
        documents = frozenset(struct.unpack_from(f"<{count}Q", data, _HEADER.size))
    except (struct.error, MemoryError) as error:
        raise ValueError("it is too short") from error
    return made, documents, data[_HEADER.size + 8 * count :]


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
