"""trimwise: sources that share a limit, ranked by words."""

from collections.abc import Callable, Mapping
from typing import Any

REQUIREMENTS = ("trimwise==0.7.0",)


def _start() -> Callable[[Mapping[str, Any]], str]:
    from trimwise import TrimConfig, Trimmer  # type: ignore[import-not-found]

    trimmer = Trimmer(TrimConfig(token_encoding="cl100k_base"))

    def compress(case: Mapping[str, Any]) -> str:
        found = trimmer.trim_context(
            case["titled"], limit=case["budget"], query=case["query"] or None, separator="\n\n"
        )
        return str(found.text)

    return compress


WAYS = {"trimwise": _start}
