"""How what was read in texts is written down, and read again."""

import json
from collections.abc import Sequence, Sized
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ctxcompress.data.passages import Kind, Node, NodeKind, Segment
from ctxcompress.text.words import split_each

__all__ = ["ALIVE", "CountsCodec", "ReadText", "TextCodec"]

_KINDS = {str(kind): kind for kind in Kind}
_LIST = 200
"""Bytes of memory that a small object takes with all that is around it."""


@dataclass(frozen=True)  # without slots: the words are remembered
class ReadText:
    """A text of prose with its segments, or one of source code with its outline."""

    text: str
    outline: Sequence[Node]
    """Empty for prose."""
    prose: Sequence[Segment]
    """Empty for source code."""

    @cached_property
    def words(self) -> Sequence[Sequence[str]]:
        """Of each segment of prose."""
        return split_each([self.text[segment[1] : segment[2]] for segment in self.prose])


@dataclass(frozen=True, slots=True)
class TextCodec:
    """Of what was read in this text, without the text. Words are split again, which takes no longer than reading."""

    text: str

    def encode(self, value: ReadText, /) -> bytes | None:
        """As JSON: the outline, the distinct heading paths, and a row for each segment; None for an outline that is
        nested too deep for that."""
        paths: dict[tuple[str, ...], int] = {}
        rows = [
            (kind, end - start, block, paths.setdefault(heading, len(paths)), needs)
            for kind, start, end, block, heading, needs, _ in value.prose
        ]
        try:
            return json.dumps([_written(value.outline), list(paths), rows], separators=(",", ":")).encode()
        except RecursionError:
            return None

    def decode(self, data: bytes, /) -> ReadText:
        """Raises ValueError if this was not read in the text."""
        try:
            nodes, paths, rows = json.loads(data)
            outline = _nodes(nodes, 0, len(self.text))
            segments = _segments([tuple(map(_string, path)) for path in paths], rows)
        except (TypeError, KeyError, IndexError, RecursionError) as error:
            raise ValueError(f"it is not made as it should be ({type(error).__name__})") from error
        ends = [part.end for part in (outline[-1:] or segments[-1:])]
        if ends != [len(self.text)] * bool(self.text):
            raise ValueError(f"what was read is not a text of {len(self.text)} characters")
        return ReadText(self.text, outline, segments)

    def estimated_size(self, _: ReadText, /) -> int:
        """As measured on pages of prose and of Markdown: 15 bytes a character."""
        return _LIST + 16 * len(self.text)


@dataclass(frozen=True, slots=True)
class CountsCodec:
    """Of the tokens of so many segments: 32-bit numbers."""

    segments: int

    def encode(self, value: Sequence[int], /) -> bytes:
        return np.array(value, dtype="<u4").tobytes()

    def decode(self, data: bytes, /) -> Sequence[int]:
        """Raises ValueError if there are not as many numbers as segments."""
        if len(data) != 4 * self.segments:
            raise ValueError(f"it has {len(data)} bytes for {self.segments} numbers")
        counts: list[int] = np.frombuffer(data, dtype="<u4").tolist()
        return counts

    def estimated_size(self, value: Sequence[int], /) -> int:
        return _LIST + 8 * len(value)


class _AliveForm:
    """Of what is kept as it is, as long as the process lives."""

    __slots__ = ()

    def encode(self, _: Sized, /) -> None:
        return None

    def decode(self, _: bytes, /) -> Sized:
        raise ValueError("it cannot have been written")

    def estimated_size(self, value: Sized, /) -> int:
        """As measured, with what is found out question by question: 30 to 55 bytes a character, without words."""
        return 10 * _LIST + 56 * len(value)


ALIVE = _AliveForm()


def _segments(headings: Sequence[tuple[str, ...]], rows: Sequence[Sequence[Any]]) -> list[Segment]:
    """Raises ValueError if these are no segments one after the other."""
    found: list[Segment] = []
    start = 0
    for kind, length, block, heading, needs in rows:
        if _number(length) < 1 or not all(0 <= _number(other) < len(rows) for other in needs):
            raise ValueError("it has an empty segment, or one that needs what is not there")
        path = headings[_number(heading)]
        found.append(Segment(_KINDS[kind], start, start + length, _number(block), path, tuple(needs)))
        start += length
    return found


def _written(nodes: Sequence[Node]) -> list[Any]:
    return [[*plain, _written(children)] for *plain, children in nodes]


def _nodes(rows: Sequence[Sequence[Any]], start: int, end: int) -> tuple[Node, ...]:
    """Raises ValueError if these are no nodes one after the other between two offsets."""
    found = []
    for kind, begin, until, name, signature, body, tail, exported, children in rows:
        numbers = [*map(_number, (begin, until, signature, body, tail))]
        if begin != start or not begin <= until <= end or not all(-1 <= number <= until for number in numbers):
            raise ValueError("it has a node that is not where it could be")
        if not isinstance(exported, bool) or (children and not begin <= body <= tail):
            raise ValueError("it has a node that is not made as it could be")
        inner = _nodes(children, body, tail) if children else ()
        found.append(Node(NodeKind(kind), begin, until, _string(name), signature, body, tail, exported, inner))
        start = until
    return tuple(found)


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("it has something else where a text should be")
    return value


def _number(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("it has something else where a number should be")
    return value
