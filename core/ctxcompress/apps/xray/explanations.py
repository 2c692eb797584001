"""Says in words why text was kept or dropped."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from operator import itemgetter

from ctxcompress.apps.xray.facts import MEANING, Facts, Scored
from ctxcompress.apps.xray.passage_cards import within
from ctxcompress.data.documents import find_quote
from ctxcompress.data.passages import Span, intersection
from ctxcompress.data.results import Decision, Explanation, Reason

__all__ = ["explained"]


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
