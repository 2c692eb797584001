"""Titles in text without marks: short lines that stand alone above text, as PDFs and plain files have them, and terms
above what explains them, as lists of definitions have them.

    ASIN                                         work_mem (integer)
    Returns the arcsine of a number.                 Sets how much memory a query uses.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ctxcompress.code.lexing import indent_of
from ctxcompress.data.passages import Kind
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.segment.markdown import Block
from ctxcompress.text.lines import ends_sentence

__all__ = ["with_titles"]

_PARAGRAPH = Kind.PARAGRAPH  # ten times as fast as an attribute of an enum
_LONGEST = 60
"""The most characters of a title."""
_EMPHASIS = "*_"
_UNTITLED = frozenset((Kind.HEADING, Kind.QUOTE))
"""A text with such blocks has marked headings, or is a mail, whose short lines are greetings and names."""
_NO_END = frozenset(".,;:!|)]}>\u3002\uff1a")
"""The last characters of lines that are no titles: sentences, labels, rows, code."""


_TERM = lazy_regex(
    r"^(?P<margin>[ \t]*+)(?P<line>(?!\W[ \t])\S[^\n]{0,59}+)\n"
    r"(?=(?P<blank>(?:[ \t]*+\n)*+)(?P<deeper>[ \t]*+)(?P<below>[^\n]++))",
    re.MULTILINE,
)
"""A short line without a mark, and the next one."""
_FEWEST = 2
"""The least terms of a text that has some."""


class _Term(NamedTuple):
    """A line above what explains it, with half-open offsets."""

    start: int
    end: int
    indent: int
    is_deeper: bool
    """Whether the text below is indented deeper, and ends where it is not."""
    name: str


def with_titles(text: str, blocks: Sequence[Block]) -> Sequence[Block]:
    """Return the blocks; titles and terms are headings."""
    titled = _titled(text, blocks)
    terms = _terms(text) if _UNTITLED.isdisjoint(block.kind for block in blocks) else ()
    return list(_with_terms(text, titled, terms)) if terms else titled


def _titled(text: str, blocks: Sequence[Block]) -> Sequence[Block]:
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
    return len(line) <= _LONGEST and "\n" not in line and _is_title(line)


def _is_title(line: str) -> bool:
    bare = line.strip(_EMPHASIS)
    return bare[:1].isalnum() and not bare[0].islower() and bare[-1] not in _NO_END and not bare.isdecimal()


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


def _terms(text: str) -> Sequence[_Term]:
    """Return the terms; a line that occurs again is none, but a label that all entries have."""
    if "\n" not in text:
        return ()
    found = [term for match in _TERM.finditer(text) if (term := _term(text, match))]
    times = Counter(term.name for term in found)
    terms = [term for term in found if times[term.name] == 1]
    return terms if len(terms) >= _FEWEST else ()


def _term(text: str, match: re.Match[str]) -> _Term | None:
    line, below = match["line"].rstrip(), match["below"].rstrip()
    if len(line) >= len(below) or below[0].islower() or line[-1] in ".,;!?|\\{" or ends_sentence(line):
        return None
    indent, deeper = indent_of(match["margin"] + "x"), indent_of(match["deeper"] + "x")
    if not _begins(text, match.start(), indent):
        return None
    is_flush = deeper == indent and not match["blank"] and _is_title(line) and below[0].isalnum()
    if deeper > indent or (is_flush and (ends_sentence(below) or len(below) > _LONGEST)):
        return _Term(match.start(), match.end(), indent, deeper > indent, line)
    return None


def _begins(text: str, start: int, indent: int) -> bool:
    """Tell whether a line stands below an empty one, or below one that is indented deeper."""
    above = text[text.rfind("\n", 0, max(0, start - 1)) + 1 : max(0, start - 1)]
    return not above.strip() or indent_of(above) > indent


def _with_terms(text: str, blocks: Iterable[Block], terms: Sequence[_Term]) -> Iterator[Block]:
    """Yield the blocks, those of text cut at the terms, which are headings."""
    place, above = 0, list[_Term]()
    for block in blocks:
        if block.kind is Kind.HEADING:
            above.clear()
        start = block.start
        while place < len(terms) and terms[place].start < block.end:
            term = terms[place]
            place += 1
            if block.kind is not _PARAGRAPH or term.start < start:
                continue
            if text[start : term.start].strip():
                yield _under_terms(text, block._replace(end=term.start, start=start), above)
                start = term.start
            while above and above[-1].indent >= term.indent:
                above.pop()
            above.append(term)
            end = block.end if not text[term.end : block.end].strip() else term.end
            yield _under_terms(text, block._replace(kind=Kind.HEADING, start=start, end=end), above)
            start = end
        if start < block.end:
            yield _under_terms(text, block._replace(start=start), above)


def _under_terms(text: str, block: Block, above: list[_Term]) -> Block:
    if block.kind is not Kind.HEADING:
        indent = indent_of(text[block.start : block.end])
        while above and above[-1].is_deeper and above[-1].indent >= indent:
            above.pop()
    return block._replace(heading=(*block.heading, *(term.name for term in above)))
