"""Configuration files: TOML, or JSON with the same tables. `ctxcompress.config.toml` says what the tables mean.

A JSON file of a code search holds its tables deeper, where its engine has them:

{"knowledge": {"engines": [{"options": {"search": {"optimization": {"compression": {"cache": "memory"}}}}}]}}
"""

import json
import tomllib
from collections.abc import Collection, Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from ctxcompress.config.toml import TABLES, options_of
from ctxcompress.errors import ConfigError

__all__ = ["read_options"]

_OF_AN_ENGINE = ("options", "search", "optimization")
"""The keys in an engine of a code search under which its tables are."""


def read_options(path: str | PathLike[str], known: Collection[str]) -> dict[str, Any]:
    """Return the options that a file gives, by name, and `enabled` where it is False. known: the names of all options.

    A file whose name ends in ".json" is JSON, any other is TOML. Raises ConfigError for an unknown key or a file that
    cannot be parsed, and OSError if there is no file.
    """
    file = Path(path)
    tables = _of_engines(_parsed(file))
    if not any(name in tables for name in TABLES):
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


def _of_engines(tables: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the tables of the one engine of a code search that has some; all other files as they are."""
    if any(name in tables for name in TABLES):
        return tables
    found = list(_engines(tables))
    if len(found) > 1:
        raise ConfigError(
            f"{len(found)} engines in knowledge.engines have a compression table; leave it in one of them, or put it "
            "at the top of the file"
        )
    return found[0] if found else tables


def _engines(tables: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    knowledge = tables.get("knowledge")
    engines = knowledge.get("engines") if isinstance(knowledge, Mapping) else None
    for engine in engines if isinstance(engines, list) else ():
        inner = engine
        for key in _OF_AN_ENGINE:
            inner = inner.get(key) if isinstance(inner, Mapping) else None
        if isinstance(inner, Mapping) and "compression" in inner:
            yield {"compression": inner["compression"]}
