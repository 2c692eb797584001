"""What is what in the trees of tree-sitter's grammars: what all languages share, and what each has to say."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from ctxcompress.data.passages import Node, NodeKind

__all__ = [
    "COMMENTS",
    "MARKS",
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
MARKS = frozenset((";", ",", ":"))
"""What ends or separates what is cut, and is nothing by itself."""
STICKY = frozenset(("decorator", "attribute_item"))
"""What stands before a definition, beside it in the tree, and is nothing without it."""


class Scope(NamedTuple):
    """What encloses a piece of code."""

    name: str = ""
    owner: bool = False
    """Whether the functions in it are methods."""
    local: bool = False
    """Whether it is within a function."""
    exported: bool = True
    """Whether it can be reached from elsewhere."""
    opens: bool = False
    """Whether what is in it is exported unless it says otherwise."""
    names: frozenset[str] | None = None
    """What the file says that it exports; None where it does not say."""
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a node of a tree defines."""

    kind: NodeKind
    name: str
    node: "Tree"
    """The node that has the body."""
    exported: bool = False
    owner: bool = False
    """Whether functions in it are methods, or for a function whether it is one."""
    opens: bool = False
    """Whether its members are exported unless they say otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Syntax:
    """What a language has to say."""

    declaration: "Callable[[Tree, Scope, bytes], Declaration | None]"
    """What a statement or member defines; None where it defines nothing."""
    blocks: frozenset[str]
    """The nodes whose children can be left out one by one."""
    names: "Callable[[Sequence[Tree], bytes], frozenset[str] | None]" = lambda _, __: None
    """Of the top-level nodes, the names that the file says it exports."""
    function_in: "Callable[[Tree], Tree | None]" = lambda _: None
    """The function that a statement or the declaration of a value is there for: the body of a test, say."""
    is_doc: "Callable[[Tree, bytes], bool]" = lambda _, __: False
    """Whether it is a docstring if it is the first in a body."""
    dedents: bool = False
    """Whether bodies end where the indentation does, so that there must be a statement in them."""
    joining: bytes = b""
    """Bytes at the beginning of a statement that continue an expression before it that nothing ends."""


def rows(tree: "Tree") -> tuple[int, int]:
    """The lines that it is on, from 0: the first one, and the one after the last."""
    end, column = tree.end_point
    first = tree.start_point.row
    return first, end if column == 0 and end > first else end + 1


def text_of(tree: "Tree | None", source: bytes) -> str:
    """How a name is written; empty for none, and for what is more than a line."""
    written = b"" if tree is None else source[tree.start_byte : tree.end_byte]
    return "" if b"\n" in written else written.decode()


if TYPE_CHECKING:
    from tree_sitter import Node as Tree


_COMPOUNDS = frozenset(
    "if_statement for_statement while_statement with_statement try_statement for_in_statement do_statement "
    "enhanced_for_statement try_with_resources_statement synchronized_statement static_initializer "
    "class_static_block if_expression for_expression while_expression loop_expression unsafe_block async_block "
    "for_range_loop labeled_statement".split()
)
"""Statements that have blocks of statements in them."""
_CLAUSES = frozenset(
    "elif_clause else_clause except_clause except_group_clause finally_clause catch_clause for_statement "
    "while_statement for_in_statement enhanced_for_statement for_range_loop".split()
)
"""Parts of such statements that have blocks too; loops are such parts after a label."""
_CONDITIONALS = frozenset(("preproc_ifdef", "preproc_if"))
_CONDITIONAL_ENDS = frozenset(("#endif", "preproc_else", "preproc_elif", "preproc_elifdef"))
_SHORT = 5
"""Lines of a compound statement that is not worth cutting."""
_OPEN = 1 << 60
"""The end of a body that nothing closes: beyond all lines."""


class Body(NamedTuple):
    """Lines from `first` to `end`, and what is there."""

    first: int
    trees: "Sequence[Tree]"
    end: int
    local: bool = False
    """Whether it is of a function that has no name."""

    def within(self, end: int) -> "Body | None":
        """Those lines of it, before line `end`, that nothing else is on; None where there are none.

        What shares a line with what begins or closes the body belongs to that.
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
        """How many lines what is in it takes."""
        return rows(self.trees[-1])[1] - rows(self.trees[0])[0] if self.trees else 0


def body_of(tree: "Tree", declared: Declaration | None, syntax: Syntax) -> Body | None:
    """The body of a statement or member, if it has one that can be cut."""
    if declared is not None and declared.kind is not NodeKind.CONSTANT:
        return _of_definition(declared.node, syntax)
    if tree.type in syntax.blocks:
        return _between(tree.children)
    if tree.type in _CONDITIONALS:
        return _of_conditional(tree.children)
    compound = tree.children[0] if tree.type == "expression_statement" else tree
    if compound.type in _COMPOUNDS:
        first, end = rows(compound)
        return _longest(compound, syntax) if end - first > _SHORT else None
    function = syntax.function_in(tree)
    body = _of_definition(function, syntax) if function is not None else None
    return body and body._replace(local=True)


def _of_definition(tree: "Tree", syntax: Syntax) -> Body | None:
    body = tree.child_by_field_name("body")
    if body is None:
        return None
    if syntax.dedents:
        return _indented(tree.children, _OPEN)
    if body.type in syntax.blocks:
        return _between(body.children)
    return _after_constants(body.children)


