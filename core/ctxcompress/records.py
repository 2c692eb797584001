"""What an adapter leaves in the metadata of a text that it gives out, read again.

It comes from wherever documents come from, so that nothing in it is believed that is not as an adapter writes it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

__all__ = ["RECORD_KEY", "Record"]

RECORD_KEY = "ctxcompress"
"""Of the metadata."""


@dataclass(frozen=True, slots=True)
class Record:
    """Where a text comes from; None where that is not said."""

    index: int | None = None
    spans: tuple[tuple[int, int], ...] | None = None
    markers: tuple[tuple[int, str], ...] = ()
    tokens: int | None = None
    relevance: float | None = None
    score: float | None = None
    is_line: bool = False

    @classmethod
    def read(cls, record: object) -> "Record":
        if not isinstance(record, Mapping):
            return cls()
        return cls(
            index=_number(record.get("index")),
            spans=_spans(record.get("spans")),
            markers=_markers(record.get("markers")),
            tokens=_number(record.get("tokens")),
            relevance=_finite(record.get("relevance")),
            score=_finite(record.get("score")),
            is_line=record.get("metadata_only") is True,
        )


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _finite(value: object) -> float | None:
    return value if isinstance(value, float) and math.isfinite(value) else None


def _spans(value: object) -> tuple[tuple[int, int], ...] | None:
    if not isinstance(value, Sequence):
        return None
    found = []
    for pair in value:
        numbers = [_number(offset) for offset in pair] if isinstance(pair, Sequence) else []
        match numbers:
            case [int(start), int(end)] if start <= end:
                found.append((start, end))
            case _:
                return None
    return tuple(found)


def _markers(value: object) -> tuple[tuple[int, str], ...]:
    found = []
    for pair in value if isinstance(value, Sequence) else ():
        match pair:
            case [int(before), str(text)]:
                found.append((before, text))
            case _:
                return ()
    return tuple(found)
