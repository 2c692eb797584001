"""The fifth step: the final text in the format of the options or in a frame of the caller, and what became of each
passage."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.documents import Document, Spans
from ctxcompress.data.passages import Passage, Span, intersection, inverse, shown, spans_of
from ctxcompress.data.results import Decision, KeptPassage, Reason
from ctxcompress.errors import ConfigError
from ctxcompress.pipeline.task import Frame, Task
from ctxcompress.reduce.reduction import Reduction
from ctxcompress.render.formats import Entry, Renderer, renderer
from ctxcompress.select.layout import Layout, Shown
from ctxcompress.select.previews import preview_line
from ctxcompress.select.selection import Selection
from ctxcompress.text.tokens import Encoding, TokenCounter

__all__ = ["OriginalText", "OutcomeBuilder", "Presentation"]


class OutcomeBuilder:
    """Combines the outcomes of all stages. `kept` and `dropped` together cover every character exactly once."""

    def __init__(
        self,
        passages: Sequence[Passage],
        reduction: Reduction,
        layout: Layout,
        selection: Selection,
        unlikely: Spans,
        delivered: Spans,
        first: int = 0,
    ) -> None:
        """unlikely: spans of documents that the query hardly needs. delivered: spans of passages that the language
        model already has. first: the number of passages at the beginning that it has whole, and that have no outcome.
        """
        self._first = first
        self._passages, self._reduction, self._selection = passages, reduction, selection
        self._final = layout.final(selection.text)
        shown_parts = layout.shown(selection.spans)
        self.spans = {index: spans for index, (spans, _) in shown_parts.items()}
        """Passage number -> its kept spans, in the order in which passages are shown."""
        self._markers = {index: markers for index, (_, markers) in shown_parts.items()}
        self._texts, self._lines = layout.texts(shown_parts), layout.lines
        drop_reasons = (
            (Reason.DUPLICATE, _repeated_parts(passages, reduction, first)),
            (Reason.DUPLICATE, delivered),
            (Reason.TRUNCATED, {index: spans_of(gaps) for index, gaps in layout.gaps.items()}),
            (Reason.DUPLICATE, layout.of_passages(selection.duplicates)),
            (Reason.UNLIKELY, layout.of_passages(unlikely)),
            (Reason.UNLIKELY, layout.of_passages(selection.orphans)),
        )
        self._drop_reasons = [(reason, parts) for reason, parts in drop_reasons if parts]
        """Each drop reason with the parts of passages that it explains. The first reason for a part counts."""
        self._in_parts = set(self.spans).union(*(parts for _, parts in self._drop_reasons))

    def kept(self, relevance: Mapping[int, float], count: TokenCounter) -> Iterator[KeptPassage]:
        """Yield the kept passages in the order in which they are shown.

        relevance: passage number -> its best score.
        """
        stands_for: dict[int, list[int]] = {}
        for member, leader in sorted(self._reduction.leaders.items()):
            stands_for.setdefault(leader, []).append(member)
        shown = [self._texts[index] for index in self.spans]
        tokens = [self._selection.tokens] if shown == [self._final] else count.of_all(shown)
        for (index, spans), of_text in zip(self.spans.items(), tokens, strict=True):
            text, is_line = self._texts[index], index in self._lines
            yield KeptPassage(
                index,
                self._passages[index],
                text,
                spans,
                tokens=of_text,
                relevance=0.0 if is_line else relevance[index],
                stands_for=tuple(stands_for.get(index, ())),
                markers=self._markers[index],
                metadata_only=is_line,
            )

    def dropped(self) -> Iterator[Decision]:
        """Yield the dropped parts in the order of the passages."""
        lengths = {len(passage.text) for passage in self._passages}
        whole = {length: inverse((), length) for length in lengths}  # one for many passages of one length
        for index, passage in enumerate(self._passages[self._first :], self._first):
            if index in self._reduction.reasons:
                leader, reason = self._reduction.leaders.get(index), self._reduction.reasons[index]
                if reason is Reason.METADATA and index not in self.spans:
                    reason = Reason.BUDGET  # not even its metadata line fits
                yield Decision(index, passage, whole[len(passage.text)], reason, leader)
            elif index in self._in_parts:
                yield from self._dropped_parts(index, passage)
            else:
                yield Decision(index, passage, whole[len(passage.text)], _default_reason(passage.text))

    def _dropped_parts(self, index: int, passage: Passage) -> Iterator[Decision]:
        unexplained = inverse(self.spans.get(index, ()), len(passage.text))
        reasons: dict[Reason, tuple[Span, ...]] = {}
        for reason, parts in self._drop_reasons:
            if index not in parts:
                continue
            explained = intersection(unexplained, parts[index])
            reasons[reason] = tuple(sorted((*reasons.get(reason, ()), *explained)))
            unexplained = intersection(unexplained, inverse(explained, len(passage.text)))
        if any(reasons.values()) and not any(passage.text[start:end].strip() for start, end in unexplained):
            # White space has the reason of the text beside it.
            reason = next(reason for reason, spans in reasons.items() if spans)
            reasons[reason], unexplained = tuple(sorted((*reasons[reason], *unexplained))), ()
        for reason, spans in reasons.items():
            if spans:
                yield Decision(index, passage, spans, reason)
        if unexplained or (index not in self.spans and not passage.text):
            yield Decision(index, passage, unexplained, _default_reason(passage.text))


def _repeated_parts(passages: Sequence[Passage], reduction: Reduction, first: int) -> Spans:
    """Return the parts of passages, from number `first` on, that no document has, because another passage has the same
    text."""
    whole = {document.passage for document in reduction.documents if document.is_passage}
    if len(whole) == len(passages) - first:
        return {}
    in_documents: dict[int, list[Span]] = {}
    for document in reduction.documents:
        for passage, span, _ in () if document.is_passage else document.pieces:
            in_documents.setdefault(passage, []).append(span)
    return {
        index: repeated
        for index, passage in enumerate(passages[first:], first)
        if index not in whole
        and index not in reduction.reasons
        and (repeated := inverse(in_documents.get(index, ()), len(passage.text)))
    }


def _default_reason(text: str) -> Reason:
    """Return the drop reason of a text that no stage dropped."""
    return Reason.EMPTY if not text or text.isspace() else Reason.BUDGET


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
        self, passages: Sequence[Passage], documents: Sequence[Document], count: Callable[[str], int], first: int
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
