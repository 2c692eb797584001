"""A cache in memory, and a cache of two layers: memory in front of a persistent cache."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any, TypeVar

from ctxcompress.cache.protocol import Allowance, Cache, Codec, timely
from ctxcompress.errors import ConfigError

__all__ = ["LayeredCache", "MemoryCache"]

T = TypeVar("T")


class MemoryCache:
    """A cache in memory that forgets the least recently used values first. Threads can share it.

    Its values take at most about `max_bytes`, estimated from the lengths of texts. A copy made by `copy` or pickle is
    empty. Raises ConfigError if `max_bytes` is not a whole number above 0.
    """

    __slots__ = ("_bytes", "_entries", "_lock", "max_bytes")

    def __init__(self, *, max_bytes: int = 256_000_000) -> None:
        if isinstance(max_bytes, bool) or not isinstance(max_bytes, int) or max_bytes < 1:
            raise ConfigError(f"max_bytes is {max_bytes!r}; give a whole number of bytes, at least 1")
        self.max_bytes = max_bytes
        self._bytes = 0
        self._entries: OrderedDict[str, tuple[Any, int]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: str, codec: Codec[T], /) -> T | None:  # noqa: ARG002 - values are not encoded
        """Return the same object that was stored under this key; None if there is none."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            self._entries.move_to_end(key)
            value: T = entry[0]
            return value

    def put(self, key: str, value: T, codec: Codec[T], /) -> None:
        """Store the value itself, unless it is larger than `max_bytes`."""
        weight = codec.estimated_size(value)
        with self._lock:
            _, before = self._entries.pop(key, (None, 0))
            self._bytes -= before
            if weight <= self.max_bytes:
                self._entries[key] = value, weight
                self._bytes += weight
            while self._bytes > self.max_bytes:
                _, (_, oldest) = self._entries.popitem(last=False)
                self._bytes -= oldest

    def within(self, _: Allowance, /) -> "MemoryCache":
        """Return this cache: memory never has to wait."""
        return self

    def __len__(self) -> int:
        """Return the number of values."""
        return len(self._entries)

    def __reduce__(self) -> tuple[Callable[[], "MemoryCache"], tuple[()]]:
        return partial(MemoryCache, max_bytes=self.max_bytes), ()


@dataclass(frozen=True, slots=True)
class LayeredCache:
    """A cache that reads from `memory` first and then from `persistent`, and writes to both.

    A value found only in `persistent` is stored in `memory` too.
    """

    memory: Cache
    persistent: Cache

    def get(self, key: str, codec: Codec[T], /) -> T | None:
        """Return the value from the first layer that has one; None if neither has."""
        value = self.memory.get(key, codec)
        if value is None:
            value = self.persistent.get(key, codec)
            if value is not None:
                self.memory.put(key, value, codec)
        return value

    def put(self, key: str, value: T, codec: Codec[T], /) -> None:
        """Store the value in both layers."""
        self.memory.put(key, value, codec)
        self.persistent.put(key, value, codec)

    def within(self, allowance: Allowance, /) -> "LayeredCache":
        """Return both layers within the same allowance."""
        return LayeredCache(timely(self.memory, allowance), timely(self.persistent, allowance))
