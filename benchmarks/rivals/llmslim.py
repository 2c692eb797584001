"""llmslim: documents that share a ratio, which is the budget's share of their tokens."""

from collections.abc import Callable, Mapping
from typing import Any

REQUIREMENTS = ("llmslim==0.11.2", "tiktoken")
_OF_BUDGET = 0.96
"""The share of the budget that is asked for, because it takes more than it is asked for."""


def _start() -> Callable[[Mapping[str, Any]], str]:
    import tiktoken
    from llmslim import compress_documents  # type: ignore[import-not-found]

    encode = tiktoken.get_encoding("cl100k_base").encode_ordinary

    def compress(case: Mapping[str, Any]) -> str:
        tokens = sum(len(encode(text)) for text in case["titled"])
        ratio = min(1.0, _OF_BUDGET * case["budget"] / max(tokens, 1))
        found = compress_documents(case["titled"], query=case["query"], target_ratio=ratio)
        return "\n\n".join(kept.compressed_text for kept in found if kept.compressed_text)

    return compress


WAYS = {"llmslim": _start}
