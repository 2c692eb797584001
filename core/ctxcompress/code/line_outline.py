"""The outline of source code by its lines, for whole files and chunks of any language."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ctxcompress.code.definition_lines import (
    Definition,
    assigned_name,
    definition_on_line,
    ends_with_function,
    is_attached,
)
from ctxcompress.code.line_blocks import Extent, LineBlocks
from ctxcompress.data.passages import Node, NodeKind
from ctxcompress.lazy_regex import lazy_regex

__all__ = ["line_outline"]

_IMPORT = lazy_regex(
    r"[ \t]*+(?:import\b|from[ \t]+[\w.]+[ \t]+import\b|\#[ \t]*include\b|(?:pub[ \t]+)?use[ \t]+[\w:{]|using[ \t]+\w"
    r"|package[ \t]+\w|(?:const|let|var)[ \t]+[\w{}, ]+=[ \t]*require\(|require(?:_relative)?[ \t(]|extern[ \t]+crate)"
)
_DEFINES = frozenset((NodeKind.FUNCTION, NodeKind.METHOD, NodeKind.CLASS, NodeKind.TYPE, NodeKind.NAMESPACE))
_DEEPEST, _SHORT = 12, 250
"""Levels of nested bodies, of which deeper ones are not cut; characters of a statement not worth cutting."""
_ASSIGNMENT = lazy_regex(r"[ \t]*+(?:(?:export|const|let|var|static|final|public|private|pub|readonly|val)[ \t]+)*"
                         r"(?P<name>[A-Za-z_$][\w$]*)[^=\n(){}]{0,80}=(?!=)")  # fmt: skip
_ENUM = lazy_regex(r"[^\n({]*\benum\b")
_DOCSTRING = lazy_regex(r"[ \t]*+[rRuU]?(?:\"{3}|'{3}|\"|')")
_IMPORTS, _STATEMENT = NodeKind.IMPORTS, NodeKind.STATEMENT  # ten times as fast as attributes of an enum
_NEVER_SPECIAL = frozenset("{}();")
"""First characters that no comment, definition, import, assignment or label has."""


def line_outline(text: str, language: str) -> tuple[Node, ...]:
    """Return the outline of `text`: nodes that partition it. language: a name that `source_language` returns."""
    blocks = LineBlocks(text, language)
    return tuple(_Builder(text, language, blocks).nodes(0, len(blocks), _Scope()))


class _Scope(NamedTuple):
    """The definition around some nodes."""

    name: str = ""
    is_class: bool = False
    is_function: bool = False
    depth: int = 0
    is_block: bool = False
    """True within a body that is not only a conditional section, so that each node must close its braces."""

    def within(self, defined: Definition | None, kind: NodeKind, name: str) -> "_Scope":
        """Return the scope inside the body of a node."""
        if kind is NodeKind.CONSTANT:
            return _Scope(".".join(filter(None, (self.name, assigned_name(name)))), True, False, self.depth + 1, True)
        if defined is None:
            return self._replace(depth=self.depth + 1, is_block=True)
        return _Scope(name, defined.is_container, not defined.is_container, self.depth + 1, True)


class _Builder:
    """A converter from the lines of a text to nodes."""

    def __init__(self, text: str, language: str, blocks: LineBlocks) -> None:
        self._text, self._language, self._blocks = text, language, blocks
        self._starts, self._begins = blocks.starts, blocks.first_characters

    def nodes(self, first: int, last: int, scope: _Scope) -> Iterable[Node]:
        """Return the nodes of the lines from `first` to before `last`. No line is less indented than the first one."""
        found: list[Node] = []
        ends: list[int] = []
        number = first
        begins = self._begins
        while number < last:
            line = number if begins[number] in _NEVER_SPECIAL else self._after_attached(number, last)
            node, number = self._node(number, line, last, scope)
            found.append(node)
            ends.append(number)
        return _with_merged(found, self._blocks.open_braces(first, ends) if scope.is_block else [])

    def _after_attached(self, number: int, last: int) -> int:
        """Return the number of the first line that is not attached to the line after it."""
        ends_blank = self._blocks.ends_blank
        while number + 1 < last and not ends_blank[number] and self._begins[number] not in _NEVER_SPECIAL:
            if self._blocks.has_section(number) or not is_attached(self._text, self._starts[number], self._language):
                break
            number += 1
        return number

    def _node(self, begin: int, number: int, last: int, scope: _Scope) -> tuple[Node, int]:
        """Return the node that begins on line `number`, and the number of the line after it.

        begin: the first line of the comments and decorators attached to the node, or `number`.
        """
        starts = self._starts
        extent = body, tail, end = self._blocks.extent(number, last)
        defined, kind, name = None, _STATEMENT, ""
        if self._begins[number] not in _NEVER_SPECIAL:
            is_opened = self._blocks.opens_brace(number, body)
            defined = definition_on_line(self._text, starts[number], self._language, is_opened=is_opened)
            kind, name = _within(scope, defined) if defined else self._undefined(number, scope)
        if defined:
            node = Node(kind, starts[begin], starts[end], name, starts[number])
        else:
            node = Node(kind, starts[begin], starts[end], name)
        is_worth_cutting = body < tail and scope.depth < _DEEPEST and (defined or node.end - node.start > _SHORT)
        if not is_worth_cutting or not self._blocks.is_closed(number, extent):
            return node, end
        is_section = self._blocks.has_section(number)  # which is no block
        inside = scope._replace(depth=scope.depth + 1) if is_section else scope.within(defined, kind, name)
        return self._with_body(node, number, extent, inside), end

    def _with_body(self, node: Node, number: int, extent: Extent, inside: _Scope) -> Node:
        """Return the node that begins on line `number` with the nodes of its body. inside: the scope of these."""
        body, tail, _ = extent
        children = tuple(self.nodes(body, tail, inside))
        kind = self._kind_around(children, node.kind, number, inside)
        name = inside.name if kind is NodeKind.NAMESPACE else node.name
        if kind is NodeKind.TYPE and _ENUM.match(self._text, node.signature):
            children = self._after_constants(children)
        return node._replace(kind=kind, name=name, body=children[0].start, tail=self._starts[tail], children=children)

    def _after_constants(self, members: tuple[Node, ...]) -> tuple[Node, ...]:
        """Return the members of an enum after its constants, which a semicolon ends, or all if it has only constants.

        The members are invalid without the constants.
        """
        texts = (self._text[node.start : node.end].rstrip() for node in members)
        after = next((number for number, text in enumerate(texts, 1) if text.endswith(";")), 0)
        return members[after:] or members

    def _undefined(self, number: int, scope: _Scope) -> tuple[NodeKind, str]:
        """Return the kind and the name of a node that is no definition."""
        start = self._starts[number]
        if not scope.is_function and _IMPORT.match(self._text, start):
            return _IMPORTS, ""
        if self._language == "python" and _DOCSTRING.match(self._text, start):
            return NodeKind.DOC, ""
        match = None if scope.is_function else _ASSIGNMENT.match(self._text, start)
        return (NodeKind.CONSTANT, match["name"]) if match else (_STATEMENT, "")

    def _kind_around(self, children: Sequence[Node], kind: NodeKind, number: int, inside: _Scope) -> NodeKind:
        """Return the kind of a node with these children.

        A constant with definitions is a namespace, and a statement around a function without a name is a function.
        """
        if kind is not NodeKind.CONSTANT and (kind is not _STATEMENT or inside.is_function):
            return kind
        has_definitions = any(child.kind in _DEFINES for child in children)
        if kind is NodeKind.CONSTANT:
            return NodeKind.NAMESPACE if has_definitions else kind
        is_callback = ends_with_function(self._text, self._starts[number], self._starts[number + 1])
        return NodeKind.FUNCTION if is_callback and not has_definitions else kind


def _within(scope: _Scope, defined: Definition) -> tuple[NodeKind, str]:
    """Return the kind and the name of a definition in this scope."""
    kind = NodeKind.METHOD if scope.is_class and defined.kind is NodeKind.FUNCTION else defined.kind
    return kind, f"{scope.name}.{defined.name}" if scope.name else defined.name


def _with_merged(nodes: Sequence[Node], depths: Sequence[int]) -> Iterable[Node]:
    """Merge consecutive imports, and nodes that close their braces only together.

    depths: the number of open braces after each node, or none if it does not matter.
    """
    if not any(depths) and all(node[0] is not _IMPORTS for node in nodes):
        return nodes
    runs: list[list[Node]] = []
    depth = 0
    for node, after in zip(nodes, depths or [0] * len(nodes), strict=True):
        if not runs or (depth == 0 and not (node.kind is runs[-1][-1].kind is _IMPORTS)):
            runs.append([])
        runs[-1].append(node)
        depth = after
    return map(_merge, runs)


def _merge(nodes: Sequence[Node]) -> Node:
    if len(nodes) == 1:
        return nodes[0]
    kind = _IMPORTS if all(node.kind is _IMPORTS for node in nodes) else _STATEMENT
    return Node(kind, nodes[0].start, nodes[-1].end)
