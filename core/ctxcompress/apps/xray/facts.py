"""The facts that the X-ray page of a compression shows, and what they say in words of why text was kept or dropped."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from types import MappingProxyType
from typing import NamedTuple

from ctxcompress.data.documents import find_quote
from ctxcompress.data.passages import Passage, Span, intersection
from ctxcompress.data.results import Compression, Decision, Explanation, KeptPassage, Reason

__all__ = ["MEANING", "Facts", "Scored", "Step", "explained", "within"]

MEANING: Mapping[Reason, str] = MappingProxyType(
    {
        Reason.SCORE: "The retriever's score is below min_score.",
        Reason.FILTER: "A filter of another package dropped it.",
        Reason.LIMIT: "Better passages fill max_chunks_per_doc or top_n.",
        Reason.METADATA: "The score is below the limit of metadata_only: a line says what the passage is.",
        Reason.TRUNCATED: "It is over max_length or factual_length.",
        Reason.DUPLICATE: "Another passage has this text, or nearly this text.",
        Reason.UNLIKELY: "It is hardly likely to be needed.",
        Reason.BUDGET: "Other text is worth more of the budget.",
        Reason.EMPTY: "There is nothing but white space.",
    }
)
"""Drop reason -> what it means, in the order in which the reasons apply."""


class Scored(NamedTuple):
    """A segment of a passage and its score for the query, from 0 to 1."""

    span: Span
    score: float
    along: str = ""
    """Why it may come along with a better one: that one needs it, or is completed by it."""


class Step(NamedTuple):
    """The tokens before and after text was dropped for one reason."""

    reason: Reason
    before: int
    after: int
    """Tokens of the remaining text, rendered in the same way as the input."""


@dataclass(frozen=True, slots=True)
class Facts:
    """A compression, and what the page says about it."""

    compression: Compression
    passages: Sequence[Passage]
    """The input."""
    tokens_in: int
    """Tokens of the input."""
    question: Sequence[tuple[str, str]]
    """(name, value) pairs about the query."""
    options: Sequence[tuple[str, str]]
    """(name, value) pairs about the options."""
    scores: Mapping[int, Sequence[Scored]]
    """Number of a passage -> its scored segments, in order."""
    scale: str
    """What the scores mean."""
    levels: Sequence[float]
    """The least score of each of the ten colour levels, in ascending order."""
    count: Callable[[str], int]
    """Counts the tokens of a text."""
    required: Mapping[int, Sequence[Span]] = field(default_factory=dict)
    """Number of a passage -> what `must_keep` names in it."""

    @property
    def kept(self) -> Mapping[int, KeptPassage]:
        """Number of a passage -> the kept part of it."""
        return {part.index: part for part in self.compression.passages}

    @property
    def dropped(self) -> Mapping[int, Sequence[Decision]]:
        """Number of a passage -> what was dropped of it; empty for whole passages."""
        found: dict[int, list[Decision]] = {number: [] for number in range(len(self.passages))}
        for decision in self.compression.dropped:
            found[decision.index].append(decision)
        return found

    @property
    def reasons(self) -> Sequence[Reason]:
        """The reasons that occur, in the order in which they apply."""
        found = {decision.reason for decision in self.compression.dropped}
        return [reason for reason in MEANING if reason in found]

    def steps(self) -> list[Step]:
        """Return the tokens that are left after each reason, counted in the remaining text each time."""
        tokens = self.tokens_in
        steps: list[Step] = []
        for number, reason in enumerate(self.reasons, 1):
            after = self.compression.original.tokens(self._left(self.reasons[number:]))
            steps.append(Step(reason, tokens, after))
            tokens = after
        return steps

    def _left(self, reasons: Sequence[Reason]) -> dict[int, list[Span]]:
        """Return number of a passage -> the spans that are kept of it or dropped for these reasons."""
        found = {part.index: list(part.spans) for part in self.compression.passages if part.spans}
        for decision in self.compression.dropped:
            if decision.reason in reasons and decision.spans:
                found.setdefault(decision.index, []).extend(decision.spans)
        return {number: sorted(spans) for number, spans in found.items()}


def within(start: int, end: int, scores: Sequence[Scored]) -> Iterator[Scored]:
    """Yield the segments that overlap with these characters."""
    first = bisect_right(scores, start, key=lambda scored: scored.span.end)
    while first < len(scores) and scores[first].span.start < end:
        yield scores[first]
        first += 1


def explained(facts: Facts, quote: str) -> tuple[Explanation, ...]:
    """Return why each piece of the input that a quote overlaps was kept or dropped: see `Compression.explain`."""
    texts = [passage.text for passage in facts.passages]
    ranks = sorted(piece.score for pieces in facts.scores.values() for piece in pieces)
    places = (place for found in find_quote(texts, quote) for place in found)
    return tuple(
        Explanation(number, span, texts[number][span.start : span.end], reason, why)
        for number, start, end in places
        for span, reason, why in sorted(_pieces(facts, number, Span(start, end), ranks), key=itemgetter(0))
    )


def _pieces(
    facts: Facts, number: int, place: Span, ranks: Sequence[float]
) -> Iterator[tuple[Span, Reason | None, str]]:
    """Yield each segment of a passage at a place with what became of it; without segments, what was kept there, and
    what was dropped for each reason."""
    scored: list[Scored | None] = [*within(place.start, place.end, facts.scores.get(number, ()))]
    kept = facts.kept.get(number)
    for span, piece in _parts(kept.spans if kept else (), place, scored or [None]):
        yield span, None, _why_kept(facts, number, span, piece, ranks)
    for decision in facts.dropped[number]:
        for span, piece in _parts(decision.spans, place, scored or [None]):
            yield span, decision.reason, _why_dropped(facts, decision, piece, ranks)


def _parts(spans: Sequence[Span], place: Span, scored: Sequence[Scored | None]) -> Iterator[tuple[Span, Scored | None]]:
    """Yield what of each segment is in the spans, if that is at the place; without a segment, what of the place is."""
    for piece in scored:
        inside = [*intersection(spans, [piece.span if piece else place])]
        if [*intersection(inside, [place])]:
            yield Span(inside[0].start, inside[-1].end), piece


def _why_kept(facts: Facts, number: int, span: Span, piece: Scored | None, ranks: Sequence[float]) -> str:
    if facts.tokens_in <= facts.compression.max_tokens and not facts.compression.dropped:
        return f"kept: everything fits into {facts.compression.max_tokens:,} tokens"
    if [*intersection([span], facts.required.get(number, ()))]:
        return "kept: must_keep names it"
    return f"kept: {_scored(facts, piece, ranks)}" if piece else "kept as the beginning of a shortened passage"


def _why_dropped(facts: Facts, decision: Decision, piece: Scored | None, ranks: Sequence[float]) -> str:
    why = f"dropped ({decision.reason.value}): {MEANING[decision.reason]}"
    if decision.duplicate_of is not None:
        why += f" Passage {decision.duplicate_of} stands for it."
    if decision.reason in (Reason.BUDGET, Reason.UNLIKELY) and piece:
        why += f" {_scored(facts, piece, ranks).capitalize()}."
    return why


def _scored(facts: Facts, piece: Scored, ranks: Sequence[float]) -> str:
    """Return the score of a segment, its rank, and why it comes along with another one."""
    rank = len(ranks) - bisect_right(ranks, piece.score) + 1
    score = f"its score is {piece.score:.3g}, {facts.scale}, rank {rank:,} of {len(ranks):,}"
    if piece.along == "needed":
        return f"{score}; better text cannot be read without it"
    return f"{score}; it completes better text beside it" if piece.along else score
