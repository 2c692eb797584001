"""What is what in the trees of tree-sitter's grammars: what all languages share, and what each has to say."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ctxcompress.outline import NodeKind

if TYPE_CHECKING:
    from tree_sitter import Node as Tree

__all__ = ["COMMENTS", "MARKS", "STICKY", "Declaration", "Scope", "Syntax", "rows", "text_of"]

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
