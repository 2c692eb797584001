"""Where a statement and its body end, by the indentation and the braces of its lines.

The lines indented deeper after a line are its body. In languages with braces, a body can be cut only if the line before
it opens the brace around it and the line after it closes this brace.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import NamedTuple

from ctxcompress.code.detection import end_of_cut_text
from ctxcompress.code.lexing import LANGUAGES, UNKNOWN, languages_with, logical_lines
from ctxcompress.data.passages import Node, NodeKind
from ctxcompress.lazy_regex import lazy_regex

__all__ = ["Clauses", "Extent", "LineBlocks", "clauses"]

_CLAUSE_LINE = lazy_regex(
    r"^(?P<indent>[ \t]*+)(?:[)\]}]++[ \t]*+)?(?:else|elif|elsif|elseif|except|finally|catch|rescue|ensure)\b",
    re.MULTILINE,
)
_CATCH = lazy_regex(r"[ \t)\]}]*+(?:except|catch|rescue)\b")
_CLOSING_LINE = lazy_regex(r"(?:[)\]}]+[;,]?|end|fi|done)\s*\Z")
_FIRST_CODE_LINE = lazy_regex(r"^(?P<indent>[ \t]*+)(?![\r\n#*]|/[/*]|--[ ])(?P<try>(?:try|begin)\b)?", re.MULTILINE)
"""The first line that is not a comment."""


class Clauses(NamedTuple):
    """Where the clauses of a statement begin that can be dropped. The text before and after them must stay."""

    above: Sequence[int]
    """Starts of the clauses after the first one, up to the clause with the body."""
    below: Sequence[int]
    """Starts of the clauses after the body, and then the end of the last one. Never empty."""


def clauses(text: str, node: Node, most: int) -> Clauses:
    """Return the clauses of a node with a body that can be dropped.

    The part before or after the body stays whole if it has at most `most` characters. A `try` keeps its last handler
    and everything after it, because it is invalid without.
    """
    is_statement = node.kind is NodeKind.STATEMENT
    first = _FIRST_CODE_LINE.search(text, node.start, node.body) if is_statement else None
    if first is None:
        return Clauses((), (node.tail,))
    above = _clause_starts(text, first["indent"], first.end(), node.body) if node.body - node.start > most else []
    below = _clause_starts(text, first["indent"], node.tail, node.end) if node.end - node.tail > most else []
    if first["try"]:
        handlers = [number for number, place in enumerate(below) if _CATCH.match(text, place)]
        return Clauses((), (node.tail,) if above or not handlers else below[: handlers[-1] + 1])
    if below:
        below = [*below, _closing_line(text, node, first["indent"], below[-1]) if below[0] == node.tail else node.end]
    if not _are_balanced(text, (*above, node.body)) or not _are_balanced(text, below):
        return Clauses((), (node.tail,))
    return Clauses(above, below or (node.tail,))


def _clause_starts(text: str, indent: str, start: int, end: int) -> list[int]:
    return [match.start() for match in _CLAUSE_LINE.finditer(text, start, end) if match["indent"] == indent]


def _closing_line(text: str, node: Node, indent: str, after: int) -> int:
    """Return where the last line of a statement begins if it only closes the statement, else where the node ends."""
    last = text.rfind("\n", node.start, node.start + len(text[node.start : node.end].rstrip())) + 1
    is_level = text[last : node.end].startswith(indent)
    return last if last > after and is_level and _CLOSING_LINE.match(text, last + len(indent), node.end) else node.end


def _are_balanced(text: str, bounds: Sequence[int]) -> bool:
    """Return whether each part opens as many braces as it closes, so that it can be dropped alone."""
    parts = (text[start:end] for start, end in pairwise(bounds))
    return all(part.count("{") == part.count("}") for part in parts)


Extent = tuple[int, int, int]
"""Three lines of a statement: where its body begins, where the body ends, and where the statement ends.

