"""What a tool returned, for whoever wraps tools: it may be what a search found, some other JSON, or just text."""

import json
from functools import partial
from typing import Any

from ctxcompress.config.options import CompressionConfig
from ctxcompress.errors import ConfigError, InputError
from ctxcompress.pipeline.threads import on_thread
from ctxcompress.search.compression import SearchCompression, compress_search_results

__all__ = ["evident_results", "is_json", "on_thread"]

_CHARACTERS = 8
"""Of a token: more than texts have, so that the budget bounds a page."""


def evident_results(
    output: Any, query: str | None, config: CompressionConfig, *, max_tokens: int, complexity: str | None
) -> SearchCompression[Any] | None:
    """`compress_search_results` of what itself says that it is results of a search; None for anything else.

    As many results are kept as fit into `max_tokens`, each within the limits of the query's complexity. One alone, such
    as a page that was read, has the budget to itself. If what stands around the results is over the budget, the limits
    alone hold, and so it may be over the budget.

    Raises TokenizerUnavailable.
    """
    compressed = partial(compress_search_results, output, query, complexity=complexity, config=config)
    try:
        try:
            found = compressed(max_tokens=max_tokens, max_results=max_tokens)
            if found.original_count == 1:
                characters = max_tokens * _CHARACTERS
                found = compressed(max_tokens=max_tokens, max_characters=characters, max_sentences=max_tokens)
        except ConfigError:
            found = compressed()
    except InputError:
        return None
    return found if found.is_evident else None


def is_json(text: str) -> bool:
    """Whether a text is a list or an object of JSON, however deep."""
    if not text.lstrip().startswith(("[", "{")):
        return False
    try:
        json.loads(text)
    except ValueError:
        return False
    except RecursionError:
        return True
    return True
