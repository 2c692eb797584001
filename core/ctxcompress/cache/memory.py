"""A cache in memory, and a cache of two layers: memory in front of a persistent cache."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from time import time
from typing import Any, TypeVar

from ctxcompress.cache.protocol import (
    Allowance,
    Cache,
    CacheStats,
    Codec,
    Documents,
    Entry,
    ManagedCache,
    checked_ttl,
    notes_documents,
    timely,
    whole_number,
)
from ctxcompress.errors import ConfigError

__all__ = ["LayeredCache", "MemoryCache"]

T = TypeVar("T")

_LINK_BYTES = 100
"""Bytes of memory that the index of documents takes for one of an entry's documents."""
_SWEEPS = 4
"""How often all entries are searched for those that are too old, in each `ttl`."""


class MemoryCache(ManagedCache):
    """A cache in memory that forgets the least recently used values first. Threads can share it.

    Its values take at most about `max_bytes`, estimated from the lengths of texts. A value older than `ttl` seconds
    counts as missing, and is deleted soon after. A copy made by `copy` or pickle is empty. Raises ConfigError if
    `max_bytes` is not a whole number above 0, or `ttl` is neither None nor a number above 0.

    clock: tells the seconds since 1970.
    """

    __slots__ = ("_by_document", "_bytes", "_entries", "_lock", "_next_sweep", "max_bytes")

    def __init__(
        self, *, max_bytes: int = 256_000_000, ttl: float | None = None, clock: Callable[[], float] = time
    ) -> None:
        super().__init__(ttl, clock)
        self.max_bytes = whole_number("max_bytes", max_bytes, "bytes")
        self._lock = Lock()
        self._bytes, self._next_sweep = 0, 0.0
        self._entries: OrderedDict[str, tuple[Entry[Any], int]] = OrderedDict()
        self._by_document: dict[int, set[str]] = {}
        """The keys of the entries that were made from each document."""

    def find(self, key: str, _: Codec[T], /, *, oldest: float = 0.0) -> Entry[T] | None:
        """Return the entry with the same object that was stored; None if there is none, or it is too old."""
        oldest = self._oldest(oldest)
        with self._lock:
            entry: Entry[T] | None = self._entries.get(key, (None, 0))[0]
            if entry is not None and entry.made < oldest:
                self._delete(key)
                entry = None
            if entry is None:
                self._misses += 1
            else:
                self._hits += 1
                self._entries.move_to_end(key)
            return entry

    def keep(
        self, key: str, value: T, codec: Codec[T], /, *, documents: Documents = frozenset(), made: float | None = None
    ) -> None:
        """Store the value itself, unless it is larger than `max_bytes`."""
        weight, now = codec.estimated_size(value) + _LINK_BYTES * len(documents), self._clock()
        with self._lock:
            self._delete(key)
            if weight <= self.max_bytes:
                self._entries[key] = Entry(value, now if made is None else made, documents), weight
                self._bytes += weight
                for document in documents:
                    self._by_document.setdefault(document, set()).add(key)
            while self._bytes > self.max_bytes:
                self._delete(next(iter(self._entries)))
            self._sweep(now)

    def within(self, _: Allowance, /) -> "MemoryCache":
        """Return this cache: memory never has to wait."""
        return self

    def clear(self) -> None:
        """Delete all values. The counts of hits and misses start again."""
        with self._lock:
            self._entries.clear()
            self._by_document.clear()
            self._bytes = self._hits = self._misses = 0

    def _forget(self, document: int) -> int:
        with self._lock:
            keys = [*self._by_document.get(document, ())]
            for key in keys:
                self._delete(key)
        return len(keys)

    def _contents(self) -> tuple[int, int]:
        with self._lock:
            self._sweep(self._clock(), is_due=True)
            return len(self._entries), self._bytes

    def _delete(self, key: str) -> None:
        """Delete an entry, if there is one. The caller has the lock."""
        entry, weight = self._entries.pop(key, (None, 0))
        self._bytes -= weight
        for document in entry.documents if entry else ():
            keys = self._by_document[document]
            keys.discard(key)
            if not keys:
                del self._by_document[document]

    def _sweep(self, now: float, *, is_due: bool = False) -> None:
        """Delete what is too old, a few times in each `ttl`: most of it is never asked for again."""
        if self.ttl is None or not (is_due or now >= self._next_sweep):
            return
        self._next_sweep = now + self.ttl / _SWEEPS
        for key in [key for key, (entry, _) in self._entries.items() if entry.made < now - self.ttl]:
            self._delete(key)

    def __len__(self) -> int:
        """Return the number of values."""
        return len(self._entries)

    def __reduce__(self) -> tuple[Callable[[], "MemoryCache"], tuple[()]]:
        return partial(MemoryCache, max_bytes=self.max_bytes, ttl=self.ttl, clock=self._clock), ()


