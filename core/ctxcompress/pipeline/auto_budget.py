"""The budget that `max_tokens="auto"` gives a query, by its complexity and intent."""

from collections.abc import Mapping
from types import MappingProxyType

from ctxcompress.config.options import CompressionConfig, Tier
from ctxcompress.query.complexity import Complexity, Intent, classify_complexity, classify_intent

__all__ = ["AUTO_MIN_PROBABILITY", "AUTO_TIERS", "resolve_auto_budget"]

AUTO_TIERS: Mapping[Complexity, Tier] = MappingProxyType(
    {Complexity.SIMPLE: "summary", Complexity.MODERATE: "summary", Complexity.COMPLEX: "detailed"}
)
"""The tier of a query. The number of passages has no limit: with a turn in each of them, the answer is in any."""
AUTO_MIN_PROBABILITY: Mapping[Intent, float] = MappingProxyType({Intent.CONCEPTUAL: 0.012, Intent.FACTUAL: 0.015})
"""The probability of being needed below which a segment is dropped, even if it fits. It is higher for facts: in
measurements that kept as much evidence with a fifth fewer tokens."""


def resolve_auto_budget(query: str, config: CompressionConfig) -> CompressionConfig:
    """Return the options with a budget for this query in place of ``max_tokens="auto"``.

    The query's complexity decides the tier. Its intent decides `min_probability`, and `adaptive` is set. A greater
    `min_probability` of the options stays. Options with any other `max_tokens` are returned unchanged.
    """
    if config.max_tokens != "auto":
        return config
    complexity = classify_complexity(query, language=config.language).level
    min_probability = AUTO_MIN_PROBABILITY[classify_intent(query, language=config.language).intent]
    return config.with_options(
        tier=AUTO_TIERS[complexity],
        adaptive=True,
        min_probability=max(min_probability, config.min_probability),
    )
