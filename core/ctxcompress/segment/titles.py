"""Titles in text without marks: short lines that stand alone above text, as PDFs and plain files have them, and terms
above what explains them, as lists of definitions have them; so are labels above lines that are indented deeper.

    ASIN                                         work_mem (integer)
    Returns the arcsine of a number.                 Sets how much memory a query uses.
"""

import re
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
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
_NO_END = frozenset(".,;:!|)]}>\u3002\uff1a")
"""The last characters of lines that are no titles: sentences, labels, rows, code."""


_LINE = rf"(?!\W[ \t])\S[^\n]{{0,{_LONGEST - 1}}}+"
"""A short line that has no mark of a list or a prompt."""
_ABOVE = lazy_regex(
    rf"\n(?P<margin>[ \t]*+)(?P<line>{_LINE})(?=\n(?:(?P=margin)[^\sa-z]|(?:[ \t]*+\n)*+(?P=margin)[ \t]))"
    r"(?=\n(?:[ \t]*+\n)*+(?P<deeper>[ \t]*+)(?P<below>(?P<word>[^\s]++)[^\n]*+))"
)
"""Such a line and the next one, which is indented deeper or begins with no small letter, with the line break before it,
which is found faster than the start of a line."""
_COLONS = frozenset(":\uff1a")
_OPEN_END = frozenset(",;\\{")
_MOST_LINES = 3
"""The most lines of a term: names of one thing, or a name and a note."""
_AGAIN = 1.5
"""The rank of titles that occur again. Titles have 0, terms 1 and their indentation."""
_FEWEST = 2
"""The least terms of a text that has some."""


class _Term(NamedTuple):
    """Lines above what explains them, with half-open offsets."""

    start: int
    end: int
    rank: float
    name: str
    is_sure: bool
    """Whether the text below shows it. Else it is a name above a line that begins as those below other names."""
    below: str
    """The first word below."""


class _Part(NamedTuple):
    """A block, and if it is a heading, its rank and its name."""

    block: Block
    rank: float = 0.0
    name: str = ""


def with_titles(text: str, blocks: Sequence[Block]) -> Sequence[Block]:
    """Return the blocks; titles and terms are headings. A title that occurs again, such as "Example", is below one that
    does not, or below a term. A text with marked headings has terms below them and no titles, and a mail, whose short
    lines are greetings and names, has neither."""
    kinds = {block.kind for block in blocks}
    if not blocks or Kind.QUOTE in kinds:
        return blocks
    titles, terms = () if Kind.HEADING in kinds else _titles(text, blocks), _terms(text, blocks)
    return list(_under(_headings(text, blocks, titles, terms))) if titles or terms else blocks


def _titles(text: str, blocks: Sequence[Block]) -> Collection[int]:
    """Return the numbers of the blocks that are titles.

    A title is a line of its own above a block that is none. One alone is a title only at the beginning. Several in a
    row are a list: if most such lines are in lists, none is a title.
    """
    may_be = [_may_be_title(text, block) for block in blocks]
    titles = set(_above_text(text, blocks, may_be))
    is_list = (len(titles) < 2 and 0 not in titles) or 2 * len(titles) < sum(may_be)
    return () if is_list else titles


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


def _terms(text: str, blocks: Iterable[Block]) -> Iterable[_Term]:
    """Return the terms. Each stands once: a name that occurs again is that of who speaks."""
    found = [term for match in _above(text, blocks) if (term := _term(text, match))]
    times, begins = Counter(term.name for term in found), Counter(term.below for term in found)
    terms = [term for term in found if times[term.name] == 1 and (term.is_sure or begins[term.below] > 1)]
    return terms if len(terms) >= _FEWEST else ()


def _above(text: str, blocks: Iterable[Block]) -> Iterator[re.Match[str]]:
    """Yield the matches of `_ABOVE` in paragraphs."""
    rest = iter(blocks)
    block = next(rest)
    for match in _ABOVE.finditer(f"\n{text}") if "\n" in text else ():
        while block.end <= match.start():
            block = next(rest)
        if block.kind is _PARAGRAPH:
            yield match


