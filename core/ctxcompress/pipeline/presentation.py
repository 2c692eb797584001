"""How passages are shown: in the format of the options, or in a frame of the caller."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.documents import Document
from ctxcompress.data.passages import Passage, Span, shown
from ctxcompress.data.results import KeptPassage
from ctxcompress.errors import ConfigError
from ctxcompress.render.formats import Entry, Plain, Renderer, renderer
from ctxcompress.select.layout import Layout, Shown
from ctxcompress.select.previews import preview_line
from ctxcompress.text.tokens import Encoding, TokenCounter

__all__ = ["Frame", "OriginalText", "Presentation"]

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
        self, passages: Sequence[Passage], documents: Sequence[Document], count: Callable[[str], int], first: int = 0
    ) -> Layout:
        """Return how the final text shows kept parts of the documents.

        first: the number of passages that the language model already has.
        """
        rendering = self._renderer(self.config.format, count)

        def show(position: int, part: Shown) -> str:
            return rendering.entry(_entry(first + position + 1, passages[part.passage], part))

        frame = _text if isinstance(rendering, Plain) else show
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
        if left is None and isinstance(rendering, Plain):
            return rendering.separator.join([passage.text for passage in passages])
        spans = {n: (Span(0, len(p.text)),) for n, p in enumerate(passages)} if left is None else left
        parts = (Shown(n, shown(passages[n].text, kept), tuple(kept)) for n, kept in sorted(spans.items()))
        entries = (rendering.entry(_entry(n, passages[part.passage], part)) for n, part in enumerate(parts, 1))
        return _join_entries(rendering, entries)

    def _renderer(self, format: str, count: Callable[[str], int] | None = None) -> Renderer:
        separator, frame = self.config.separator, self.frame
        if format == "preview":
            return _Shows("\n", lambda entry: preview_line(entry.passage, entry.text, entry.relevance))
        if frame is not None:
            return _Shows(separator, lambda entry: frame(entry.passage, entry.text))
        return renderer(format, separator, self.query, count or self._count)

    def _count(self, text: str) -> int:
        return TokenCounter(self.config.encoding)(text)  # made only if needed: the encoding may have to be fetched


@dataclass(frozen=True, slots=True)
class _Shows:
    """Renders each passage with a function, and nothing around them."""

    separator: str
    entry: Callable[[Entry], str]
    opening: str = ""
    closing: str = ""


def _text(_: int, part: Shown) -> str:
    return part.text


def _entry(number: int, passage: Passage, part: Shown) -> Entry:
    index, text, spans, markers, is_line, relevance = part
    return Entry(number, passage, text, index, spans, markers, relevance, is_line)


def _join_entries(rendering: Renderer, entries: Iterable[str]) -> str:
    return f"{rendering.opening}{rendering.separator.join(entries)}{rendering.closing}"
