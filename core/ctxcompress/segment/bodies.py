"""Where the body of a piece of code is: the lines between what begins it and what closes it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ctxcompress.outline import NodeKind
from ctxcompress.segment.syntax import COMMENTS, STICKY, Declaration, Syntax, rows

if TYPE_CHECKING:
    from tree_sitter import Node as Tree

__all__ = ["Body", "body_of"]

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
