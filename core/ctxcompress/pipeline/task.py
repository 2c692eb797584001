"""The task of the pipeline: a query, passages and options, with the budget "auto"."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Protocol

from ctxcompress.config.options import CompressionConfig, Tier
from ctxcompress.data.passages import Passage, Span
from ctxcompress.data.results import DeliveredContext, ResultOperations
from ctxcompress.language_model import LLMSelector
from ctxcompress.pipeline.analysis import Analyser, AnalysisOptions
from ctxcompress.pipeline.presentation import Frame, OriginalText, Presentation
from ctxcompress.query.complexity import Complexity, Intent, classify_complexity, classify_intent
from ctxcompress.reduce.reduction import DeliveredTexts
from ctxcompress.text.language import detect_language
from ctxcompress.text.tokens import Encoding, TokenCounter

__all__ = [
    "AUTO_ADAPTIVE",
    "AUTO_TIERS",
    "Delivered",
    "Task",
    "language_of",
    "resolve_auto_budget",
]

AUTO_TIERS: Mapping[Complexity, Tier] = MappingProxyType(
    {Complexity.SIMPLE: "summary", Complexity.MODERATE: "summary", Complexity.COMPLEX: "detailed"}
)
"""The tier of a query. The number of passages has no limit: with a turn in each of them, the answer is in any."""
AUTO_ADAPTIVE: Mapping[Intent, float] = MappingProxyType({Intent.CONCEPTUAL: 0.012, Intent.FACTUAL: 0.015})
"""The probability of being needed below which a segment is dropped, even if it fits. It is higher for facts: in
measurements that kept as much evidence with a fifth fewer tokens."""


def resolve_auto_budget(query: str, config: CompressionConfig) -> CompressionConfig:
    """Return the options with a budget for this query in place of ``max_tokens="auto"``.

    The query's complexity decides the tier, and its intent `adaptive`; a greater `adaptive` of the options stays.
    Options with any other `max_tokens` are returned unchanged.
    """
    if config.max_tokens != "auto":
        return config
    complexity = classify_complexity(query, language=config.language).level
    least = AUTO_ADAPTIVE[classify_intent(query, language=config.language).intent]
    return config.with_options(tier=AUTO_TIERS[complexity], adaptive=max(least, config.adaptive))


class Delivered(Protocol):
    """What is known of the part of a context that the language model already has."""

    @property
    def context(self) -> DeliveredContext:
        """Its text and parts."""

    @property
    def passages(self) -> Sequence[Passage]:
        """The parts as passages."""

    @property
    def texts(self) -> DeliveredTexts:
        """Their texts, to find duplicates and overlaps."""

    def counter(self, encoding: Encoding) -> TokenCounter:
        """Return a counter for texts that begin with the delivered one."""

    def runs(self) -> Collection[int]:
        """Return the hashes of the runs of words of the text."""

    def spans_of(self, passages: Iterable[tuple[int, Passage]]) -> Mapping[int, tuple[Span, ...]]:
        """Return the delivered spans by number, for numbered passages whose original text was delivered before."""

    def unit_texts(self, analyser: Analyser, options: AnalysisOptions) -> Collection[str]:
        """Return the texts of all delivered sentences, tables and code blocks: see `select.repetition`."""


_LANGUAGE_SAMPLE = 150
"""Characters of each of the first passages that the language is detected from."""


@dataclass(frozen=True)  # without slots: it has cached properties
class Task:
    """A query, the passages to compress for it, and the options."""

    query: str
    input_passages: Sequence[Passage]
    config: CompressionConfig
    operations: ResultOperations
    """How the result renders itself and expands passages later."""
    frame: Frame | None = None
    delivered: Delivered | None = None
    """For a context that is built step by step, the part that the language model already has; None otherwise."""
    queries: tuple[str, ...] = ()
    """The queries that `query` joins, each of which wants an answer of its own; without any, it is a single one."""
    ranked: Sequence[float] | None = None
    """How good a search of everything found each input passage, above 0, where 1.0 is the best: so much is its text
    worth. None where the search is not known to rank well: then texts alone tell."""
    passages: Sequence[Passage] = field(init=False)
    """The delivered parts, then the input."""

    def __post_init__(self) -> None:
        before = self.delivered.passages if self.delivered else ()
        object.__setattr__(self, "passages", (*before, *self.input_passages))
        object.__setattr__(self, "queries", self.queries or (self.query,))

    @property
    def delivered_count(self) -> int:
        """The number of delivered parts, which come first in `passages`."""
        return len(self.passages) - len(self.input_passages)

    @property
    def delivered_context(self) -> DeliveredContext:
        """The context that was delivered before, empty if there is none."""
        return self.delivered.context if self.delivered else DeliveredContext()

    @property
    def asks_if_fits(self) -> bool:
        """Whether the language model of the options is asked even if everything fits."""
        selector = LLMSelector.of(self.config.llm)
        return selector is not None and selector.ask_if_fits

    @property
    def drops_what_fits(self) -> bool:
        """Whether parts of passages may be dropped even if everything fits."""
        return self.config.format == "preview" or self.config.adaptive is not False or self.asks_if_fits

    @cached_property
    def presentation(self) -> Presentation:
        """How passages are shown. Raises ConfigError for a frame together with a format that is not plain."""
        return Presentation(self.config, self.query, self.frame)

    @cached_property
    def original(self) -> OriginalText:
        """The input, shown like the final text."""
        return self.presentation.of_input(self.input_passages)

    @cached_property
    def language(self) -> str:
        """The language of the options, or the detected language of the texts."""
        return language_of(self.query, self.passages, self.config)


def language_of(query: str, passages: Sequence[Passage], config: CompressionConfig) -> str:
    """Return the language of the options, or detect it from the query and the beginnings of the first passages."""
    beginnings = (passage.text[:_LANGUAGE_SAMPLE] for passage in passages[:3])
    return config.language or detect_language(" ".join([query, *beginnings]))
