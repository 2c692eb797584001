"""What can remember, and what that needs to know of what it remembers. The classes that do it are in `cache`."""

import functools
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from time import monotonic
from typing import Protocol, TypeVar, runtime_checkable

from ctxcompress.version import __version__

__all__ = ["Allowance", "Cache", "Codec", "Fingerprints", "Timely", "key_of", "timely"]

T = TypeVar("T")


class Codec(Protocol[T]):
    """How values of one kind are written down."""

    def encode(self, value: T, /) -> bytes | None:
        """The value as bytes; None for one that is worth remembering only as long as the process lives."""

    def decode(self, data: bytes, /) -> T:
        """The value that `encode` wrote. Raises ValueError, and nothing else, if it did not write this."""

    def estimated_size(self, value: T, /) -> int:
        """About how many bytes of memory the value takes."""


@runtime_checkable
class Cache(Protocol):
    """Remembers values by keys that say all that they depend on. It may forget any of them at any time.

    Neither method raises, or takes long: what cannot be read is not there, and what cannot be written is not
    remembered. Threads share caches. What `get` returns is shared, too, so that nobody changes it.
    """

    def get(self, key: str, codec: Codec[T], /) -> T | None:
        """The value that was put under this key; None if there is none."""

    def put(self, key: str, value: T, codec: Codec[T], /) -> None:
        """Remembers the value."""


class Allowance:
    """Seconds that caches may take of one compression, all reading and writing together. Only its thread uses it."""

    __slots__ = ("_clock", "left")

    def __init__(self, seconds: float = 2.0, *, clock: Callable[[], float] = monotonic) -> None:
        self.left, self._clock = seconds, clock

    @contextmanager
    def spending(self) -> Iterator[float]:
        """What is done meanwhile is taken off. Gives what was left before."""
        begin = self._clock()
        try:
            yield self.left
        finally:
            self.left -= self._clock() - begin


@runtime_checkable
class Timely(Protocol):
    """A cache that knows how to keep to an allowance."""

    def within(self, allowance: Allowance, /) -> Cache:
        """The same cache, for one compression: when the allowance is spent it knows nothing, and waits for nothing."""


def timely(cache: Cache, allowance: Allowance) -> Cache:
    """The cache for one compression. One that is not `Timely` is not asked again when the allowance is spent."""
    return cache.within(allowance) if isinstance(cache, Timely) else _Rationed(cache, allowance)


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


_FORMAT = 4
"""Of the entries. What reads texts otherwise than before, without another version of the package, counts it up."""
_READERS = (
    *("PyStemmer", "pyromark", "sentencex", "tiktoken", "regex", "rensa", "tree-sitter"),
    *(f"tree-sitter-{name}" for name in "c cpp go java javascript python rust typescript".split()),
)
"""Packages by which texts are read, of which another version may read them otherwise."""


class Fingerprints:
    """Of texts a hash that no two share. Each text is hashed once."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def __call__(self, text: str) -> str:
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        return known


def key_of(kind: str, *parts: object) -> str | None:
    """The key of what depends on these parts and nothing else; None if one of them is not of JSON's types, which say
    all there is to them."""
    try:
        written = _versions() + json.dumps([kind, parts])
    except (TypeError, ValueError, RecursionError):
        return None
    return f"{kind}:{sha256(written.encode()).hexdigest()}"


@functools.cache
def _versions() -> str:
    return json.dumps([_FORMAT, __version__, sys.version_info[:3], *map(_version, _READERS)])


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
