"""The input of the pipeline, and the budget for a query if `max_tokens` is "auto"."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

from ctxcompress.config.options import CompressionConfig, Tier
from ctxcompress.data.passages import Passage
from ctxcompress.data.results import DeliveredContext, ResultOperations
from ctxcompress.query.complexity import Complexity, Intent, classify_complexity, classify_intent
from ctxcompress.text.language import detect_language

__all__ = ["AUTO_LIMITS", "AUTO_MIN_PROBABILITY", "AutoLimits", "Frame", "Task", "language_of", "resolve_auto_budget"]

Frame = Callable[[Passage, str], str]
"""A function that returns a passage's kept text as the prompt shows it. Text that it adds counts in the budget."""

_LANGUAGE_SAMPLE = 150
"""Characters of each of the first passages that the language is detected from."""


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


@dataclass(frozen=True)  # without slots: the language is a cached property
class Task:
    """A query, the passages to compress for it, and the options."""

    query: str
    input_passages: Sequence[Passage]
    config: CompressionConfig
    operations: ResultOperations
    """How the result renders itself and expands passages later."""
    frame: Frame | None = None
    delivered: DeliveredContext | None = None
    """For a context that is built step by step, the part that the language model already has; None otherwise."""
    passages: Sequence[Passage] = field(init=False)
    """The delivered parts, then the input."""

    def __post_init__(self) -> None:
        before = self.delivered.passages() if self.delivered is not None else ()
        object.__setattr__(self, "passages", (*before, *self.input_passages))

    @property
    def delivered_count(self) -> int:
        """The number of delivered parts, which come first in `passages`."""
        return len(self.passages) - len(self.input_passages)

    @property
    def before(self) -> DeliveredContext:
        """The delivered context, empty if there is none."""
        return self.delivered or DeliveredContext()

    @cached_property
    def language(self) -> str:
        """The language of the options, or the detected language of the texts."""
        return language_of(self.query, self.passages, self.config)


def language_of(query: str, passages: Sequence[Passage], config: CompressionConfig) -> str:
    """Return the language of the options, or detect it from the query and the beginnings of the first passages."""
    beginnings = (passage.text[:_LANGUAGE_SAMPLE] for passage in passages[:3])
    return config.language or detect_language(" ".join([query, *beginnings]))


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