def _after_constants(parts: "Sequence[Tree]") -> Body | None:
    """The members of an enumeration in Java, which come after its constants."""
    members = next((part for part in parts if part.type == "enum_body_declarations"), None)
    return _between([*members.children, parts[-1]]) if members is not None else None


def _longest(tree: "Tree", syntax: Syntax) -> Body | None:
    """The longest of the blocks of a compound statement. The others belong to what begins or closes it."""
    parts = tree.children
    if syntax.dedents:
        found = _indented_blocks(parts)
    else:
        clauses = (part.children if part.type in _CLAUSES else (part,) for part in parts)
        found = [_between(part.children) for clause in clauses for part in clause if part.type in syntax.blocks]
    return max(found, key=lambda body: body.height, default=None)


def _indented_blocks(parts: "Sequence[Tree]") -> list[Body]:
    """Those of a statement of Python and of its clauses."""
    found = []
    lines = [*(part.start_point.row for part in parts[1:]), _OPEN]
    for part, close in zip(parts, lines, strict=True):
        if part.type == "block":
            found.append(_indented(parts, close))
        elif part.type in _CLAUSES:
            found.append(_indented(part.children, close))
    return found


def _indented(parts: "Sequence[Tree]", close: int) -> Body:
    """The block of Python that is one of the parts, with the comments before it, up to the line `close`."""
    types = [part.type for part in parts]
    colon, block = types.index(":"), types.index("block")
    comments = [part for part in parts[colon:block] if part.type in COMMENTS]
    return Body(rows(parts[colon])[1], [*comments, *parts[block].children], close)


def _between(parts: "Sequence[Tree]") -> Body:
    """What is between the first and the last part, which are braces."""
    lists = (part.children if part.type == "statement_list" else (part,) for part in parts[1:-1])
    return Body(rows(parts[0])[1], [part for listed in lists for part in listed], parts[-1].start_point.row)


def _of_conditional(parts: "Sequence[Tree]") -> Body:
    """What the preprocessor takes if the condition, the second part, holds."""
    end = next(number for number, part in enumerate(parts) if part.type in _CONDITIONAL_ENDS)
    trees = [part for part in parts[2:end] if part.type != "\n"]
    return Body(rows(parts[1])[1], trees, parts[end].start_point.row)


_CLAUSE = re.compile(
    r"^(?P<indent>[ \t]*+)(?:[)\]}]++[ \t]*+)?(?:else|elif|elsif|elseif|except|finally|catch|rescue|ensure)\b",
    re.MULTILINE,
)
_CATCH = re.compile(r"[ \t)\]}]*+(?:except|catch|rescue)\b")
_CLOSER = re.compile(r"(?:[)\]}]+[;,]?|end|fi|done)\s*\Z")
_FIRST = re.compile(r"^(?P<indent>[ \t]*+)(?![\r\n#*]|/[/*]|--[ ])(?P<try>(?:try|begin)\b)?", re.MULTILINE)
"""The first line that is no comment."""


class Clauses(NamedTuple):
    """Where the clauses of a statement begin. What is before and after those that are told of here has to stay."""

    above: Sequence[int]
    """Of those after the first one, up to that with the body."""
    below: Sequence[int]
    """Of those after the body, and where the last of these ends; at least that one place."""


def clauses(text: str, node: Node, most: int) -> Clauses:
    """The clauses of a node with a body that can be left out. If all that is before or after the body is no longer
    than `most`, that stays.

    Of a `try` the last handler stays, and what comes after it: it cannot be without.
    """
    if node.kind is not NodeKind.STATEMENT:
        return Clauses((), (node.tail,))
    first = _FIRST.search(text, node.start, node.body)
    if not first:
        return Clauses((), (node.tail,))
    above = _begins(text, first["indent"], first.end(), node.body) if node.body - node.start > most else []
    below = _begins(text, first["indent"], node.tail, node.end) if node.end - node.tail > most else []
    if first["try"]:
        handlers = [number for number, place in enumerate(below) if _CATCH.match(text, place)]
        return Clauses((), (node.tail,) if above or not handlers else below[: handlers[-1] + 1])
    if below:
        below = [*below, _closer(text, node, below[-1]) if below[0] == node.tail else node.end]
    if not _are_balanced(text, (node.start, *above)) or not _are_balanced(text, below):
        return Clauses((), (node.tail,))
    return Clauses(above, below or (node.tail,))


def _begins(text: str, indent: str, start: int, end: int) -> list[int]:
    return [match.start() for match in _CLAUSE.finditer(text, start, end) if match["indent"] == indent]


def _closer(text: str, node: Node, after: int) -> int:
    """Where the last line begins, if it but closes the statement; else its end."""
    last = text.rfind("\n", node.start, node.start + len(text[node.start : node.end].rstrip())) + 1
    return last if last > after and _CLOSER.match(text[last : node.end].lstrip()) else node.end


def _are_balanced(text: str, bounds: Sequence[int]) -> bool:
    """Whether each part opens as many braces as it closes, so that it can be left out: that those of statements within
    are closed where their indentation says."""
    parts = (text[start:end] for start, end in pairwise(bounds))
    return all(part.count("{") == part.count("}") for part in parts)
