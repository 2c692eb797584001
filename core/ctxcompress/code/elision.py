"""Gap markers for dropped source code, which show that something is missing and keep the code valid."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property

from ctxcompress.code.comments import comment_sign
from ctxcompress.code.detection import source_language
from ctxcompress.data.passages import Node, NodeKind, Span
from ctxcompress.lazy_regex import lazy_regex

__all__ = ["GAP", "Elision"]

_CLOSING = {"/*": " */"}
_OPEN_VALUES = lazy_regex(r"^[^#\n]*[(\[{,]\Z", re.MULTILINE)
"""A line of Python that ends among values in brackets."""
_HOLDERS = frozenset((NodeKind.CLASS, NodeKind.TYPE, NodeKind.NAMESPACE))

GAP = "[…]"
"""The gap marker of texts that are no source code."""


class Elision:
    """Finds the places in a text with an outline that need gap markers."""

    def __init__(self, text: str, nodes: Sequence[Node], name: str | None) -> None:
        """name: file name, path or title of the text, if known."""
        self._text, self._nodes, self._name = text, nodes, name

    @cached_property
    def language(self) -> str:
        """The language, which only a text of which something is kept and something is not has to know."""
        return source_language(self._text, self._name)

    @cached_property
    def marker(self) -> str:
        """The marker for a gap: a comment."""
        sign = comment_sign(self._text, self.language)
        return f"{sign} ...{_CLOSING.get(sign, '')}"

    def markers(self, spans: Sequence[Span]) -> list[tuple[int, str]]:
        """Return the markers that a text needs if only `spans` of it are kept.

        A marker is (end of the span before it, its text with the line break before it). There is one for each gap
        between two statements of a function, for a body of which nothing is kept, and for dropped clauses of a
        statement. Dropped members of a class need none beside other members. A marker is a comment, or `...` in Python
        where the body would be empty. Data has no markers: few of its formats have comments.
        """
        if not spans or tuple(spans) == ((0, len(self._text)),):
            return []
        if any(node.kind is NodeKind.RECORD for node in self._nodes[:1]) or self.language == "json":
            return []
        found: dict[int, str] = {}
        for place, mark in self._node_markers(self._nodes, _Kept(self._text, spans)):
            if place not in found or self.marker not in mark:
                found[place] = mark
        return sorted(found.items())

    def _node_markers(self, nodes: Sequence[Node], kept: "_Kept") -> Iterator[tuple[int, str]]:
        for node in nodes:
            if node.body < 0:
                yield from self._line_markers(node, kept)
            if node.body < 0 or not kept.any(node.start, node.end):
                continue
            if node.kind is NodeKind.STATEMENT:
                yield from self._clause_markers(node, kept)
            if not kept.has_end(node.start, node.body):  # another clause is kept instead of the one with the body
                continue
            dropped = [not kept.any(child.start, child.end) for child in node.children]
            if all(dropped) or (self.language == "python" and not self._has_statement(node, dropped)):
                anchor = kept.last_before(node.tail)  # comments of the body may be kept
                yield self._marker(node.children[0], anchor, self._placeholder(node))
            else:
                yield from self._gap_markers(node, dropped, kept)
            yield from self._node_markers(node.children, kept)

    def _has_statement(self, node: Node, dropped: Sequence[bool]) -> bool:
        """Return whether the kept part of a body has more than comments."""
        lines = (
            line
            for child, is_dropped in zip(node.children, dropped, strict=True)
            if not is_dropped
            for line in self._text[child.start : child.end].split("\n")
        )
        return any(line.strip() and not line.lstrip().startswith("#") for line in lines)

    def _placeholder(self, node: Node) -> str:
        """Return what replaces a whole body in Python; "" for values in brackets, and in other languages."""
        if self.language != "python":
            return ""
        head = self._text[node.start : node.body].strip()
        if _OPEN_VALUES.search(head):
            return ""
        return "case _: ..." if head.startswith("match ") else "..."

    def _gap_markers(self, node: Node, dropped: Sequence[bool], kept: "_Kept") -> Iterator[tuple[int, str]]:
        """Yield a marker for each gap between children, but none for members of a class and for blank lines."""
        before, is_holder = False, node.kind in _HOLDERS
        for child, is_dropped in zip(node.children, dropped, strict=True):
            if not self._text[child.start : child.end].strip() or (is_holder and child.kind is not NodeKind.STATEMENT):
                continue
            if is_dropped and not before:
                yield self._marker(child, kept.last_before(child.start), "")
            before = is_dropped

    def _clause_markers(self, node: Node, kept: "_Kept") -> Iterator[tuple[int, str]]:
        for start, end in ((node.start, node.body), (node.tail, node.end)):
            for anchor, _ in self._gaps_between_lines(node, start, end, kept):
                yield self._marker(node.children[0], anchor, "")

    def _line_markers(self, node: Node, kept: "_Kept") -> Iterator[tuple[int, str]]:
        """Yield a marker for each gap in a node without a body, such as a docstring, within its quotes or brackets."""
        for anchor, gap in self._gaps_between_lines(node, node.start, node.end, kept):
            if kept.any(gap, node.end):
                yield self._marker(node, anchor, "..." if node.kind is NodeKind.DOC else "")

    def _gaps_between_lines(self, node: Node, start: int, end: int, kept: "_Kept") -> Iterator[tuple[int, int]]:
        """Yield where the kept text before each dropped line between two offsets ends, and where that line begins."""
        for gap in kept.gaps(start, end):
            anchor = kept.last_before(gap)
            if anchor >= node.start and "\n" in self._text[anchor:gap]:
                yield anchor, gap

    def _marker(self, node: Node, anchor: int, what: str) -> tuple[int, str]:
        """Return a marker on a line of its own, with the indentation of the node."""
        part = self._text[node.start : node.end]
        line = part[len(part) - len(part.lstrip()) - 1 :: -1] if part[:1].isspace() else ""
        indent = line[: len(line) - len(line.lstrip(" \t"))]
        newline = "\r\n" if self._text.find("\r\n", anchor, node.end) >= 0 else "\n"
        return anchor, f"{newline}{indent[::-1]}{what or self.marker}"


class _Kept:
    """The kept spans of a text, for queries by offset."""

    def __init__(self, text: str, spans: Sequence[Span]) -> None:
        self._text, self._spans = text, spans
        self._starts = [start for start, _ in spans]
        self._ends = [end for _, end in spans]

    def any(self, start: int, end: int) -> bool:
        """Return whether anything except white space is kept between two offsets."""
        first, last = bisect_right(self._ends, start), bisect_left(self._starts, end)
        return first < last and any(self._text[max(a, start) : min(b, end)].strip() for a, b in self._spans[first:last])

    def has_end(self, start: int, end: int) -> bool:
        """Return whether the last character between two offsets, ignoring white space, is kept."""
        return self.last_before(end) == start + len(self._text[start:end].rstrip())

    def gaps(self, start: int, end: int) -> Iterator[int]:
        """Yield where dropped text between two offsets begins, ignoring white space."""
        first, last = bisect_right(self._ends, start), bisect_left(self._starts, end)
        for a, b in (*self._spans[first:last], (end, end)):
            if self._text[start:a].strip():
                yield a - len(self._text[start:a].lstrip())
            start = max(start, b)

    def last_before(self, offset: int) -> int:
        """Return where the last kept text before an offset ends, ignoring white space, or -1 if nothing is kept."""
        for start, end in reversed(self._spans[: bisect_left(self._starts, offset)]):
            bare = self._text[start : min(end, offset)].rstrip()
            if bare:
                return start + len(bare)
        return -1
