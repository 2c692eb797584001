"""The state of a context that is built step by step, and the plain data that it is saved as."""

import hashlib
import json
import math
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from threading import Lock
from typing import Any

import numpy as np

from ctxcompress.agents.delivered_memory import DeliveredMemory
from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.metadata import as_number
from ctxcompress.data.passages import Marker, Passage, Span, inverse, shown
from ctxcompress.data.results import Decision, KeptPassage, Reason
from ctxcompress.encoders.vectors import as_numbers
from ctxcompress.errors import ConfigError, InputError
from ctxcompress.pipeline.task import DeliveredContext
from ctxcompress.text.tokens import TokenCounter

__all__ = ["ContextState", "RecentStates", "plain_data"]

_TYPE, _VERSION = "ctxcompress.context", 1
_REMEDY = "give one that to_state() returned, unchanged, or begin a new context"
_RECENT = 16
"""States: those of the last steps of a few conversations."""
_UNREADABLE = (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, RecursionError)
"""What reading data of the wrong shape raises."""


@dataclass(frozen=True, slots=True)
class ContextState:
    """Everything that a context knows. Adding to it makes a new state."""

    delivered: DeliveredMemory = field(default_factory=DeliveredMemory)
    tokens: int = 0
    all_passages: tuple[Passage, ...] = ()
    """All passages that were ever added."""
    dropped_by_retriever: tuple[Decision, ...] = ()
    """What each retrieval's own scores and limits dropped."""
    queries: tuple[str, ...] = ()

    def with_passages(self, passages: Iterable[Passage], query: str) -> "ContextState":
        """Return the state with the passages and the query of an add."""
        is_new = bool(query.strip()) and query not in self.queries
        queries = (*self.queries, query) if is_new else self.queries
        return replace(self, all_passages=(*self.all_passages, *passages), queries=queries)

    def to_data(self, config: CompressionConfig) -> dict[str, Any]:
        """Return the state as data that JSON can hold, with a checksum. config: the options of the context."""
        context = self.delivered.context
        data = {
            "type": _TYPE,
            "version": _VERSION,
            "options": _options(config),
            "text": context.text,
            "tokens": int(self.tokens),
            "queries": list(self.queries),
            "passages": list(map(_passage_data, self.all_passages)),
            "parts": list(map(_part_data, context.parts)),
            "dropped": [[found.index, str(found.reason)] for found in self.dropped_by_retriever],
        }
        return {**data, "checksum": _checksum(data)}

    @classmethod
    def from_data(cls, data: object, config: CompressionConfig) -> "ContextState":
        """Return the state that `to_data` wrote.

        Raises InputError for anything else, and ConfigError if options that decide what is in a context are not those
        of `config`.
        """
        given = _checked(data)
        for name, value in _options(config).items():
            if (saved := given["options"].get(name)) != value:
                raise ConfigError(f"{name} is {value!r}, but the context was built with {saved!r}; give the same")
        try:
            state = cls._read(given)
        except _UNREADABLE as error:
            raise InputError(f"the state of a context cannot be read ({error!r}); {_REMEDY}") from error
        tokens = TokenCounter(config.encoding)(state.delivered.context.text)
        if tokens != state.tokens:
            raise ConfigError(
                f"the context has {tokens} tokens by encoding={config.encoding!r}, but {state.tokens} by the one "
                "that it was built with; give that one"
            )
        if tokens > config.budget:
            raise ConfigError(f"max_tokens is {config.budget}; the context has {tokens} tokens: give at least as many")
        return state

    @classmethod
    def _read(cls, data: Mapping[str, Any]) -> "ContextState":
        passages = tuple(map(_passage, data["passages"]))
        parts = tuple(_part(part, passages) for part in data["parts"])
        dropped = (
            Decision(index, passages[index], inverse((), len(passages[index].text)), Reason(reason))
            for index, reason in data["dropped"]
        )
        delivered = DeliveredMemory().extended(DeliveredContext(_text(data["text"]), parts))
        return cls(delivered, data["tokens"], passages, tuple(dropped), tuple(map(_text, data["queries"])))


