"""What a file declares at its top, in the order in which it is kept."""

import re
from collections.abc import Sequence
from enum import IntEnum
from itertools import pairwise

from ctxcompress.outline import Node, NodeKind

__all__ = ["DEFINES", "Rank", "Ranks", "is_underscored"]

DEFINES = frozenset((NodeKind.FUNCTION, NodeKind.METHOD, NodeKind.CLASS, NodeKind.TYPE, NodeKind.NAMESPACE))
_COMMENTS = re.compile(r"(?:\s*+(?://[^\n]*+|/\*(?s:.*?)\*/))*+\s*+")
_INTERFACE = re.compile(r"export[ \t]*+(?:default\b|[{*=])|(?:module\.)?exports[ \t]*+=")
_FUNCTION = re.compile(
    r"(?:module\.)?exports\.[\w$]++[ \t]*+=[ \t]*+(?:async[ \t]++)?(?:function\b|\(|[\w$]++[ \t]*+=>)"
)
_EXPORTED = re.compile(r"export\b|(?:module\.)?exports\b")
_IMPORT = re.compile(r"^(?:import|export|const|let|var)\b", re.MULTILINE)


class Rank(IntEnum):
    """How early something is kept."""

    PUBLIC = 0
    """What can be used from elsewhere."""
    MODULE = 1
    """What a script imports, its default export, and its lists of exports."""
    TYPE = 2
    """The types that a script exports, of which little is left without their members, and the values."""
    PRIVATE = 3


class Ranks:
    """The ranks of what stands at the top of one file."""

    def __init__(self, text: str, nodes: Sequence[Node], *, is_script: bool) -> None:
        """is_script: whether it is of JavaScript or TypeScript, where a file says what it exports, and where types are
        nothing that is called."""
        self._text, self._is_script = text, is_script
        self._says_exports = is_script and any(node.exported for node in nodes)

    def of(self, node: Node) -> Rank | None:
        """The rank of a node; None for what declares nothing that others would look for."""
        if not self._is_script:
            return self._of_definition(node) if node.kind in DEFINES else None
        begin = node.signature if node.signature >= 0 else self._code(node)
        if node.kind in DEFINES:
            rank = self._of_definition(node)
            return Rank.TYPE if rank is Rank.PUBLIC and node.kind is NodeKind.TYPE else rank
        if node.kind is NodeKind.IMPORTS or _INTERFACE.match(self._text, begin):
            return Rank.MODULE
        if _FUNCTION.match(self._text, begin):
            return Rank.PUBLIC
        return Rank.TYPE if node.exported or _EXPORTED.match(self._text, begin) else None

    def imports(self, node: Node) -> list[tuple[int, int]]:
        """Where each of the imports of a script begins and ends that a node consists of, without comments above."""
        begins = [match.start() for match in _IMPORT.finditer(self._text, node.start, node.end)]
        return [*pairwise([*(begins or [self._code(node)]), node.end])]

    def _of_definition(self, node: Node) -> Rank:
        hidden = not node.exported and (self._says_exports or is_underscored(node.name))
        return Rank.PRIVATE if hidden else Rank.PUBLIC

    def _code(self, node: Node) -> int:
        """Where a node begins after the comments above it."""
        match = _COMMENTS.match(self._text, node.start, node.end)
        return match.end() if match else node.start


def is_underscored(name: str) -> bool:
    """Whether the name says that it is not for use from elsewhere."""
    last = name.rpartition(".")[2]
    return last.startswith("_") and not last.endswith("__")
