"""The cache as one compression uses it: for a limited time, with counted lookups, and under keys that say all that a
value depends on."""

import functools
import json
import sys
from hashlib import sha256
from typing import TypeVar

from ctxcompress.cache.cache import Allowance, Cache, Codec
from ctxcompress.data.stats import CacheUse
from ctxcompress.version import __version__

__all__ = ["CallCache", "Fingerprints", "key_of"]

T = TypeVar("T")

_FORMAT = 8
"""Version of the entries. Increase it when texts are analysed differently and the package's version stays the same."""
_ANALYSERS = (*("PyStemmer", "pyromark", "sentencex", "tiktoken", "regex", "rensa"),)
"""Packages whose other versions may analyse texts differently."""


class CallCache:
    """The cache of one compression."""

    __slots__ = ("_allowance", "_cache", "hits", "misses")

    def __init__(self, cache: Cache) -> None:
        self._cache, self._allowance = cache, Allowance()
        self.hits = self.misses = 0

    @classmethod
    def of(cls, cache: Cache | None) -> "CallCache | None":
        """Return the cache for one compression; None without a cache."""
        return None if cache is None else cls(cache)

    def get(self, key: str, codec: Codec[T]) -> T | None:
        """Return the value stored under this key; None if there is none."""
        value = self._cache.get(key, codec, self._allowance)
        if value is None:
            self.misses += 1
        else:
            self.hits += 1
        return value

    def put(self, key: str, value: T, codec: Codec[T]) -> None:
        """Store the value."""
        self._cache.put(key, value, codec, self._allowance)

    def use(self, *, is_outcome: bool = False) -> CacheUse:
        """Return the lookups so far. is_outcome: whether the last one found the result of the whole compression."""
        return CacheUse(self.hits, self.misses, is_outcome)


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