class RecentStates:
    """The states that were saved last, by checksum, so that loading them takes no time. Threads can share it."""

    __slots__ = ("_lock", "_states")

    def __init__(self) -> None:
        self._states: OrderedDict[str, ContextState] = OrderedDict()
        self._lock = Lock()

    def load(self, data: object, config: CompressionConfig) -> ContextState:
        """Return the state that `to_data` wrote: see `ContextState.from_data`."""
        checksum = data.get("checksum") if isinstance(data, Mapping) else None
        with self._lock:
            known = self._states.get(checksum) if isinstance(checksum, str) else None
        return known or ContextState.from_data(data, config)

    def save(self, state: ContextState, config: CompressionConfig) -> dict[str, Any]:
        """Return the state as data, and remember it."""
        data = state.to_data(config)
        with self._lock:
            self._states[data["checksum"]] = state
            while len(self._states) > _RECENT:
                self._states.popitem(last=False)
        return data


def plain_data(value: object) -> Any:
    """Return `value` as data that JSON can hold. What JSON has no form for, such as a date, becomes text."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)  # of an enum, its value and not its name
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value) if math.isfinite(float(value)) else str(value)
    if isinstance(value, Mapping):
        return {str(key): plain_data(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return list(map(plain_data, value))
    return str(value)


def _checked(data: object) -> Mapping[str, Any]:
    """Return the data if it is an undamaged state of this version."""
    if not isinstance(data, Mapping) or data.get("type") != _TYPE:
        kind = f" of type {data.get('type')!r}" if isinstance(data, Mapping) else ""
        raise InputError(f"a {type(data).__name__}{kind} is no state of a context; {_REMEDY}")
    if data.get("version") != _VERSION:
        raise InputError(
            f"the state of a context has version {data.get('version')!r}, but this is for version {_VERSION}; "
            "load it with the version of ctxcompress that saved it, or begin a new context"
        )
    content = {key: value for key, value in data.items() if key != "checksum"}
    try:
        is_whole = data.get("checksum") == _checksum(content)
    except _UNREADABLE:
        is_whole = False
    if not is_whole:
        raise InputError(f"the state of a context is damaged: its checksum is not that of its content; {_REMEDY}")
    return data


def _options(config: CompressionConfig) -> dict[str, object]:
    """Return the options that decide how the text of a context reads and counts."""
    encoding = config.encoding if isinstance(config.encoding, str) else None
    return {"encoding": encoding, "format": config.format, "separator": config.separator}


def _checksum(data: Mapping[str, Any]) -> str:
    text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _passage_data(passage: Passage) -> dict[str, Any]:
    numbers = None if passage.embedding is None else as_numbers(passage.embedding)
    is_usable = numbers is not None and bool(np.isfinite(numbers).all())
    data = {
        "id": passage.id,
        "text": passage.text,
        "score": as_number(passage.score),
        "doc_id": passage.doc_id,
        "file_path": passage.file_path,
        "title": passage.title,
        "header_path": None if passage.header_path is None else list(map(str, passage.header_path)),
        "metadata": plain_data(passage.metadata) or None,
        "embedding": numbers.tolist() if numbers is not None and is_usable else None,
    }
    return {name: value for name, value in data.items() if value is not None}


def _passage(data: Mapping[str, Any]) -> Passage:
    path = data.get("header_path")
    fields: dict[str, Any] = {**data, "header_path": None if path is None else tuple(path)}
    return Passage(
        _text(fields.pop("id")), _text(fields.pop("text")), **{**fields, "metadata": fields.get("metadata", {})}
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{type(value).__name__} in place of a text")
    return value


def _part_data(part: KeptPassage) -> dict[str, Any]:
    return {
        "index": part.index,
        "spans": [[int(start), int(end)] for start, end in part.spans],
        "tokens": int(part.tokens),
        "relevance": float(part.relevance),
        **({"stands_for": list(part.stands_for)} if part.stands_for else {}),
        **({"markers": [[int(marker.before), marker.text] for marker in part.markers]} if part.markers else {}),
        **({"line": part.text} if part.metadata_only else {}),
    }


def _part(data: Mapping[str, Any], passages: Sequence[Passage]) -> KeptPassage:
    original = passages[data["index"]]
    spans = tuple(Span(start, end) for start, end in data["spans"])
    markers = tuple(Marker(before, text) for before, text in data.get("markers", ()))
    is_line = "line" in data
    return KeptPassage(
        data["index"],
        original,
        data["line"] if is_line else shown(original.text, spans, markers),
        spans,
        data["tokens"],
        data["relevance"],
        tuple(data.get("stands_for", ())),
        markers,
        is_line,
    )
