"""The models of frameworks as language models of the core: what the adapters of both frameworks have in common."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ctxcompress.language_model import Answer, LanguageModel, LLMSelector, Prompt
from ctxcompress.lazy_regex import lazy_regex

__all__ = ["Answer", "LLMSelector", "LanguageModel", "Prompt", "identity_of", "reported", "with_model"]

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
