"""contextpress: turns of a conversation, the last of them the question. It rewrites sentences, and drops old turns."""

from collections.abc import Callable, Mapping
from typing import Any

REQUIREMENTS = ("contextpress==0.7.8",)


def _start() -> Callable[[Mapping[str, Any]], str]:
    from contextpress import ContextManager  # type: ignore[import-not-found]

    manager = ContextManager(type="rag_doc", compression="high")

    def compress(case: Mapping[str, Any]) -> str:
        *turns, question = [{"role": "user", "content": text} for text in (*case["titled"], case["query"])]
        budget = case["budget"] + manager.estimate_tokens([question])
        *kept, _ = manager.compress([*turns, question], token_budget=budget)
        return "\n\n".join(turn["content"] for turn in kept)

    return compress


WAYS = {"contextpress": _start}
