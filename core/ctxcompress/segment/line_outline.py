"""The outline of data in lines: YAML, TOML, INI, properties, and what looks like them. One reader reads them all.

A line has an indentation, perhaps a key before `:` or `=` (or before a blank, if a bracket or a semicolon ends it), and
a value. Under it stands what is indented deeper, what is between its brackets, or all lines up to the next `[section]`.
The text may be a chunk that begins anywhere, and whose first line has lost its indentation.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import NamedTuple

from ctxcompress.code.detection import is_code_name
from ctxcompress.data.passages import Node, NodeKind
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.text.lines import split_lines

__all__ = ["line_outline"]

_SAMPLE = 4_000
_SMALL = 120
"""The most characters of an entry whose entries have no nodes of their own."""
_LONG_VALUE = 500
"""The most characters of a value in several lines that is not cut."""
_PIECE = 150
"""The least characters of a piece of a long value."""
_SHORT_COMMENT = 200
"""The most characters of a comment that is kept with the entry below it."""
_DEEPEST = 40
_INNERMOST, _OUTERMOST = 1_000_000, -1_000_000
"""The depth of the rest of a value at the beginning, and of a section."""
_FEWEST_LINES = 5
_NAME = lazy_regex(
    r"\.(?:ya?ml|toml|ini|cfg|cnf|conf|properties|desktop|service|editorconfig|gitconfig)$", re.IGNORECASE
)
_SECTION = lazy_regex(
    r"[ \t]*+(?P<mark>\[\[?)[ \t]*+(?P<name>[^\[\]\n]++(?:\[[^\[\]\n]*+\][^\[\]\n]*+)*+)\]\]?[ \t]*+(?:[#;].*+)?\s*+\Z"
)
_SECTION_LINE = lazy_regex(
    r"^\[\[?[^\[\]\n]++(?:\[[^\[\]\n]*+\][^\[\]\n]*+)*+\]\]?[ \t]*+(?:[#;\r\n]|\Z)", re.MULTILINE
)
_NESTED = lazy_regex(
    r"^[ ]*+(?:- )?(?:[\w.\"'/@$<{}-]|:(?!\s))++:[ ]*+\r?\n(?:[ ]*+- |[ ]++(?:[\w.\"'/@$<{}-]|:(?!\s))++:)",
    re.MULTILINE,
)
_LINE = lazy_regex(
    r"""(?P<indent>[ \t]*+)(?P<dashes>(?:-(?:[ \t]++|(?=\s|\Z)))++)?+
    (?:(?P<key>"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+'|(?!["'\#;\[\]{}&*!|>%`])(?:[^:=\s]++|:(?=\S)|[ \t]++(?=[^\#\s:=]))++)
       [ \t]*+(?::(?=\s|\Z)|(?(dashes)(?!)|(?<![<>!~])=(?![=>~])))
     |(?P<word>[\w-]++)(?=[ \t][^\n]*[;{]\s*\Z))?+
    [ \t]*+(?:[!&]\S*+[ \t]*+)*+
    (?P<value>[^\s#][^\n]*+)?""",
    re.VERBOSE,
)
_COMMENT = lazy_regex(r"[ \t]*+(?:[#;]|!\s)")
_BLOCK = lazy_regex(r"[|>][-+]?(?P<indent>\d?)[-+]?[ \t]*+(?:#|\r?\n?\Z)")
"""The header of a scalar that is given as a block of lines."""
_INDENT = lazy_regex(r"[ \t]*+")
_QUOTES = ('"' * 3, "'" * 3)
_TOKEN = lazy_regex(r"\"(?:[^\"\\\n]|\\.)*+\"?|'[^'\n]*+'?|#[^\n]*+|[\[\]{}]")
_OPEN_QUOTE = lazy_regex(r"(?:\"(?:[^\"\\\n]|\\.)*+\"|'[^'\n]*+'|[^\"'#])*+[\"']")
_DEPTH = {"[": 1, "{": 1, "]": -1, "}": -1}
_OPENING, _CLOSING = ("[", "{"), ("]", "}", "%")
_CLOSERS = {"'": "'", '"': '"', "[": "]", "{": "}"}
_DOCUMENT = lazy_regex(r"---(?:\s|\Z)")
_CODE_END = lazy_regex(r"[;{(,][ \t\r\n]*+\Z")
"""The end of a line that belongs to source code rather than data."""


def line_outline(text: str, name: str | None = None) -> tuple[Node, ...]:
    """Return the entries of data in lines, or () if the text is something else. What stands under an entry is its
    children.

    name: a file name, path or title, if known. Without the extension of such data there must be sections or nested
    entries: lines such as "Anna: Hello" are none.
    """
    if name is not None and _NAME.search(name):
        reader = _Reader(text)
        return reader.nodes() if reader.count.are_entries() else ()
    if "\n" not in text or is_code_name(name):  # most passages of prose have no line break
        return ()
    sample = text[: text.rfind("\n", 0, _SAMPLE) + 1] if len(text) > _SAMPLE else text
    is_nested = ":" in sample and _NESTED.search(sample) is not None
    may_be = is_nested or ("=" in sample and "[" in sample and _SECTION_LINE.search(sample) is not None)
    return _Reader(text).nodes() if may_be and _Reader(sample).count.are_surely_entries() else ()


@dataclass(slots=True)
class _Count:
    """How many lines of each kind a text has, not counting blank ones and comments."""

    sections: int = 0
    keys: int = 0
    items: int = 0
    """Items of lists without a key, and signs between documents."""
    within: int = 0
    """Lines of values in quotes, brackets or blocks."""
    folded: int = 0
    """Lines that continue a value without quotes."""
    strange: int = 0
    """Lines that are nothing of this."""
    doubtful: int = 0
    """Keys that a line of prose or source code could have, too."""

    def are_entries(self) -> bool:
        """Tell whether a file with the extension of such data has them, and is not a chunk of a long value alone."""
        return self.sections + self.keys + self.items > self.strange / 2

    def are_surely_entries(self) -> bool:
        """Tell whether the lines are entries, whatever the name of the file."""
        lines = self.sections + self.keys + self.items + self.within + self.folded + self.strange
        return (
            lines >= _FEWEST_LINES
            and self.keys - self.doubtful >= max(2, self.items)
            and self.strange + self.doubtful <= 0.1 * lines
            and self.folded <= 0.2 * lines
        )


@dataclass(slots=True)
class _Entry:
    """An entry that has not ended."""

    depth: int
    start: int
    """Where it begins, with the comment above it."""
    body: int = 0
    """Where its first line ends."""
    name: str = ""
    value: str = ""
    """The value on its first line."""
    brackets: int = 0
    """How many brackets of its value are open."""
    is_section: bool = False
    is_element: bool = False
    """Whether it is the section of an element of a list of TOML."""
    is_whole: bool = False
    """Whether it cannot be cut."""
    lines: list[int] = field(default_factory=list)
    """Where the lines begin on which its value goes on."""
    tail: int = -1
    """Where the line begins that closes its value; -1 if none does."""
    inner: list[Node] = field(default_factory=list)


class _Line(NamedTuple):
    """What the first characters of a line say."""

    column: int
    dashes: int
    """The number of characters of the dashes before an item of a list."""
    key: str | None
    is_word: bool
    value: str

    @classmethod
    def of(cls, line: str) -> "_Line":
        found = _LINE.match(line)
        if found is None:
            return cls(0, 0, None, False, line)
        key = found["key"] if found["key"] is not None else found["word"]
        word = found["word"] is not None
        return cls(len(found["indent"]), len(found["dashes"] or ""), key, word, found["value"] or "")

    @property
    def is_entry(self) -> bool:
        return self.key is not None or self.dashes > 0

    @property
    def depth(self) -> int:
        """The depth of the entry. An item of a list is deeper than a key with the same indentation."""
        return 2 * self.column + (self.dashes > 0) + 2


class _Reader:
    """A reader of the entries of a text."""

    def __init__(self, text: str) -> None:
        self.count = _Count()
        self._text = text
        self._has_sections = _SECTION_LINE.search(text) is not None
        self._open = [_Entry(_OUTERMOST - 1, 0)]
        """The entries that have not ended, around all of which is the text."""
        self._column = -1
        """The indentation of the lines on which the last value goes on; -1 if it has ended."""
        self._quote = ""
        self._is_continued = False
        self._comments: list[int] = []
        """Where the comments above the next line begin."""
        self._is_comment_above = False
        lines = split_lines(text)
        self._first_column = _column_of_first(lines)
        start = 0
        for line in lines:
            self._read(line, start)
            start += len(line)

    def nodes(self) -> tuple[Node, ...]:
        """End all entries, and return the nodes, which partition the text."""
        self._close_brackets()
        self._end_deeper(0, len(self._text))
        self._end_deeper(_OUTERMOST, len(self._text))
        inner = self._open[0].inner
        return (inner[0]._replace(start=0), *inner[1:]) if inner else ()

    def _read(self, text: str, start: int) -> None:
        bare = text.strip()
        section = _SECTION.match(text) if self._has_sections and bare[:1] == "[" else None
        if self._goes_on(text, bare, start, is_section=section is not None):
            return
        self._column = -1 if bare else self._column
        inside = next((entry for entry in reversed(self._open) if entry.brackets), None)
        if not bare:
            self._is_comment_above = False
        elif _COMMENT.match(text):
            self._comments += [] if self._is_comment_above else [start]
            self._is_comment_above = True
        elif section and not (inside and text[0].isspace()):
            self._begin_section(section, start, len(text))
        elif inside and self._closes(bare, start):
            self.count.within += 1
        else:
            self._begin_entry(text, start, is_inside=inside is not None)

    def _goes_on(self, text: str, bare: str, start: int, *, is_section: bool) -> bool:
        """Tell whether a line belongs to the value of the last entry, and add it."""
        entry = self._open[-1]
        column = len(text) - len(text.lstrip(" \t"))
        is_block = _BLOCK.match(entry.value) is not None
        if self._quote:
            entry.lines.append(start)
            if self._quote in text:
                self._quote, entry.tail = "", start
        elif entry.is_whole and entry.brackets and not (is_section and not column):
            entry.brackets = max(0, entry.brackets + _net(text))
        elif self._is_continued:
            self._is_continued = text.rstrip("\r\n").endswith("\\")
        elif bare and 0 <= self._column <= column and (is_block or not is_section):
            entry.lines.append(start)
            entry.tail = start if entry.value[0] in "'\"" else -1
            if not is_block and entry.value[0] not in _CLOSERS:
                self.count.folded += 1
                return True
        else:
            return False
        self.count.within += 1
        return True

    def _begin_section(self, found: re.Match[str], start: int, length: int) -> None:
        self._close_brackets()
        name = found["name"].strip()
        around = sum(entry.is_element and name.startswith(f"{entry.name}.") for entry in self._open)
        entry = self._begin(_OUTERMOST + around, start, length)
        entry.name, entry.is_section, entry.is_element = name, True, found["mark"] == "[["
        self.count.sections += 1

    def _begin_entry(self, text: str, start: int, *, is_inside: bool) -> None:
        line = _Line.of(text)
        is_first = len(self._open) == 1 and not self._open[0].inner
        if is_first:
            line = line._replace(column=self._first_column)
        is_rest = is_first and not line.is_entry and not self._has_sections
        depth = _INNERMOST if is_rest else 0 if _DOCUMENT.match(text) else line.depth
        entry = self._begin(depth, start, len(text))
        entry.name, entry.value = (line.key or "").strip("\"'"), line.value
        self._count(line, text, is_inside=is_inside)
        self._is_continued = text.rstrip("\r\n").endswith("\\")
        if line.value.startswith(_QUOTES):
            quote = line.value[:3]
            is_open = line.value.find(quote, 3) < 0 and self._text.find(quote, start + len(text)) >= 0
            self._quote = quote if is_open else ""
        elif line.value.startswith(_OPENING) or text.rstrip().endswith(_OPENING):
            entry.brackets = 0 if _OPEN_QUOTE.match(line.value) else max(0, _net(text))
            entry.is_whole = entry.brackets > 1
        if line.value and line.is_entry and not entry.brackets:
            self._column = 1 + line.column + (line.dashes if line.key is not None else max(0, line.dashes - 2))

    def _count(self, line: _Line, text: str, *, is_inside: bool) -> None:
        if is_inside:
            self.count.within += 1
        elif line.key is not None:
            self.count.keys += 1
            has_words = " " in line.key and line.key[0] not in "\"'"
            self.count.doubtful += line.is_word or has_words or _CODE_END.search(text) is not None
        elif line.dashes or _DOCUMENT.match(text):
            self.count.items += 1
        elif self._open[-2].depth > 0:
            self.count.folded += 1
        else:
            self.count.strange += not text.startswith(_CLOSING)

    def _begin(self, depth: int, start: int, length: int) -> _Entry:
        """Begin an entry with the comment above it. A long comment stands alone."""
        begins = start
        if self._is_comment_above and self._comments and start - self._comments[-1] <= _SHORT_COMMENT:
            begins = self._comments.pop()
        self._end_deeper(depth, begins)
        self._open.append(_Entry(depth, begins, start + length))
        return self._open[-1]

    def _closes(self, bare: str, start: int) -> bool:
        """Tell whether a line closes brackets, and end the entries that have them.

        What two brackets on a line close, or one of which another opens, cannot be cut.
        """
        net = _net(bare)
        if net > 0 or not (net or bare.startswith(_CLOSING)):
            return False
        closed = 0
        while closed < max(1, -net) and any(entry.brackets for entry in self._open):
            self._end_deeper(_OUTERMOST, start)
            entry = self._open[-1]
            entry.tail, entry.brackets, entry.is_whole = start, int(not net), closed > 0 or not net
            closed += 1
        return True

    def _close_brackets(self) -> None:
        for entry in self._open:
            entry.brackets = 0

    def _end_deeper(self, depth: int, end: int) -> None:
        """End the entries that are at least as deep, up to brackets that are open. Then come comments that stand
        alone."""
        bounds = [*self._comments, end]
        while self._open[-1].depth >= depth and not self._open[-1].brackets:
            entry = self._open.pop()
            self._open[-1].inner.append(self._node(entry, bounds[0]))
        self._open[-1].inner += [Node(NodeKind.RECORD, begin, stop) for begin, stop in pairwise(bounds)]
        self._comments, self._is_comment_above = [], False

    def _node(self, entry: _Entry, end: int) -> Node:
        node = Node(NodeKind.RECORD, entry.start, end, entry.name)
        tail = entry.tail if entry.tail >= 0 else end
        if entry.is_whole or (end - entry.start <= _SMALL and not entry.is_section) or len(self._open) > _DEEPEST:
            return node
        children = tuple(entry.inner or self._pieces(entry, end, tail))
        if not children:
            return node
        return node._replace(signature=entry.start, body=children[0].start, tail=tail, children=children)

    def _pieces(self, entry: _Entry, end: int, tail: int) -> list[Node]:
        """Return the pieces of a long value. In a block, none is indented deeper than the first one."""
        block = _BLOCK.match(entry.value)
        if end - entry.start <= _LONG_VALUE or len(entry.lines) < 2 or (block and block["indent"]):
            return []
        first, begins = self._indent(entry.lines[0]), [entry.lines[0]]
        for line in entry.lines[1:]:
            if begins[-1] + _PIECE <= line < tail and not (block and self._indent(line) != first):
                begins.append(line)
        return [Node(NodeKind.RECORD, begin, stop) for begin, stop in pairwise((*begins, tail)) if len(begins) > 1]

    def _indent(self, start: int) -> int:
        found = _INDENT.match(self._text, start)
        return found.end() - start if found else 0


def _net(line: str) -> int:
    """Return how many brackets a line opens minus those that it closes."""
    return sum(_DEPTH.get(token, 0) for token in _TOKEN.findall(line))


def _column_of_first(lines: Iterable[str]) -> int:
    """Return the indentation that the first line had, which splitters remove from chunks.

    A value on its line ends it, so the next entry is beside it. Otherwise what is indented as the next line is within
    it, and what is indented less is not.
    """
    found = (_Line.of(line) for line in lines if not line.isspace() and not _COMMENT.match(line))
    first, second, *_ = (*islice(found, 2), _Line.of(""), _Line.of(""))
    if not first.is_entry or first.column or not second.column:
        return first.column
    is_in_item = second.dashes > 0 and not first.dashes
    if _BLOCK.match(first.value):
        return second.column - 1
    if not first.value:
        return second.column if is_in_item else max(0, second.column - first.dashes - 1)
    if not second.is_entry or _goes_on(first.value):
        return 0
    return (
        second.column + second.dashes
        if is_in_item
        else max(0, second.column - (first.dashes if not second.dashes else 0))
    )


def _goes_on(value: str) -> bool:
    """Tell whether a value in quotes or brackets seems to end on a later line."""
    closing = _CLOSERS.get(value[0])
    return closing is not None and not (len(value) > 1 and value.rstrip().endswith(closing))
