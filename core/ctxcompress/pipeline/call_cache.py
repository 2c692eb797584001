"""The cache as one compression uses it: for a limited time, with counted lookups, under keys that say all that a value
depends on; and the forms in which values are written."""

import functools
import json
import sys
from collections.abc import Sequence, Sized
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, TypeVar

from ctxcompress.cache.cache import Allowance, Cache, Codec
from ctxcompress.data.passages import Kind, Node, NodeKind, Segment
from ctxcompress.data.stats import CacheUse
from ctxcompress.guarded import left_out, stop_if_cancelled
from ctxcompress.version import __version__

__all__ = ["AS_JSON", "FEW_OBJECTS", "MEMORY_ONLY", "CallCache", "ReadText", "TextCodec", "key_of"]

T = TypeVar("T")

_FORMAT = 14
"""Version of the entries. Increase it when texts are analysed differently and the package's version stays the same."""
_ANALYSERS = ("PyStemmer", "pyromark", "sentencex", "tiktoken", "regex")
"""Packages whose other versions may analyse texts differently."""
_SMALL_OBJECT = 200
"""Bytes of memory that a small object takes, with its container."""


class CallCache:
    """The cache of one compression. Without one it has nothing, and keeps nothing."""

    def __init__(self, cache: Cache | None) -> None:
        self._cache, self._allowance = cache, Allowance()
        self._hashes: dict[str, str] = {}
        self.hits = self.misses = 0

    def __bool__(self) -> bool:
        """Tell whether there is one."""
        return self._cache is not None

    def get(self, key: str | None, codec: Codec[T]) -> T | None:
        """Return the value stored under this key; None if there is none, or no key.

        Raises CancelledError if the work is cancelled.
        """
        if self._cache is None or key is None:
            return None
        stop_if_cancelled()
        value = self._cache.get(key, codec, self._allowance)
        if value is None:
            self.misses += 1
        else:
            self.hits += 1
        return value

    def put(self, key: str | None, value: T, codec: Codec[T]) -> None:
        """Store the value, unless there is no key."""
        if self._cache is not None and key is not None:
            self._cache.put(key, value, codec, self._allowance)

    def fingerprint(self, text: str) -> str:
        """Return the SHA-256 hash of a text, which is computed once for each text."""
        known = self._hashes.get(text)
        if known is None:
            known = self._hashes[text] = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        return known

    def use(self, *, is_outcome: bool = False) -> CacheUse:
        """Return the lookups so far. is_outcome: whether the last one found the result of the whole compression."""
        return CacheUse(self.hits, self.misses, is_outcome, self._allowance.failure)


def key_of(kind: str, *parts: object) -> str | None:
    """Return the key of a value that depends on these parts and nothing else.

    None if a part cannot be written as JSON, because then the key would not contain all of it.
    """
    try:
        written = _versions() + json.dumps([kind, parts, *sorted(left_out())])
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


@dataclass(frozen=True, slots=True)
class ReadText:
    """An analysed text: prose with its segments, or source code with its outline."""

    text: str
    outline: Sequence[Node]
    """Empty for prose."""
    prose: Sequence[Segment]
    """Empty for source code."""


@dataclass(frozen=True, slots=True)
class TextCodec:
    """Encodes a ReadText without its text."""

    text: str

    def encode(self, value: ReadText, /) -> bytes | None:
        """Return JSON with the outline, the distinct heading paths and a row for each segment. Return None if the
        outline is nested too deeply."""
        paths: dict[tuple[str, ...], int] = {}
        rows = [(*part[:4], paths.setdefault(part.heading, len(paths)), *part[5:]) for part in value.prose]
        try:
            return _dumped([value.outline, list(paths), rows])
        except RecursionError:
            return None

    def decode(self, data: bytes, /) -> ReadText:
        outline, paths, rows = json.loads(data)
        headings = list(map(tuple, paths))
        prose = [
            Segment(Kind(kind), start, end, block, headings[heading], tuple(needs), label=label)
            for kind, start, end, block, heading, needs, _, label in rows
        ]
        return ReadText(self.text, tuple(map(_node, outline)), prose)

    def estimated_size(self, _: ReadText, /) -> int:
        """Return the bytes in memory: 4 for each character, as measured on prose and source code, and some more."""
        return _SMALL_OBJECT + 4 * len(self.text)


def _node(row: Sequence[Any]) -> Node:
    kind, *fields, children = row
    return Node._make((NodeKind(kind), *fields, tuple(map(_node, children))))


class _JsonCodec:
    """Encodes what JSON can hold. Tuples come back as lists."""

    def encode(self, value: Any, /) -> bytes:
        return _dumped(value)

    def decode(self, data: bytes, /) -> Any:
        return json.loads(data)

    def estimated_size(self, value: Any, /) -> int:
        """Return about the bytes in memory: of each character more than a text takes, and less than numbers do."""
        return _SMALL_OBJECT + 8 * len(_dumped(value))


@dataclass(frozen=True, slots=True)
class _MemoryOnlyCodec:
    """Keeps a value as it is, for caches in memory only."""

    bytes_each: int
    """Bytes of memory for each of the value's length."""

    def encode(self, _: Sized, /) -> None:
        return None

    def decode(self, _: bytes, /) -> Any:
        raise ValueError("values of this kind are never written")

    def estimated_size(self, value: Sized, /) -> int:
        return 10 * _SMALL_OBJECT + self.bytes_each * len(value)


AS_JSON = _JsonCodec()
MEMORY_ONLY = _MemoryOnlyCodec(56)
"""The codec of values that are too complex to be written. An analysis with what queries add to it takes at most 55
bytes for each character, as measured."""
FEW_OBJECTS = _MemoryOnlyCodec(4)
"""The codec of values that keep texts and little else. Their length is that of the texts."""


def _dumped(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
