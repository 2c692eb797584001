"""The outline of bibliographies in BibTeX: a field of an entry stands under the line with its key.

@article{diaz2021bridges,
  title = {The bridges of Lyon},
  year = 2021
}
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from ctxcompress.data.passages import Node, NodeKind
from ctxcompress.lazy_regex import lazy_regex

__all__ = ["bibliography_outline"]

_ENTRY = lazy_regex(r"^@(?P<type>[A-Za-z]++)[ \t]*+\{[ \t]*+(?P<key>[^\s,{}=]++)[ \t]*+,[ \t]*+\r?\n", re.MULTILINE)
_FIELD = lazy_regex(r"^[ \t]*+(?P<key>[A-Za-z][\w-]*+)[ \t]*+=[ \t]*+(?=[{\"\w])", re.MULTILINE)
_CLOSING = lazy_regex(r"\}[ \t]*+\r?(?:\n\s*+)?\Z")


def bibliography_outline(text: str) -> tuple[Node, ...]:
    """Return the entries of a bibliography, each with its fields, or () if the text has none."""
    if "@" not in text or "{" not in text:
        return ()
    starts = [found.start() for found in _ENTRY.finditer(text)]
    if not starts or any(_FIELD.search(text, start, end) is None for start, end in pairwise((*starts, len(text)))):
        return ()
    before = [Node(NodeKind.RECORD, 0, starts[0])] if starts[0] else []
    return (*before, *(_entry(text, start, end) for start, end in pairwise((*starts, len(text)))))


def _entry(text: str, start: int, end: int) -> Node:
    head = _ENTRY.match(text, start, end)
    closing = _CLOSING.search(text, max(start, text.rfind("}", start, end)), end)
    tail = closing.start() if closing else end
    children = tuple(_fields(text, start, tail))
    name = head["key"] if head else ""
    return Node(NodeKind.RECORD, start, end, name, start, children[0].start, tail, False, children)


def _fields(text: str, start: int, end: int) -> Iterator[Node]:
    found = [*_FIELD.finditer(text, start, end)]
    for field, stop in zip(found, [*(other.start() for other in found[1:]), end], strict=True):
        yield Node(NodeKind.RECORD, field.start(), stop, field["key"])
