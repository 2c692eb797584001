"""A cache in the memory of the process."""

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
    """Remembers in memory, what was used last the longest. Threads can share it.

    What it holds is about `max_bytes` at most, as estimated from the lengths of texts. A copy of it, by `copy` or
    pickle, is empty. Raises ConfigError on a size that is no whole number above 0.
    """

    __slots__ = ("_bytes", "_entries", "_lock", "max_bytes")

    def __init__(self, *, max_bytes: int = 256_000_000) -> None:
        if isinstance(max_bytes, bool) or not isinstance(max_bytes, int) or max_bytes < 1:
            raise ConfigError(f"max_bytes is {max_bytes!r}; give a whole number of bytes, at least 1")
        self.max_bytes = max_bytes
        self._bytes = 0
        self._entries: OrderedDict[str, tuple[Any, int]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: str, codec: Codec[T], /) -> T | None:  # noqa: ARG002 - values are kept as they are
        """The very value that was put under this key; None if there is none."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            self._entries.move_to_end(key)
            value: T = entry[0]
            return value

    def put(self, key: str, value: T, codec: Codec[T], /) -> None:
        """Remembers the value itself; not one that is larger than all there may be."""
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
        """Itself: nothing here has to be waited for."""
        return self

    def __len__(self) -> int:
        """How many values it holds."""
        return len(self._entries)

    def __reduce__(self) -> tuple[Callable[[], "MemoryCache"], tuple[()]]:
        return partial(MemoryCache, max_bytes=self.max_bytes), ()


@dataclass(frozen=True, slots=True)
class LayeredCache:
    """Looks into `memory` first and then into `persistent`; what is found there goes into memory. Both remember."""

    memory: Cache
    persistent: Cache

    def get(self, key: str, codec: Codec[T], /) -> T | None:
        """The value under this key, from the first of the two that has one."""
        value = self.memory.get(key, codec)
        if value is None:
            value = self.persistent.get(key, codec)
            if value is not None:
                self.memory.put(key, value, codec)
        return value

    def put(self, key: str, value: T, codec: Codec[T], /) -> None:
        """Both remember the value."""
        self.memory.put(key, value, codec)
        self.persistent.put(key, value, codec)

    def within(self, allowance: Allowance, /) -> "LayeredCache":
        """Both within the same allowance."""
        return LayeredCache(timely(self.memory, allowance), timely(self.persistent, allowance))
