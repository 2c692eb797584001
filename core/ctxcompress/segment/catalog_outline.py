"""The outline of catalogs of translations: the .po files of gettext. A translation stands under its original."""

import re
from collections.abc import Iterator
from itertools import pairwise

from ctxcompress.data.passages import Node, NodeKind
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.text.lines import split_lines

__all__ = ["catalog_outline"]

_SAMPLE = 4_000
_SMALL = 250
"""The most characters of an entry whose translation has no nodes of its own."""
_NAME = lazy_regex(r"\.pot?$", re.IGNORECASE)
_LINE = lazy_regex(r"(?:#~ ?)?(?:(?P<translated>msgstr)|(?P<original>msgid|msgctxt)|(?P<more>\"))|(?P<comment>#)|\s*+$")
_LINE_OF_ANY = lazy_regex(r"(?:#|msg(?:id|str|ctxt)|\")")


def catalog_outline(text: str, name: str | None = None) -> tuple[Node, ...]:
    """Return the entries of a catalog, or () if the text is something else.

    The body of an entry is its translation, in the singular and all plural forms; what is above, comments, context and
    original, is its opening. name: a file name, path or title, if known.
    """
    is_named = name is not None and _NAME.search(name) is not None
    if "msgid" not in text and not (is_named and "msgstr" in text):
        return ()
    lines = [line for line in text[:_SAMPLE].splitlines()[1:-1] if line.strip()]
    if not lines or sum(_LINE_OF_ANY.match(line) is not None for line in lines) < 0.95 * len(lines):
        return ()
    return tuple(_entry(text, *bounds) for bounds in _entries(text))


def _entries(text: str) -> Iterator[tuple[int, int, list[int]]]:
    """Yield where each entry begins and ends, and where the lines of its translation begin. They partition the text."""
    begins = start = 0
    translation: list[int] = []
    for line in split_lines(text):
        found = _LINE.match(line)
        kind = found.lastgroup if found else None
        if kind in ("original", "comment") and translation:
            yield begins, start, translation
            begins, translation = start, []
        if kind == "translated" or (kind == "more" and translation):
            translation.append(start)
        start += len(line)
    if start > begins:
        yield begins, start, translation


def _entry(text: str, start: int, end: int, translation: list[int]) -> Node:
    """Return the node of an entry. The lines of a long translation are children of the line that it begins with."""
    node = Node(NodeKind.RECORD, start, end)
    if end - start <= _SMALL or not translation or translation[0] == start:
        return node
    forms = [at for at in translation if _LINE.match(text, at)["translated"]]  # type: ignore[index]
    children = tuple(
        _form(form, stop, [at for at in translation if form < at < stop]) for form, stop in pairwise((*forms, end))
    )
    return node._replace(signature=start, body=translation[0], tail=end, children=children)


def _form(start: int, end: int, lines: list[int]) -> Node:
    node = Node(NodeKind.RECORD, start, end)
    if end - start <= _SMALL or not lines:
        return node
    children = tuple(Node(NodeKind.RECORD, begin, stop) for begin, stop in pairwise((*lines, end)))
    return node._replace(signature=start, body=lines[0], tail=end, children=children)
