"""Corrects the blocks of plain text whose marks Markdown does not know: those of reStructuredText.

.. code-block:: python          a directive, which is one block with the text that is indented under it
.. _storage-backends:           a target, which says nothing to a reader
"""

import re
from collections.abc import Iterator, Sequence

from ctxcompress.data.passages import Kind
from ctxcompress.lazy_regex import lazy_regex

__all__ = ["BlockStart", "is_mark_alone", "with_known_marks"]

BlockStart = tuple[int, Kind, int]
"""Where a block begins, its kind, and its level if it is a heading."""
_MARK = lazy_regex(r"(?:^|\n)\.\. [\w|:\[]")
"""What a text has that this module corrects. Most texts have none."""
_DIRECTIVE = lazy_regex(r"\.\. (?:\|[^|\n]{1,80}\| )?(?P<name>[\w:.+-]{1,60}?)::(?:[ \t\r]|$)[^\n]*+", re.MULTILINE)
_TARGET = lazy_regex(r"\.\. _[^\n]*+\s*+\Z")
_OF_CODE = frozenset("code code-block sourcecode parsed-literal literalinclude console doctest testcode math".split())
_LONGEST = 600
"""The most characters of a directive that is one block with what is under it: one more line of code costs little, but a
long block is seldom kept at all."""


def with_known_marks(text: str, starts: Sequence[BlockStart]) -> Sequence[BlockStart]:
    """Return the starts of blocks, corrected where reStructuredText marks them."""
    return list(_corrected(text, starts)) if _MARK.search(text) else starts


def is_mark_alone(part: str) -> bool:
    """Tell whether the first sentence of a block is only the mark or the first line of a directive."""
    return part.startswith("..") and (part.rstrip() == ".." or _DIRECTIVE.fullmatch(part.rstrip()) is not None)


def _corrected(text: str, starts: Sequence[BlockStart]) -> Iterator[BlockStart]:
    ends = [*(start for start, _, _ in starts[1:]), len(text)]
    joined = 0  # how many blocks are joined to the directives above them, or come before them
    for number, (start, kind, level) in enumerate(starts):
        if number < joined:
            continue
        if kind is Kind.PARAGRAPH and (directive := _DIRECTIVE.match(text, start)):
            is_code = directive["name"].lower() in _OF_CODE
            joined = _after_directive(text, ends, number, is_code=is_code)
            yield start, Kind.CODE if is_code and joined > number + 1 else kind, level
        else:
            yield start, Kind.METADATA if _TARGET.match(text[start : ends[number]]) else kind, level


def _after_directive(text: str, ends: Sequence[int], number: int, *, is_code: bool) -> int:
    """Return the number of the first block that is not joined to a directive: all indented blocks under it are if it is
    code, else the first one.

    ends: of the blocks. number: of the block with the directive.
    """
    start = ends[number - 1] if number else 0
    following = number + 1
    last = len(ends) if is_code else min(following + 1, len(ends))
    while following < last and text[ends[following - 1]] in " \t" and ends[following] - start <= _LONGEST:
        following += 1
    return following
