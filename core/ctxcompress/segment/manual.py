"""Finds the sections and entries of manual pages: plain text in which indentation shows what belongs to what.

    OPTIONS                                  a section
           -o, --only-matching               the term of an entry
                  Print only the matched     what the term means
                  parts of a line.

The term is often what is asked for ("which option ...?"), but shares no word with the question. So a short entry is one
block, and all text of a long one needs its term. Markdown reads most of this as code or as one paragraph.
"""

from collections.abc import Iterator
from itertools import accumulate, islice, pairwise
from math import inf
from typing import NamedTuple

from ctxcompress.code.lexing import indent_of
from ctxcompress.code.line_blocks import next_lines
from ctxcompress.data.passages import Kind
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.segment.markdown import Block
from ctxcompress.text.lines import split_lines

__all__ = ["manual_blocks"]

_SECTION = lazy_regex(r"\n(?P<name>[A-Z][A-Z0-9 ,/&()'-]{2,60}+)[ \t]*+\r?\n(?:[ \t]*+\r?\n)?+[ \t]++[^\s|]")
"""A title in capitals above an indented line."""
_NAMES = frozenset(
    "NAME SYNOPSIS SYNTAX USAGE DESCRIPTION OPTIONS ARGUMENTS PARAMETERS COMMANDS EXAMPLE EXAMPLES FILES ENVIRONMENT"
    " DIAGNOSTICS ERRORS BUGS CAVEATS STANDARDS".split()
) | {"SEE ALSO", "EXIT STATUS", "EXIT CODES", "RETURN VALUE", "EXIT VALUES", "CONFORMING TO"}
"""Titles of which a single one shows what the text is."""
_MARKDOWN = lazy_regex(r"\n(?:#{1,6} |[ \t]*+(?:```|~~~)|\|.*\||[=~^*-]{4,}[ \t]*+\n|\.\. )")
"""A heading, a fence or a table: the text is Markdown or reStructuredText, which may quote the options of a command."""
_OPTION_ABOVE_TEXT = lazy_regex(r"\n(?P<before>[ \t]++)--?[A-Za-z0-9?#@][^\n]*+\n(?P<after>[ \t]++)[^\s-]")
_FEWEST = 3
"""Options with a text under them, from which on a text without a known title is a manual."""
_BULLET = lazy_regex(r"[ \t]*+(?:[*\u2022\u00b7o+-]|\(?\w{1,3}[.)])[ \t]")
_LONGEST_WHOLE, _LONGEST_LABEL = 300, 120
"""The most characters of an entry that is one block, and of a line that is a label."""
_SUBSECTION, _DEEPEST = 4, 6
"""The most columns before the title of a part of a section; entries within so many others are text."""
_OPTION = lazy_regex(r"[ \t]*+(?:--?[A-Za-z0-9?#@]|-(?=[,\s]))")
_SURE_OPTION = lazy_regex(r"--?[A-Za-z0-9?#@]")
_NAME = lazy_regex(r"(?=[A-Za-z<\[$])(?=[^._=</-]++[._=</-]*+[\w<*])[^\s:;?!\"'|\\]*[._=</-][^\s:;?!\"'|\\]++")
"""A word with a sign inside, such as the name of a setting: "gc.auto", "GIT_DIR", "<name>=<value>"."""
_SIGN = frozenset("._=</")
_NO_LABEL = (".", ",", ":", ";", "!", "?", "{", "(", "\\", "|")
"""How lines of prose, poems and source code end, but no label."""
_MOST_WORDS, _MOST_NAMES = 5, 3
"""Words in a label: more are prose that begins with a dash. And names in one."""
_TAB = 8


class _Line(NamedTuple):
    """A line of a text, with half-open offsets; or the label or the text of a line that has both, so that all entries
    look alike:

        -q     Print nothing,              -q
               not even errors.      ->           Print nothing,
                                                  not even errors.
    """

    start: int
    end: int
    indent: int
    """Columns; -1 for a blank line."""


