"""The budget that `max_tokens="auto"` gives a query, by its complexity and intent."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from ctxcompress.config.options import CompressionConfig, Tier
from ctxcompress.query.complexity import Complexity, Intent, classify_complexity, classify_intent

__all__ = ["MOST", "STOP", "Most", "resolve_auto_budget"]


class Most(NamedTuple):
    """The most that a question gets."""

    tier: Tier
    top_n: int
    """Passages."""


MOST: Mapping[Complexity, Most] = MappingProxyType(
    {
        Complexity.SIMPLE: Most("summary", 20),
        Complexity.MODERATE: Most("summary", 30),
        Complexity.COMPLEX: Most("detailed", 50),
    }
)
STOP: Mapping[Intent, float] = MappingProxyType({Intent.CONCEPTUAL: 0.012, Intent.FACTUAL: 0.015})
"""How likely needed a segment must be to be kept. For a fact the budget need not be filled with what is less likely;
where these were measured, that kept as much evidence in a fifth fewer tokens."""


def resolve_auto_budget(query: str, config: CompressionConfig) -> CompressionConfig:
    """The options with a budget for this question in the place of ``max_tokens="auto"``; others as they are.

    It is a tier and a number of passages by the question's complexity, and `adaptive`, with a threshold by its intent.
    A `top_n` that is smaller and a `min_probability` that is greater stay.
    """
    if config.max_tokens != "auto":
        return config
    most = MOST[classify_complexity(query, language=config.language).level]
    stop = STOP[classify_intent(query, language=config.language).intent]
    return config.with_options(
        tier=most.tier,
        top_n=min(most.top_n, config.top_n or most.top_n),
        adaptive=True,
        min_probability=max(stop, config.min_probability),
    )
