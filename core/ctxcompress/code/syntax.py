"""The interface to tree-sitter's trees: what a language must declare, and how bodies and clauses are found in any of
them."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from ctxcompress.data.passages import Node, NodeKind
from ctxcompress.lazy_regex import lazy_regex

__all__ = [
    "COMMENTS",
    "SEPARATORS",
    "STICKY",
    "Body",
    "Clauses",
    "Declaration",
    "Scope",
    "Syntax",
    "body_of",
    "clauses",
    "rows",
    "text_of",
]

if TYPE_CHECKING:
    from tree_sitter import Node as Tree


COMMENTS = frozenset(("comment", "line_comment", "block_comment", "html_comment"))
SEPARATORS = frozenset((";", ",", ":"))
"""Nodes that end or separate statements and mean nothing alone."""
STICKY = frozenset(("decorator", "attribute_item"))
"""Nodes that precede a definition as siblings in the tree and belong to it."""
_COMPOUNDS = frozenset(
    "if_statement for_statement while_statement with_statement try_statement for_in_statement do_statement "
    "enhanced_for_statement try_with_resources_statement synchronized_statement static_initializer "
    "class_static_block if_expression for_expression while_expression loop_expression unsafe_block async_block "
    "for_range_loop labeled_statement".split()
)
"""Statements that contain blocks of statements."""
_CLAUSES = frozenset(
    "elif_clause else_clause except_clause except_group_clause finally_clause catch_clause for_statement "
    "while_statement for_in_statement enhanced_for_statement for_range_loop".split()
)
"""Parts of these statements that contain blocks too. Loops are such parts after a label."""
_CONDITIONALS = frozenset(("preproc_ifdef", "preproc_if"))
_CONDITIONAL_ENDS = frozenset(("#endif", "preproc_else", "preproc_elif", "preproc_elifdef"))
_SHORT = 5
"""The most lines of a compound statement that is not worth cutting."""
_UNBOUNDED = 1 << 60
"""The end of a body that nothing closes: a line number after all lines."""
_CLAUSE_LINE = lazy_regex(
    r"^(?P<indent>[ \t]*+)(?:[)\]}]++[ \t]*+)?(?:else|elif|elsif|elseif|except|finally|catch|rescue|ensure)\b",
    re.MULTILINE,
)
_CATCH = lazy_regex(r"[ \t)\]}]*+(?:except|catch|rescue)\b")
_CLOSING_LINE = lazy_regex(r"(?:[)\]}]+[;,]?|end|fi|done)\s*\Z")
_FIRST_CODE_LINE = lazy_regex(r"^(?P<indent>[ \t]*+)(?![\r\n#*]|/[/*]|--[ ])(?P<try>(?:try|begin)\b)?", re.MULTILINE)
"""The first line that is not a comment."""


class Scope(NamedTuple):
    """The definition that encloses a piece of code."""

    name: str = ""
    owner: bool = False
    """True if the functions in it are methods."""
    local: bool = False
    """True if it is inside a function."""
    exported: bool = True
    """True if other files can reach it."""
    exports_members: bool = False
    """True if its members are exported by default."""
    names: frozenset[str] | None = None
    """The names that the file declares as exported, or None if it declares none."""
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Declaration:
    """The definition that a node of a tree makes."""

    kind: NodeKind
    name: str
    node: "Tree"
    """The node with the body."""
    exported: bool = False
    owner: bool = False
    """True if functions in it are methods. For a function: True if it is a method."""
    exports_members: bool = False
    """True if its members are exported by default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Syntax:
    """The properties of a language."""

    declaration: "Callable[[Tree, Scope, bytes], Declaration | None]"
    """A function that returns the definition that a statement or member makes, or None."""
    blocks: frozenset[str]
    """The types of nodes whose children can be dropped one by one."""
    names: "Callable[[Sequence[Tree], bytes], frozenset[str] | None]" = lambda _, __: None
    """A function from the top-level nodes to the names that the file declares as exported."""
    function_in: "Callable[[Tree], Tree | None]" = lambda _: None
    """A function that returns the main function inside a statement or a value, such as the body of a test."""
    is_doc: "Callable[[Tree, bytes], bool]" = lambda _, __: False
    """A function that returns whether the first node of a body is a docstring."""
    dedents: bool = False
    """True if indentation delimits bodies, so that each must contain a statement."""
    joining: bytes = b""
    """First bytes of a statement that continue the expression before it if nothing ends that one."""


