"""How passages are shown where they are finally read: in the format of the options, or in a frame that is given."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from ctxcompress.config import CompressionConfig
from ctxcompress.documents import Document
from ctxcompress.errors import ConfigError
from ctxcompress.render.entry import Entry, Renderer
from ctxcompress.render.renderers import renderer
from ctxcompress.select.layout import Layout, Shown
from ctxcompress.select.previews import preview_line
from ctxcompress.tokens import OriginalText, TokenCounter
from ctxcompress.types import KeptPassage, Passage, Span

__all__ = ["Frame", "as_they_came", "check_frame", "entries", "formatted", "layout_of"]

Frame = Callable[[Passage, str], str]
"""How a kept text of a passage looks where it is finally read. What it adds counts in the budget."""


def check_frame(frame: Frame | None, config: CompressionConfig) -> None:
    """Raises ConfigError where both say how a passage looks."""
    if frame is not None and config.format != "plain":
        raise ConfigError(f"a frame is given with format={config.format!r}, which has headers itself; give one of them")


def layout_of(
    items: Sequence[Passage],
    documents: Sequence[Document],
    config: CompressionConfig,
    query: str,
    frame: Frame | None,
    count: Callable[[str], int],
    first: int = 0,
) -> Layout:
    """How what is kept is shown: in the frame that is given; previews without one as lines; else in the format.

    first: the number of passages that the reader has already.
    """
    texts, separator = [item.text for item in items], config.separator
    if frame is None and config.mode == "preview":
        frame, separator = preview_line, "\n"
    if frame is not None:
        framed = frame
        return Layout(documents, texts, separator, lambda _, shown: framed(items[shown.passage], shown.text), count)
    if config.format == "plain":
        return Layout(documents, texts, separator, lambda _, shown: shown.text, count)
    way = renderer(config.format, separator, query, count)

    def show(position: int, shown: Shown) -> str:
        number, item = first + position + 1, items[shown.passage]
        return way.entry(
            Entry(
                number,
                item,
                shown.text,
                shown.passage,
                shown.spans,
                shown.markers,
                shown.relevance,
                shown.is_line,
            )
        )

    return Layout(documents, texts, way.separator, show, count, envelope=(way.opening, way.closing))


def as_they_came(
    passages: Sequence[Passage], config: CompressionConfig, query: str, frame: Frame | None
) -> OriginalText:
    """The passages as they came, shown as what is kept of them."""
    return OriginalText(partial(_whole, passages, config, query, frame), config.encoding)


def formatted(parts: Iterable[KeptPassage], config: CompressionConfig, query: str) -> str:
    """The final text of what was kept."""
    way = _renderer(config, query)
    return _enveloped(way, [way.entry(Entry.of(number, part)) for number, part in enumerate(parts, 1)])


def entries(parts: Iterable[KeptPassage], config: CompressionConfig) -> list[str]:
    """What of the final text is each passage's."""
    way = _renderer(config, "")
    return [way.entry(Entry.of(number, part)) for number, part in enumerate(parts, 1)]


def _renderer(config: CompressionConfig, query: str) -> Renderer:
    return renderer(config.format, config.separator, query, TokenCounter(config.encoding))


def _enveloped(way: Renderer, shown: Iterable[str]) -> str:
    return f"{way.opening}{way.separator.join(shown)}{way.closing}"


def _whole(passages: Sequence[Passage], config: CompressionConfig, query: str, frame: Frame | None) -> str:
    if frame is not None or config.format == "plain":
        return config.separator.join(frame(item, item.text) if frame else item.text for item in passages)
    way = _renderer(config, query)
    return _enveloped(way, (way.entry(_as_it_came(index, item)) for index, item in enumerate(passages)))


def _as_it_came(index: int, item: Passage) -> Entry:
    return Entry(index + 1, item, item.text, index, (Span(0, len(item.text)),), (), 1.0, is_line=False)
