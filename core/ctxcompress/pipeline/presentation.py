"""How passages are shown where they are finally read: in the format of the options, or in a frame that is given."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.documents import Document
from ctxcompress.data.passages import Passage, Span
from ctxcompress.data.results import KeptPassage
from ctxcompress.data.spans import shown
from ctxcompress.errors import ConfigError
from ctxcompress.pipeline.task import Frame
from ctxcompress.render.formats import renderer
from ctxcompress.render.headers import Entry, Renderer
from ctxcompress.select.layout import Layout, Shown
from ctxcompress.select.previews import preview_line
from ctxcompress.tokens import Encoding, TokenCounter

__all__ = ["Presentation"]


@dataclass(frozen=True, slots=True)
class OriginalText:
    """A text and what counts its tokens, when that is asked for."""

    written: Callable[[Mapping[int, Sequence[Span]] | None], str]
    """What puts the text together: of what is left of the passages, None for all."""
    encoding: Encoding

    @property
    def text(self) -> str:
        """The text, put together anew each time."""
        return self.written(None)

    def tokens(self, left: Mapping[int, Sequence[Span]] | None = None) -> int:
        """The number of tokens, counted anew each time. left: see `CountsTokens`."""
        return TokenCounter(self.encoding)(self.written(left))


@dataclass(frozen=True, slots=True)
class Presentation:
    """The frame that is given, or the lines of previews, or the format. Raises ConfigError for a frame and a format."""

    config: CompressionConfig
    query: str = ""
    frame: Frame | None = None

    def __post_init__(self) -> None:
        if self.frame is not None and self.config.format != "plain":
            raise ConfigError(
                f"a frame is given with format={self.config.format!r}, which has headers itself; give one of them"
            )

    def layout(
        self, items: Sequence[Passage], documents: Sequence[Document], count: Callable[[str], int], first: int
    ) -> Layout:
        """How what is kept of the documents is shown. first: the number of passages that the reader has already."""
        texts, separator, frame = [item.text for item in items], self.config.separator, self.frame
        if frame is None and self.config.mode == "preview":
            frame, separator = preview_line, "\n"
        if frame is not None:
            framed = frame
            return Layout(documents, texts, separator, lambda _, of: framed(items[of.passage], of.text), count)
        if self.config.format == "plain":
            return Layout(documents, texts, separator, lambda _, of: of.text, count)
        way = self._renderer(count)
        envelope = way.opening, way.closing

        def show(position: int, of: Shown) -> str:
            return way.entry(_entry(first + position + 1, items[of.passage], of))

        return Layout(documents, texts, way.separator, show, count, envelope=envelope)

    def of_input(self, passages: Sequence[Passage]) -> OriginalText:
        """The passages as they came, shown as what is kept of them is."""
        return OriginalText(partial(self._of_all, passages), self.config.encoding)

    def entries(self, parts: Iterable[KeptPassage]) -> list[str]:
        """What of the final text is each passage's."""
        way = self._renderer()
        return [way.entry(Entry.of(number, part)) for number, part in enumerate(parts, 1)]

    def formatted(self, parts: Iterable[KeptPassage]) -> str:
        """The final text of what was kept."""
        return _enveloped(self._renderer(), self.entries(parts))

    def _of_all(self, passages: Sequence[Passage], left: Mapping[int, Sequence[Span]] | None) -> str:
        frame, separator = self.frame, self.config.separator
        parts = _whole(passages) if left is None else _left(passages, left)
        if frame is not None or self.config.format == "plain":
            return separator.join(frame(passages[of.passage], of.text) if frame else of.text for of in parts)
        way = self._renderer()
        entries = (way.entry(_entry(number, passages[of.passage], of)) for number, of in enumerate(parts, 1))
        return _enveloped(way, entries)

    def _renderer(self, count: Callable[[str], int] | None = None) -> Renderer:
        config = self.config
        return renderer(config.format, config.separator, self.query, count or self._count)

    def _count(self, text: str) -> int:
        return TokenCounter(self.config.encoding)(text)  # not before it is needed: it may have to be fetched


def _whole(passages: Sequence[Passage]) -> Iterator[Shown]:
    return (Shown(index, item.text, (Span(0, len(item.text)),)) for index, item in enumerate(passages))


def _left(passages: Sequence[Passage], left: Mapping[int, Sequence[Span]]) -> Iterator[Shown]:
    return (Shown(index, shown(passages[index].text, spans), tuple(spans)) for index, spans in sorted(left.items()))


def _entry(number: int, item: Passage, of: Shown) -> Entry:
    index, text, spans, markers, is_line, relevance = of
    return Entry(number, item, text, index, spans, markers, relevance, is_line)


def _enveloped(way: Renderer, entries: Iterable[str]) -> str:
    return f"{way.opening}{way.separator.join(entries)}{way.closing}"
