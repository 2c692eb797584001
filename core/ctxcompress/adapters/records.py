"""Metadata of documents and nodes: what is read from it, the record that adapters leave in it, and copies of it."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeVar

from ctxcompress.data.metadata import IMMUTABLE, RECORD_KEY, REFUSALS, as_number, copied
from ctxcompress.data.passages import Marker, Passage, Span
from ctxcompress.data.results import Decision, KeptPassage
from ctxcompress.errors import InputError
from ctxcompress.query.decompose import adecompose, decompose

if TYPE_CHECKING:  # takes time to import, and only one class needs it
    from ctxcompress.apps.research import Research

__all__ = [
    "RECORD_KEY",
    "REFUSALS",
    "Decision",
    "adecompose",
    "as_number",
    "check_kind",
    "copied",
    "decompose",
    "dropped_record",
    "fused",
    "kept_from_record",
    "original_index",
    "readable",
    "record_of",
    "with_provenance",
]

Item = TypeVar("Item")
_RANKS = 60
"""The constant of the publication; the greater it is, the more low ranks count."""


def check_kind(name: str, given: object, kinds: type | tuple[type, ...], remedy: str) -> None:
    """Raise InputError unless an argument is an object of the framework. remedy: what to give instead."""
    if not isinstance(given, kinds):
        raise InputError(f"{name} is a {type(given).__name__}; give {remedy}")


def fused(rankings: Sequence[Sequence[Item]], identity: Callable[[Item], Hashable]) -> list[Item]:
    """Return the items of all rankings, each once, the best first, by reciprocal rank fusion.

    Each rank of an item adds 1 / (60 + rank), where the first rank is 1 (Cormack, Clarke and Buettcher, SIGIR 2009).
    Of items with the same identity, the one with the best rank is returned; it counts once in each ranking. Of items
    with equal sums the one found earlier comes first. Scores are not used, because scores of different searches do not
    compare.
    """
    points: dict[Hashable, float] = {}
    best: dict[Hashable, tuple[int, Item]] = {}
    for ranking in rankings:
        seen: set[Hashable] = set()
        for rank, item in enumerate(ranking, 1):
            key = identity(item)
            if key in seen:
                continue
            seen.add(key)
            points[key] = points.get(key, 0.0) + 1 / (_RANKS + rank)
            if key not in best or rank < best[key][0]:
                best[key] = (rank, item)
    return [best[key][1] for key in sorted(points, key=lambda key: -points[key])]


def record_of(
    kept: KeptPassage,
    *,
    index: int,
    stands_for: Sequence[int],
    score_kind: str | None = None,
    call: str | None = None,
) -> dict[str, object]:
    """Return the record of a kept passage, in numbers, strings and lists that can be written as JSON.

    index, stands_for: positions in the input. score_kind: given where the record holds the score. call: the id under
    which a feedback log remembers the compression.
    """
    score = None if score_kind is None else kept.original.score
    return {
        "spans": [[int(start), int(end)] for start, end in kept.spans],
        "tokens": int(kept.tokens),
        "relevance": float(kept.relevance),
        "index": int(index),
        **({} if score is None else {"score": score, "score_kind": score_kind}),
        **({"stands_for": list(stands_for)} if stands_for else {}),
        **({"markers": [list(marker) for marker in kept.markers]} if kept.markers else {}),
        **({"metadata_only": True} if kept.metadata_only else {}),
        **({} if call is None else {"call": call, "passage": int(kept.index)}),
    }


def original_index(record: object, kept: str, originals: Sequence[str]) -> int:
    """Return the position in the input that a record names.

    kept: the text that came out. originals: the texts of the input. Raises InputError if there is no record, or if the
    text at the position does not contain what was kept.
    """
    index = record.get("index") if isinstance(record, Mapping) else None
    if not isinstance(record, Mapping) or not isinstance(index, int):
        raise InputError(f"metadata[{RECORD_KEY!r}] has no record of a compression; give what the compression returned")
    text = originals[index] if 0 <= index < len(originals) else None
    spans = record.get("spans") or ()
    if text is None or not all(text[start:end] and text[start:end] in kept for start, end in spans):
        raise InputError(f"what was kept is not in the text at position {index}; give what was compressed")
    return index


def dropped_record(dropped: Decision) -> dict[str, object]:
    """Return the record of a dropped text, as data that JSON can hold."""
    return {
        "spans": [[int(start), int(end)] for start, end in dropped.spans],
        "index": int(dropped.index),
        "reason": str(dropped.reason),
        **({} if dropped.duplicate_of is None else {"duplicate_of": int(dropped.duplicate_of)}),
    }


def with_provenance(metadata: Mapping[str, object], research: "Research[Any]") -> dict[str, object]:
    """Return metadata whose record says under "research" which earlier question the context is from, if any."""
    if research.earlier is None:
        return dict(metadata)
    record, found = metadata.get(RECORD_KEY), {"question": research.earlier, "similarity": research.similarity}
    return {**metadata, RECORD_KEY: {**(record if isinstance(record, Mapping) else {}), "research": found}}


def readable(metadata: Mapping[str, object]) -> dict[str, object]:
    """Return the part of `metadata` that a title, a path or a score can be read from.

    The rest may be large, or impossible to copy, and is not needed before it is known which passages are kept.
    """
    return {key: value for key, value in metadata.items() if type(value) in IMMUTABLE or _is_readable(value)}


def _is_readable(value: object) -> bool:
    if isinstance(value, list | tuple):
        return all(isinstance(item, str) for item in value)
    return isinstance(value, str | Real)


def kept_from_record(index: int, passage: Passage, record: object) -> KeptPassage:
    """Rebuild a kept passage from an adapter's output and the record in its metadata.

    `original` then has the kept text, because the record has only the spans of the original text. Without a record the
    whole text counts as kept, and `tokens` is 0. What adapters do not write counts as missing. index: its position,
    used if the record has none.
    """
    given = record if isinstance(record, Mapping) else {}
    score, relevance = as_number(given.get("score")), as_number(given.get("relevance"))
    spans = _as_pairs(given.get("spans"), int)
    if spans is None or any(start > end for start, end in spans):
        spans = ((0, len(passage.text)),)
    return KeptPassage(
        index=_as_count(given.get("index"), index),
        original=passage if score is None else replace(passage, score=score),
        text=passage.text,
        spans=tuple(Span(*ends) for ends in spans),
        tokens=_as_count(given.get("tokens"), 0),
        relevance=1.0 if relevance is None else relevance,
        markers=tuple(Marker(*marker) for marker in _as_pairs(given.get("markers"), str) or ()),
        metadata_only=given.get("metadata_only") is True,
    )


def _as_count(value: object, otherwise: int) -> int:
    """Return a whole number of at least 0 as it is, and `otherwise` in place of anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else otherwise


def _as_pairs(value: object, second: type[Item]) -> tuple[tuple[int, Item], ...] | None:
    """Return pairs of a number and a value of this type, or None if they are none."""
    found: list[tuple[int, Item]] = []
    for pair in value if isinstance(value, Sequence) else (None,):
        match pair:
            case [int(first), last] if first >= 0 and isinstance(last, second):
                found.append((first, last))
            case _:
                return None
    return tuple(found)
