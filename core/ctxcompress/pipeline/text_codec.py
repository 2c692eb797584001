"""How the cache stores what the analysis found in a text."""

import json
from collections.abc import Sequence, Sized
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ctxcompress.data.passages import Kind, Node, NodeKind, Segment
from ctxcompress.score.corpus import segment_words

__all__ = ["FEW_OBJECTS", "MEMORY_ONLY", "CountsCodec", "ReadText", "TextCodec"]

_KINDS = {str(kind): kind for kind in Kind}
_SMALL_OBJECT = 200
"""Bytes of memory that a small object takes, with its container."""


@dataclass(frozen=True)  # without slots: the words are a cached property
class ReadText:
    """An analysed text: prose with its segments, or source code with its outline."""

    text: str
    outline: Sequence[Node]
    """Empty for prose."""
    prose: Sequence[Segment]
    """Empty for source code."""

    @cached_property
    def words(self) -> Sequence[Sequence[str]]:
        """The words of each segment of prose."""
        return segment_words(self.prose, [self.text[segment.start : segment.end] for segment in self.prose])


@dataclass(frozen=True, slots=True)
class TextCodec:
    """Encodes a ReadText without its text and its words. Splitting the words again takes no longer than decoding."""

    text: str

    def encode(self, value: ReadText, /) -> bytes | None:
        """Return JSON with the outline, the distinct heading paths and a row for each segment. Return None if the
        outline is nested too deeply."""
        paths: dict[tuple[str, ...], int] = {}
        rows = [
            (kind, end - start, block, paths.setdefault(heading, len(paths)), needs, *([label] if label else []))
            for kind, start, end, block, heading, needs, _, label in value.prose
        ]
        try:
            return json.dumps([_node_rows(value.outline), list(paths), rows], separators=(",", ":")).encode()
        except RecursionError:
            return None

    def decode(self, data: bytes, /) -> ReadText:
        """Return the ReadText. Raises ValueError if `data` is damaged or belongs to another text."""
        try:
            nodes, paths, rows = json.loads(data)
            outline = _nodes(nodes, 0, len(self.text))
            segments = _segments([tuple(map(_string, path)) for path in paths], rows)
        except (TypeError, KeyError, IndexError, RecursionError) as error:
            raise ValueError(f"it has the wrong structure ({type(error).__name__})") from error
        ends = [part.end for part in (outline[-1:] or segments[-1:])]
        if ends != [len(self.text)] * bool(self.text):
            raise ValueError(f"it does not belong to a text of {len(self.text)} characters")
        return ReadText(self.text, outline, segments)

    def estimated_size(self, _: ReadText, /) -> int:
        """Return the bytes in memory: 15 for each character, as measured on prose and Markdown, and some more."""
        return _SMALL_OBJECT + 16 * len(self.text)


@dataclass(frozen=True, slots=True)
class CountsCodec:
    """Encodes the token counts of segments as 32-bit numbers."""

    segments: int

    def encode(self, value: Sequence[int], /) -> bytes:
        return np.array(value, dtype="<u4").tobytes()

    def decode(self, data: bytes, /) -> Sequence[int]:
        """Return the counts. Raises ValueError unless there is one for each segment."""
        if len(data) != 4 * self.segments:
            raise ValueError(f"it has {len(data)} bytes for {self.segments} numbers")
        counts: list[int] = np.frombuffer(data, dtype="<u4").tolist()
        return counts

    def estimated_size(self, value: Sequence[int], /) -> int:
        return _SMALL_OBJECT + 8 * len(value)


@dataclass(frozen=True, slots=True)
class _MemoryOnlyCodec:
    """Keeps a value as it is, for caches in memory only."""

    bytes_each: int
    """Bytes of memory for each of the value's length."""

    def encode(self, _: Sized, /) -> None:
        return None

    def decode(self, _: bytes, /) -> Sized:
        raise ValueError("values of this kind are never written")

    def estimated_size(self, value: Sized, /) -> int:
        """Return the bytes in memory."""
        return 10 * _SMALL_OBJECT + self.bytes_each * len(value)


MEMORY_ONLY = _MemoryOnlyCodec(56)
"""The codec of values that are too complex to be written. An analysis with what queries add to it takes 30 to 55 bytes
for each character, as measured, without the words."""
FEW_OBJECTS = _MemoryOnlyCodec(4)
"""The codec of values that keep texts and little else. Their length is that of the texts."""


def _segments(headings: Sequence[tuple[str, ...]], rows: Sequence[Sequence[Any]]) -> list[Segment]:
    """Raises ValueError unless the rows are consecutive segments."""
    found: list[Segment] = []
    start = 0
    for kind, length, block, heading, needs, *label in rows:
        if _number(length) < 1 or not all(0 <= _number(other) < len(rows) for other in needs):
            raise ValueError("it has an empty segment, or a segment that needs a missing one")
        path = headings[_number(heading)]
        part = Segment(_KINDS[kind], start, start + length, _number(block), path, tuple(needs))
        found.append(part._replace(label=" ".join(map(_string, label))) if label else part)
        start += length
    return found


def _node_rows(nodes: Sequence[Node]) -> list[Any]:
    return [[*plain, _node_rows(children)] for *plain, children in nodes]


def _nodes(rows: Sequence[Sequence[Any]], start: int, end: int) -> tuple[Node, ...]:
    """Raises ValueError unless the rows are consecutive nodes from `start` to at most `end`."""
    found = []
    for kind, begin, until, name, signature, body, tail, exported, children in rows:
        numbers = [*map(_number, (begin, until, signature, body, tail))]
        if begin != start or not begin <= until <= end or not all(-1 <= number <= until for number in numbers):
            raise ValueError("it has a node with impossible offsets")
        if not isinstance(exported, bool) or (children and not begin <= body <= tail):
            raise ValueError("it has a node with an impossible value or body")
        inner = _nodes(children, body, tail) if children else ()
        found.append(Node(NodeKind(kind), begin, until, _string(name), signature, body, tail, exported, inner))
        start = until
    return tuple(found)


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"it has a {type(value).__name__} where a str should be")
    return value


def _number(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"it has a {type(value).__name__} where an int should be")
    return value
