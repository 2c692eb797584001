"""How passages are shown: in the format of the options, or in a frame of the caller."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.documents import Document
from ctxcompress.data.passages import Passage, Span, shown
from ctxcompress.data.results import KeptPassage
from ctxcompress.errors import ConfigError
from ctxcompress.pipeline.task import Frame, Task
from ctxcompress.render.formats import Entry, Renderer, renderer
from ctxcompress.select.layout import Layout, Shown
from ctxcompress.select.previews import preview_line
from ctxcompress.text.tokens import Encoding, TokenCounter

__all__ = ["OriginalText", "Presentation"]


_LINE_BREAK = "\n"
_PLAIN = ("plain", "preview")
"""Formats in which the whole input has no headers."""


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

    @classmethod
    def of(cls, task: Task) -> "Presentation":
        """Return how a task shows passages."""
        return cls(task.config, task.query, task.frame)

    @property
    def _has_lines(self) -> bool:
        """Whether each passage is shown as the line of a preview."""
        return self.config.format == "preview"

    def layout(
        self, passages: Sequence[Passage], documents: Sequence[Document], count: Callable[[str], int], first: int = 0
    ) -> Layout:
        """Return how the final text shows kept parts of the documents.

        first: the number of passages that the language model already has.
        """
        texts, separator, frame = [passage.text for passage in passages], self.config.separator, self.frame
        if self._has_lines:
            return Layout(documents, texts, _LINE_BREAK, lambda _, part: _line(passages[part.passage], part), count)
        if frame is not None:
            given = frame
            return Layout(documents, texts, separator, lambda _, part: given(passages[part.passage], part.text), count)
        if self.config.format == "plain":
            return Layout(documents, texts, separator, lambda _, part: part.text, count)
        rendering = self._renderer(count)
        envelope = rendering.opening, rendering.closing

        def show(position: int, part: Shown) -> str:
            return rendering.entry(_entry(first + position + 1, passages[part.passage], part))

        return Layout(documents, texts, rendering.separator, show, count, envelope=envelope)

    def of_input(self, passages: Sequence[Passage]) -> OriginalText:
        """Return the input passages, shown like kept ones."""
        return OriginalText(partial(self._render, passages), self.config.encoding)

    def entries(self, parts: Iterable[KeptPassage]) -> list[str]:
        """Return the part of the final text that belongs to each kept passage."""
        if self._has_lines:
            return [preview_line(part.original, part.text, part.relevance) for part in parts]
        rendering = self._renderer()
        return [rendering.entry(Entry.of(number, part)) for number, part in enumerate(parts, 1)]

    def formatted(self, parts: Iterable[KeptPassage]) -> str:
        """Return the final text of the kept passages."""
        if self._has_lines:
            return _LINE_BREAK.join(self.entries(parts))
        return _join_entries(self._renderer(), self.entries(parts))

    def _render(self, passages: Sequence[Passage], left: Mapping[int, Sequence[Span]] | None) -> str:
        frame, separator = self.frame, self.config.separator
        if left is None and frame is None and self.config.format in _PLAIN:
            return separator.join([passage.text for passage in passages])
        parts = _whole_passages(passages) if left is None else _spans_of_passages(passages, left)
        if frame is not None or self.config.format in _PLAIN:
            return separator.join(frame(passages[part.passage], part.text) if frame else part.text for part in parts)
        rendering = self._renderer()
        entries = (
            rendering.entry(_entry(number, passages[part.passage], part)) for number, part in enumerate(parts, 1)
        )
        return _join_entries(rendering, entries)

    def _renderer(self, count: Callable[[str], int] | None = None) -> Renderer:
        config = self.config
        return renderer(config.format, config.separator, self.query, count or self._count)

    def _count(self, text: str) -> int:
        return TokenCounter(self.config.encoding)(text)  # made only if needed: the encoding may have to be fetched


def _line(passage: Passage, part: Shown) -> str:
    return preview_line(passage, part.text, part.relevance)


def _whole_passages(passages: Sequence[Passage]) -> Iterator[Shown]:
    return (Shown(index, passage.text, (Span(0, len(passage.text)),)) for index, passage in enumerate(passages))


def _spans_of_passages(passages: Sequence[Passage], left: Mapping[int, Sequence[Span]]) -> Iterator[Shown]:
    return (Shown(index, shown(passages[index].text, spans), tuple(spans)) for index, spans in sorted(left.items()))


def _entry(number: int, passage: Passage, part: Shown) -> Entry:
    index, text, spans, markers, is_line, relevance = part
    return Entry(number, passage, text, index, spans, markers, relevance, is_line)


def _join_entries(rendering: Renderer, entries: Iterable[str]) -> str:
    return f"{rendering.opening}{rendering.separator.join(entries)}{rendering.closing}"
