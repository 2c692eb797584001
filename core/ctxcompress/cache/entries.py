"""What all caches of this package have in common: entries with an age and documents, counted lookups, and the methods
that manage a cache."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from math import isfinite
from threading import Lock
from time import time
from typing import TypeVar

from ctxcompress.cache.protocol import CacheStats, Codec, Documents, Entry, document_number
from ctxcompress.errors import ConfigError

__all__ = ["ManagedCache", "checked_ttl", "whole_number"]

T = TypeVar("T")


class ManagedCache(ABC):
    """A cache that can be cleared, forget documents, and tell how much it holds and how often it helped.

    An entry older than `ttl` seconds counts as missing. Threads can share the cache.
    """

    __slots__ = ("_clock", "_counting", "_hits", "_misses", "ttl")

    def __init__(self, ttl: float | None, clock: Callable[[], float] = time) -> None:
        """clock: tells the seconds since 1970."""
        self.ttl = checked_ttl(ttl)
        self._clock, self._counting = clock, Lock()
        self._hits = self._misses = 0

    def get(self, key: str, codec: Codec[T], /) -> T | None:
        """Return the value stored under this key; None if there is none."""
        entry = self.find(key, codec)
        return None if entry is None else entry.value

    def put(self, key: str, value: T, codec: Codec[T], /) -> None:
        """Store the value, unless it is larger than the whole cache may be."""
        self.keep(key, value, codec)

    @abstractmethod
    def find(self, key: str, codec: Codec[T], /, *, oldest: float = 0.0) -> Entry[T] | None:
        """Return the entry stored under this key; None if there is none, or it was made before `oldest`."""

    @abstractmethod
    def keep(
        self, key: str, value: T, codec: Codec[T], /, *, documents: Documents = frozenset(), made: float | None = None
    ) -> None:
        """Store a value with its documents. made: when it was first stored; None for now."""

    def forget(self, doc_id: str) -> int:
        """Delete everything that was made from a document, and return the number of entries deleted.

        doc_id: the `doc_id` or `file_path` of its passages, or the id of a passage that has neither. A compression that
        is running may still store an entry about the document.

        Raises CacheUnavailable if the cache cannot be reached: the entries may then still be there.
        """
        if not isinstance(doc_id, str):
            raise ConfigError(f"doc_id is a {type(doc_id).__name__}; give the id of a document, a string")
        return self._forget(document_number(doc_id))

    @abstractmethod
    def clear(self) -> None:
        """Delete all entries. The counts of hits and misses start again.

        Raises CacheUnavailable if the cache cannot be reached: the entries may then still be there.
        """

    def stats(self) -> CacheStats:
        """Return the hits and misses of this object, and the entries and bytes that the cache holds.

        Raises CacheUnavailable if the cache cannot be reached.
        """
        entries, size = self._contents()
        return CacheStats(self._hits, self._misses, entries, size)

    @abstractmethod
    def _forget(self, document: int) -> int:
        """Delete everything that was made from a document."""

    @abstractmethod
    def _contents(self) -> tuple[int, int]:
        """Return the number of entries and their bytes."""

    def _oldest(self, oldest: float) -> float:
        """Return the time before which entries count as missing."""
        return oldest if self.ttl is None else max(oldest, self._clock() - self.ttl)

    def _counted(self, entry: Entry[T] | None) -> Entry[T] | None:
        """Return the entry, and count the hit or the miss."""
        with self._counting:
            if entry is None:
                self._misses += 1
            else:
                self._hits += 1
        return entry

    def _start_counting(self) -> None:
        with self._counting:
            self._hits = self._misses = 0


def checked_ttl(ttl: object) -> float | None:
    """Return the value of `ttl`. Raises ConfigError unless it is None or a number of seconds above 0."""
    if ttl is None:
        return None
    if isinstance(ttl, bool) or not isinstance(ttl, int | float) or not (isfinite(ttl) and ttl > 0):
        raise ConfigError(f"ttl is {ttl!r}; give a number of seconds above 0, or None for no limit of age")
    return float(ttl)


def whole_number(name: str, value: object, of: str) -> int:
    """Return the value of an option. Raises ConfigError unless it is a whole number above 0."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ConfigError(f"{name} is {value!r}; give a whole number of {of}, at least 1")
    return value
