"""The outline of a piece of source code: what it consists of, down to statements, each with its exact place.

Whoever leaves out whole nodes of an outline, and puts a marker where a body would be empty, gets code that parses if
the code did before.
"""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple

__all__ = ["Node", "NodeKind", "shifted", "walk"]


class NodeKind(StrEnum):
    """What a node of an outline is."""

    FUNCTION = "function"
    METHOD = "method"
    CLASS = "class"
    TYPE = "type"
    """Interfaces, structs, enums, type aliases, traits, schemas."""
    NAMESPACE = "namespace"
    """Modules, namespaces and blocks that implement something for a type."""
    IMPORTS = "imports"
    CONSTANT = "constant"
    """A variable or a constant that is not within a function."""
    DOC = "doc"
    """The docstring of what it stands in."""
    STATEMENT = "statement"
    """Anything else: statements, comments that stand alone, blank lines."""


class Node(NamedTuple):
    """Characters `start` to `end` of a text, whole lines: with the decorators and comments above it, and what separates
    it from what follows. A named tuple, because there may be one for each of a million lines."""

    kind: NodeKind
    start: int
    end: int
    name: str = ""
    """What it defines, as it is written: `Future.result` for a method, empty for what defines nothing."""
    signature: int = -1
    """Where the line begins that declares it, after decorators and comments; -1 for what defines nothing."""
    body: int = -1
    """Where its body begins: all before it belongs to the signature; -1 for what has no body that could be cut."""
    tail: int = -1
    """Where its body ends, and what closes it begins: `end` where nothing does; -1 where `body` is."""
    exported: bool = False
    """Whether it is declared to be used from elsewhere."""
    children: tuple["Node", ...] = ()
    """What the body consists of: the nodes partition it."""


def walk(nodes: Sequence[Node]) -> Iterator[Node]:
    """The nodes and all within them, in their order."""
    for node in nodes:
        yield node
        yield from walk(node.children)


def shifted(node: Node, by: int) -> Node:
    """The same node in a text that has so many characters more before it."""
    return node._replace(
        start=node.start + by,
        end=node.end + by,
        signature=node.signature + by if node.signature >= 0 else -1,
        body=node.body + by if node.body >= 0 else -1,
        tail=node.tail + by if node.tail >= 0 else -1,
        children=tuple(shifted(child, by) for child in node.children),
    )
