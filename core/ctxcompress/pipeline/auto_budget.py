"""The budget that `max_tokens="auto"` gives a query, by its complexity and intent."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from ctxcompress.config.options import CompressionConfig, Tier
from ctxcompress.query.complexity import Complexity, Intent, classify_complexity, classify_intent

__all__ = ["AUTO_LIMITS", "AUTO_MIN_PROBABILITY", "AutoLimits", "resolve_auto_budget"]


class AutoLimits(NamedTuple):
    """The limits for a query."""

    tier: Tier
    top_n: int
    """The number of passages."""


AUTO_LIMITS: Mapping[Complexity, AutoLimits] = MappingProxyType(
    {
        Complexity.SIMPLE: AutoLimits("summary", 20),
        Complexity.MODERATE: AutoLimits("summary", 30),
        Complexity.COMPLEX: AutoLimits("detailed", 50),
    }
)
AUTO_MIN_PROBABILITY: Mapping[Intent, float] = MappingProxyType({Intent.CONCEPTUAL: 0.012, Intent.FACTUAL: 0.015})
"""The probability of being needed below which a segment is dropped, even if it fits. It is higher for facts: in
measurements that kept as much evidence with a fifth fewer tokens."""


def resolve_auto_budget(query: str, config: CompressionConfig) -> CompressionConfig:
    """Return the options with a budget for this query in place of ``max_tokens="auto"``.

    The query's complexity decides the tier and the number of passages. Its intent decides `min_probability`, and
    `adaptive` is set. A smaller `top_n` or a greater `min_probability` of the options stays. Options with any other
    `max_tokens` are returned unchanged.
    """
    if config.max_tokens != "auto":
        return config
    limits = AUTO_LIMITS[classify_complexity(query, language=config.language).level]
    min_probability = AUTO_MIN_PROBABILITY[classify_intent(query, language=config.language).intent]
    return config.with_options(
        tier=limits.tier,
        top_n=min(limits.top_n, config.top_n or limits.top_n),
        adaptive=True,
        min_probability=max(min_probability, config.min_probability),
    )
