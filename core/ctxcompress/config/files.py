"""Configuration files: TOML, or JSON with the same tables.

A JSON file of a code search holds its tables deeper, where its engine has them:

{"knowledge": {"engines": [{"options": {"search": {"optimization": {"compression": {"cache": "memory"}}}}}]}}
"""

import json
import os
import tomllib
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from inspect import signature
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from ctxcompress.cache import Cache, QdrantStore, SqliteStore
from ctxcompress.config.checks import closest
from ctxcompress.errors import ConfigError

__all__ = ["default_path", "object_named", "options_of", "read_options"]


def default_path() -> Path:
    """Return the file of a persistent cache for which a configuration gives no path, in the user's folder for caches.

    It is `$XDG_CACHE_HOME/ctxcompress/cache.sqlite`, by default `~/.cache/ctxcompress/cache.sqlite`.
    """
    folder = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (folder if folder.is_absolute() else Path.home() / ".cache") / "ctxcompress" / "cache.sqlite"


def object_named(option: str, value: object) -> object:
    """Return the cache that the value of that option names; any other value as it is."""
    return _cache(value) if option == "cache" and isinstance(value, str | Mapping) else value


_KINDS = ("memory", "persistent", "qdrant", "both")


def _cache(given: str | Mapping[str, Any]) -> Cache | None:
    """Return the cache that a configuration gives by its kind or as a table; None if the table is switched off.

    "both" is memory in front of a file, or of a server if there is a url. Raises ConfigError for an unknown kind or
    key, and where the cache cannot be made.
    """
    table: dict[str, Any] = {"kind": given} if isinstance(given, str) else dict(given)
    is_on, ttl = table.pop("enabled", True), table.pop("ttl", None)
    if not isinstance(is_on, bool):
        raise ConfigError(f"compression.cache.enabled is {is_on!r}; give true or false")
    kind = table.pop("kind", "qdrant" if "url" in table else "persistent" if "path" in table else "memory")
    if kind not in _KINDS:
        raise ConfigError(f"cache is {kind!r}; give one of {', '.join(_KINDS)}, or in code one of ctxcompress.cache")
    if not is_on:
        return None
    keys = {"max_bytes" if key == "maxBytes" else str(key): value for key, value in table.items()}
    if kind == "memory":
        return Cache(ttl=ttl, **_checked(keys, {"max_bytes"}, kind))
    store = _server(keys) if kind == "qdrant" or (kind == "both" and "url" in keys) else _file(keys)
    return Cache(store, ttl=ttl) if kind == "both" else Cache(store, max_bytes=0, ttl=ttl)


def _file(keys: Mapping[str, Any]) -> SqliteStore:
    given = _checked(keys, {*signature(SqliteStore).parameters}, "persistent")
    path = given.pop("path", None)
    if path is not None and not isinstance(path, str):
        raise ConfigError(f"compression.cache.path is {path!r}; give the path of a file as a string")
    if path is not None:
        return SqliteStore(Path(path).expanduser(), **given)
    folder = default_path().parent
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"{folder} cannot be made ({error.strerror}); give the path of a file as path in [compression.cache]"
        ) from error
    return SqliteStore(default_path(), **given)


def _server(keys: Mapping[str, Any]) -> QdrantStore:
    given = _checked(keys, {"url", *signature(QdrantStore).parameters} - {"client_or_url"}, "qdrant")
    if "url" not in given or "collection" not in given:
        raise ConfigError('the cache "qdrant" needs url and collection; give them in [compression.cache]')
    return QdrantStore(given.pop("url"), **given)


def _checked(keys: Mapping[str, Any], known: set[str], kind: str) -> dict[str, Any]:
    for key in keys:
        if key not in known:
            hint = closest(key, known, f"a {kind} cache has {', '.join(sorted({*known, 'ttl'}))}")
            raise ConfigError(f"[compression.cache] has an unknown key {key!r}; {hint}")
    return dict(keys)


_TABLES = ("search", "compression")
"""The tables of a file that are read; others belong to other programs."""

_SEARCH = {
    "min_confidence": "min_score",
    "min_score": "min_score",
    "max_chunks_per_doc": "max_chunks_per_doc",
    "top_n": "top_n",
}
_SWITCHED = (
    ("dedup_enabled", "dedup_threshold", "similarity_threshold", 0.85),
    ("ngram_dedup_enabled", "ngram_dedup_threshold", "ngram_threshold", 0.7),
)
"""(switch, threshold, our option, the default threshold of a stage that is on)."""


class _Stage(NamedTuple):
    """A table of code search tools. Its key `enabled` switches it on and off; it is on without one."""

    keys: Mapping[str, str]
    """Its other keys -> our option, "" for a key without one."""
    on: Mapping[str, object]
    """Our options for a stage that gives nothing else."""
    off: Mapping[str, object]


_CODE_SEARCH: Mapping[str, _Stage] = {
    "smartTruncation": _Stage(
        {"maxLength": "max_length", "preserveStructure": ""}, {"max_length": 2_000}, {"max_length": None}
    ),
    "metadataOnly": _Stage(
        {"scoreThreshold": "metadata_only"}, {"metadata_only": True, "score_kind": "absolute"}, {"metadata_only": False}
    ),
    "llm": _Stage({"model": "", "maxTokens": ""}, {}, {}),
}


