"""The task of the pipeline: a query, passages and options, with the budget "auto"; and how passages are shown: in the
format of the options, or in a frame of the caller."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from types import MappingProxyType
from typing import Protocol

from ctxcompress.config.options import CompressionConfig, Tier
from ctxcompress.data.documents import Document
from ctxcompress.data.passages import Passage, Span, shown
from ctxcompress.data.results import KeptPassage, ResultOperations
from ctxcompress.errors import ConfigError
from ctxcompress.guarded import called
from ctxcompress.language_model import LLMSelector
from ctxcompress.pipeline.analysis import Analyser, AnalysisOptions
from ctxcompress.plugins import part_of
from ctxcompress.query.complexity import Complexity, Intent, classify_complexity, classify_intent
from ctxcompress.reduce.reduction import DeliveredTexts
from ctxcompress.render.formats import RENDERERS, Entry, Renderer, Shows, as_it_is, renderer
from ctxcompress.select.layout import Layout, Shown
from ctxcompress.select.previews import preview_line
from ctxcompress.text.language import detect_language
from ctxcompress.text.tokens import Encoding, TokenCounter

__all__ = [
    "Delivered",
    "DeliveredContext",
    "Frame",
    "OriginalText",
    "Presentation",
    "Task",
    "language_of",
    "resolve_auto_budget",
]

Frame = Callable[[Passage, str], str]
"""A function that returns a passage's kept text as the prompt shows it. Text that it adds counts in the budget.

Results are cached if it has a `description`: all that it adds to the passages of the call; None if that cannot be
said."""


@dataclass(frozen=True, slots=True)
class OriginalText:
    """The text of the whole input, rendered and counted on demand."""

    render: Callable[[Mapping[int, Sequence[Span]] | None], str]
    """Renders the given spans of the passages, or the whole input for None."""
    encoding: Encoding

    @property
    def text(self) -> str:
        """The text of the whole input, rendered each time."""
        return self.render(None)

    def tokens(self, left: Mapping[int, Sequence[Span]] | None = None) -> int:
        """Count the tokens, each time anew. left: see `CountsTokens.tokens`."""
        return TokenCounter(self.encoding)(self.render(left))


@dataclass(frozen=True, slots=True)
class Presentation:
    """How passages are shown: in the frame, as preview lines, or in the format of the options.

    Raises ConfigError for a frame together with a format that is not plain.
    """

    config: CompressionConfig
    query: str = ""
    frame: Frame | None = None

    def __post_init__(self) -> None:
        if self.frame is not None and self.config.format != "plain":
            raise ConfigError(
                f"a frame is given with format={self.config.format!r}, which adds headers of its own; give one of them"
            )

    def layout(
        self, passages: Sequence[Passage], documents: Sequence[Document], count: TokenCounter, first: int = 0
    ) -> Layout:
        """Return how the final text shows kept parts of the documents.

        first: the number of passages that the language model already has.
        """
        rendering = self._renderer(self.config.format, count)

        def show(position: int, part: Shown) -> str:
            return rendering.entry(_entry(first + position + 1, passages[part.passage], part))

        frame = (lambda _, part: part.text) if rendering.entry is as_it_is else show
        envelope = rendering.opening, rendering.closing
        return Layout(documents, [p.text for p in passages], rendering.separator, frame, count, envelope=envelope)

    def of_input(self, passages: Sequence[Passage]) -> OriginalText:
        """Return the input passages, shown like kept ones; in a preview, plain."""
        return OriginalText(partial(self._render, passages), self.config.encoding)

    def entries(self, parts: Iterable[KeptPassage]) -> list[str]:
        """Return the part of the final text that belongs to each kept passage."""
        rendering = self._renderer(self.config.format)
        return [rendering.entry(Entry.of(number, part)) for number, part in enumerate(parts, 1)]

    def formatted(self, parts: Iterable[KeptPassage]) -> str:
        """Return the final text of the kept passages."""
        return _join_entries(self._renderer(self.config.format), self.entries(parts))

    def _render(self, passages: Sequence[Passage], left: Mapping[int, Sequence[Span]] | None) -> str:
        rendering = self._renderer("plain" if self.config.format == "preview" else self.config.format)
        if left is None and rendering.entry is as_it_is:
            return rendering.separator.join([passage.text for passage in passages])
        spans = {n: (Span(0, len(p.text)),) for n, p in enumerate(passages)} if left is None else left
        parts = (Shown(n, shown(passages[n].text, kept), tuple(kept)) for n, kept in sorted(spans.items()))
        entries = (rendering.entry(_entry(n, passages[part.passage], part)) for n, part in enumerate(parts, 1))
        return _join_entries(rendering, entries)

    def _renderer(self, format: str, count: Callable[[str], int] | None = None) -> Renderer:
        separator, frame = self.config.separator, self.frame
        if format == "preview":
            return Shows("\n", lambda entry: preview_line(entry.passage, entry.text, entry.relevance))
        if frame is not None:
            return Shows(separator, lambda entry: frame(entry.passage, entry.text))
        # The counter is made only if needed: the encoding may have to be fetched.
        counter = count or (lambda text: TokenCounter(self.config.encoding)(text))
        make = partial(renderer, format, separator, self.query, counter)
        return make() if format in RENDERERS else _guarded(format, make)


def _guarded(format: str, make: Callable[[], Renderer]) -> Renderer:
    """Return the renderer of a package. What it raises becomes a PluginError."""
    part = part_of("ctxcompress.renderers", format)
    made = called(part, make)
    return Shows(made.separator, lambda entry: called(part, partial(made.entry, entry)), made.opening, made.closing)


def _entry(number: int, passage: Passage, part: Shown) -> Entry:
    index, text, spans, markers, is_line, relevance = part
    return Entry(number, passage, text, index, spans, markers, relevance, is_line)


def _join_entries(rendering: Renderer, entries: Iterable[str]) -> str:
    return f"{rendering.opening}{rendering.separator.join(entries)}{rendering.closing}"


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


@dataclass(frozen=True, slots=True)
class DeliveredContext:
    """The context that the language model already has."""

    text: str = ""
    parts: Sequence[KeptPassage] = ()
    """The kept passages that make up the text."""


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
    operations: Callable[[CompressionConfig], ResultOperations]
    """Makes what the result renders itself and expands passages with later."""
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