@dataclass(frozen=True, slots=True)
class LayeredCache:
    """A cache that reads from `memory` first and then from `persistent`, and writes to both.

    A value found only in `persistent` is stored in `memory` too, and is as old there. A value older than `ttl` seconds
    counts as missing in both, whatever age they allow themselves. `clear`, `forget` and `stats` need layers that have
    these methods, as all caches of this package do.

    clock: tells the seconds since 1970.
    """

    memory: Cache
    persistent: Cache
    ttl: float | None = field(default=None, kw_only=True)
    clock: Callable[[], float] = field(default=time, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "ttl", checked_ttl(self.ttl))

    def get(self, key: str, codec: Codec[T], /) -> T | None:
        """Return the value from the first layer that has one; None if neither has."""
        entry = self.find(key, codec)
        return None if entry is None else entry.value

    def put(self, key: str, value: T, codec: Codec[T], /) -> None:
        """Store the value in both layers."""
        self.keep(key, value, codec)

    def find(self, key: str, codec: Codec[T], /, *, oldest: float = 0.0) -> Entry[T] | None:
        """Return the entry of the first layer that has one; None if neither has one that is new enough."""
        oldest = oldest if self.ttl is None else max(oldest, self.clock() - self.ttl)
        entry = self._find_in(self.memory, key, codec, oldest)
        if entry is None:
            entry = self._find_in(self.persistent, key, codec, oldest)
            if entry is not None:
                _keep_in(self.memory, key, entry, codec)
        return entry

    def keep(
        self, key: str, value: T, codec: Codec[T], /, *, documents: Documents = frozenset(), made: float | None = None
    ) -> None:
        """Store the value in both layers."""
        entry = Entry(value, self.clock() if made is None else made, documents)
        _keep_in(self.memory, key, entry, codec)
        _keep_in(self.persistent, key, entry, codec)

    def within(self, allowance: Allowance, /) -> "LayeredCache":
        """Return both layers within the same allowance."""
        memory, persistent = timely(self.memory, allowance), timely(self.persistent, allowance)
        return LayeredCache(memory, persistent, ttl=self.ttl, clock=self.clock)

    def forget(self, doc_id: str) -> int:
        """Delete everything that was made from a document in both layers, and return the number of entries deleted.

        See `MemoryCache.forget`. Raises ConfigError, before anything is deleted, if a layer cannot forget.
        """
        return sum([layer.forget(doc_id) for layer in self._managed()])

    def clear(self) -> None:
        """Delete all entries of both layers. Raises ConfigError if a layer cannot be cleared."""
        for layer in self._managed():
            layer.clear()

    def stats(self) -> CacheStats:
        """Return the hits in either layer, the misses in both, and the entries and bytes of both together.

        Most entries are in both layers, and count twice. Raises ConfigError if a layer counts nothing.
        """
        memory, persistent = (layer.stats() for layer in self._managed())
        entries, size = memory.entries + persistent.entries, memory.bytes + persistent.bytes
        return CacheStats(memory.hits + persistent.hits, persistent.misses, entries, size)

    def _managed(self) -> "list[ManagedCache | LayeredCache]":
        """Return the layers, persistent last."""
        managed = [layer for layer in (self.memory, self.persistent) if isinstance(layer, ManagedCache | LayeredCache)]
        if len(managed) < 2:
            kinds = f"{type(self.memory).__name__} and {type(self.persistent).__name__}"
            raise ConfigError(f"the layers are {kinds}; only layers of ctxcompress.cache can be cleared and counted")
        return managed

    def _find_in(self, layer: Cache, key: str, codec: Codec[T], oldest: float) -> Entry[T] | None:
        if notes_documents(layer):
            return layer.find(key, codec, oldest=oldest)
        value = layer.get(key, codec)
        return None if value is None else Entry(value, self.clock())


def _keep_in(layer: Cache, key: str, entry: Entry[T], codec: Codec[T]) -> None:
    if notes_documents(layer):
        layer.keep(key, entry.value, codec, documents=entry.documents, made=entry.made)
    else:
        layer.put(key, entry.value, codec)
