"""The context window of a model, and how much of it a prompt takes: its system prompt, messages and tool schemas."""

import json
from collections.abc import Callable, Iterable, Mapping
from hashlib import blake2b
from typing import Any

from ctxcompress.text.tokens import Encoding, TokenCounter

__all__ = ["Encoding", "RememberedCounts", "count_prompt", "with_window"]

_REMEMBERED = 20_000
"""Texts whose tokens are remembered."""
_AROUND = 4
"""Tokens that chat models put around each message and each schema."""


def with_window(options: Mapping[str, Any], window_of: Callable[[object], int | None]) -> dict[str, Any]:
    """Return options with the context window of `model` in its place, unless `context_window` is given."""
    given = {name: value for name, value in options.items() if name != "model"}
    model = options.get("model")
    if model is not None and given.get("context_window") is None:
        given["context_window"] = window_of(model)
    return given


def count_prompt(texts: Iterable[str], schemas: Iterable[object], encoding: Encoding) -> int:
    """Return about how many tokens a model reads for these messages and these tools.

    Each provider writes messages and schemas in its own way, so a few tokens are added for each, and a schema counts as
    compact JSON. Images and other media do not count. texts: of the messages, with the arguments of tool calls.

    Raises TokenizerUnavailable.
    """
    count = TokenCounter(encoding)
    written = (json.dumps(schema, ensure_ascii=False, separators=(",", ":"), default=str) for schema in schemas)
    return sum(count(text) + _AROUND for part in (texts, written) for text in part)


class RememberedCounts:
    """Counts tokens, and remembers the counts by a digest, because all messages are counted before each step."""

    def __init__(self, count: Callable[[str], int]) -> None:
        self._count = count
        self._known: dict[bytes, int] = {}

    def __call__(self, text: str) -> int:
        if not text:
            return 0
        key = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            found = self._known[key] = self._count(text)
        return found
