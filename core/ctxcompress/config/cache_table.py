"""The cache that a configuration names: `cache = "memory"`, or the table [compression.cache].

[compression.cache]
kind = "persistent"             # "memory", "persistent", "qdrant", or "both": memory in front of a persistent one
path = "cache.sqlite"           # of a persistent one; without it, `default_path()`
max_bytes = 500_000_000

Every other key is an argument of the class in `ctxcompress.cache`: `url` and `collection` of "qdrant", for example.
"""

import inspect
import os
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ctxcompress.cache import Cache, DiskCache, LayeredCache, MemoryCache, QdrantCache
from ctxcompress.errors import ConfigError

__all__ = ["cache_named", "default_path"]


def default_path() -> Path:
    """Return the file of a persistent cache for which a configuration gives no path, in the user's folder for caches.

    It is `$XDG_CACHE_HOME/ctxcompress/cache.sqlite`, by default `~/.cache/ctxcompress/cache.sqlite`.
    """
    folder = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (folder if folder.is_absolute() else Path.home() / ".cache") / "ctxcompress" / "cache.sqlite"


def cache_named(given: object) -> Cache | None:
    """Return the cache that a configuration gives by its kind or as a table; None if the table is switched off.

    Raises ConfigError for an unknown kind or key, and where the cache cannot be made.
    """
    table = dict(given) if isinstance(given, Mapping) else {"kind": given}
    is_on = table.pop("enabled", True)
    if not isinstance(is_on, bool):
        raise ConfigError(f"compression.cache.enabled is {is_on!r}; give true or false")
    kind = table.pop("kind", "qdrant" if "url" in table else "persistent" if "path" in table else "memory")
    keys = {"max_bytes" if key == "maxBytes" else str(key): value for key, value in table.items()}
    if not isinstance(kind, str) or kind not in _KINDS:
        raise ConfigError(f"cache is {kind!r}; give one of {', '.join(_KINDS)}, or in code one of ctxcompress.cache")
    return _KINDS[kind](keys) if is_on else None


def _memory(keys: Mapping[str, Any]) -> Cache:
    return MemoryCache(**_checked(keys, _arguments(MemoryCache), "memory"))


def _persistent(keys: Mapping[str, Any]) -> Cache:
    given = dict(_checked(keys, _arguments(DiskCache), "persistent"))
    path = given.pop("path", None)
    if path is not None and not isinstance(path, str):
        raise ConfigError(f"compression.cache.path is {path!r}; give the path of a file as a string")
    file = default_path() if path is None else Path(path).expanduser()
    if path is None:
        _make_folder(file.parent)
    return DiskCache(file, **given)


def _qdrant(keys: Mapping[str, Any]) -> Cache:
    given = dict(_checked(keys, {"url", *_arguments(QdrantCache)}, "qdrant"))
    if "url" not in given or "collection" not in given:
        raise ConfigError('the cache "qdrant" needs url and collection; give them in [compression.cache]')
    return QdrantCache(given.pop("url"), **given)


def _both(keys: Mapping[str, Any]) -> Cache:
    """Return memory in front of a file, or of a server if there is a url. Only the persistent one takes `max_bytes`."""
    in_memory = {key: value for key, value in keys.items() if key in _arguments(MemoryCache) - {"max_bytes"}}
    return LayeredCache(MemoryCache(**in_memory), _qdrant(keys) if "url" in keys else _persistent(keys))


_KINDS: Mapping[str, Callable[[Mapping[str, Any]], Cache]] = MappingProxyType(
    {"memory": _memory, "persistent": _persistent, "qdrant": _qdrant, "both": _both}
)


_OBJECTS = frozenset({"client_or_url", "clock"})
"""Arguments that no configuration can give."""


def _arguments(kind: Callable[..., Cache]) -> set[str]:
    return set(inspect.signature(kind).parameters) - _OBJECTS


def _checked(keys: Mapping[str, Any], known: set[str], kind: str) -> Mapping[str, Any]:
    for key in keys:
        if key not in known:
            close = get_close_matches(key, known, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"a {kind} cache has {', '.join(sorted(known))}"
            raise ConfigError(f"[compression.cache] has an unknown key {key!r}; {hint}")
    return keys


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"{folder} cannot be made ({error.strerror}); give the path of a file as path in [compression.cache]"
        ) from error
