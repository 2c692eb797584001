"""Make passages from strings, mappings and the metadata that loaders, splitters and adapters write."""

import copy
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from pickle import PickleError
from typing import Any

from ctxcompress.data.passages import Passage
from ctxcompress.errors import InputError

__all__ = [
    "IMMUTABLE",
    "MOST_STRIPPED",
    "RECORD_KEY",
    "REFUSALS",
    "as_number",
    "as_passages",
    "copied",
    "offset_of",
    "passage_from_metadata",
]

MOST_STRIPPED = 80
"""The most characters of white space that a splitter may have stripped between two chunks."""
_OFFSETS = ("start_index", "start_char_idx")
"""The metadata keys under which splitters store where a chunk begins in its document."""
RECORD_KEY = "ctxcompress"
"""The metadata key of an adapter's record."""

_USUAL_KEYS = {
    "title": ("title", "document_title", "page_title"),
    "header_path": ("header_path", "headings", "section"),
    "doc_id": ("doc_id", "document_id", "ref_doc_id"),
    "file_path": ("file_path", "source", "file_name", "filename", "url"),
}
_HEADER_LEVELS = tuple(f"Header {level}" for level in range(1, 7))
_PATH_KEYS = frozenset((*_HEADER_LEVELS, *_USUAL_KEYS["header_path"]))
IMMUTABLE = frozenset((str, int, float, bool, bytes, type(None)))
REFUSALS = (TypeError, ValueError, AttributeError, RuntimeError, copy.Error, PickleError)
"""What Python's own objects and those of common libraries raise when they cannot be copied."""
_TEXT_KEYS = ("text", "page_content", "content")


def passage_from_metadata(
    id: str,
    text: str,
    metadata: Mapping[str, object],
    *,
    score: float | None = None,
    metadata_map: Mapping[str, str] | None = None,
) -> Passage:
    """Return a Passage with the title, header_path, doc_id and file_path found in `metadata`.

    `metadata_map` names the key for a field, in place of the usual keys; for the score, one that is used if `score` is
    not given. The passage gets a deep copy of the metadata.
    """
    mapped = metadata_map or {}

    def read(name: str) -> str | None:
        for key in (mapped[name],) if name in mapped else _USUAL_KEYS[name]:
            value = metadata.get(key)
            if value and isinstance(value, str):
                return value
        return None

    if score is None and "score" in mapped:
        score = as_number(metadata.get(mapped["score"]))
    return Passage(
        id,
        text,
        score=score,
        header_path=_header_path(metadata, mapped.get("header_path")),
        metadata=copied(dict(metadata)),
        doc_id=read("doc_id"),
        file_path=read("file_path"),
        title=read("title"),
    )


def as_passages(
    passages: Iterable[Passage | str | Mapping[str, object]],
    *,
    metadata_map: Mapping[str, str] | None = None,
    first: int = 0,
) -> tuple[Passage, ...]:
    """Convert strings and mappings to passages. A missing id becomes the position, counted from `first`.

    A mapping needs its text under "text", "page_content" or "content". Its "id", "score" and "metadata" are used, and
    all other keys are read as metadata. Raises InputError for any other type.
    """
    if isinstance(passages, str | Mapping | Passage) or not isinstance(passages, Iterable):
        raise InputError(f"passages is a {type(passages).__name__}; give a list of passages")
    return tuple(_as_passage(index, item, metadata_map or {}) for index, item in enumerate(passages, first))


def copied(value: Any) -> Any:
    """Return a deep copy that shares only immutable parts, and what cannot be copied, such as a lock or a database
    client.

    It is faster than copy.deepcopy for the plain containers that metadata consists of.
    """
    return value if type(value) in IMMUTABLE else _copied(value, {})


def _copied(value: Any, memo: dict[int, Any]) -> Any:
    """memo: copies by the id of their original."""
    if id(value) in memo:
        return memo[id(value)]
    if type(value) in (dict, list):
        memo[id(value)] = twin = value.copy()
        for key, item in value.items() if type(value) is dict else enumerate(value):
            if type(item) not in IMMUTABLE:
                twin[key] = _copied(item, memo)
        return twin
    try:
        return copy.deepcopy(value, memo)
    except REFUSALS:
        return value


def as_number(value: object) -> float | None:
    """Return a score as a float, or None if it is missing or no finite number: unknown is not zero."""
    if value is None or isinstance(value, bool) or not isinstance(value, Real):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def offset_of(passage: Passage) -> int | None:
    """Return where a chunk begins in its document, as splitters write it; None if that is unknown."""
    for name in _OFFSETS:
        value = passage.metadata.get(name)
        if type(value) is int and value >= 0:
            return value
    return None


def _as_passage(index: int, given: object, metadata_map: Mapping[str, str]) -> Passage:
    if isinstance(given, Passage):
        _check_passage(index, given)
        key = metadata_map.get("score") if given.score is None else None
        score = None if key is None else as_number(given.metadata.get(key))
        return given if score is None else replace(given, score=score)
    if isinstance(given, str):
        return Passage(str(index), given)
    if isinstance(given, Mapping):
        return _from_mapping(index, given, metadata_map)
    raise InputError(f"passage {index} is a {type(given).__name__}; give a string, a mapping with 'text', or a Passage")


def _check_passage(index: int, passage: Passage) -> None:
    if not isinstance(passage.text, str):
        raise InputError(f"the text of passage {index} is a {type(passage.text).__name__}; give a string")
    for name in ("title", "file_path", "doc_id"):
        value = getattr(passage, name)
        if value is not None and not isinstance(value, str):
            raise InputError(f"the {name} of passage {index} is {value!r}; give a string or None")
    if isinstance(passage.header_path, str):
        raise InputError(f"the header_path of passage {index} is {passage.header_path!r}; give a tuple of headings")


def _from_mapping(index: int, mapping: Mapping[str, object], metadata_map: Mapping[str, str]) -> Passage:
    text_key = next((key for key in _TEXT_KEYS if isinstance(mapping.get(key), str)), None)
    if text_key is None:
        keys = sorted(map(str, mapping))
        raise InputError(f"passage {index} has the keys {keys}; its text must be a string under 'text'")
    metadata = mapping.get("metadata")
    others = {key: value for key, value in mapping.items() if key not in (text_key, "id", "score", "metadata")}
    if isinstance(metadata, Mapping):
        others = {**metadata, **others}
    identity = mapping.get("id")
    return passage_from_metadata(
        str(index) if identity is None else str(identity),
        str(mapping[text_key]),
        others,
        score=as_number(mapping.get("score")),
        metadata_map=metadata_map,
    )


def _header_path(metadata: Mapping[str, object], key: str | None) -> tuple[str, ...] | None:
    if key is None and _PATH_KEYS.isdisjoint(metadata):  # as most have none
        return None
    levels = tuple(str(metadata[level]) for level in _HEADER_LEVELS if metadata.get(level))
    if levels and key is None:
        return levels
    for name in (key,) if key else _USUAL_KEYS["header_path"]:
        value = metadata.get(name)
        if isinstance(value, str) and value.strip("/ "):
            separator = "/" if value.startswith("/") else " > "
            return tuple(part.strip() for part in value.strip("/ ").split(separator) if part.strip())
        if isinstance(value, Sequence) and not isinstance(value, str | bytes) and value:
            return tuple(map(str, value))
    return None
