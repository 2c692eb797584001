"""The cache as one compression uses it: for a limited time, with counted lookups, and with the documents of each entry.

A cache of ctxcompress.cache notes which documents an entry was made from, so that `forget` finds it. Any other cache
only gets the values.
"""

from collections.abc import Iterable, Sequence
from typing import TypeVar

from ctxcompress.cache.protocol import (
    Allowance,
    Cache,
    Codec,
    Documents,
    EntryCache,
    document_number,
    notes_documents,
    timely,
)
from ctxcompress.data.passages import Passage
from ctxcompress.data.stats import CacheUse

__all__ = ["CallCache"]

T = TypeVar("T")


class CallCache:
    """The cache of one compression."""

    __slots__ = ("_cache", "_entries", "_everything", "_numbers", "_passages", "hits", "misses")

    def __init__(self, cache: Cache, passages: Sequence[Passage]) -> None:
        """passages: all that the entries may be made from."""
        self._cache = timely(cache, Allowance())
        self._entries: EntryCache | None = self._cache if notes_documents(self._cache) else None
        """The same cache, if it notes documents."""
        self._passages = passages
        self._numbers: dict[str, int] = {}
        self._everything: Documents | None = None
        self.hits = self.misses = 0

    @classmethod
    def of(cls, cache: Cache | None, passages: Sequence[Passage]) -> "CallCache | None":
        """Return the cache for one compression of these passages; None without a cache."""
        return None if cache is None else cls(cache, passages)

    def get(self, key: str, codec: Codec[T]) -> T | None:
        """Return the value stored under this key; None if there is none."""
        value = self._cache.get(key, codec)
        if value is None:
            self.misses += 1
        else:
            self.hits += 1
        return value

    def put(self, key: str, value: T, codec: Codec[T], made_from: Iterable[int] | None = None) -> None:
        """Store the value. made_from: the numbers of the passages that it was made from; None for all of them."""
        if self._entries is None:
            self._cache.put(key, value, codec)
        else:
            self._entries.keep(key, value, codec, documents=self._documents(made_from))

    def use(self, *, is_outcome: bool = False) -> CacheUse:
        """Return the lookups so far. is_outcome: whether the last one found the result of the whole compression."""
        return CacheUse(self.hits, self.misses, is_outcome)

    def _documents(self, made_from: Iterable[int] | None) -> Documents:
        if made_from is not None:
            return self._documents_of([self._passages[number] for number in made_from])
        if self._everything is None:
            self._everything = self._documents_of(self._passages)
        return self._everything

    def _documents_of(self, passages: Iterable[Passage]) -> Documents:
        return frozenset(map(self._number, {name for passage in passages for name in _names(passage)}))

    def _number(self, name: str) -> int:
        number = self._numbers.get(name)
        if number is None:
            number = self._numbers[name] = document_number(name)
        return number


def _names(passage: Passage) -> list[str]:
    """Return the names of a passage's document; the passage's id if it has none."""
    names = [name for name in (passage.doc_id, passage.file_path) if name]
    return names or [passage.id]
