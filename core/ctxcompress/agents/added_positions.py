"""Positions among all passages that were ever added to a context: a single call counts its own passages only."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ctxcompress.data.passages import Passage, Span, inverse
from ctxcompress.data.results import Compression, Decision, KeptPassage, Reason

__all__ = ["blank_passages", "renumbered", "whole", "with_delivered_leaders", "with_duplicates", "with_text"]


def renumbered(result: Compression, positions: Sequence[int]) -> tuple[tuple[KeptPassage, ...], tuple[Decision, ...]]:
    """Return what was kept and dropped, with the passages' positions among all passages that were ever added."""
    kept = (
        replace(part, index=positions[part.index], stands_for=tuple(positions[number] for number in part.stands_for))
        for part in result.passages
    )
    dropped = (
        replace(
            decision,
            index=positions[decision.index],
            duplicate_of=None if decision.duplicate_of is None else positions[decision.duplicate_of],
        )
        for decision in result.dropped
    )
    return tuple(kept), tuple(dropped)


def with_delivered_leaders(parts: Iterable[KeptPassage], dropped: Iterable[Decision]) -> Iterator[Decision]:
    """Set `duplicate_of` of duplicates that have none, if a delivered passage has the same original text."""
    first: dict[str, int] = {}
    for part in parts:
        first.setdefault(part.original.text, part.index)
    for decision in dropped:
        is_open = decision.reason is Reason.DUPLICATE and decision.duplicate_of is None
        yield replace(decision, duplicate_of=first.get(decision.passage.text)) if is_open else decision


def with_duplicates(parts: Iterable[KeptPassage], dropped: Iterable[Decision]) -> Iterator[KeptPassage]:
    """Extend `stands_for` of each delivered part by its duplicates among the dropped passages."""
    duplicates: dict[int, list[int]] = {}
    for decision in dropped:
        if decision.duplicate_of is not None:
            duplicates.setdefault(decision.duplicate_of, []).append(decision.index)
    for part in parts:
        more = duplicates.get(part.index, ())
        yield replace(part, stands_for=(*part.stands_for, *more)) if more else part


def with_text(passages: Sequence[Passage]) -> list[int]:
    """Return the numbers of the passages that are not blank."""
    return [number for number, passage in enumerate(passages) if passage.text.strip()]


def blank_passages(passages: Sequence[Passage], first: int) -> Iterator[Decision]:
    """Yield a decision for each blank passage. first: the position of the first of these passages among all."""
    for index, passage in enumerate(passages, first):
        if not passage.text.strip():
            yield Decision(index, passage, whole(passage), Reason.EMPTY)


def whole(passage: Passage) -> tuple[Span, ...]:
    """Return the span of the whole text; nothing of an empty one."""
    return inverse((), len(passage.text))