class _Open(NamedTuple):
    """A section or an entry that the next lines may belong to."""

    indent: int
    title: str
    block: int
    """The number of its block; -1 for a section, without which its text can be understood."""


def _is_manual(text: str) -> bool:
    if "\n " not in text and "\n\t" not in text:
        return False
    lines = "\n" + text
    if _MARKDOWN.search(lines):
        return False
    titles = [match["name"].strip() for match in _SECTION.finditer(lines)]
    if len(titles) > 1 or not _NAMES.isdisjoint(titles):
        return True
    found = _OPTION_ABOVE_TEXT.finditer(lines)
    options = (match for match in found if len(match["after"].expandtabs()) > len(match["before"].expandtabs()))
    return len(list(islice(options, _FEWEST))) == _FEWEST


def manual_blocks(text: str) -> list[Block]:
    """Return the blocks of a manual page; none if the text is none."""
    return _Reader(text).blocks() if _is_manual(text) else []


class _Reader:
    """A reader of the lines of one manual."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = _lines_of(text)
        self._ends = next_lines(indents := [line.indent if line.indent >= 0 else inf for line in self._lines], indents)
        """For each line the number of the next one that is not indented deeper."""
        self._open: list[_Open] = []
        self._blocks: list[Block] = []

    def blocks(self) -> list[Block]:
        number = 0
        while number < len(self._lines):
            number = self._read(number)
        # White space before the first block belongs to it.
        return [self._blocks[0]._replace(start=0), *self._blocks[1:]] if self._blocks else []

    def _read(self, number: int) -> int:
        """Append the block that begins at a line, and return the number of the line after it."""
        line = self._lines[number]
        if line.indent < 0:
            return number + 1
        while self._open and self._open[-1].indent >= line.indent:
            self._open.pop()
        if line.indent == 0 and self._is_section(number):
            return self._append_title(number, is_term=False)
        if not (self._is_option(number) or self._is_above_deeper(number)):
            return self._append(Kind.PARAGRAPH, number, self._end_of_paragraph(number))
        end = self._ends[number]
        if self._is_term(number) and line.indent <= _SUBSECTION and not _is_label(self._of(number)):
            return self._append_title(number, is_term=False)
        if self._lines[end - 1].end - line.start <= _LONGEST_WHOLE:
            return self._append(Kind.LIST_ITEM, number, end)
        if self._is_term(number):
            return self._append_title(number, is_term=True)
        return self._append(Kind.LIST_ITEM, number, self._end_of_hanging(number))

    def _is_section(self, number: int) -> bool:
        title = self._of(number).strip()
        below = next((line.indent for line in self._lines[number + 1 : number + 3] if line.indent >= 0), 0)
        return title.isupper() and len(title) <= _LONGEST_LABEL and below > 0

    def _is_option(self, number: int) -> bool:
        return _OPTION.match(self._of(number)) is not None

    def _is_above_deeper(self, number: int) -> bool:
        return number + 1 < len(self._lines) and self._lines[number + 1].indent > self._lines[number].indent

    def _is_term(self, number: int) -> bool:
        if not self._is_above_deeper(number) or len(self._open) >= _DEEPEST:
            return False
        line = self._of(number)
        return len(line) <= _LONGEST_LABEL and not _BULLET.match(line)

    def _end_of_paragraph(self, number: int) -> int:
        """Return the line after the last one with the same indentation, before a blank line and before a term."""
        indent, end = self._lines[number].indent, number + 1
        while end < len(self._lines) and self._lines[end].indent == indent:
            if self._is_above_deeper(end) and self._is_option(end):
                break
            end += 1
        return end

    def _end_of_hanging(self, number: int) -> int:
        """Return the line after an entry's first paragraph, whose other lines are indented deeper."""
        end = number + 1
        while end < self._ends[number] and self._lines[end].indent >= 0:
            end += 1
        return end

    def _append_title(self, number: int, *, is_term: bool) -> int:
        """Append a title, or the term that stands above a text."""
        block = len(self._blocks) if is_term else -1
        title = " ".join(self._of(number).split())
        self._open.append(_Open(self._lines[number].indent, title, block))
        end = self._append(Kind.HEADING, number, number + 1)
        if is_term:  # it does not need itself
            self._blocks[-1] = self._blocks[-1]._replace(terms=self._blocks[-1].terms[:-1])
        return end

    def _append(self, kind: Kind, number: int, end: int) -> int:
        """Append a block of these lines, with the blank lines after them."""
        while end < len(self._lines) and self._lines[end].indent < 0:
            end += 1
        heading = tuple(each.title for each in self._open)
        terms = tuple(each.block for each in self._open if each.block >= 0)
        start = self._blocks[-1].end if self._blocks else self._lines[number].start
        self._blocks.append(Block(kind, start, self._end(end, kind), heading, terms))
        return end

    def _end(self, number: int, kind: Kind) -> int:
        """Return where a block ends before a line. The indentation of the text under a title belongs to the title: so
        it stays if another part of that text is kept."""
        end = self._lines[number - 1].end
        if kind is not Kind.HEADING or number == len(self._lines):
            return end
        line = self._of(number)
        return end + len(line) - len(line.lstrip(" \t"))

    def _of(self, number: int) -> str:
        line = self._lines[number]
        return self._text[line.start : line.end]


