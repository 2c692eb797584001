"""The clauses of a statement that can be dropped, such as an `elif` or a handler."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from ctxcompress.data.passages import Node, NodeKind
from ctxcompress.lazy_regex import lazy_regex

__all__ = ["Clauses", "clauses"]

_CLAUSE_LINE = lazy_regex(
    r"^(?P<indent>[ \t]*+)(?:[)\]}]++[ \t]*+)?(?:else|elif|elsif|elseif|except|finally|catch|rescue|ensure)\b",
    re.MULTILINE,
)
_CATCH = lazy_regex(r"[ \t)\]}]*+(?:except|catch|rescue)\b")
_CLOSING_LINE = lazy_regex(r"(?:[)\]}]+[;,]?|end|fi|done)\s*\Z")
_FIRST_CODE_LINE = lazy_regex(r"^(?P<indent>[ \t]*+)(?![\r\n#*]|/[/*]|--[ ])(?P<try>(?:try|begin)\b)?", re.MULTILINE)
"""The first line that is not a comment."""


class Clauses(NamedTuple):
    """Where the clauses of a statement begin that can be dropped. The text before and after them must stay."""

    above: Sequence[int]
    """Starts of the clauses after the first one, up to the clause with the body."""
    below: Sequence[int]
    """Starts of the clauses after the body, and then the end of the last one. Never empty."""


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
        below = [*below, _closing_line(text, node, first["indent"], below[-1]) if below[0] == node.tail else node.end]
    if not _are_balanced(text, (*above, node.body)) or not _are_balanced(text, below):
        return Clauses((), (node.tail,))
    return Clauses(above, below or (node.tail,))


def _clause_starts(text: str, indent: str, start: int, end: int) -> list[int]:
    return [match.start() for match in _CLAUSE_LINE.finditer(text, start, end) if match["indent"] == indent]


def _closing_line(text: str, node: Node, indent: str, after: int) -> int:
    """Return where the last line of a statement begins if it only closes the statement, else where the node ends."""
    last = text.rfind("\n", node.start, node.start + len(text[node.start : node.end].rstrip())) + 1
    is_level = text[last : node.end].startswith(indent)
    return last if last > after and is_level and _CLOSING_LINE.match(text, last + len(indent), node.end) else node.end


def _are_balanced(text: str, bounds: Sequence[int]) -> bool:
    """Return whether each part opens as many braces as it closes, so that it can be dropped alone."""
    parts = (text[start:end] for start, end in pairwise(bounds))
    return all(part.count("{") == part.count("}") for part in parts)
