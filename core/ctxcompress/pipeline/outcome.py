"""Say for every passage what is kept of it, what is dropped, and why."""

from collections.abc import Iterator, Mapping, Sequence

from ctxcompress.data.documents import Spans
from ctxcompress.data.passages import Passage, Span
from ctxcompress.data.results import Decision, KeptPassage, Reason
from ctxcompress.data.spans import intersection, inverse, spans_of
from ctxcompress.reduce.reduction import Reduction
from ctxcompress.select.layout import Layout
from ctxcompress.select.selection import Selection
from ctxcompress.text.tokens import TokenCounter

__all__ = ["OutcomeBuilder"]


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
