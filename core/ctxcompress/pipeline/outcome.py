"""What became of every passage: what is kept of it, what is not, and why."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from ctxcompress.data.documents import Spans
from ctxcompress.data.passages import Passage, Span
from ctxcompress.data.results import Decision, KeptPassage, Reason
from ctxcompress.data.spans import intersection, inverse, spans_of
from ctxcompress.reduce.reduction import Reduction
from ctxcompress.select.layout import Layout
from ctxcompress.select.selection import Selection

__all__ = ["OutcomeBuilder"]


class OutcomeBuilder:
    """The outcome of the stages, passage by passage. Together `kept` and `dropped` have every character once."""

    def __init__(
        self,
        items: Sequence[Passage],
        reduction: Reduction,
        layout: Layout,
        selection: Selection,
        unlikely: Spans,
        known: Spans,
    ) -> None:
        """unlikely: spans of the documents that were hardly needed. known: of the passages, what the reader has."""
        self._items, self._reduction, self._selection = items, reduction, selection
        self._final = layout.final(selection.text)
        shown_of = layout.shown(selection.spans)
        self.spans = {index: spans for index, (spans, _) in shown_of.items()}
        """Passage number -> what is kept of it, in the order in which passages are shown."""
        self._markers = {index: markers for index, (_, markers) in shown_of.items()}
        self._texts, self._lines = layout.texts(shown_of), layout.lines
        whole = {document.pieces[0].passage for document in reduction.documents if document.is_passage}
        continues_in_next: dict[int, list[Span]] = {}
        for document in reduction.documents:
            for passage, span, _ in () if document.is_passage else document.pieces:
                continues_in_next.setdefault(passage, []).append(span)
        repeated = {
            index: found
            for index, item in enumerate(items)
            if index not in whole
            and index not in reduction.reasons
            and (found := inverse(continues_in_next.get(index, ()), len(item.text)))
        }
        self._left_out = (
            (Reason.DUPLICATE, repeated),
            (Reason.DUPLICATE, known),
            (Reason.TRUNCATED, {index: spans_of(gaps) for index, gaps in layout.gaps.items()}),
            (Reason.DUPLICATE, layout.of_passages(selection.duplicates)),
            (Reason.UNLIKELY, layout.of_passages(unlikely)),
        )
        self._in_parts = set(self.spans).union(*(of for _, of in self._left_out))

    def kept(self, relevance: Mapping[int, float], count: Callable[[str], int]) -> Iterator[KeptPassage]:
        """What is kept, in the order in which it is shown. relevance: of each passage."""
        stands_for: dict[int, list[int]] = {}
        for member, leader in sorted(self._reduction.leaders.items()):
            stands_for.setdefault(leader, []).append(member)
        for index, spans in self.spans.items():
            text, is_line = self._texts[index], index in self._lines
            tokens = self._selection.tokens if text == self._final else count(text)
            of_it = 0.0 if is_line else relevance[index]
            members, markers = tuple(stands_for.get(index, ())), self._markers[index]
            yield KeptPassage(index, self._items[index], text, spans, tokens, of_it, members, markers, is_line)

    def dropped(self) -> Iterator[Decision]:
        """What is left out, in the order in which the passages came."""
        for index, item in enumerate(self._items):
            if index in self._reduction.reasons:
                leader, reason = self._reduction.leaders.get(index), self._reduction.reasons[index]
                if reason is Reason.METADATA and index not in self.spans:
                    reason = Reason.BUDGET  # not even the line about it fits
                yield Decision(index, item, inverse((), len(item.text)), reason, leader)
            elif index in self._in_parts:
                yield from self._dropped_of(index, item)
            else:
                yield Decision(index, item, inverse((), len(item.text)), _without_reason(item.text))

    def _dropped_of(self, index: int, item: Passage) -> Iterator[Decision]:
        left = inverse(self.spans.get(index, ()), len(item.text))
        reasons: dict[Reason, tuple[Span, ...]] = {}
        for reason, of in self._left_out:
            if index not in of:
                continue
            found = intersection(left, of[index])
            reasons[reason] = tuple(sorted((*reasons.get(reason, ()), *found)))
            left = intersection(left, inverse(found, len(item.text)))
        if any(reasons.values()) and not any(item.text[start:end].strip() for start, end in left):
            # White space goes with what is left out beside it.
            reason = next(reason for reason, spans in reasons.items() if spans)
            reasons[reason], left = tuple(sorted((*reasons[reason], *left))), ()
        for reason, spans in reasons.items():
            if spans:
                yield Decision(index, item, spans, reason)
        if left or (index not in self.spans and not item.text):
            yield Decision(index, item, left, _without_reason(item.text))


def _without_reason(text: str) -> Reason:
    """Why a text is left out that no stage left out."""
    return Reason.EMPTY if not text or text.isspace() else Reason.BUDGET
