"""A quick cache in front of a lasting one."""

from dataclasses import dataclass
from typing import TypeVar

from ctxcompress.entries import Allowance, Cache, Form, timely

__all__ = ["LayeredCache"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class LayeredCache:
    """Looks into `memory` first and then into `persistent`; what is found there goes into memory. Both remember."""

    memory: Cache
    persistent: Cache

    def get(self, key: str, form: Form[T], /) -> T | None:
        """The value under this key, from the first of the two that has one."""
        value = self.memory.get(key, form)
        if value is None:
            value = self.persistent.get(key, form)
            if value is not None:
                self.memory.put(key, value, form)
        return value

    def put(self, key: str, value: T, form: Form[T], /) -> None:
        """Both remember the value."""
        self.memory.put(key, value, form)
        self.persistent.put(key, value, form)

    def within(self, allowance: Allowance, /) -> "LayeredCache":
        """Both within the same allowance."""
        return LayeredCache(timely(self.memory, allowance), timely(self.persistent, allowance))
