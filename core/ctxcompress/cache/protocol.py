"""What a cache is, what an entry knows of itself, how much of a compression's time a cache may take, and how keys are
made."""

import functools
import json
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from math import isfinite
from threading import Lock
from time import monotonic, time
from typing import Generic, NamedTuple, Protocol, TypeGuard, TypeVar, runtime_checkable

from ctxcompress.errors import ConfigError
from ctxcompress.version import __version__

__all__ = [
    "Allowance",
    "Cache",
    "CacheStats",
    "Codec",
    "Documents",
    "Entry",
    "EntryCache",
    "Fingerprints",
    "ManagedCache",
    "Timely",
    "checked_ttl",
    "document_number",
    "key_of",
    "notes_documents",
    "timely",
    "whole_number",
]

T = TypeVar("T")

_FORMAT = 7
"""Version of the entries. Increase it when texts are analysed differently and the package's version stays the same."""
_ANALYSERS = (*("PyStemmer", "pyromark", "sentencex", "tiktoken", "regex"),)
"""Packages whose other versions may analyse texts differently."""


class Codec(Protocol[T]):
    """Converts values of one type to bytes and back."""

    def encode(self, value: T, /) -> bytes | None:
        """Return the value as bytes, or None if only caches in memory should store it."""

    def decode(self, data: bytes, /) -> T:
        """Return the value that `encode` wrote. Raises ValueError, and nothing else, if it did not write this."""

    def estimated_size(self, value: T, /) -> int:
        """Return about how many bytes of memory the value takes."""


@runtime_checkable
class Cache(Protocol):
    """Stores values under keys, which name everything the values depend on. It may forget any value at any time.

    Both methods return quickly and never raise: a value that cannot be read counts as missing, and a value that cannot
    be written is not stored. Threads share caches, and the values that `get` returns, so nobody may change these.
    """

    def get(self, key: str, codec: Codec[T], /) -> T | None:
        """Return the value stored under this key; None if there is none."""

    def put(self, key: str, value: T, codec: Codec[T], /) -> None:
        """Store the value."""


Documents = frozenset[int]
"""The documents that a value was made from, by their numbers: see `document_number`."""


class Entry(NamedTuple, Generic[T]):
    """A value in a cache."""

    value: T
    made: float
    """When the value was first stored, in seconds since 1970."""
    documents: Documents = frozenset()


@runtime_checkable
class EntryCache(Cache, Protocol):
    """A cache that knows how old its values are and which documents they were made from."""

    def find(self, key: str, codec: Codec[T], /, *, oldest: float = 0.0) -> Entry[T] | None:
        """Return the entry stored under this key; None if there is none, or it was made before `oldest`."""

    def keep(
        self, key: str, value: T, codec: Codec[T], /, *, documents: Documents = frozenset(), made: float | None = None
    ) -> None:
        """Store a value with its documents. made: when it was first stored; None for now."""


class CacheStats(NamedTuple):
    """The use and the size of a cache."""

    hits: int
    """Lookups since the cache was made that found a value."""
    misses: int
    entries: int
    bytes: int
    """The bytes of all entries; in memory an estimate."""


class Allowance:
    """The seconds that all reading and writing of caches may take in one compression. For one thread only."""

    __slots__ = ("_clock", "left")

    def __init__(self, seconds: float = 2.0, *, clock: Callable[[], float] = monotonic) -> None:
        self.left, self._clock = seconds, clock

    @contextmanager
    def spending(self) -> Iterator[float]:
        """Subtract the time that the block takes. Yields the seconds left before it."""
        begin = self._clock()
        try:
            yield self.left
        finally:
            self.left -= self._clock() - begin


@runtime_checkable
class Timely(Protocol):
    """A cache that keeps to an allowance by itself."""

    def within(self, allowance: Allowance, /) -> Cache:
        """Return this cache for one compression. Once the allowance is spent, it finds and stores nothing."""


def timely(cache: Cache, allowance: Allowance) -> Cache:
    """Return the cache for one compression. If it is not `Timely`, it is not called once the allowance is spent."""
    return cache.within(allowance) if _is_timely(cache) else _Rationed(cache, allowance)


def notes_documents(cache: Cache) -> TypeGuard[EntryCache]:
    """Tell whether this is an EntryCache."""
    return _has_methods(type(cache), EntryCache) or isinstance(cache, EntryCache)


def _is_timely(cache: Cache) -> TypeGuard[Timely]:
    return _has_methods(type(cache), Timely) or isinstance(cache, Timely)


@functools.lru_cache(maxsize=64)
def _has_methods(kind: type, protocol: type) -> bool:
    """Tell whether a class has the methods of a protocol. To find that out takes longer than a lookup in memory."""
    return issubclass(kind, protocol)


class _Rationed:
    __slots__ = ("_allowance", "_cache")

    def __init__(self, cache: Cache, allowance: Allowance) -> None:
        self._cache, self._allowance = cache, allowance

    def get(self, key: str, codec: Codec[T], /) -> T | None:
        with self._allowance.spending() as left:
            return self._cache.get(key, codec) if left > 0 else None

    def put(self, key: str, value: T, codec: Codec[T], /) -> None:
        with self._allowance.spending() as left:
            if left > 0:
                self._cache.put(key, value, codec)


class Fingerprints:
    """Returns the SHA-256 hash of a text, and computes it once for each text."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def __call__(self, text: str) -> str:
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        return known


def document_number(doc_id: str) -> int:
    """Return the number under which caches know a document: 63 bits of a hash. The id itself is not stored."""
    return int.from_bytes(sha256(doc_id.encode("utf-8", "surrogatepass")).digest()[:8], "big") >> 1


def key_of(kind: str, *parts: object) -> str | None:
    """Return the key of a value that depends on these parts and nothing else.

    None if a part cannot be written as JSON, because then the key would not contain all of it.
    """
    try:
        written = _versions() + json.dumps([kind, parts])
    except (TypeError, ValueError, RecursionError):
        return None
    return f"{kind}:{sha256(written.encode()).hexdigest()}"


@functools.cache
def _versions() -> str:
    return json.dumps([_FORMAT, __version__, sys.version_info[:3], *map(_version, _ANALYSERS)])


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version  # takes time to import; only caches need it

    try:
        return version(package)
    except PackageNotFoundError:
        return ""


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
