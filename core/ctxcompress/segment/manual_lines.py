"""The lines of a manual page with their indentation, and which of them are labels: names of options and settings.

A line with a label and the text beside it is two lines, so that all entries look alike:

    -q     Print nothing,              -q
           not even errors.      ->           Print nothing,
                                              not even errors.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.text.lines import split_lines

__all__ = ["LONGEST_LABEL", "Line", "end_of_labels", "ends_of", "entries", "is_label", "is_option", "lines_of"]

LONGEST_LABEL = 120
"""The most characters of a line that is a label."""
_OPTION = lazy_regex(r"[ \t]*+(?:--?[A-Za-z0-9?#@]|-(?=[,\s]))")
_SURE_OPTION = lazy_regex(r"--?[A-Za-z0-9?#@]")
_NAME = lazy_regex(r"(?=[A-Za-z<\[$])(?=[^._=</-]++[._=</-]*+[\w<*])[^\s:;?!\"'|\\]*[._=</-][^\s:;?!\"'|\\]++")
"""A word with a sign inside, such as the name of a setting: "gc.auto", "GIT_DIR", "<name>=<value>"."""
_SIGN = frozenset("._=</")
_NO_LABEL = (".", ",", ":", ";", "!", "?", "{", "(", "\\", "|")
"""How lines of prose, poems and source code end, but no label."""
_PROSE = lazy_regex(r"[ \t]*+[\w\"'`(\[<\u2018\u201c]")
_WORD = lazy_regex(r"(?<![\w.])[A-Za-z]{2,}+")
_FEWEST_WORDS = 2
"""Words in the first line under a label."""
_MOST_WORDS = 5
"""Words in a label: more are prose that begins with a dash."""
_MOST_NAMES = 3
_MOST_STACKED = 12
"""Labels on lines of their own above one text."""
_USUAL_DEPTH = 4
"""Columns that text is indented deeper than its label, if nothing shows how many they are."""
_SHORT = 60
"""A line that ends before this column is not filled: it is no line within a paragraph."""
_TAB = 8


class Line(NamedTuple):
    """A line of a text, with half-open offsets, or the label or the text of a line that has both."""

    start: int
    end: int
    indent: int
    """Columns; -1 for a blank line."""


def lines_of(text: str) -> list[Line]:
    """Return the lines of a text. The first line of a chunk has lost its indentation: it gets a likely one."""
    lines = list(_lines(text))
    others = {line.indent for line in lines[1:] if line.indent >= 0}
    if len(lines) > 1 and not lines[0].indent and others and min(others) > 0:
        lines[0] = lines[0]._replace(indent=_lost_indent(text, lines, others))
    return [part for number, line in enumerate(lines) for part in _parted(text, line, lines[number + 1 : number + 2])]


def _lines(text: str) -> Iterator[Line]:
    start = 0
    for line in split_lines(text):
        bare = line.lstrip(" \t")
        indent = len(line[: len(line) - len(bare)].expandtabs(_TAB)) if bare.strip() else -1
        yield Line(start, start + len(line), indent)
        start += len(line)


def _lost_indent(text: str, lines: Sequence[Line], others: set[int]) -> int:
    """Return the indentation that the first line of a chunk had: less than the next line if it is a label."""
    first, after = text[: lines[0].end].rstrip(), lines[1].indent
    if after < 0:
        return min(others)
    second = text[lines[1].start : lines[1].end]
    if is_option(second) or is_label(second) or (not is_label(first) and after + len(first) > _SHORT):
        return after
    return max((indent for indent in others if indent < after), default=max(after - _USUAL_DEPTH, 0))


def _parted(text: str, line: Line, following: Sequence[Line]) -> Iterator[Line]:
    """Yield a line, or the label and the text beside it, if the next line is just as deep as that text."""
    if following and following[0].indent > line.indent >= 0:
        lost = line.indent if line.start == 0 and not text[:1].isspace() else 0
        place = line.start + _offset_at(text[line.start : line.end], following[0].indent - lost)
        label = text[line.start : place]
        if (
            place < line.end
            and label[-1:].isspace()
            and not text[place].isspace()
            and _is_beside(label, text[line.start : line.end])
        ):
            yield line._replace(end=place)
            line = Line(place, line.end, following[0].indent)
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
    return label.expandtabs(_TAB).endswith("  ") or (is_label(label) and not is_label(line))


def ends_of(lines: Sequence[Line]) -> list[int]:
    """Return for each line the number of the next one that is not indented deeper."""
    ends = [len(lines)] * len(lines)
    waiting: list[int] = []
    for number, line in enumerate(lines):
        while line.indent >= 0 and waiting and lines[waiting[-1]].indent >= line.indent:
            ends[waiting.pop()] = number
        if line.indent >= 0:
            waiting.append(number)
    return ends


def is_option(line: str) -> bool:
    """Tell whether a line begins with an option."""
    return _OPTION.match(line) is not None


def is_label(line: str) -> bool:
    """Tell whether a line is an option or a name, by its words alone."""
    words = line.split() if len(line) <= LONGEST_LABEL else []
    if not words or (words[-1].endswith(_NO_LABEL) and not words[-1].endswith("...")):
        return False
    if _SURE_OPTION.match(words[0]):
        after_commas = [word for before, word in pairwise(words) if before.endswith(",")]
        return len(words) <= _MOST_WORDS and all(map(_SURE_OPTION.match, after_commas))
    return len(words) <= _MOST_NAMES and all(_is_name(word.rstrip(",")) for word in words)


def _is_name(word: str) -> bool:
    """Tell whether a word is a name. A word with a capital letter and a hyphen is one of prose: "Half-light"."""
    return _NAME.fullmatch(word) is not None and (word.islower() or not _SIGN.isdisjoint(word))


def entries(text: str, lines: Sequence[Line]) -> Iterator[tuple[int, int]]:
    """Yield the numbers of the first label and of the first line of text, for each entry that has a label by its words
    and prose right under it."""
    before = -1
    for number, line in enumerate(lines):
        if line.indent >= 0 and (before < 0 or before > line.indent):
            under = end_of_labels(text, lines, number)
            if under > number and _is_prose(text[lines[under].start : lines[under].end]):
                yield number, under
        before = line.indent


def end_of_labels(text: str, lines: Sequence[Line], number: int) -> int:
    """Return the number of the line under the labels that begin at a line, or `number` if there is no text under."""
    indent = lines[number].indent
    for under in range(number, min(number + _MOST_STACKED + 1, len(lines))):
        line = lines[under]
        if line.indent != indent:
            return under if line.indent > indent else number
        if not is_label(text[line.start : line.end].rstrip().removesuffix(",")):
            break
    return number


def _is_prose(line: str) -> bool:
    if not _PROSE.match(line) or line.rstrip().endswith(("{", "}", ";", "(", "\\")):
        return False
    return sum(1 for _ in _WORD.finditer(line)) >= _FEWEST_WORDS
