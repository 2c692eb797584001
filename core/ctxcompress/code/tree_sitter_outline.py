"""The outline of a whole file by tree-sitter, whose grammars are in the extra `code`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import accumulate, chain, takewhile
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from ctxcompress.code.declarations import GO, JAVA, PYTHON, RUST
from ctxcompress.code.declarations_c import CPP, C
from ctxcompress.code.declarations_script import SCRIPT
from ctxcompress.code.syntax import (
    COMMENTS,
    SEPARATORS,
    STICKY,
    Body,
    Declaration,
    Scope,
    Syntax,
    body_of,
    rows,
    text_of,
)
from ctxcompress.data.passages import Node, NodeKind

__all__ = ["parsed_outline"]

if TYPE_CHECKING:
    from tree_sitter import Node as Tree
    from tree_sitter import Parser


_SAFE = (0, 26, 1)
"""The first version of tree-sitter that can read a text in parts and be stopped. Older versions crash the interpreter
then, and they may be installed without the extra `code`."""
_CHUNK = 1 << 12
"""Number of bytes that the parser gets at a time."""
_READS_PER_CHUNK = 50
"""How often the parser may read each chunk on average. Usually two reads are enough. But Python's grammar looks from
each comment to the end of all comments in a row, which takes quadratic time."""
_FREE_READS = 1_000
"""How many reads are always allowed, for example where many levels of indentation end together."""
_GRAMMARS = MappingProxyType(
    {
        "python": ("tree_sitter_python", "language", PYTHON),
        "javascript": ("tree_sitter_javascript", "language", SCRIPT),
        "typescript": ("tree_sitter_typescript", "language_typescript", SCRIPT),
        "tsx": ("tree_sitter_typescript", "language_tsx", SCRIPT),
        "java": ("tree_sitter_java", "language", JAVA),
        "go": ("tree_sitter_go", "language", GO),
        "rust": ("tree_sitter_rust", "language", RUST),
        "c": ("tree_sitter_c", "language", C),
        "cpp": ("tree_sitter_cpp", "language", CPP),
    }
)
"""Language -> (package of the grammar, function in it, syntax of the language)."""
_TRIVIA = COMMENTS | SEPARATORS | STICKY
_ENDED = frozenset(
    "function_declaration generator_function_declaration class_declaration abstract_class_declaration "
    "method_definition class_static_block statement_block interface_declaration enum_declaration switch_statement "
    "try_statement finally_clause catch_clause internal_module module".split()
)
"""Statements of JavaScript and TypeScript that end with their closing brace."""
_LAST_DECIDES = frozenset(
    "if_statement else_clause for_statement for_in_statement while_statement labeled_statement export_statement "
    "ambient_declaration".split()
)
"""Statements of JavaScript and TypeScript that end like their last child."""
_DEEPEST = 40
"""Levels of nodes below which nothing is cut, which limits the recursion."""
_ABOVE = COMMENTS | {"decorator", "marker_annotation", "annotation", "attribute_declaration"}
"""Nodes inside a definition that can precede its signature."""
_MAY_BE_ABOVE = _ABOVE | {"modifiers"}
_IMPORTS, _STATEMENT = NodeKind.IMPORTS, NodeKind.STATEMENT  # ten times as fast as attributes of an enum


def parsed_outline(text: str, language: str) -> tuple[Node, ...] | None:
    """Return the outline of a whole file: its top-level nodes, which partition the text.

    language: python, javascript, typescript, tsx, java, go, rust, c or cpp.

    Returns None if the language is another one, the extra `code` is not installed, tree-sitter is too old, or the text
    is not valid in the language. Takes time linear in the length of the text.
    """
    if language not in _GRAMMARS:
        return None
    package, function, syntax = _GRAMMARS[language]
    parser = _parser(package, function)
    if parser is None:
        return None
    source = text.encode("utf-8", "replace")  # lone surrogates are valid only in strings and comments
    reader = _Reader(source, _FREE_READS + _READS_PER_CHUNK * len(source) // _CHUNK)
    try:
        tree = parser.parse(reader, progress_callback=lambda _, has_error: has_error or reader.left < 0)
    except ValueError:  # stopped, because recovering from an error takes far longer than parsing valid code
        return None
    return None if tree.root_node.has_error or reader.left < 0 else _file_nodes(tree.root_node, text, source, syntax)


def _parser(package: str, function: str) -> "Parser | None":
    if not _is_safe():
        return None
    try:
        tree_sitter, grammar = import_module("tree_sitter"), import_module(package)
    except ImportError:
        return None
    parser: Parser = tree_sitter.Parser(tree_sitter.Language(getattr(grammar, function)()))
    return parser


@cache
def _is_safe() -> bool:

    from importlib.metadata import PackageNotFoundError, version  # takes time to import; only whole files need it

    try:
        numbers = tuple(map(int, re.findall(r"\d+", version("tree-sitter"))))
    except PackageNotFoundError:
        return False
    return numbers >= _SAFE


@dataclass(slots=True)
class _Reader:
    """A source that the parser reads in chunks, and that is empty after too many reads."""

    source: bytes
    left: int
    """The number of reads that are left."""

    def __call__(self, offset: int, _: object) -> bytes:
        self.left -= 1
        return self.source[offset : offset + _CHUNK] if self.left >= 0 else b""


@dataclass(slots=True)
class _Group:
    """The nodes on lines that belong together, from line `first` to before line `end`."""

    first: int
    end: int
    trees: "list[Tree]"
    content: "list[Tree]"
    """The nodes without comments, decorators and separators."""

    def add(self, trees: "Sequence[Tree]", content: "Sequence[Tree]", end: int) -> None:
        self.trees.extend(trees)
        self.content.extend(content)
        self.end = max(self.end, end)


def _file_nodes(root: "Tree", text: str, source: bytes, syntax: Syntax) -> tuple[Node, ...]:
    """Return the nodes of a file, which partition `text`. root: the tree of `source`, which is the text in UTF-8."""
    if not text:
        return ()
    starts = [*accumulate((len(line) + 1 for line in text.split("\n")[:-1]), initial=0), len(text)]
    trees = root.children
    whole = Body(0, trees, len(starts) - 1)
    nodes = _NodeBuilder(source, syntax, starts).nodes(whole, Scope(names=syntax.names(trees, source)), is_file=True)
    return nodes or (Node(_STATEMENT, 0, len(text)),)


class _NodeBuilder(NamedTuple):
    """A converter from the trees of one file to nodes of an outline."""

    source: bytes
    syntax: Syntax
    starts: Sequence[int]
    """The character offset of each line, and last of the end of the text."""

    def nodes(self, body: Body, scope: Scope, *, is_file: bool = False, may_have_doc: bool = True) -> tuple[Node, ...]:
        """Return the nodes that partition the lines of a body.

        may_have_doc: whether a string at the beginning is a docstring.
        """
        groups = _grouped(body.trees, self.source, self.syntax, needs_code=self.syntax.dedents and not is_file)
        ends = [*(group.first for group in groups[1:]), body.end]
        found: list[Node] = []
        first = body.first
        for group, end in zip(groups, ends, strict=False):
            scope = _after_access(group.content, scope, self.source)
            node = self._node(group, first, end, scope)
            if may_have_doc and not found and self._is_doc(group):
                node = Node(NodeKind.DOC, node.start, node.end)
            if found and node.kind is found[-1].kind is _IMPORTS:
                node = node._replace(start=found.pop().start)
            found.append(node)
            first = end
        return tuple(found)

    def _is_doc(self, group: _Group) -> bool:
        content = group.content
        return len(content) < 2 and self.syntax.is_doc(content[0] if content else group.trees[0], self.source)

    def _node(self, group: _Group, first: int, end: int, scope: Scope) -> Node:
        """Return the node of a group, with the blank lines around it: lines `first` to before `end`."""
        content, start, stop = group.content, self.starts[first], self.starts[end]
        if len(content) != 1:
            return Node(self._kind_of_several(content, scope), start, stop)
        tree = content[0]
        declared = self.syntax.declaration(tree, scope, self.source)
        if declared is not None and declared.kind is _IMPORTS:
            return Node(_IMPORTS, start, stop)
        body = None
        if group.end - group.first > 1 and scope.depth < _DEEPEST:
            body = body_of(tree, declared, self.syntax)
            body = body and body.within(end)
        cut, close = (self.starts[body.first], self.starts[body.end]) if body else (-1, -1)
        if declared is None:
            children = self._children(body, scope, may_have_doc=False) if body else ()
            return Node(_STATEMENT, start, stop, "", -1, cut, close, False, children)
        name = ".".join(part for part in (scope.name, declared.name) if part)
        return Node(
            kind=_node_kind(declared, scope),
            start=start,
            end=stop,
            name=name if declared.name else "",
            signature=self.starts[_first_line(group, tree)],
            body=cut,
            tail=close,
            exported=declared.exported and scope.exported,
            children=self._children(body, _inner_scope(declared, name, scope), may_have_doc=True) if body else (),
        )

    def _kind_of_several(self, content: "Sequence[Tree]", scope: Scope) -> NodeKind:
        """Return the kind of the node of several trees on one line, or of none."""
        found = (self.syntax.declaration(tree, scope, self.source) for tree in content)
        are_imports = content and all(one is not None and one.kind is _IMPORTS for one in found)
        return _IMPORTS if are_imports else _STATEMENT

    def _children(self, body: Body, scope: Scope, *, may_have_doc: bool) -> tuple[Node, ...]:
        """Return the nodes of a body."""
        inner = scope._replace(depth=scope.depth + 1, local=scope.local or body.local)
        return self.nodes(body, inner, may_have_doc=may_have_doc)


def _node_kind(declared: Declaration, scope: Scope) -> NodeKind:
    is_method = declared.kind is NodeKind.FUNCTION and (scope.owner or declared.owner)
    return NodeKind.METHOD if is_method else declared.kind


def _inner_scope(declared: Declaration, name: str, scope: Scope) -> Scope:
    """Return the scope of the members of a definition."""
    is_function = declared.kind is NodeKind.FUNCTION
    return Scope(
        name=name,
        owner=declared.owner and not is_function,
        local=scope.local or is_function,
        exported=scope.exported and declared.exported and not is_function,
        exports_members=declared.exports_members,
        depth=scope.depth,
    )


def _after_access(content: "Sequence[Tree]", scope: Scope, source: bytes) -> Scope:
    """Return the scope after a line like `public:` in C++."""
    if len(content) != 1 or content[0].type != "access_specifier":
        return scope
    return scope._replace(exports_members=text_of(content[0], source) != "private")


def _first_line(group: _Group, tree: "Tree") -> int:
    """Return the line of a definition's signature, after the comments and decorators on lines above it."""
    parts = tree.children
    if len(group.trees) == 1 and parts and parts[0].type not in _MAY_BE_ABOVE:  # so for most definitions
        return parts[0].start_point.row
    parts = [*chain.from_iterable(part.children if part.type == "modifiers" else (part,) for part in parts)]
    leading = [*takewhile(lambda part: part.type in _ABOVE, parts)]
    line = [*parts, tree][len(leading)].start_point.row
    before = takewhile(lambda other: other.start_byte < tree.start_byte, group.trees)
    for above in reversed([*before, *leading]):
        first, end = rows(above)
        line = min(line, first) if end > line else line
    return line


