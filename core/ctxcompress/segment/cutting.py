"""From the tree of a parsed file to its outline.

All is done in lines: tree-sitter counts them as `text.split("\\n")` does, so that nothing but the beginnings of lines
needs to be turned from bytes into characters.
"""

from collections.abc import Sequence
from itertools import accumulate, chain, pairwise, takewhile
from typing import TYPE_CHECKING, NamedTuple

from ctxcompress.outline import Node, NodeKind
from ctxcompress.segment.bodies import Body, body_of
from ctxcompress.segment.grouping import Group, grouped
from ctxcompress.segment.syntax import COMMENTS, Declaration, Scope, Syntax, rows, text_of

if TYPE_CHECKING:
    from tree_sitter import Node as Tree

__all__ = ["outline_of"]

_DEEPEST = 40
"""Levels of nodes below which nothing is cut, so that no input makes the recursion too deep."""
_ABOVE = COMMENTS | {"decorator", "marker_annotation", "annotation", "attribute_declaration"}
"""What can stand within a definition before what declares it."""


def outline_of(root: "Tree", text: str, source: bytes, syntax: Syntax) -> tuple[Node, ...]:
    """The nodes of a file, which partition `text`.

    root: the tree of `source`, the text's bytes.
    """
    if not text:
        return ()
    starts = [*accumulate((len(line) + 1 for line in text.split("\n")[:-1]), initial=0), len(text)]
    trees = root.children
    whole = Body(0, trees, len(starts) - 1)
    nodes = _Cutter(source, syntax, starts).nodes(whole, Scope(names=syntax.names(trees, source)), is_file=True)
    return nodes or (Node(NodeKind.STATEMENT, 0, len(text)),)


class _Cutter(NamedTuple):
    source: bytes
    syntax: Syntax
    starts: Sequence[int]
    """Where each line begins, in characters, and where the last one ends."""

    def nodes(self, body: Body, scope: Scope, *, is_file: bool = False, is_told: bool = True) -> tuple[Node, ...]:
        """The nodes that partition the lines of a body.

        is_told: whether a string that comes first says what the body is there for.
        """
        groups = grouped(body.trees, self.source, self.syntax, hold=self.syntax.dedents and not is_file)
        edges = pairwise([body.first, *(group.first for group in groups[1:]), body.end])
        found: list[Node] = []
        for group, (first, end) in zip(groups, edges, strict=False):
            told = group.told
            scope = _after_access(told, scope, self.source)
            node = self._node(group, told, first, end, scope)
            if is_told and not found and self._is_doc(group, told):
                node = Node(NodeKind.DOC, node.start, node.end)
            if found and node.kind is found[-1].kind is NodeKind.IMPORTS:
                node = node._replace(start=found.pop().start)
            found.append(node)
        return tuple(found)

    def _is_doc(self, group: Group, told: "Sequence[Tree]") -> bool:
        return len(told) < 2 and self.syntax.is_doc(told[0] if told else group.trees[0], self.source)

    def _node(self, group: Group, told: "Sequence[Tree]", first: int, end: int, scope: Scope) -> Node:
        """The node of the lines from `first` to `end`, which are those of a group and blank ones."""
        found = [self.syntax.declaration(tree, scope, self.source) for tree in told]
        start, stop = self.starts[first], self.starts[end]
        if told and all(one is not None and one.kind is NodeKind.IMPORTS for one in found):
            return Node(NodeKind.IMPORTS, start, stop)
        if len(told) != 1:
            return Node(NodeKind.STATEMENT, start, stop)
        declared, body = found[0], None
        if group.end - group.first > 1 and scope.depth < _DEEPEST:
            body = body_of(told[0], declared, self.syntax)
            body = body and body.within(end)
        cut, close = (self.starts[body.first], self.starts[body.end]) if body else (-1, -1)
        if declared is None:
            children = self._children(body, scope, is_told=False)
            return Node(NodeKind.STATEMENT, start, stop, body=cut, tail=close, children=children)
        name = ".".join(part for part in (scope.name, declared.name) if part)
        return Node(
            kind=_kind(declared, scope),
            start=start,
            end=stop,
            name=name if declared.name else "",
            signature=self.starts[_first_line(group, told[0])],
            body=cut,
            tail=close,
            exported=declared.exported and scope.exported,
            children=self._children(body, _within(declared, name, scope), is_told=True),
        )

    def _children(self, body: Body | None, scope: Scope, *, is_told: bool) -> tuple[Node, ...]:
        """What a body consists of; nothing if there is none."""
        if body is None:
            return ()
        inner = scope._replace(depth=scope.depth + 1, local=scope.local or body.local)
        return self.nodes(body, inner, is_told=is_told)


def _kind(declared: Declaration, scope: Scope) -> NodeKind:
    is_method = declared.kind is NodeKind.FUNCTION and (scope.owner or declared.owner)
    return NodeKind.METHOD if is_method else declared.kind


def _within(declared: Declaration, name: str, scope: Scope) -> Scope:
    """What a definition encloses."""
    is_function = declared.kind is NodeKind.FUNCTION
    return Scope(
        name=name,
        owner=declared.owner and not is_function,
        local=scope.local or is_function,
        exported=scope.exported and declared.exported and not is_function,
        opens=declared.opens,
        depth=scope.depth,
    )


def _after_access(told: "Sequence[Tree]", scope: Scope, source: bytes) -> Scope:
    """The scope after a line like `public:` in C++."""
    if len(told) != 1 or told[0].type != "access_specifier":
        return scope
    return scope._replace(opens=text_of(told[0], source) != "private")


def _first_line(group: Group, tree: "Tree") -> int:
    """The line on which a definition begins, after what is above it; with that where it shares the line."""
    parts = [*chain.from_iterable(part.children if part.type == "modifiers" else (part,) for part in tree.children)]
    leading = [*takewhile(lambda part: part.type in _ABOVE, parts)]
    line = [*parts, tree][len(leading)].start_point.row
    before = takewhile(lambda other: other.start_byte < tree.start_byte, group.trees)
    for above in reversed([*before, *leading]):
        first, end = rows(above)
        line = min(line, first) if end > line else line
    return line
