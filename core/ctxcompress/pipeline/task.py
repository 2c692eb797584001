"""What the pipeline is given to do, and the budget that fits a question where the options leave it open."""

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

__all__ = ["MOST", "STOP", "Frame", "Most", "Task", "language_of", "resolve_auto_budget"]

Frame = Callable[[Passage, str], str]
"""How a kept text of a passage looks in the prompt. What the frame adds counts in the budget."""

_LANGUAGE_SAMPLE = 150
"""Characters of each of the first passages that tell the language."""


@dataclass(frozen=True)  # without slots: what follows from the rest is computed once
class Task:
    """A question, the passages to compress for it, and the options."""

    query: str
    input_passages: Sequence[Passage]
    config: CompressionConfig
    operations: ResultOperations
    """What the result can do afterwards: render itself, cite, expand."""
    frame: Frame | None = None
    delivered: DeliveredContext | None = None
    """What the language model was given before, in a context that is built step by step; None for a single context."""
    passages: Sequence[Passage] = field(init=False)
    """The delivered parts, then the input."""

    def __post_init__(self) -> None:
        before = self.delivered.passages() if self.delivered is not None else ()
        object.__setattr__(self, "passages", (*before, *self.input_passages))

    @property
    def held(self) -> int:
        """The number of delivered parts."""
        return len(self.passages) - len(self.input_passages)

    @property
    def before(self) -> DeliveredContext:
        """What was delivered, which may be nothing."""
        return self.delivered or DeliveredContext()

    @cached_property
    def language(self) -> str:
        """The language that the options name, or that the texts are in."""
        return language_of(self.query, self.passages, self.config)


def language_of(query: str, passages: Sequence[Passage], config: CompressionConfig) -> str:
    """Return the language of the options, or that of the question and the beginnings of the first passages."""
    beginnings = (passage.text[:_LANGUAGE_SAMPLE] for passage in passages[:3])
    return config.language or detect_language(" ".join([query, *beginnings]))


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