def _grouped(trees: "Sequence[Tree]", source: bytes, syntax: Syntax, *, needs_code: bool) -> list[_Group]:
    """Group nodes that share a line, each group with the comments and decorators above it and its separators.

    needs_code: whether every group must have more than comments.
    """
    groups: list[_Group] = []
    waiting = sticky = False  # whether comments, or decorators, wait for the node after them
    last = -1  # the line after the last group
    for tree, joins in zip(trees, _joins(trees, source, syntax.joining), strict=True):
        first, end = rows(tree)
        kind = tree.type
        trivial = kind in _TRIVIA
        if joins:
            _join_last(groups)
        belongs = waiting and (sticky or needs_code or (groups and first <= last))
        if groups and (joins or belongs or first < last):
            groups[-1].add((tree,), () if trivial else (tree,), end)
            last = groups[-1].end
            waiting = waiting and trivial
        else:
            groups.append(_Group(first, end, [tree], [] if trivial else [tree]))
            last = end
            waiting, sticky = trivial and kind not in SEPARATORS, False
        sticky = waiting and (sticky or kind in STICKY)
    if needs_code and waiting:
        _join_last(groups)
    return groups


def _join_last(groups: list[_Group]) -> None:
    """Merge groups of only comments at the end with the group before them."""
    while len(groups) > 1 and not groups[-1].content:
        last = groups.pop()
        groups[-1].add(last.trees, last.content, last.end)


def _joins(trees: "Sequence[Tree]", source: bytes, joining: bytes) -> list[bool]:
    """Return for each node whether it would continue an earlier expression if all nodes between were dropped.

    For example, it begins with a parenthesis and no semicolon ends an earlier statement.
    """
    if not joining:
        return [False] * len(trees)
    joins = [source[tree.start_byte] in joining and tree.type not in _TRIVIA for tree in trees]
    if not any(joins):
        return joins
    is_open = False
    for number, tree in enumerate(trees):
        joins[number] = joins[number] and is_open
        closed = number + 1 < len(trees) and trees[number + 1].type in SEPARATORS
        is_open = is_open or not (closed or tree.type in _TRIVIA or _ends(tree, source))
    return joins


def _ends(tree: "Tree", source: bytes) -> bool:
    """Return whether no later text can continue this statement."""
    while source[tree.end_byte - 1] != ord(";"):
        if tree.type not in _LAST_DECIDES or not tree.children:
            return tree.type in _ENDED
        tree = tree.children[-1]
    return True
