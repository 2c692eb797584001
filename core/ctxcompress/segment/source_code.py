"""Source code as segments: functions and methods whole, if they are not long; else their statements, each with the
signature, and with whatever closes it."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from ctxcompress.code.detection import end_of_cut_text, looks_like_code, source_language
from ctxcompress.code.lexing import entries
from ctxcompress.code.line_outline import line_outline
from ctxcompress.code.outline import parsed_outline
from ctxcompress.code.syntax import clauses
from ctxcompress.data.passages import Kind, Node, NodeKind, Segment, shifted

__all__ = ["code_segments", "outline"]

WHOLE = 1_500
"""Characters up to which a function is kept or dropped as one."""
_PIECES = 6
"""How many times shorter classes, statements with others in them, and short statements together have to be for that."""
_LONG_DOC = 500
"""Characters of a docstring that is kept or dropped as one, and of paragraphs of a longer one together."""
_LONG_VALUES = 500
"""Characters of a table of values that is kept or dropped as one."""
_PARAGRAPH_END = re.compile(r"\n[ \t]*\r?\n\s*?(?=[ \t]*\S)")
_VALUES = frozenset((NodeKind.CONSTANT, NodeKind.STATEMENT))
_FEWEST_ENTRIES = 3
_QUOTES = re.compile(r"^[ \t]*+[rRuU]?[\"']", re.MULTILINE)
_FUNCTIONS = frozenset((NodeKind.FUNCTION, NodeKind.METHOD))
_ALONE = frozenset((*_FUNCTIONS, NodeKind.CLASS, NodeKind.TYPE, NodeKind.NAMESPACE, NodeKind.IMPORTS, NodeKind.DOC))
"""What is never in one segment with what stands beside it."""


def outline(text: str, name: str | None = None) -> tuple[Node, ...]:
    """The outline of `text` if it is source code, or none: by a parser if it is valid and its grammar is installed
    (extra `code`), else by its lines. name: of its file, where it has one."""
    if not looks_like_code(text, name):
        return ()
    language = source_language(text, name)
    is_middle = text.lstrip("\r\n")[:1].isspace() or end_of_cut_text(text, language) > 0
    nodes = (None if is_middle else parsed_outline(text, language)) or line_outline(text, language)
    return _with_entries(text, nodes, language)


def _with_entries(text: str, nodes: Iterable[Node], language: str) -> tuple[Node, ...]:
    """The nodes, within which long tables of values consist of their entries."""
    return tuple(_cut_apart(text, node, language) if node.end - node.start > _LONG_VALUES else node for node in nodes)


def _cut_apart(text: str, node: Node, language: str) -> Node:
    if node.body >= 0:
        return node._replace(children=_with_entries(text, node.children, language))
    begins = entries(text, node.start, node.end, language) if node.kind in _VALUES else []
    found = (Node(NodeKind.STATEMENT, start, end) for start, end in pairwise(begins))
    children = _with_entries(text, found, language)
    if len(children) < _FEWEST_ENTRIES and all(child.body < 0 for child in children):
        return _by_lines(text, node, language)
    return node._replace(body=begins[0], tail=begins[-1], children=children)


def _by_lines(text: str, node: Node, language: str) -> Node:
    """A long statement that a parser leaves whole, such as a switch, as its lines have it."""
    found = line_outline(text[node.start : node.end], language) if node.kind is NodeKind.STATEMENT else ()
    if len(found) != 1 or found[0].body < 0:
        return node
    return shifted(found[0], node.start)._replace(kind=node.kind)


def code_segments(text: str, nodes: Sequence[Node], whole: int = WHOLE) -> list[Segment]:
    """The segments of a text with this outline, which they partition. whole: characters up to which a function is one.

    The heading of a segment is the qualified name of what it stands in. It needs the signatures of all that it stands
    in, and what closes these.
    """
    builder = _Builder(text, whole)
    builder.add(nodes, (), ())
    return builder.segments


class _Builder:
    def __init__(self, text: str, whole: int) -> None:
        self._text, self._whole, self._piece = text, whole, whole // _PIECES
        self.segments: list[Segment] = []
        self._block = -1

    def add(self, nodes: Sequence[Node], heading: tuple[str, ...], around: tuple[int, ...]) -> None:
        """Appends the segments of nodes that stand side by side. around: the segments of what they stand in."""
        for run in _runs(nodes, self._piece):
            self._block += 1
            node = run[0]
            path = (*heading, node.name.rpartition(".")[2]) if node.name and node.kind in _ALONE else heading
            most = self._whole if node.kind in _FUNCTIONS else self._piece
            if node.body >= 0 and node.end - node.start > most:
                self._add_cut(node, path, around)
            elif node.kind is NodeKind.DOC and node.end - node.start > _LONG_DOC:
                self._add_doc(node, path, around)
            else:
                self._append(node.kind, node.start, run[-1].end, path, around)

    def _add_cut(self, node: Node, heading: tuple[str, ...], around: tuple[int, ...]) -> None:
        """Appends the signature of a node, what is in its body, and what closes it. Other clauses of a long statement,
        such as its "elif", can be left out."""
        head = len(self.segments)
        above, below = clauses(self._text, node, self._piece)
        first, *begins = (node.start, *above, node.body)
        self._append(node.kind, first, begins[0], heading, around)
        for start, end in pairwise(begins):
            self._append(NodeKind.STATEMENT, start, end, heading, (*around, head))
        own = len(self.segments) - 1
        self.add(node.children, heading, (*around, head) if own == head else (*around, head, own))
        closing: list[int] = []
        for number, (start, end) in enumerate(pairwise((node.tail, *below, node.end))):
            if start == end:
                continue
            if number in (0, len(below)):
                closing.append(len(self.segments))
            self._block += 1
            self._append(NodeKind.STATEMENT, start, end, heading, (*around, head))
        for number, part in enumerate(self.segments[head:] if closing else (), head):
            self.segments[number] = part._replace(needs=(*part.needs, *(end for end in closing if end != number)))

    def _add_doc(self, node: Node, heading: tuple[str, ...], around: tuple[int, ...]) -> None:
        """Appends the paragraphs of a docstring, with its first and its last line, where its quotes are."""
        ends = [match.end() for match in _PARAGRAPH_END.finditer(self._text, node.start, node.end)]
        quotes = _QUOTES.search(self._text, node.start, node.end)
        first = self._text.find("\n", quotes.start() if quotes else node.start, node.end) + 1
        last = self._text.rfind("\n", first, node.start + len(self._text[node.start : node.end].rstrip())) + 1
        cuts = _spaced([end for end in ends if first < end < last], first, _LONG_DOC)
        is_long = node.start < first < last
        self._add_between(
            node.kind,
            [node.start, first, *cuts, last, node.end] if is_long else [node.start, node.end],
            heading,
            around,
        )

    def _add_between(
        self, unit: NodeKind, bounds: Sequence[int], heading: tuple[str, ...], around: tuple[int, ...]
    ) -> None:
        """Appends segments with these bounds, each of which needs the first and the last one."""
        bounds = list(dict.fromkeys(bounds))
        head, tail = len(self.segments), len(self.segments) + len(bounds) - 2
        for number, (start, end) in enumerate(pairwise(bounds), head):
            needs = tuple(other for other in dict.fromkeys((head, tail)) if other != number)
            self._append(unit, start, end, heading, (*around, *needs))

    def _append(self, unit: NodeKind, start: int, end: int, heading: tuple[str, ...], around: tuple[int, ...]) -> None:
        self.segments.append(Segment(Kind.CODE, start, end, self._block, heading, around, unit))


def _spaced(ends: Sequence[int], start: int, most: int) -> Iterator[int]:
    """Those of the ends of paragraphs at which as many of these are together as stay that short."""
    for end, following in pairwise([*ends, math.inf]):
        if following - start > most:
            yield int(end)
            start = int(end)


def _runs(nodes: Sequence[Node], most: int) -> Iterator[list[Node]]:
    """The nodes; those that define nothing together, as long as they stay that short."""
    run: list[Node] = []
    for node in nodes:
        if run and (node.kind in _ALONE or run[0].kind in _ALONE or node.end - run[0].start > most):
            yield run
            run = []
        run.append(node)
    if run:
        yield run