def _term(text: str, match: re.Match[str]) -> _Term | None:
    line, below = match["line"].rstrip(), match["below"].rstrip()
    is_deeper = match["deeper"] != match["margin"]
    is_label = is_deeper and line[-1] in _COLONS
    if not (is_deeper or _is_flush_title(line, below)):
        return None
    if _is_closed(line) or not (is_label or _is_whole(line, match["word"], below, is_deeper=is_deeper)):
        return None
    first, end = match.start(), match.end()  # of the line and the break after it: there is one more before the text
    indent = indent_of(match["margin"] + "x")
    start = _start(text, first, indent, len(below), is_label=is_label)
    is_sure = is_deeper or _is_long(below)
    if start < 0 or not (is_deeper or start == first):
        return None
    return _Term(start, end, 1.0 + indent, " ".join(text[start:end].split()), is_sure, match["word"])


def _is_flush_title(line: str, below: str) -> bool:
    """Tell whether a line may be the name or the title of what is right below it, and no more indented."""
    return line[-1] not in _NO_END and below[0] != "#" and (" " not in line or (_is_title(line) and _is_long(below)))


def _is_long(below: str) -> bool:
    """Tell whether a line is surely of text: it is long, or ends a sentence."""
    return below[0].isalnum() and (len(below) > _LONGEST or ends_sentence(below))


def _is_whole(line: str, word: str, below: str, *, is_deeper: bool) -> bool:
    """Tell whether what is below does not go on from a line: it begins with no small letter, and its first word had
    room there, or the line is one name. Capitals above deeper lines are whole, as in manual pages."""
    has_room = " " not in line or len(line) + 1 + len(word) < len(below)
    return (is_deeper and line.isupper()) or (has_room and not below[0].islower())


def _is_closed(line: str) -> bool:
    """Tell whether a line is a sentence or goes on in the next one. Signs that stand alone end none: "name ..."."""
    return line[-1] in _OPEN_END or (ends_sentence(line) and line.rpartition(" ")[2].strip("!?.") != "")


def _start(text: str, start: int, indent: int, length: int, *, is_label: bool) -> int:
    """Return where the lines of a term begin, below an empty line or one that is indented deeper; -1 if nowhere. Those
    of a label may begin below a sentence, too."""
    for _ in range(_MOST_LINES):
        begin = text.rfind("\n", 0, max(0, start - 1)) + 1
        above = text[begin : max(0, start - 1)]
        if not above.strip() or indent_of(above) > indent:
            return start
        bare = above.strip()
        if _is_closed(bare):
            return start if is_label else -1
        if indent_of(above) < indent or len(bare) > min(length, _LONGEST):
            return -1
        start = begin
    return -1


def _headings(text: str, blocks: Sequence[Block], titles: Collection[int], terms: Iterable[_Term]) -> Iterator[_Part]:
    """Yield the blocks with the ranks of those that are headings, those of text cut at the terms."""
    names = Counter(_name(text, blocks[number]) for number in titles)
    left = deque(terms)
    for number, block in enumerate(blocks):
        start = block.start
        while left and left[0].start < block.end:
            term = left.popleft()
            if block.kind is not _PARAGRAPH or number in titles or term.start < start:
                continue
            if text[start : term.start].strip():
                yield _Part(block._replace(start=start, end=term.start))
                start = term.start
            end = term.end if text[term.end : block.end].strip() else block.end
            yield _Part(block._replace(start=start, end=end), term.rank, term.name)
            start = end
        name = _name(text, block) if number in titles else ""
        if start < block.end:
            yield _Part(block._replace(start=start), _AGAIN if names[name] > 1 else 0.0, name)


def _name(text: str, block: Block) -> str:
    return text[block.start : block.end].strip().strip(_EMPHASIS).strip()


def _under(parts: Iterable[_Part]) -> Iterator[Block]:
    """Yield the blocks, each with the headings above it."""
    above: list[_Part] = []
    for part in parts:
        if part.block.kind is Kind.HEADING:
            above.clear()
        if part.name:
            while above and above[-1].rank >= part.rank:
                above.pop()
            above.append(part)
        kind = Kind.HEADING if part.name else part.block.kind
        yield part.block._replace(kind=kind, heading=(*part.block.heading, *(each.name for each in above)))
