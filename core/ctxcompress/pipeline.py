"""The pipeline: composition only, no algorithm of its own."""

from collections.abc import Callable, Iterable, Mapping
from time import perf_counter

from ctxcompress.config import CompressionConfig, Tier
from ctxcompress.metadata import as_passages
from ctxcompress.tokens import TokenCounter
from ctxcompress.types import Compression, Decision, KeptPassage, Passage, Reason, Span, StageStats

__all__ = ["Compressor", "Frame", "compress"]

Frame = Callable[[Passage, str], str]
"""How a kept text of a passage looks where it is finally read. What it adds counts in the budget."""


class Compressor:
    """Compresses passages as `config` says. Holds no state between calls and can be shared by threads."""

    __slots__ = ("config",)

    def __init__(self, config: CompressionConfig | None = None) -> None:
        self.config = config or CompressionConfig()

    def compress(
        self,
        query: str | None,
        passages: Iterable[Passage | str | Mapping[str, object]],
        *,
        max_tokens: int | None = None,
        tier: Tier | None = None,
        frame: Frame | None = None,
    ) -> Compression:
        """What of `passages` answers `query` best within the budget, in source order."""
        config = self.config.with_budget(max_tokens=max_tokens, tier=tier)
        started = perf_counter()
        items = as_passages(passages)
        count = TokenCounter(config.encoding)
        show = frame or (lambda passage, text: text)
        kept: list[KeptPassage] = []
        dropped: list[Decision] = []
        text = ""
        for index, passage in enumerate(items):
            span = Span(0, len(passage.text))
            candidate = config.separator.join([show(k.original, k.text) for k in kept] + [show(passage, passage.text)])
            if count(candidate) <= config.budget:
                text = candidate
                kept.append(KeptPassage(index, passage, passage.text, (span,), count(passage.text), 1.0))
            else:
                dropped.append(Decision(index, passage, (span,), Reason.BUDGET))
        return Compression(
            query=query or "",
            text=text,
            passages=tuple(kept),
            dropped=tuple(dropped),
            tokens=count(text),
            max_tokens=config.budget,
            stages=(StageStats("select", len(items), len(kept), 1e3 * (perf_counter() - started)),),
            input_count=len(items),
            count_original=lambda: count(config.separator.join(show(p, p.text) for p in items)),
        )


def compress(
    query: str | None,
    passages: Iterable[Passage | str | Mapping[str, object]],
    *,
    max_tokens: int | None = None,
    tier: Tier | None = None,
    config: CompressionConfig | None = None,
) -> Compression:
    """Compress `passages` for `query`: see Compressor.compress."""
    return Compressor(config).compress(query, passages, max_tokens=max_tokens, tier=tier)
