"""The outline and the segments of source code.

A short function or method is one segment. A long one is split into its statements, which need its signature and its
closing line. A statement that is larger than the budget is split into its lines, which need its first and last one.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise

from ctxcompress.code.comments import closed_lines, comment_parts, comment_sign
from ctxcompress.code.detection import is_code_name, looks_like_code, source_language
from ctxcompress.code.lexing import entry_starts
from ctxcompress.code.line_blocks import clauses
from ctxcompress.code.line_outline import line_outline
from ctxcompress.data.passages import Kind, Node, NodeKind, Segment, walk
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.segment.conversation import turns_of
from ctxcompress.text.log_lines import has_signs, is_diff, is_output

__all__ = ["LONGEST", "WHOLE", "code_segments", "outline"]

WHOLE = 1_500
"""The most characters of a function that is one segment."""
_PIECES = 6
"""Classes, compound statements and runs of short statements must be this many times shorter to be one segment."""
_LONG_DOC = 500
"""The most characters of a docstring that is one segment, and of paragraphs of a longer one that share a segment."""
LONGEST = 3 * WHOLE
"""The most characters of what has no parts, without the comment above it. A longer one would fit few budgets."""
_LONG_VALUES = 500
"""The most characters of a table of values that is one segment."""
_COMMENT = lazy_regex(
    r"\s*+(?:[ \t]*+(?://[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/[ \t]*+\r?|#(?![!\[])[^\n]*+|--[^\n]*+)\n)++"
)
"""The comments above a definition: whole lines, without attributes."""
_COMMENT_PARAGRAPH_END = lazy_regex(r"^[ \t]*+(?:///?!?|\*|#|--)?[ \t]*+\r?\n(?!\s*\Z)", re.MULTILINE)
_VALUES = frozenset((NodeKind.CONSTANT, NodeKind.STATEMENT))
_FEWEST_ENTRIES = 3
_CODE_LINE = lazy_regex(r"^[ \t]*+(?![\r\n#*]|/[/*]|--)", re.MULTILINE)
_QUOTES = lazy_regex(r"^[ \t]*+[rRuU]?[\"']", re.MULTILINE)
_PARAGRAPH_END = lazy_regex(r"\n(?:[ \t]*+\r?\n)++")
_LINE_END = lazy_regex(r"\n")
_FUNCTIONS = frozenset((NodeKind.FUNCTION, NodeKind.METHOD))
_ALONE = frozenset((*_FUNCTIONS, NodeKind.CLASS, NodeKind.TYPE, NodeKind.NAMESPACE, NodeKind.IMPORTS, NodeKind.DOC))
"""Kinds of nodes that never share a segment with their neighbours."""


def outline(text: str, name: str | None = None) -> tuple[Node, ...]:
    """Return the outline of `text` if it is source code, else an empty one. name: file name, if known."""
    if not looks_like_code(text, name) or is_diff(text) or has_signs(text):
        return ()
    if not is_code_name(name) and (is_output(text) or turns_of(text)):
        return ()
    language = source_language(text, name)
    nodes = _with_cut_comments(text, line_outline(text, language), comment_sign(text, language))
    return _with_entries(text, nodes, language)


def code_segments(text: str, nodes: Sequence[Node], whole: int = LONGEST) -> list[Segment]:
    """Return the segments of a text with this outline. They partition the text.

    The heading path of a segment is the qualified name of the definition that it is in. A segment needs the signatures
    and closing lines of all definitions around it.

    whole: the most characters of a statement that is one segment; a function has at most `WHOLE`. 0 cuts all functions,
    and only statements that would fit few budgets.
    """
    builder = _Builder(text, whole, is_configuration=all(node.kind not in _ALONE for node in walk(nodes)))
    builder.add(nodes, (), ())
    return builder.segments


def _with_cut_comments(text: str, nodes: Iterable[Node], sign: str) -> tuple[Node, ...]:
    """Return the nodes, with the comments above statements cut into their parts. sign: what begins a comment."""
    return tuple(part for node in nodes for part in _without_comment(text, node, sign))


def _without_comment(text: str, node: Node, sign: str) -> Iterator[Node]:
    """Yield the parts of the comment that a node begins with, and the node with the last one. A definition has all."""
    if node.children:
        node = node._replace(children=_with_cut_comments(text, node.children, sign))
    begins = comment_parts(text, node.start, node.end, sign) if node.kind in _VALUES else [node.start]
    for start, end in pairwise(begins):
        yield Node(NodeKind.STATEMENT, start, end)
    if begins[-1] < node.end:
        yield node._replace(start=begins[-1])


def _with_entries(text: str, nodes: Iterable[Node], language: str) -> tuple[Node, ...]:
    """Return the nodes, with long tables of values divided into their entry_starts."""
    return tuple(chain.from_iterable(_divided(text, node, language) for node in nodes))


def _divided(text: str, node: Node, language: str) -> tuple[Node, ...]:
    """Return the node, cut into its parts if it is long. A long one without parts is cut into its paragraphs: the lexer
    cannot read everything, and an unknown literal may hide where the statements end."""
    if node.end - node.start <= _LONG_VALUES:
        return (node,)
    node = _cut_apart(text, node, language)
    # Below the body stands nothing that can be dropped, as after a guard with an `#endif`.
    if node.body >= 0 and node.end - node.tail > LONGEST and len(clauses(text, node, WHOLE).below) < 2:
        above = Node(NodeKind.STATEMENT, node.start, node.body)
        return (above, *node.children, *_paragraphs(text, node.tail, node.end))
    if node.body >= 0 or node.end - max(node.start, node.signature) <= LONGEST or node.kind is NodeKind.DOC:
        return (node,)
    return _paragraphs(text, node.start, node.end)


def _paragraphs(text: str, start: int, end: int) -> tuple[Node, ...]:
    """Return a statement for each paragraph of a text, and for some lines of a long one."""
    bounds = dict.fromkeys((start, *(match.end() for match in _PARAGRAPH_END.finditer(text, start, end)), end))
    begins: list[int] = []
    for first, last in pairwise(bounds):
        lines = (match.end() for match in _LINE_END.finditer(text, first, last)) if last - first > WHOLE else ()
        begins += dict.fromkeys((first, *_spaced([*lines], first, _LONG_VALUES)))
    return tuple(Node(NodeKind.STATEMENT, *part) for part in pairwise(dict.fromkeys((*begins, end))))


def _cut_apart(text: str, node: Node, language: str) -> Node:
    if node.body >= 0:
        return node._replace(children=_with_entries(text, node.children, language))
    begins = entry_starts(text, node.start, node.end, language) if node.kind in _VALUES else []
    found = (Node(NodeKind.STATEMENT, start, end) for start, end in pairwise(begins))
    children = _with_entries(text, found, language)
    if len(children) < _FEWEST_ENTRIES and all(child.body < 0 for child in children):
        return node
    return node._replace(body=begins[0], tail=begins[-1], children=children)


class _Builder:
    """A collector of the segments of one text."""

    def __init__(self, text: str, whole: int, *, is_configuration: bool) -> None:
        """is_configuration: whether the text has blocks in braces, and none is a definition."""
        self._text, self._longest, self._whole = text, whole or LONGEST, min(whole, WHOLE)
        self._piece = self._whole // _PIECES
        self._short = self._whole if is_configuration else self._piece
        """The most characters of a unit that is no function."""
        self.segments: list[Segment] = []
        self._block = -1

    def add(self, nodes: Sequence[Node], heading: tuple[str, ...], around: tuple[int, ...], scope: str = "") -> None:
        """Append the segments of sibling nodes.

        around: the segments of the definitions that they are in. scope: the name of the innermost of these.
        """
        for run in _runs(nodes, self._piece):
            self._block += 1
            node = run[0]
            is_named = bool(node.name) and node.kind in _ALONE
            path = (*heading, *node.name.removeprefix(f"{scope}.").split(".")) if is_named else heading
            most = self._whole if node.kind in _FUNCTIONS or _is_record(node) else self._short
            comment = _end_of_comment(self._text, node) if node.kind in _ALONE else node.start
            if comment - node.start > _LONG_DOC:
                self._add_comment(node.start, comment, path, around)
                node = run[0] = node._replace(start=comment)
            if node.body >= 0 and node.end - node.start > most:
                self._add_cut(node, path, around, node.name if is_named else scope)
            elif node.end - node.start > (_LONG_DOC if node.kind is NodeKind.DOC else self._longest):
                self._add_lines(node, path, around)
            else:
                self._append(node.kind, node.start, run[-1].end, path, around, _constants(run))

    def _add_cut(self, node: Node, heading: tuple[str, ...], around: tuple[int, ...], scope: str) -> None:
        """Append the signature, the body and the closing line of a node.

        Other clauses of a long statement, such as its "elif", are segments that can be dropped.
        """
        head = len(self.segments)
        above, below = clauses(self._text, node, self._piece)
        first, *begins = (node.start, *above, node.body)
        self._append(node.kind, first, begins[0], heading, around)
        for start, end in pairwise(begins):
            self._append(NodeKind.STATEMENT, start, end, heading, (*around, head))
        own = len(self.segments) - 1
        self.add(node.children, heading, (*around, head) if own == head else (*around, head, own), scope)
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

    def _add_lines(self, node: Node, heading: tuple[str, ...], around: tuple[int, ...]) -> None:
        """Append the lines of a node without a body, or the paragraphs of a docstring, which need its first and its
        last line, where its brackets or quotes are."""
        text, is_doc = self._text, node.kind is NodeKind.DOC
        begin = (_QUOTES if is_doc else _CODE_LINE).search(text, max(node.start, node.signature), node.end)
        first = text.find("\n", begin.start() if begin else node.start, node.end) + 1
        last = text.rfind("\n", first, node.start + len(text[node.start : node.end].rstrip())) + 1
        if not node.start < first < last:
            self._append(node.kind, node.start, node.end, heading, around)
            return
        found = (match.end() for match in _PARAGRAPH_END.finditer(text, first, last))
        ends = [at for at in (found if is_doc else closed_lines(text, first, last)) if at < last]
        bounds = [first, *_spaced(ends, first, _LONG_DOC if is_doc else self._piece), last]
        head, tail = len(self.segments), len(self.segments) + len(bounds)
        self._append(node.kind, node.start, first, heading, (*around, tail))
        for start, end in pairwise(bounds):
            self._append(node.kind, start, end, heading, (*around, head, tail))
        self._append(node.kind, last, node.end, heading, (*around, head))

    def _add_comment(self, start: int, end: int, heading: tuple[str, ...], around: tuple[int, ...]) -> None:
        """Append the paragraphs of a comment above a definition, which need the beginning of the definition."""
        text = self._text
        is_block = text[start:end].lstrip().startswith("/*")
        first = text.find("\n", start, end) + 1 if is_block else start
        last = text.rfind("\n", start, start + len(text[start:end].rstrip())) + 1 if is_block else end
        ends = [match.end() for match in _COMMENT_PARAGRAPH_END.finditer(text, first, end)]
        bounds = [start, first, *_spaced([at for at in ends if first < at < last], first, _LONG_DOC), last, end]
        bounds = list(dict.fromkeys(bounds))
        head, tail = len(self.segments), len(self.segments) + len(bounds) - 2
        edges = (head, tail) if is_block else ()
        for number, (begin, stop) in enumerate(pairwise(bounds), head):
            needs = tuple(other for other in dict.fromkeys((*edges, tail + 1)) if other != number)
            self._append(NodeKind.DOC, begin, stop, heading, (*around, *needs))

    def _append(
        self, unit: NodeKind, start: int, end: int, heading: tuple[str, ...], around: tuple[int, ...], label: str = ""
    ) -> None:
        self.segments.append(Segment(Kind.CODE, start, end, self._block, heading, around, unit, label))


def _is_record(node: Node) -> bool:
    """Return whether a node is a type that has only fields or values, such as an enum, which say little one by one."""
    return node.kind is NodeKind.TYPE and all(child.kind not in _ALONE for child in node.children)


def _constants(nodes: Iterable[Node]) -> str:
    """Return the names of the constants among these nodes."""
    return " ".join(node.name.rpartition(".")[2] for node in nodes if node.kind is NodeKind.CONSTANT)


def _end_of_comment(text: str, node: Node) -> int:
    """Return where the comment ends that a definition begins with."""
    if node.signature - node.start <= _LONG_DOC:
        return node.start
    comment = _COMMENT.match(text, node.start, node.signature)
    return comment.end() if comment else node.start


def _spaced(ends: Sequence[int], start: int, most: int) -> Iterator[int]:
    """Yield the paragraph ends to cut at, so that each piece has as many paragraphs as fit `most` characters."""
    for end, following in pairwise([*ends, math.inf]):
        if following - start > most:
            yield int(end)
            start = int(end)


def _runs(nodes: Sequence[Node], most: int) -> list[list[Node]]:
    """Return runs of nodes: a definition alone, other nodes together as long as they fit `most` characters."""
    runs: list[list[Node]] = []
    for node in nodes:
        first = runs[-1][0] if runs else None
        if first is None or node.kind in _ALONE or first.kind in _ALONE or node.end - first.start > most:
            runs.append([])
        runs[-1].append(node)
    return runs
