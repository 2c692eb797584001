"""What `must_keep` names: the parts of passages that no filter may lose."""

from collections.abc import Collection, Mapping, Sequence

from ctxcompress.data.documents import Document, Spans
from ctxcompress.data.must_keep import Finds, MustKeep
from ctxcompress.data.passages import Passage, Span
from ctxcompress.data.stats import Clock
from ctxcompress.text.lines import shortened

__all__ = ["MUST_KEEP", "Required", "nothing_matches", "places_in_documents"]

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