def _lines_of(text: str) -> list[_Line]:
    """Return the lines of a text."""
    lines = split_lines(text)
    indents = [indent_of(line) if line.strip() else -1 for line in lines]
    bounds = pairwise(accumulate(map(len, lines), initial=0))
    found = (_Line(*bound, indent) for bound, indent in zip(bounds, indents, strict=True))
    return [part for line, below in zip(found, [*indents[1:], -1], strict=False) for part in _parted(text, line, below)]


def _parted(text: str, line: _Line, below: int) -> Iterator[_Line]:
    """Yield a line, or the label and the text beside it, if the next line is indented just as deep as that text."""
    if below > line.indent >= 0:
        whole = text[line.start : line.end]
        offset = _offset_at(whole, below)
        label, beside = whole[:offset], whole[offset:]
        if beside and label[-1:].isspace() and not beside[0].isspace() and _is_beside(label, whole):
            yield line._replace(end=line.start + offset)
            line = _Line(line.start + offset, line.end, below)
    yield line


def _offset_at(line: str, column: int) -> int:
    """Return the offset of the character of a line that stands in a column, or after it."""
    if "\t" not in line[:column]:
        return column
    width = 0
    for offset, character in enumerate(line):
        if width >= column:
            return offset
        width += _TAB - width % _TAB if character == "\t" else 1
    return len(line)


def _is_beside(label: str, line: str) -> bool:
    """Tell whether this is a label before a text on the same line, not before its own argument or within prose."""
    if "\t" in label.strip() or label.rstrip().endswith(_NO_LABEL):
        return False
    return label.expandtabs(_TAB).endswith("  ") or (_is_label(label) and not _is_label(line))


def _is_label(line: str) -> bool:
    """Tell whether a line is an option or a name, by its words alone."""
    words = line.split() if len(line) <= _LONGEST_LABEL else []
    if not words or (words[-1].endswith(_NO_LABEL) and not words[-1].endswith("...")):
        return False
    if _SURE_OPTION.match(words[0]):
        after_commas = [word for before, word in pairwise(words) if before.endswith(",")]
        return len(words) <= _MOST_WORDS and all(map(_SURE_OPTION.match, after_commas))
    return len(words) <= _MOST_NAMES and all(_is_name(word.rstrip(",")) for word in words)


def _is_name(word: str) -> bool:
    """Tell whether a word is a name. A word with a capital letter and a hyphen is one of prose: "Half-light"."""
    return _NAME.fullmatch(word) is not None and (word.islower() or not _SIGN.isdisjoint(word))
