"""Outlines of whole files by tree-sitter, where its grammars are installed (the extra `code`)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from itertools import accumulate, chain, pairwise, takewhile
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from ctxcompress.code.declarations import GO, JAVA, PYTHON, RUST
from ctxcompress.code.declarations_c import CPP, C
from ctxcompress.code.declarations_script import SCRIPT
from ctxcompress.code.syntax import COMMENTS, MARKS, STICKY, Body, Declaration, Scope, Syntax, body_of, rows, text_of
from ctxcompress.data.passages import Node, NodeKind

__all__ = ["Group", "grouped", "outline_of", "parsed_outline"]

if TYPE_CHECKING:
    from tree_sitter import Node as Tree


_TRIVIA = COMMENTS | MARKS | STICKY
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
"""Statements of JavaScript and TypeScript that end as the last thing in them does."""


@dataclass(slots=True)
class Group:
    """What is on lines that belong together, in its order: of lines `first` to `end`."""

    first: int
    end: int
    trees: "list[Tree]"

    def add(self, trees: "Sequence[Tree]", end: int) -> None:
        self.trees.extend(trees)
        self.end = max(self.end, end)

    @property
    def told(self) -> "list[Tree]":
        """All but comments, decorators and semicolons."""
        return [tree for tree in self.trees if tree.type not in _TRIVIA]


def grouped(trees: "Sequence[Tree]", source: bytes, syntax: Syntax, *, hold: bool) -> list[Group]:
    """What shares a line, with the comments and decorators right above it, and with what keeps it apart from others.

    hold: whether there is to be more than comments in every group.
    """
    groups: list[Group] = []
    waiting = sticky = False  # for what comments, or decorators, are above of
    for tree, joins in zip(trees, _joins(trees, source, syntax.joining), strict=True):
        first, end = rows(tree)
        trivial = tree.type in _TRIVIA
        if joins:
            _join_last(groups)
        belongs = waiting and (sticky or hold or (groups and first <= groups[-1].end))
        if groups and (joins or belongs or first < groups[-1].end):
            groups[-1].add((tree,), end)
            waiting = waiting and trivial
        else:
            groups.append(Group(first, end, [tree]))
            waiting, sticky = trivial and tree.type not in MARKS, False
        sticky = waiting and (sticky or tree.type in STICKY)
    if hold and waiting:
        _join_last(groups)
    return groups


def _join_last(groups: list[Group]) -> None:
    """Joins the comments that come last with what is before them."""
    while len(groups) > 1 and not groups[-1].told:
        last = groups.pop()
        groups[-1].add(last.trees, last.end)


def _joins(trees: "Sequence[Tree]", source: bytes, joining: bytes) -> list[bool]:
    """Whether each would continue an expression further up if all between were left out.

    It is so where no semicolon ends a statement, and another begins with a parenthesis, say.
    """
    joins = [bool(joining) and source[tree.start_byte] in joining and tree.type not in _TRIVIA for tree in trees]
    if not any(joins):
        return joins
    is_open = False
    for number, tree in enumerate(trees):
        joins[number] = joins[number] and is_open
        closed = number + 1 < len(trees) and trees[number + 1].type in MARKS
        is_open = is_open or not (closed or tree.type in _TRIVIA or _ends(tree, source))
    return joins


def _ends(tree: "Tree", source: bytes) -> bool:
    """Whether nothing that comes after it can continue it."""
    while source[tree.end_byte - 1] != ord(";"):
        if tree.type not in _LAST_DECIDES or not tree.children:
            return tree.type in _ENDED
        tree = tree.children[-1]
    return True


if TYPE_CHECKING:
    from tree_sitter import Node as Tree


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


if TYPE_CHECKING:
    from tree_sitter import Parser


_SAFE = (0, 26, 1)
"""The first tree-sitter that takes a text in parts and can be stopped. Older ones crash the interpreter then, and may
be installed without the extra `code`."""
_CHUNK = 1 << 12
"""Bytes that the parser is given at a time."""
_READS = 50
"""How often it may ask for each part, on average. About twice is enough; but Python's grammar looks from each comment
to the end of all that follow one another, which takes time quadratic in their number."""
_FEWEST_READS = 1_000
"""How often it may ask whatever the length: at each of many levels of indentation that end together, say."""
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
"""Language -> the package of its grammar, the function there, and what is what in its trees."""


def parsed_outline(text: str, language: str) -> tuple[Node, ...] | None:
    """The outline of a whole file: its top-level nodes, which partition the text.

    language: python, javascript, typescript, tsx, java, go, rust, c or cpp.

    None where it cannot be said for sure: the language is none of these, the extra `code` is not installed or its
    tree-sitter is too old, or the text is not valid in the language. Takes time linear in the length of the text.
    """
    if language not in _GRAMMARS:
        return None
    package, function, syntax = _GRAMMARS[language]
    parser = _parser(package, function)
    if parser is None:
        return None
    source = text.encode("utf-8", "replace")  # lone surrogates, which may only be in strings and comments
    reader = _Reader(source, _FEWEST_READS + _READS * len(source) // _CHUNK)
    try:
        tree = parser.parse(reader, progress_callback=lambda _, has_error: has_error or reader.left < 0)
    except ValueError:  # stopped: to recover from an error takes far longer than to parse what has none
        return None
    return None if tree.root_node.has_error or reader.left < 0 else outline_of(tree.root_node, text, source, syntax)


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
    try:
        numbers = tuple(map(int, re.findall(r"\d+", version("tree-sitter"))))
    except PackageNotFoundError:
        return False
    return numbers >= _SAFE


@dataclass(slots=True)
class _Reader:
    """Gives the parser the source in parts, and nothing once it has asked too often."""

    source: bytes
    left: int
    """How often it may still ask."""

    def __call__(self, offset: int, _: object) -> bytes:
        self.left -= 1
        return self.source[offset : offset + _CHUNK] if self.left >= 0 else b""
