"""Which of the trees that follow one another are on lines that can only be kept or left out together."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ctxcompress.segment.syntax import COMMENTS, MARKS, STICKY, Syntax, rows

if TYPE_CHECKING:
    from tree_sitter import Node as Tree

__all__ = ["Group", "grouped"]

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
