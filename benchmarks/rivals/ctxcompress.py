"""ctxcompress itself, as the interpreter of the command has it."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

REQUIREMENTS = ()


def _with(**options: Any) -> Callable[[Mapping[str, Any]], str]:
    from ctxcompress import CompressionConfig, Compressor, Passage

    @cache
    def compressor(budget: int) -> Compressor:
        return Compressor(CompressionConfig(max_tokens=budget, encoding="cl100k_base", **options))

    def compress(case: Mapping[str, Any]) -> str:
        pairs = zip(case["texts"], case["titles"], strict=True)
        passages = [Passage(str(number), text, title=title or None) for number, (text, title) in enumerate(pairs)]
        return compressor(case["budget"]).compress(case["query"], passages).text

    return compress


def _static() -> Callable[[Mapping[str, Any]], str]:
    from ctxcompress.encoders import StaticVectors

    return _with(encoder=StaticVectors())


WAYS = {
    "ctxcompress": _with,
    "ctxcompress, `adaptive=True`": lambda: _with(adaptive=True),
    "ctxcompress, `StaticVectors()`": _static,
}
