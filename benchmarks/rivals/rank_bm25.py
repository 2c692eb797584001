"""The plain baseline of lib/baseline.py: sentences, ranked by rank_bm25."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

REQUIREMENTS = ("rank-bm25==0.2.2", "numpy", "tiktoken")


def _start() -> Callable[[Mapping[str, Any]], str]:
    sys.path.append(str(Path(__file__).parents[1]))
    import tiktoken
    from lib.baseline import RankedSentences

    encode = tiktoken.get_encoding("cl100k_base").encode_ordinary

    def compress(case: Mapping[str, Any]) -> str:
        return RankedSentences.of(case["query"], case["texts"]).within(case["budget"], lambda text: len(encode(text)))

    return compress


WAYS = {"rank_bm25": _start}