class Body(NamedTuple):
    """The body of a definition or statement: the lines from `first` to before `end`, and the nodes there."""

    first: int
    trees: "Sequence[Tree]"
    end: int
    local: bool = False
    """True if it belongs to a function without a name."""

    def within(self, end: int) -> "Body | None":
        """Return the lines of the body before line `end` that contain nothing else, or None if there are none.

        A node on the same line as the beginning or the end of the body is excluded.
        """
        trees, low, high = self.trees, 0, len(self.trees)
        first, close = self.first, min(self.end, end)
        while low < high and (rows(trees[low])[0] < first or (low and trees[low - 1].type in STICKY)):
            first = max(first, rows(trees[low])[1])
            low += 1
        while low < high and (rows(trees[high - 1])[1] > close or trees[high - 1].type in STICKY):
            close = min(close, rows(trees[high - 1])[0])
            high -= 1
        return self._replace(first=rows(trees[low])[0], trees=trees[low:high], end=close) if low < high else None

    @property
    def height(self) -> int:
        """The number of lines of its nodes."""
        return rows(self.trees[-1])[1] - rows(self.trees[0])[0] if self.trees else 0


class Clauses(NamedTuple):
    """Where the clauses of a statement begin that can be dropped. The text before and after them must stay."""

    above: Sequence[int]
    """Starts of the clauses after the first one, up to the clause with the body."""
    below: Sequence[int]
    """Starts of the clauses after the body, and then the end of the last one. Never empty."""


def rows(tree: "Tree") -> tuple[int, int]:
    """Return the first line of a node, counted from 0, and the line after its last line."""
    end, column = tree.end_point
    first = tree.start_point.row
    return first, end if column == 0 and end > first else end + 1


def text_of(tree: "Tree | None", source: bytes) -> str:
    """Return the text of a node, or an empty string for None and for text of several lines."""
    text = b"" if tree is None else source[tree.start_byte : tree.end_byte]
    return "" if b"\n" in text else text.decode()


def body_of(tree: "Tree", declared: Declaration | None, syntax: Syntax) -> Body | None:
    """Return the body of a statement or member if it can be cut, else None."""
    if declared is not None and declared.kind is not NodeKind.CONSTANT:
        return _definition_body(declared.node, syntax)
    if tree.type in syntax.blocks:
        return _braced_body(tree.children)
    if tree.type in _CONDITIONALS:
        return _conditional_body(tree.children)
    compound = tree.children[0] if tree.type == "expression_statement" else tree
    if compound.type in _COMPOUNDS:
        first, end = rows(compound)
        return _longest_body(compound, syntax) if end - first > _SHORT else None
    function = syntax.function_in(tree)
    body = _definition_body(function, syntax) if function is not None else None
    return body and body._replace(local=True)


def _definition_body(tree: "Tree", syntax: Syntax) -> Body | None:
    body = tree.child_by_field_name("body")
    if body is None:
        return None
    if syntax.dedents:
        return _indented_body(tree.children, _UNBOUNDED)
    if body.type in syntax.blocks:
        return _braced_body(body.children)
    return _enum_body(body.children)


def _enum_body(parts: "Sequence[Tree]") -> Body | None:
    """Return the members of a Java enum, which follow its constants."""
    members = next((part for part in parts if part.type == "enum_body_declarations"), None)
    return _braced_body([*members.children, parts[-1]]) if members is not None else None


