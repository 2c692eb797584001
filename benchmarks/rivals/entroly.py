"""entroly: fragments that share a budget."""

import os
from collections.abc import Callable, Mapping
from typing import Any

REQUIREMENTS = ("entroly==1.0.87", "tiktoken")


def _start() -> Callable[[Mapping[str, Any]], str]:
    os.environ["ENTROLY_DIR"] = os.environ["RIVAL_FOLDER"]  # it remembers what it did
    from entroly import optimize  # type: ignore[import-not-found]

    def compress(case: Mapping[str, Any]) -> str:
        fragments = [{"content": text, "source": str(number)} for number, text in enumerate(case["titled"])]
        return str(optimize(fragments, budget=case["budget"], query=case["query"])["context_text"])

    return compress


WAYS = {"entroly": _start}
