"""How much of a context window a prompt takes: its system prompt, messages and tool schemas."""

import json
from collections.abc import Iterable

from ctxcompress.tokens import Encoding, TokenCounter

__all__ = ["Encoding", "count_prompt"]

_AROUND = 4
"""Tokens that chat models put around each message and each schema."""


def count_prompt(texts: Iterable[str], schemas: Iterable[object], encoding: Encoding) -> int:
    """Return about how many tokens a model reads for these messages and these tools.

    Each provider writes messages and schemas in its own way, so a few tokens are added for each, and a schema counts as
    compact JSON. Images and other media do not count. texts: of the messages, with the arguments of tool calls.

    Raises TokenizerUnavailable.
    """
    count = TokenCounter(encoding)
    written = (json.dumps(schema, ensure_ascii=False, separators=(",", ":"), default=str) for schema in schemas)
    return sum(count(text) + _AROUND for part in (texts, written) for text in part)
