"""The documents that are left after whole passages and repeated text were dropped, and why the others were."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ctxcompress.data.documents import Document, Spans, without_passages
from ctxcompress.data.must_keep import Finds, MustKeep
from ctxcompress.data.passages import Passage, Span
from ctxcompress.data.results import Reason, StageStats
from ctxcompress.data.stats import Clock
from ctxcompress.reduce.duplicates import exact_duplicates
from ctxcompress.text.lines import shortened

__all__ = ["MUST_KEEP", "Reduction", "Required", "nothing_matches", "places_in_documents"]

MUST_KEEP = "must_keep"
"""The name of the stage that looks for what must be kept. It is skipped if nothing is found."""
_MOST_SHOWN, _LONGEST_SHOWN = 5, 60
"""Of the rules that a note names: how many, with how many characters."""


class Required:
    """The parts of passages that must be kept."""

    __slots__ = ("_delivered", "_finds", "_passages", "_spans")

    def __init__(self, must_keep: Sequence[MustKeep], passages: Sequence[Passage], delivered: int) -> None:
        """delivered: how many passages at the beginning were delivered before; nothing is looked for in these.

        Raises PatternTimeout, and ConfigError for a function that returns no spans.
        """
        self._passages, self._delivered = passages, delivered
        new = dict(enumerate(passages[delivered:], delivered))
        self._finds = Finds.of(must_keep, new) if must_keep else Finds({})
        self._spans = self._finds.spans

    def record(self, clock: Clock) -> None:
        """Record a stage with how many rules there are and how many find something, if there are any."""
        rules, missed = self._finds.rules, self._finds.missed
        if rules:
            found = len(rules) - len(missed)
            clock.lap(MUST_KEEP, len(rules), found, nothing_matches(missed), skipped=self._finds.is_nothing)

    def among(self, numbers: Collection[int]) -> frozenset[int]:
        """Return which of these passages have a part that must be kept."""
        return frozenset(number for number in numbers if number in self._spans) if self._spans else frozenset()

    def is_in(self, leader: int, member: int) -> bool:
        """Tell whether all that must be kept of a member is kept if its leader is."""
        if member not in self._spans:
            return True
        texts = self._texts(member, self._spans[member])
        if leader < self._delivered:
            return all(text in self._passages[leader].text for text in texts)
        return texts <= self._texts(leader, self._spans.get(leader, ()))

    def left(self, numbers: Collection[int], documents: Sequence[Document]) -> Spans | None:
        """Return number of a passage -> its parts that must be kept and are in a document. These are all, except for
        repeated ones; None if another one is missing.

        numbers: of the passages that are left.
        """
        left = {number: self._spans[number] for number in sorted(self.among(numbers))}
        pieces: dict[int, list[Span]] = {}
        for document in documents if left else ():
            for piece in document.pieces:
                pieces.setdefault(piece.passage, []).append(piece.span)
        found = {number: tuple(_within(pieces.get(number, ()), spans)) for number, spans in left.items()}
        has = set[str]().union(*(self._texts(number, spans) for number, spans in found.items()))
        is_all = all(self._texts(number, spans) <= has for number, spans in left.items())
        return {number: spans for number, spans in found.items() if spans} if is_all else None

    def _texts(self, number: int, spans: Sequence[Span]) -> set[str]:
        text = self._passages[number].text
        return {text[start:end] for start, end in spans}


def nothing_matches(rules: Sequence[object]) -> str:
    """Return a note about rules that find nothing; "" without any."""
    shown = [shortened(str(rule), _LONGEST_SHOWN) for rule in rules[:_MOST_SHOWN]]
    more = len(rules) - len(shown)
    return f"nothing matches {', '.join([*shown, f'{more} more'] if more else shown)}" if rules else ""


def _within(pieces: Sequence[Span], spans: Sequence[Span]) -> list[Span]:
    """Return the spans that lie within a piece. Both are in order."""
    found, number = [], 0
    for span in spans:
        while number < len(pieces) and pieces[number].end < span.end:
            number += 1
        if number < len(pieces) and pieces[number].start <= span.start:
            found.append(span)
    return found


def places_in_documents(required: Mapping[int, Sequence[Span]], documents: Sequence[Document]) -> Spans:
    """Return number of a document -> the spans of its text that must be kept, from those of the passages."""
    found: Spans = {}
    for number, document in enumerate(documents if required else ()):
        spans = [
            Span(begin + span.start - piece.span.start, begin + span.end - piece.span.start)
            for piece, begin in zip(document.pieces, document.starts, strict=True)
            for span in _within((piece.span,), required.get(piece.passage, ()))
        ]
        if spans:
            found[number] = tuple(spans)
    return found


@dataclass(frozen=True, slots=True)
class Reduction:
    """The documents that are left, and the passages that were dropped."""

    documents: Sequence[Document]
    reasons: Mapping[int, Reason]
    """Number of a passage -> why all of it was dropped."""
    leaders: Mapping[int, int]
    """Number of a passage that was dropped as a duplicate -> number of the passage that stands for it."""
    stages: Sequence[StageStats]
    preference: Sequence[int] = ()
    """The numbers of the passages that are left, from the best to the worst; empty if duplicates are not dropped."""
    required: Spans = field(default_factory=dict)
    """Number of a passage -> the parts of it that must be kept and are in a document."""

    def after_cuts(
        self, documents: Sequence[Document], cut: Collection[int], passages: Sequence[Passage]
    ) -> "tuple[Sequence[Document], Reduction]":
        """Drop the passages that have the same text as a better one after they were truncated.

        documents: the passages with less text. cut: the numbers of the truncated passages.
        """
        left: dict[int, str] = {}
        for document in documents:
            for number, (start, end), _ in document.pieces:
                left[number] = left.get(number, "") + passages[number].text[start:end]
        order = [number for number in self.preference if number in left]
        same = exact_duplicates([left[number] for number in order], range(len(order)))
        merged = {order[member]: order[leader] for member, leader in same.items()}
        pairs = ((member, leader) for member, leader in merged.items() if member not in self.required)
        merged = {member: leader for member, leader in pairs if member in cut or leader in cut}
        if not merged:
            return documents, self
        leaders = {member: merged.get(leader, leader) for member, leader in self.leaders.items()} | merged
        reasons = {**self.reasons, **dict.fromkeys(merged, Reason.DUPLICATE)}
        return without_passages(documents, merged, [passage.text for passage in passages]), replace(
            self, leaders=leaders, reasons=reasons
        )

    def for_others(self) -> "Reduction | None":
        """Return the reduction for calls that take no time for it; None if it warned, as they should too."""
        if any(stage.emptied or stage.doubtful for stage in self.stages):
            return None
        return replace(self, stages=tuple(replace(stage, milliseconds=0.0) for stage in self.stages))

    def __len__(self) -> int:
        """Return the number of characters that are left."""
        return sum(len(document.text) for document in self.documents)

    def is_everything(self, count: int) -> bool:
        """Tell whether all of this number of passages are left, unchanged."""
        return len(self.documents) == count and all(document.is_passage for document in self.documents)
