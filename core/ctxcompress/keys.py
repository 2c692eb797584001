"""What entries of a cache are called: by all that they depend on, so that what has changed is not found."""

import functools
import json
import sys
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version

from ctxcompress.version import __version__

__all__ = ["Fingerprints", "key_of"]

_FORMAT = 3
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
