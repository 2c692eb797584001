"""The models of frameworks: as language models of the core, and how much of what they can read a prompt takes."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from hashlib import blake2b
from typing import Any

from ctxcompress.language_model import Answer, LLMSelector, Prompt
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.text.tokens import Encoding, TokenCounter

__all__ = [
    "Answer",
    "Encoding",
    "LLMSelector",
    "Prompt",
    "RememberedCounts",
    "count_prompt",
    "identity_of",
    "reported",
    "with_model",
    "with_window",
]

_ADDRESS = lazy_regex(r"\bat 0x[0-9a-fA-F]")
"""What an object without a description of its own looks like: another process may have another one there."""


def with_model(llm: object, wrapped: Callable[[Any], Any]) -> Any:
    """Return the value of the option `llm` with its model wrapped, also within an `LLMSelector`."""
    return replace(llm, model=wrapped(llm.model)) if isinstance(llm, LLMSelector) else wrapped(llm)


def identity_of(description: object) -> str:
    """Return the identity of a model with this description, which has its name and parameters.

    It is "" if the description does not say all: then answers are not cached.
    """
    try:
        written = json.dumps(description, sort_keys=True, default=repr)
    except (TypeError, ValueError, RecursionError):
        return ""
    return "" if _ADDRESS.search(written) else written


def reported(tokens: object) -> int | None:
    """Return the number of tokens that a framework reports; None if it reports none."""
    return tokens if isinstance(tokens, int) and tokens > 0 else None


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
