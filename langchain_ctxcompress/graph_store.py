"""A store of LangGraph as a place for what was left out of the results of tools."""

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Self

from ctxcompress.agents.left_out import MONTH, as_bytes, check_bounds

if TYPE_CHECKING:
    from langgraph.store.base import BaseStore

__all__ = ["GraphStore"]

_WAIT = 30.0
"""Seconds to wait for the event loop, which may have ended."""
_MOST = 10_000
"""The most texts of a conversation."""


@dataclass(frozen=True, slots=True)
class GraphStore:
    """Keeps texts in a store of LangGraph, under the namespaces ("ctxcompress", "texts" or "entries", conversation).

    max_bytes: the most bytes of the texts of one conversation; the oldest are forgotten first. ttl: the seconds after
    which a text expires; None for never. A store that knows expiry is told, too. clock: returns the time in seconds.

    It has the methods of `LeftOutStore`. Raises ValueError for a wrong value. Its methods raise what the store raises.
    """

    store: "BaseStore"
    max_bytes: int = 20_000_000
    ttl: float | None = MONTH
    clock: Callable[[], float] = time.time
    _loop: asyncio.AbstractEventLoop | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        check_bounds(self.max_bytes, self.ttl)

    def on_loop(self, loop: asyncio.AbstractEventLoop | None) -> Self:
        """Return the same for calls from other threads while this event loop runs, where the store may need it."""
        return replace(self, _loop=loop)

    def put(self, conversation: str, handle: str, text: str, /) -> bool:
        """Keep a text, and return whether it is kept: a text that is larger than the store is not."""
        size = len(as_bytes(text))
        if size > self.max_bytes:
            self.forget(conversation, handle)
            return False
        # The text first: what is listed must be there.
        self._write("texts", conversation, handle, _encoded(text))
        self._write("entries", conversation, handle, {"at": self.clock(), "bytes": size})
        self._make_room(conversation)
        return True

    def get(self, conversation: str, handle: str, /) -> str | None:
        """Return the text; None if there is none or it has expired."""
        entry = self._read("entries", conversation, handle)
        if entry is None or self._is_expired(entry):
            return None
        text = self._read("texts", conversation, handle)
        if text is None:
            return None
        return str(text["text"] if "text" in text else json.loads(text["json"]))

    def handles(self, conversation: str, /) -> list[str]:
        """Return the handles of a conversation, the newest first."""
        return [handle for handle, entry in self._entries(conversation) if not self._is_expired(entry)]

    def forget(self, conversation: str, handle: str | None = None, /) -> None:
        """Forget one text, or all texts of a conversation."""
        for name in [name for name, _ in self._entries(conversation)] if handle is None else [handle]:
            for kind in ("entries", "texts"):
                self._call("delete", _namespace(kind, conversation), name)

    def _make_room(self, conversation: str) -> None:
        total = 0
        for handle, entry in self._entries(conversation):
            total += entry["bytes"]
            if total > self.max_bytes or self._is_expired(entry):
                self.forget(conversation, handle)

    def _entries(self, conversation: str) -> list[tuple[str, Mapping[str, Any]]]:
        """Return the entries of a conversation, the newest first."""
        found = self._call("search", _namespace("entries", conversation), limit=_MOST)
        return sorted(((item.key, item.value) for item in found), key=lambda entry: -entry[1]["at"])

    def _is_expired(self, entry: Mapping[str, Any]) -> bool:
        return self.ttl is not None and bool(entry["at"] + self.ttl <= self.clock())

    def _read(self, kind: str, conversation: str, handle: str) -> Mapping[str, Any] | None:
        item = self._call("get", _namespace(kind, conversation), handle)
        return None if item is None else item.value

    def _write(self, kind: str, conversation: str, handle: str, value: dict[str, Any]) -> None:
        # Not indexed: nobody searches these texts by meaning.
        options: dict[str, Any] = {"index": False}
        if self.store.supports_ttl and self.ttl is not None:
            options["ttl"] = self.ttl / 60
        self._call("put", _namespace(kind, conversation), handle, value, **options)

    def _call(self, method: str, *arguments: Any, **options: Any) -> Any:
        """Call the store, with its asynchronous method if it belongs to an event loop."""
        if self._loop is None:
            return getattr(self.store, method)(*arguments, **options)
        running = getattr(self.store, f"a{method}")(*arguments, **options)
        return asyncio.run_coroutine_threadsafe(running, self._loop).result(_WAIT)


def _namespace(kind: str, conversation: str) -> tuple[str, str, str]:
    """Return the namespace of a conversation: a hash, because its labels may not have every sign."""
    return "ctxcompress", kind, sha256(as_bytes(conversation)).hexdigest()[:32]


def _encoded(text: str) -> dict[str, Any]:
    """Return the text so that a database can store it as JSON: some refuse the character NUL and halves of pairs."""
    is_plain = "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)
    return {"text": text} if is_plain else {"json": json.dumps(text)}
