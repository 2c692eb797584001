"""barber-llm: keeps a share of the chunks of a message, and promises no budget."""

from collections.abc import Callable, Mapping
from typing import Any

REQUIREMENTS = ("barber-llm==0.7.0", "tiktoken")


def _start() -> Callable[[Mapping[str, Any]], str]:
    import tiktoken
    from barber import trim  # type: ignore[import-not-found]

    encode = tiktoken.get_encoding("cl100k_base").encode_ordinary

    def compress(case: Mapping[str, Any]) -> str:
        context = "\n\n".join(case["texts"])
        messages = [{"role": "user", "content": context}, {"role": "user", "content": case["query"]}]
        keep = min(1.0, case["budget"] / max(len(encode(context)), 1))
        return str(trim(messages, keep=keep).messages[0]["content"])

    return compress


WAYS = {"barber-llm (no budget)": _start}
