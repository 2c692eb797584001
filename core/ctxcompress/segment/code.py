"""Source code as segments: functions and methods whole, if they are not long; else their statements, each with the
signature, and with whatever closes it."""

from collections.abc import Iterator, Sequence

from ctxcompress.outline import Node, NodeKind
from ctxcompress.segment.line_outline import line_outline
from ctxcompress.text.source import looks_like_code, source_language
from ctxcompress.types import Kind, Segment

__all__ = ["code_segments", "outline"]

_WHOLE = 1_500
"""Characters up to which a function is kept or dropped as one."""
_PIECE = 250
"""The same of a class, of a statement with others in it, and of short statements together."""
_FUNCTIONS = frozenset((NodeKind.FUNCTION, NodeKind.METHOD))
_ALONE = frozenset((*_FUNCTIONS, NodeKind.CLASS, NodeKind.TYPE, NodeKind.NAMESPACE, NodeKind.IMPORTS, NodeKind.DOC))
"""What is never in one segment with what stands beside it."""


def outline(text: str, name: str | None = None) -> tuple[Node, ...]:
    """The outline of `text` if it is source code, or none. name: of its file, where it has one."""
    return line_outline(text, source_language(text, name)) if looks_like_code(text, name) else ()


def code_segments(nodes: Sequence[Node]) -> list[Segment]:
    """The segments of a text with this outline, which they partition.

    The heading of a segment is the qualified name of what it stands in. It needs the signatures of all that it stands
    in, and what closes these.
    """
    builder = _Builder()
    builder.add(nodes, (), ())
    return builder.segments


class _Builder:
    def __init__(self) -> None:
        self.segments: list[Segment] = []
        self._block = -1

    def add(self, nodes: Sequence[Node], heading: tuple[str, ...], around: tuple[int, ...]) -> None:
        """Appends the segments of nodes that stand side by side. around: the segments of what they stand in."""
        for run in _runs(nodes):
            self._block += 1
            node = run[0]
            path = (*heading, node.name.rpartition(".")[2]) if node.name and node.kind in _ALONE else heading
            most = _WHOLE if node.kind in _FUNCTIONS else _PIECE
            if node.body >= 0 and node.end - node.start > most:
                self._add_cut(node, path, around)
            else:
                self._append(node.kind, node.start, run[-1].end, path, around)

    def _add_cut(self, node: Node, heading: tuple[str, ...], around: tuple[int, ...]) -> None:
        """Appends the signature of a node, what is in its body, and what closes it."""
        head = len(self.segments)
        self._append(node.kind, node.start, node.body, heading, around)
        self.add(node.children, heading, (*around, head))
        if node.tail < node.end:
            tail = len(self.segments)
            self.segments[head:] = [part._replace(needs=(*part.needs, tail)) for part in self.segments[head:]]
            self._block += 1
            self._append(NodeKind.STATEMENT, node.tail, node.end, heading, (*around, head))

    def _append(self, unit: NodeKind, start: int, end: int, heading: tuple[str, ...], around: tuple[int, ...]) -> None:
        self.segments.append(Segment(Kind.CODE, start, end, self._block, heading, around, unit))


def _runs(nodes: Sequence[Node]) -> Iterator[list[Node]]:
    """The nodes, short ones that define nothing together."""
    run: list[Node] = []
    for node in nodes:
        if run and (node.kind in _ALONE or run[0].kind in _ALONE or node.end - run[0].start > _PIECE):
            yield run
            run = []
        run.append(node)
    if run:
        yield run
