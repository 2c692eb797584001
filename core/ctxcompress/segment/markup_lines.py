"""Corrects the blocks of plain text whose marks Markdown does not know: reStructuredText and Perl's POD.

.. code-block:: python          a directive, which is one block with the text that is indented under it
.. _storage-backends:           a target, which says nothing to a reader
=head2 Storage backends         a heading
=item C<cookie>                 an entry of a list
=over 4                         a command, which says nothing either
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ctxcompress.data.passages import Kind
from ctxcompress.lazy_regex import lazy_regex

__all__ = ["BlockStart", "is_mark_alone", "title_of_pod", "with_known_marks"]

BlockStart = tuple[int, Kind, int]
"""Where a block begins, its kind, and its level if it is a heading."""
_MARK = lazy_regex(r"(?:^|\n)(?:\.\. [\w|:\[]|=(?:head[1-6]|item|over|back|cut|pod|encoding)\b)")
"""What a text has that this module corrects. Most texts have none."""
_POD = lazy_regex(r"=(?:head(?P<level>[1-6])|(?P<item>item)|over|back|cut|pod|encoding|begin|end|for)(?![\w=])[ \t]*+")
_DIRECTIVE = lazy_regex(r"\.\. (?:\|[^|\n]{1,80}\| )?(?P<name>[\w:.+-]{1,60}?)::(?:[ \t\r]|$)[^\n]*+", re.MULTILINE)
_TARGET = lazy_regex(r"\.\. _[^\n]*+\s*+\Z")
_OF_CODE = frozenset("code code-block sourcecode parsed-literal literalinclude console doctest testcode math".split())
_LONGEST = 600
"""The most characters of a directive that is one block with what is under it: one more line of code costs little, but a
long block is seldom kept at all."""


def with_known_marks(text: str, starts: Sequence[BlockStart]) -> Sequence[BlockStart]:
    """Return the starts of blocks, corrected where reStructuredText or POD marks them."""
    return list(_corrected(text, starts)) if _MARK.search(text) else starts


def title_of_pod(source: str) -> str | None:
    """Return the title of a heading of POD, or None if this is none."""
    found = _POD.match(source)
    return source[found.end() :].partition("\n")[0].strip() if found and found["level"] else None


def is_mark_alone(part: str) -> bool:
    """Tell whether the first sentence of a block is only the mark or the first line of a directive."""
    return part.startswith("..") and (part.rstrip() == ".." or _DIRECTIVE.fullmatch(part.rstrip()) is not None)


def _corrected(text: str, starts: Sequence[BlockStart]) -> Iterator[BlockStart]:
    joined = -1  # where the directive ends that the present blocks are joined to
    for number, ((start, kind, level), (end, _, _)) in enumerate(pairwise([*starts, (len(text), Kind.PARAGRAPH, 0)])):
        if start < joined:
            continue
        if kind is Kind.PARAGRAPH and (found := _POD.match(text, start)):
            depth = int(found["level"] or 0)
            yield start, Kind.HEADING if depth else Kind.LIST_ITEM if found["item"] else Kind.METADATA, depth
        elif kind is Kind.PARAGRAPH and (directive := _DIRECTIVE.match(text, start)):
            is_code = directive["name"].lower() in _OF_CODE
            joined = _end_of_directive(text, [at for at, _, _ in starts[number + 1 :]], start, is_code=is_code)
            yield start, Kind.CODE if is_code and joined > end else kind, level
        else:
            yield start, Kind.METADATA if _TARGET.match(text[start:end]) else kind, level


def _end_of_directive(text: str, begins: Sequence[int], start: int, *, is_code: bool) -> int:
    """Return where the block of a directive ends: with the indented blocks under it if it is code, else with the first.

    begins: where the blocks after it begin.
    """
    end = begins[0] if begins else len(text)
    for begin, after in pairwise([*begins, len(text)]):
        if text[begin] not in " \t" or after - start > _LONGEST:
            break
        end = after
        if not is_code:
            break
    return end
