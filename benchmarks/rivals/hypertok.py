"""hypertok: the documents joined into one, which keeps more than a budget split among them."""

from collections.abc import Callable, Mapping
from typing import Any

REQUIREMENTS = ("hypertok==0.1.0", "tiktoken")


def _start() -> Callable[[Mapping[str, Any]], str]:
    from hypertok import HyperToken  # type: ignore[import-not-found]

    optimizer = HyperToken(preset="rag", tokenizer="tiktoken:cl100k_base")

    def compress(case: Mapping[str, Any]) -> str:
        joined = "\n\n".join(case["texts"])
        return str(optimizer.optimize(joined, budget=case["budget"], query=case["query"]).text)

    return compress


WAYS = {"hypertok": _start}