A body that ends where it begins has no lines. A plain tuple, because there is one for each line of a text.
"""
_CONTINUATION = lazy_regex(
    r"[ \t]*+(?:[)\]}]+[ \t]*(?:else|catch|finally|while)\b|(?:else|elif|elsif|elseif|except|finally|catch|rescue"
    r"|ensure|then)\b)"
)
"""A line that continues the statement above it with the same indentation."""
_CLOSES = lazy_regex(r"[ \t]*+(?:[)\]}>]|(?:end|END)\b|done\b|fi\b|esac\b)")
_CLOSING_WORD = lazy_regex(r"[ \t]*+(?:end|done|fi|esac)\b")
_WORDED, _WITH_CONDITIONALS = languages_with("words"), languages_with("conditionals")
_COMMENT = lazy_regex(r"[ \t]*+(?:#(?!endif\b)|//|/\*|\*|--[ ])")
_GOES_ON = frozenset(")]}>ecfrtEd#/*-")
"""First characters of lines that may continue or close a statement, and of comments before them."""
_CONDITIONAL = lazy_regex(r"^[ \t]*+#[ \t]*(?:(?P<begin>if|ifdef|ifndef)|else|elif|(?P<end>endif))\b", re.MULTILINE)
_NEAR = 20
"""The number of lines after `#if` that are read to find code."""
_FIRST = lazy_regex(r"[ \t]*+(.?)", re.DOTALL)


class LineBlocks:
    """The logical lines of a text, numbered from 0, and the blocks that they form."""

    def __init__(self, text: str, language: str) -> None:
        self._text, self._language = text, language
        lines = logical_lines(text, language, end_of_cut_text(text, language))
        self.starts, self._indents, self.ends_blank = lines.starts, lines.indents, lines.ends_blank
        """Where each line begins, and last where the text ends; and whether blank lines follow it."""
        first = _FIRST.match  # which always matches
        self.first_characters: list[str] = [
            text[at] if text[at] not in " \t" else first(text, at)[1]  # type: ignore[index]
            for at in self.starts[:-1]
        ]
        """The first character of each line that is not a space or tab."""
        self._conditions: list[int] = []
        """The number of conditional sections, from `#if` to `#endif`, that are open before each line; [] if unknown."""
        self._sections: dict[int, Extent] = {}
        """The extent of the section that each `#if` begins. Its first part is its body."""
        if language in _WITH_CONDITIONALS and "#" in self.first_characters:
            self._read_conditionals()
        self._following = _next_lines(self._indents, self._indents)
        self._is_braced = any(lines.nets)
        self._nets = list(accumulate(lines.nets, initial=0))
        """The number of open braces before each line."""
        self._reopens = [number for number, low in enumerate(lines.lows) if low < min(lines.nets[number], 0)]
        """The lines that close a brace and open another one."""
        self._lowest = [before + low for before, low in zip(self._nets, lines.lows, strict=False)]
        """The least number of open braces within each line."""

    def __len__(self) -> int:
        return len(self._indents)

    def _read_conditionals(self) -> None:
        """Read where conditional sections are. Their lines count as indented like the code after `#if`."""
        opened: list[tuple[int, int]] = []  # the line and the indentation of each open section
        tails: dict[int, int] = {}
        self._conditions = [0]
        for number, character in enumerate(self.first_characters):
            found = _CONDITIONAL.match(self._text, self.starts[number]) if character == "#" else None
            if found and found["begin"]:
                opened.append((number, self._indent_after(number)))
            if found and opened:
                begin, self._indents[number] = opened[-1]
                if not found["begin"]:
                    tails.setdefault(begin, number)
                if found["end"]:
                    opened.pop()
                    self._sections[begin] = (begin + 1, tails[begin], number + 1)
            self._conditions.append(len(opened))

    def _indent_after(self, number: int) -> int:
        """Return the indentation of the first line of code below `#if` on line `number`."""
        near = range(number + 1, min(number + _NEAR, len(self)))
        return self._indents[next((line for line in near if self.first_characters[line] != "#"), number)]

    def has_section(self, number: int) -> bool:
        """Return whether line `number` begins a conditional section that ends somewhere."""
        return number in self._sections

    @cached_property
    def _closings(self) -> list[int]:
        """For each line the number of the first one from it on that closes the brace around it, or of the last one."""
        return [line - 1 for line in _next_lines(self._nets, [net - 1 for net in self._nets])]

    def extent(self, number: int, last: int) -> Extent:
        """Return the extent of the statement that begins on line `number` and ends before line `last`.

        The longest part of a statement is its body, if possible in braces, and the first one of these.
        """
        section = self._sections.get(number)
        if section and section[2] <= last:
            return section
        indent, nets = self._indents[number], self._nets
        body, tail = self._lines_within(number, last)
        if tail == body < last and nets[body] - nets[number] == 1:  # the body is not indented
            tail = min(self._closings[body], last)
        end = tail
        while end < last and self.first_characters[end] in _GOES_ON and self._indents[end] == indent:
            part = self._next_part(end, last, indent)
            if part < 0:
                break
            begin, end = self._lines_within(part, last)
            if (nets[begin], end - begin) > (nets[body], tail - body):
                body, tail = begin, end
        return body, tail, end

    def _lines_within(self, number: int, last: int) -> tuple[int, int]:
        """Return where the lines begin and end that are indented deeper than line `number`, which is above them."""
        body, nets, indents = number + 1, self._nets, self._indents
        is_level = nets[body] == nets[number]
        if body < last and is_level and self.first_characters[body] == "{" and indents[body] == indents[number]:
            body += 1  # the brace has a line of its own
        return body, min(self._following[body - 1], last)

    def _next_part(self, number: int, last: int, indent: int) -> int:
        """Return the number of the line that continues or closes a statement with this indentation, or -1.

        Comments may precede the line.
        """
        first = number
        while number < last and self._indents[number] == indent:
            start = self.starts[number]
            if _CONTINUATION.match(self._text, start) or (number == first and _CLOSES.match(self._text, start)):
                return number
            if not _COMMENT.match(self._text, start):
                return -1
            number += 1
        return -1

    def opens_brace(self, number: int, body: int) -> bool:
        """Return whether the statement on line `number` opens a brace before line `body`, where its body begins."""
        return self._is_braced and (self._nets[number + 1] > self._nets[number] or body > number + 1)

    def is_closed(self, number: int, extent: Extent) -> bool:
        """Return whether the lines before the body open the brace around it, and the lines after the body close it.

        extent: the extent of the statement that begins on line `number`.
        """
        body, tail, end = extent
        if self._sections.get(number) == extent:
            levels = {self._nets[line] for line in (number, body, tail, end)}
            return levels == {min(self._lowest[body:tail], default=0)}
        may_be_directive = LANGUAGES.get(self._language, UNKNOWN).comment != "#"
        if may_be_directive and not self._has_whole_conditionals(number, extent):
            return False
        if not self._is_braced:
            return True
        reopens = self._reopens[bisect_left(self._reopens, body) : bisect_left(self._reopens, tail)]
        if any(self._lowest[line] < self._nets[body] for line in reopens):
            return False
        before, opens, closes, after = (self._nets[at] for at in (number, body, tail, end))
        opened, inside, closed = opens - before, closes - opens, after - closes
        if opened == 0 and self._language in _WORDED:
            return tail == end == len(self) or _CLOSING_WORD.match(self._text, self.starts[tail]) is not None
        return opened == 1 and inside == 0 and (closed == -1 or (tail == end == len(self)))

    def _has_whole_conditionals(self, number: int, extent: Extent) -> bool:
        """Return whether all conditional sections of a statement begin and end within its body."""
        text, starts, depths = self._text, self.starts, self._conditions
        body, tail, end = extent
        if not _CONDITIONAL.search(text, starts[number], starts[end]):
            return True
        if not depths or any(_CONDITIONAL.search(text, starts[a], starts[b]) for a, b in ((number, body), (tail, end))):
            return False
        return depths[body] == depths[tail] == min(depths[body : tail + 1])

    def open_braces(self, first: int, numbers: Sequence[int]) -> list[int]:
        """Return how many more braces and conditional sections are open before each line than before `first`."""
        nets, depths = self._nets, self._conditions
        found = [nets[number] - nets[first] for number in numbers]
        return [net + depths[n] - depths[first] for net, n in zip(found, numbers, strict=True)] if depths else found


def _next_lines(values: Sequence[float], limits: Sequence[float]) -> list[int]:
    """Return for each line the number of the next line whose value is at most the limit of this one, or the number of
    lines. A limit is as much below its value as all others."""
    found = [len(values)] * len(values)
    open_: list[int] = []
    for number, value in enumerate(values):
        while open_ and limits[open_[-1]] >= value:
            found[open_.pop()] = number
        open_.append(number)
    return found
