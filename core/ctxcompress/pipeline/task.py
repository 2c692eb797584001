"""The task of the pipeline: a query, the passages to compress for it, and the options."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.passages import Passage
from ctxcompress.data.results import DeliveredContext, ResultOperations
from ctxcompress.text.language import detect_language

__all__ = ["Frame", "Task", "language_of"]

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
