"""Titles in text without marks: short lines that stand alone above text, as PDFs and plain files have them."""

from collections.abc import Collection, Iterable, Sequence

from ctxcompress.data.passages import Kind
from ctxcompress.segment.markdown import Block

__all__ = ["with_titles"]

_PARAGRAPH = Kind.PARAGRAPH  # ten times as fast as an attribute of an enum
_LONGEST = 60
"""The most characters of a title."""
_EMPHASIS = "*_"
_UNTITLED = frozenset((Kind.HEADING, Kind.QUOTE))
"""A text with such blocks has marked headings, or is a mail, whose short lines are greetings and names."""
_NO_END = frozenset(".,;:!|)]}>\u3002\uff1a")
"""The last characters of lines that are no titles: sentences, labels, rows, code."""


def with_titles(text: str, blocks: Sequence[Block]) -> Sequence[Block]:
    """Return the blocks; those that are titles are headings.

    A title is a line of its own above a block that is none. One alone is a title only at the beginning. Several in a
    row are a list: if most such lines are in lists, none is a title.
    """
    if any(block.kind in _UNTITLED for block in blocks):
        return blocks
    may_be = [_may_be_title(text, block) for block in blocks]
    titles = set(_above_text(text, blocks, may_be))
    if (len(titles) < 2 and 0 not in titles) or 2 * len(titles) < sum(may_be):
        return blocks
    return list(_under(text, blocks, titles))


def _may_be_title(text: str, block: Block) -> bool:
    if block.kind is not _PARAGRAPH or block.end - block.start > 2 * _LONGEST:
        return False
    line = text[block.start : block.end].strip()
    bare = line.strip(_EMPHASIS)
    is_one = len(line) <= _LONGEST and "\n" not in line
    return is_one and bare[:1].isalnum() and not bare[0].islower() and bare[-1] not in _NO_END and not bare.isdecimal()


def _above_text(text: str, blocks: Sequence[Block], may_be: Sequence[bool]) -> Iterable[int]:
    """Yield the numbers of the lines that stand alone above another block, which begins with a word or is marked."""
    for number in range(len(blocks) - 1):
        below = blocks[number + 1]
        is_alone = not may_be[number + 1] and not (number and may_be[number - 1])
        if may_be[number] and is_alone and (below.kind is not _PARAGRAPH or text[below.start].isalnum()):
            yield number


def _under(text: str, blocks: Sequence[Block], titles: Collection[int]) -> Iterable[Block]:
    heading: tuple[str, ...] = ()
    for number, block in enumerate(blocks):
        if number in titles:
            heading = (text[block.start : block.end].strip().strip(_EMPHASIS).strip(),)
        yield block._replace(kind=Kind.HEADING if number in titles else block.kind, heading=heading)