def read_options(path: str | PathLike[str], known: Collection[str]) -> dict[str, Any]:
    """Return the options that a file gives, by name, and `enabled` where it is False. known: the names of all options.

    A file whose name ends in ".json" is JSON, any other is TOML. Raises ConfigError for an unknown key or a file that
    cannot be parsed, and OSError if there is no file.
    """
    file = Path(path)
    tables = _of_engine(_parsed(file))
    if not any(name in tables for name in _TABLES):
        for key, value in tables.items():
            if key in known and not isinstance(value, Mapping):  # a table of that name belongs to another program
                raise ConfigError(f"{file.name} has {key!r} outside of a table; put it under [compression]")
    return options_of(tables, known)


def _parsed(file: Path) -> Mapping[str, Any]:
    kind = "JSON" if file.suffix.lower() == ".json" else "TOML"
    try:
        text = file.read_text(encoding="utf-8-sig")
        tables = json.loads(text) if kind == "JSON" else tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # both parsers' errors are ValueErrors
        raise ConfigError(f"{file.name} is not {kind} ({error}); mend it, or set options in code") from error
    if not isinstance(tables, Mapping):
        raise ConfigError(f'{file.name} holds a {type(tables).__name__}; make it an object: {{"compression": {{...}}}}')
    return tables


def _of_engine(tables: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the tables of the one engine of a code search that has some; all other files as they are."""
    engines = [] if any(name in tables for name in _TABLES) else _within(tables, "knowledge", "engines")
    listed = engines if isinstance(engines, list) else []
    inner = [_within(engine, "options", "search", "optimization") for engine in listed]
    found = [tables for tables in inner if isinstance(tables, Mapping) and "compression" in tables]
    if len(found) > 1:
        raise ConfigError(
            f"{len(found)} engines in knowledge.engines have a compression table; leave it in one of them, or put it "
            "at the top of the file"
        )
    return {"compression": found[0]["compression"]} if found else tables


def _within(value: object, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def options_of(tables: Mapping[str, object], known: Collection[str]) -> dict[str, object]:
    """Return the options that the tables [search] and [compression] give, and `enabled` if it is False.

    known: the names of all options. Raises ConfigError on an unknown key, with the closest one there is, and on a stage
    that does not exist here.
    """
    for name in tables:
        meant = get_close_matches(name, _TABLES, n=1, cutoff=0.8)
        if meant and name != meant[0]:
            raise ConfigError(f"there is a table [{name}]; did you mean [{meant[0]}]?")
    options, staged = _of_search(tables.get("search", {})), dict[str, object]()
    table = _table("compression", tables.get("compression", {}), (*known, *_CODE_SEARCH, "enabled"))
    is_on = table.get("enabled", True)
    if not isinstance(is_on, bool):
        raise ConfigError(f"compression.enabled is {is_on!r}; give true or false")
    for key, value in table.items():
        if key in _CODE_SEARCH:
            staged |= _of_stage(key, value)
        elif key != "enabled":
            options[key] = object_named(key, value) if is_on else value
    if not is_on:  # then neither is needed: one loads a package, the other may write a file
        options |= {"enabled": False, "encoder": None, "cache": None}
    return staged | options


def _of_search(given: object) -> dict[str, object]:
    search = _table("search", given, (*_SEARCH, *(name for stage in _SWITCHED for name in stage[:2])))
    options = {_SEARCH[key]: value for key, value in search.items() if key in _SEARCH}
    for switch, threshold, option, default in _SWITCHED:
        if search.get(switch, threshold in search) is True:
            options[option] = search.get(threshold, default)
        elif switch in search:
            _check_flag(f"search.{switch}", search[switch], wanted=False)
            options[option] = None
    return options


def _of_stage(name: str, given: object) -> dict[str, object]:
    """Return the options that a table of a code search tool gives."""
    stage = _CODE_SEARCH[name]
    table = _table(f"compression.{name}", given, ("enabled", *stage.keys))
    is_on = table.get("enabled", True)
    if is_on is False:
        return dict(stage.off)
    if name == "llm" and is_on is True:
        raise ConfigError(
            "compression.llm is on, but no file can hold a language model; set enabled = false in it, and give the "
            "model in code"
        )
    _check_flag(f"compression.{name}.enabled", is_on, wanted=name != "llm")
    _check_flag(f"compression.{name}.preserveStructure", table.get("preserveStructure", True), wanted=True)
    return {**stage.on, **{option: table[key] for key, option in stage.keys.items() if option and key in table}}


def _table(name: str, given: object, known: Collection[str]) -> Mapping[str, object]:
    if not isinstance(given, Mapping):
        raise ConfigError(f"{name} is {given!r}; make it a table: [{name}]")
    for key in given:
        if key not in known:
            hint = closest(key, known, f"it can have {', '.join(sorted({*known}))}")
            raise ConfigError(f"[{name}] has an unknown key {key!r}; {hint}")
    return given


def _check_flag(name: str, value: object, *, wanted: bool) -> None:
    if value is not wanted:
        raise ConfigError(f"{name} is {value!r}; only {str(wanted).lower()} is possible here")