def _longest_body(tree: "Tree", syntax: Syntax) -> Body | None:
    """Return the longest block of a compound statement. Its other blocks are never cut."""
    parts = tree.children
    if syntax.dedents:
        found = _indented_blocks(parts)
    else:
        clauses = (part.children if part.type in _CLAUSES else (part,) for part in parts)
        found = [_braced_body(part.children) for clause in clauses for part in clause if part.type in syntax.blocks]
    return max(found, key=lambda body: body.height, default=None)


def _indented_blocks(parts: "Sequence[Tree]") -> list[Body]:
    """Return the blocks of a Python statement and of its clauses."""
    found = []
    lines = [*(part.start_point.row for part in parts[1:]), _UNBOUNDED]
    for part, close in zip(parts, lines, strict=True):
        if part.type == "block":
            found.append(_indented_body(parts, close))
        elif part.type in _CLAUSES:
            found.append(_indented_body(part.children, close))
    return found


def _indented_body(parts: "Sequence[Tree]", close: int) -> Body:
    """Return the Python block among the parts, with the comments before it, up to the line `close`."""
    types = [part.type for part in parts]
    colon, block = types.index(":"), types.index("block")
    comments = [part for part in parts[colon:block] if part.type in COMMENTS]
    return Body(rows(parts[colon])[1], [*comments, *parts[block].children], close)


def _braced_body(parts: "Sequence[Tree]") -> Body:
    """Return the body between the first and the last part, which are braces."""
    lists = (part.children if part.type == "statement_list" else (part,) for part in parts[1:-1])
    return Body(rows(parts[0])[1], [part for listed in lists for part in listed], parts[-1].start_point.row)


def _conditional_body(parts: "Sequence[Tree]") -> Body:
    """Return the code that the preprocessor includes if the condition (the second part) is true."""
    end = next(number for number, part in enumerate(parts) if part.type in _CONDITIONAL_ENDS)
    trees = [part for part in parts[2:end] if part.type != "\n"]
    return Body(rows(parts[1])[1], trees, parts[end].start_point.row)


def clauses(text: str, node: Node, most: int) -> Clauses:
    """Return the clauses of a node with a body that can be dropped.

    The part before or after the body stays whole if it has at most `most` characters. A `try` keeps its last handler
    and everything after it, because it is invalid without.
    """
    if node.kind is not NodeKind.STATEMENT:
        return Clauses((), (node.tail,))
    first = _FIRST_CODE_LINE.search(text, node.start, node.body)
    if not first:
        return Clauses((), (node.tail,))
    above = _clause_starts(text, first["indent"], first.end(), node.body) if node.body - node.start > most else []
    below = _clause_starts(text, first["indent"], node.tail, node.end) if node.end - node.tail > most else []
    if first["try"]:
        handlers = [number for number, place in enumerate(below) if _CATCH.match(text, place)]
        return Clauses((), (node.tail,) if above or not handlers else below[: handlers[-1] + 1])
    if below:
        below = [*below, _closing_line(text, node, below[-1]) if below[0] == node.tail else node.end]
    if not _are_balanced(text, (node.start, *above)) or not _are_balanced(text, below):
        return Clauses((), (node.tail,))
    return Clauses(above, below or (node.tail,))


def _clause_starts(text: str, indent: str, start: int, end: int) -> list[int]:
    return [match.start() for match in _CLAUSE_LINE.finditer(text, start, end) if match["indent"] == indent]


def _closing_line(text: str, node: Node, after: int) -> int:
    """Return where the last line of a statement begins if it only closes the statement, else where the node ends."""
    last = text.rfind("\n", node.start, node.start + len(text[node.start : node.end].rstrip())) + 1
    return last if last > after and _CLOSING_LINE.match(text[last : node.end].lstrip()) else node.end


def _are_balanced(text: str, bounds: Sequence[int]) -> bool:
    """Return whether each part opens as many braces as it closes, so that it can be dropped alone."""
    parts = (text[start:end] for start, end in pairwise(bounds))
    return all(part.count("{") == part.count("}") for part in parts)
