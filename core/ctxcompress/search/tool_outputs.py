"""Reading a tool's output, for code that wraps tools: search results, other JSON or plain text."""

import json
from functools import partial
from typing import Any

from ctxcompress.config.options import CompressionConfig
from ctxcompress.errors import ConfigError, InputError
from ctxcompress.pipeline.threads import on_thread
from ctxcompress.search.compression import SearchCompression, compress_search_results

__all__ = ["evident_results", "is_json", "on_thread"]

_CHARACTERS_PER_TOKEN = 8
"""More than texts really have, so that a page is limited by its tokens and not by its characters."""


def evident_results(
    output: Any, query: str | None, config: CompressionConfig, *, max_tokens: int, complexity: str | None
) -> SearchCompression[Any] | None:
    """Compress a tool's output if its shape shows that it is search results; return None for anything else.

    As many results are kept as fit into `max_tokens`, each within the limits of the query's complexity. A single
    result, such as a fetched page, may take the whole budget. If everything around the results already exceeds the
    budget, only the limits hold, and the output may be over the budget.

    Raises TokenizerUnavailable.
    """
    compressed = partial(compress_search_results, output, query, complexity=complexity, config=config)
    try:
        try:
            found = compressed(max_tokens=max_tokens, max_results=max_tokens)
            if found.original_count == 1:
                characters = max_tokens * _CHARACTERS_PER_TOKEN
                found = compressed(max_tokens=max_tokens, max_characters=characters, max_sentences=max_tokens)
        except ConfigError:
            found = compressed()
    except InputError:
        return None
    return found if found.is_evident else None


def is_json(text: str) -> bool:
    """Whether a text is a JSON list or object, however deeply nested."""
    if not text.lstrip().startswith(("[", "{")):
        return False
    try:
        json.loads(text)
    except ValueError:
        return False
    except RecursionError:
        return True
    return True
