"""The clauses of a long statement that can be left out: `elif`, `else`, `except`, `catch`."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from ctxcompress.outline import Node, NodeKind

__all__ = ["Clauses", "clauses"]

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
