"""The outline of data in lines: YAML, TOML, INI, properties, and what looks like them. One reader reads them all.

A line has an indentation, perhaps a key before `:` or `=` (or before a blank, if `;` or `{` ends it), and a value.
Under it stand the lines that are indented deeper, those between its brackets, or all up to the next `[section]`. The
text may be a chunk that begins anywhere, and whose first line has lost its indentation.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, islice, pairwise
from typing import NamedTuple

from ctxcompress.code.comments import comment_parts, is_disabled
from ctxcompress.code.detection import is_code_name
from ctxcompress.data.passages import Node, NodeKind
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.segment.json_outline import sentences_of_value
from ctxcompress.text.lines import split_lines

__all__ = ["keyed_outline"]

_SAMPLE = 4_000
_SMALL = 80
"""The most characters of an entry whose entries have no nodes of their own."""
_LONG_VALUE, _LONG_LINE, _PIECE = 500, 200, 150
"""The most characters of a value in several lines, and in one line, that is not cut; and the least of some lines."""
_SHORT_COMMENT = 200
"""The most characters of a comment that is kept with the entry below it."""
_DEEPEST, _FEWEST_LINES = 40, 5
_INNERMOST, _OUTERMOST = 1_000_000, -1_000_000
"""The depths of the rest of a value at the beginning, and of a section."""
_NAME = lazy_regex(r"\.(?:ya?ml|toml|ini|cfg|cnf|conf|properties|desktop|service|(?:editor|git)config)$", re.IGNORECASE)
_SECTION = lazy_regex(r"^[ \t]*+(?P<mark>\[\[?)(?P<name>[^\[\],\n]++)\]\]?[ \t]*+(?:[#;].*+)?\r?$", re.MULTILINE)
_KEY = r"(?:[\w.\"'/@$<{}-]|:(?!\s))++"
_BELOW = rf":[ ]*+\r?\n(?:[ ]*+- |[ ]++{_KEY}:)"
_NESTED, _MAY_BE_NESTED = lazy_regex(rf"^[ ]*+(?:- )?{_KEY}{_BELOW}", re.MULTILINE), lazy_regex(_BELOW)
"""A key above an entry; and the end of its line with the beginning of the entry, which is found ten times as fast."""
_LINE = lazy_regex(
    r"""(?P<indent>[ \t]*+)(?P<dashes>(?:-(?:[ \t]++|(?=\s|\Z)))++)?+
    (?:(?P<key>"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+'|(?!["'\#;\[\]{}&*!|>%`])(?:[^:=\s]++|:(?=\S)|[ \t]++(?=[^\#\s:=]))++)
       [ \t]*+(?::(?=\s|\Z)|(?(dashes)(?!)|(?<![<>!~])=(?![=>~])))
     |(?P<word>[\w-]++)(?=[ \t][^\n]*[;{]\s*\Z))?+
    [ \t]*+(?:[!&]\S*+[ \t]*+)*+
    (?P<value>[^\s#][^\n]*+)?""",
    re.VERBOSE,
)
_COMMENT, _SIGNS = lazy_regex(r"[ \t]*+(?:[#;]|!\s)"), ("#", ";", "!")
_BLOCK = lazy_regex(r"[|>][-+]?\d?[-+]?[ \t]*+(?:#|\r?\n?\Z)")
"""The header of a value that is given as a block of lines."""
_DOCUMENT = lazy_regex(r"---(?:\s|\Z)")
_LONG_QUOTES = ('"' * 3, "'" * 3)
_OPEN_QUOTE = lazy_regex(r"(?:\"(?:[^\"\\\n]|\\.)*+\"|'[^'\n]*+'|[^\"'#])*+[\"']")
_TOKEN = lazy_regex(r"\"(?:[^\"\\\n]|\\.)*+\"?|'[^'\n]*+'?|#[^\n]*+|[\[\]{}]")
_NET = {"[": 1, "{": 1, "]": -1, "}": -1}
_OPENING, _CLOSING = ("[", "{"), ("]", "}", "%")


def keyed_outline(text: str, name: str | None = None) -> tuple[Node, ...]:
    """Return the entries of data in lines, or () if the text is something else. What stands under an entry is its
    children.

    name: a file name, path or title, if known. Without the extension of such data there must be sections or nested
    entries: lines such as "Anna: Hello" are none.
    """
    if name is not None and _NAME.search(name):
        reader = _Reader(text)
        is_data = 2 * (reader.lines["key"] + reader.lines["item"]) > reader.lines["strange"]
        return reader.nodes() if is_data else ()
    if "\n" not in text or is_code_name(name):  # most passages of prose have no line break
        return ()
    sample = text[: text.rfind("\n", 0, _SAMPLE) + 1] if len(text) > _SAMPLE else text
    is_nested = _MAY_BE_NESTED.search(sample) and _NESTED.search(sample)
    may_be = is_nested or ("[" in sample and _SECTION.search(sample))
    return _Reader(text).nodes() if may_be and _are_entries(_Reader(sample).lines) else ()


def _are_entries(lines: Counter[str]) -> bool:
    """Tell whether lines of these kinds are data, whatever the name of the file."""
    return (
        lines.total() - lines["doubtful"] >= _FEWEST_LINES
        and lines["key"] - lines["doubtful"] >= max(2, lines["item"])
        and lines["strange"] + lines["doubtful"] <= 0.1 * lines.total()
        and lines["folded"] <= 0.2 * lines.total()
    )


@dataclass(slots=True)
class _Entry:
    """An entry that has not ended."""

    depth: int
    start: int
    """Where it begins, with the comment above it."""
    name: str = ""
    value: str = ""
    """The value on its first line."""
    body: int = -1
    """Where this begins."""
    column: int = _INNERMOST
    """The least indentation of the lines on which the value goes on."""
    lines: list[tuple[int, int]] = field(default_factory=list)
    """Where these lines begin, with their indentation."""
    brackets: int = 0
    """How many brackets of its value are open."""
    is_whole: bool = False
    """Whether it cannot be cut."""
    section: str = ""
    """The bracket before its name: two for an element of a list."""
    tail: int = -1
    """Where the line begins that closes its value; -1 if none does."""
    inner: list[Node] = field(default_factory=list)


class _Line(NamedTuple):
    """What the first characters of a line say."""

    column: int
    dashes: int
    """The number of characters of the dashes before an item of a list."""
    key: str
    value: str

    @classmethod
    def of(cls, line: str) -> "_Line":
        found = _LINE.match(line)
        indent, dashes, key, word, value = found.groups("") if found else ("", "", "", "", line)
        return cls(len(indent), len(dashes), key or word, value)

    @property
    def is_entry(self) -> bool:
        return bool(self.key or self.dashes)

    @property
    def depth(self) -> int:
        """The depth of the entry. An item of a list is deeper than a key with the same indentation."""
        return 2 * self.column + (self.dashes > 0) + 2


class _Reader:
    """A reader of the entries of a text."""

    def __init__(self, text: str) -> None:
        self.lines = Counter[str]()
        """How many lines of each kind there are, without blank lines and comments."""
        self._text = text
        self._open = [_Entry(_OUTERMOST - 1, 0)]
        """The entries that have not ended, around all of which is the text."""
        self._quote = ""
        self._comments: list[int] = []
        """Where the comments above the next line begin."""
        self._is_comment_above = False
        lines = split_lines(text)
        self._first_column = _column_of_first(lines)
        for line, end in zip(lines, accumulate(map(len, lines)), strict=True):
            self._read(line, end - len(line))

    def nodes(self) -> tuple[Node, ...]:
        """End all entries, and return the nodes, which partition the text."""
        self._forget_brackets()
        self._end(0, len(self._text))
        self._end(_OUTERMOST, len(self._text))
        inner = self._open[0].inner
        return (inner[0]._replace(start=0), *inner[1:]) if inner else ()

    def _read(self, text: str, start: int) -> None:
        bare = text.strip()
        is_inside = self._is_inside()
        may_begin_section = bare[:1] == "[" and not (is_inside and text[0].isspace())
        section = _SECTION.match(text) if may_begin_section else None
        if self._goes_on(text, bare, start, is_section=section is not None):
            return
        if not bare:
            self._is_comment_above = False
        elif _COMMENT.match(text):
            self._comments += [] if self._is_comment_above else [start]
            self._is_comment_above = True
            self.lines["key"] += is_disabled(text)
        elif section:
            self._begin_section(section, start)
        elif not (is_inside and self._closes(bare, start)):
            self._begin_entry(text, start, is_inside=is_inside)

    def _goes_on(self, text: str, bare: str, start: int, *, is_section: bool) -> bool:
        """Tell whether a line belongs to the value of the last entry, and add it."""
        entry = self._open[-1]
        column = len(text) - len(text.lstrip(" \t"))
        is_block = _BLOCK.match(entry.value) is not None
        kind = "within"
        if self._quote:
            entry.lines.append((start, column))
            if self._quote in text:
                self._quote, entry.tail = "", start
        elif entry.is_whole and entry.brackets and not is_section:
            entry.brackets = max(0, entry.brackets + _net(text))
        elif bare and column >= entry.column and (is_block or not is_section):
            entry.lines.append((start, column))
            entry.tail = start if entry.value[0] in "'\"" else -1
            kind = "within" if is_block or entry.value[0] in "'\"[{" else "folded"
        else:
            entry.column = _INNERMOST if bare else entry.column
            return False
        self.lines[kind] += 1
        return True

    def _begin_section(self, found: re.Match[str], start: int) -> None:
        self._forget_brackets()
        name = found["name"].strip()
        around = sum(entry.section == "[[" and name.startswith(f"{entry.name}.") for entry in self._open)
        entry = self._begin(_OUTERMOST + around, start)
        entry.name, entry.section = name, found["mark"]
        self.lines["key"] += 1

    def _begin_entry(self, text: str, start: int, *, is_inside: bool) -> None:
        line = _Line.of(text)
        is_first = len(self._open) == 1 and not self._open[0].inner
        if is_first:
            line = line._replace(column=self._first_column)
        is_rest = is_first and not line.is_entry
        entry = self._begin(_INNERMOST if is_rest else 0 if _DOCUMENT.match(text) else line.depth, start)
        entry.name, entry.value = line.key.strip("\"'"), line.value
        entry.body = start + len(text.rstrip("\n")) - len(line.value)
        self._count(line, text, is_inside=is_inside)
        quote = line.value[:3]
        if quote in _LONG_QUOTES:
            self._quote = quote if line.value.find(quote, 3) < 0 else ""
        elif line.value[:1] in _OPENING or text.rstrip()[-1:] in _OPENING:
            entry.brackets = 0 if _OPEN_QUOTE.match(line.value) else max(0, _net(text))
            entry.is_whole = entry.brackets > 1
        if line.value and line.is_entry and not entry.brackets:
            entry.column = 1 + line.column + (line.dashes if line.key else max(0, line.dashes - 2))

    def _count(self, line: _Line, text: str, *, is_inside: bool) -> None:
        if is_inside:
            self.lines["within"] += 1
        elif line.key:
            self.lines["key"] += 1
            self.lines["doubtful"] += " " in line.key and line.key[0] not in "\"'"
        elif line.dashes or _DOCUMENT.match(text):
            self.lines["item"] += 1
        elif self._open[-2].depth > 0:
            self.lines["folded"] += 1
        else:
            self.lines["strange"] += text[0] not in _CLOSING

    def _begin(self, depth: int, start: int) -> _Entry:
        """Begin an entry with the comment above it. A long comment stands alone."""
        begins = start
        if self._is_comment_above:
            self._comments += comment_parts(self._text, self._comments.pop(), start, _SIGNS)
            if start - self._comments[-1] <= _SHORT_COMMENT:
                begins = self._comments.pop()
        self._end(depth, begins)
        self._open.append(_Entry(depth, begins))
        return self._open[-1]

    def _closes(self, bare: str, start: int) -> bool:
        """Tell whether a line closes brackets, and end the entries that have them.

        Two that are closed on one line cannot be cut, nor can one that is closed where another opens.
        """
        net = _net(bare)
        if net > 0 or not (net or bare[0] in _CLOSING):
            return False
        for number in range(max(1, -net)):
            if not self._is_inside():
                break
            self._end(_OUTERMOST, start)
            entry = self._open[-1]
            entry.brackets, entry.is_whole, entry.tail = int(not net), number > 0 or not net, start
            entry.depth = _INNERMOST  # nothing more stands under it
        return True

    def _is_inside(self) -> bool:
        """Tell whether brackets are open. The outermost ones are found first."""
        return any(entry.brackets for entry in self._open)

    def _forget_brackets(self) -> None:
        """Let brackets be no brackets, because nothing closes them."""
        for entry in self._open:
            entry.brackets = 0

    def _end(self, depth: int, end: int) -> None:
        """End the entries that are at least as deep, up to brackets that are open. Comments that stand alone follow."""
        comments = [
            Node(NodeKind.RECORD, *bounds)
            for begin, stop in pairwise((*self._comments, end))
            for bounds in pairwise(dict.fromkeys((*comment_parts(self._text, begin, stop, _SIGNS), stop)))
        ]
        while self._open[-1].depth >= depth and not self._open[-1].brackets:
            entry = self._open.pop()
            if entry.section:  # they are entries of it
                entry.inner, comments = entry.inner + comments, []
            self._open[-1].inner.append(self._node(entry, comments[0].start if comments else end))
        self._open[-1].inner += comments
        self._comments, self._is_comment_above = [], False

    def _node(self, entry: _Entry, end: int) -> Node:
        node = Node(NodeKind.RECORD, entry.start, end, entry.name)
        is_small = end - entry.start <= _SMALL and not entry.section
        if is_small or entry.is_whole or len(self._open) > _DEEPEST:
            return node
        tail = entry.tail if entry.tail >= 0 else end
        children = entry.inner
        if not children and entry.lines and end - entry.start > _LONG_VALUE:
            children = _pieces(entry.lines, tail)
        elif not (children or entry.lines) and len(entry.value) > _LONG_LINE and entry.value[0] not in _OPENING:
            tail = entry.body + len(entry.value.rstrip("\"'; \t\r"))
            children = sentences_of_value(self._text, tail - len(entry.value.strip("\"'; \t\r")), tail)
        if not children:
            return node
        tail = tail if tail > children[-1].start else end  # else what follows the value is not indented as it should be
        return node._replace(signature=entry.start, body=children[0].start, tail=tail, children=tuple(children))


def _pieces(lines: Sequence[tuple[int, int]], tail: int) -> list[Node]:
    """Return the pieces of a long value. None is indented deeper than the first one."""
    begins = [start for start, _ in lines[:1]]
    for start, column in lines:
        if begins[-1] + _PIECE <= start < tail and column == lines[0][1]:
            begins.append(start)
    return [Node(NodeKind.RECORD, begin, stop) for begin, stop in pairwise((*begins, tail)) if len(begins) > 1]


def _net(line: str) -> int:
    """Return how many more brackets a line opens than it closes."""
    return sum(_NET.get(token, 0) for token in _TOKEN.findall(line))


def _column_of_first(lines: Iterable[str]) -> int:
    """Return the indentation that the first line had, which splitters remove from chunks.

    A value on its line ends it, so the next entry is beside it. Otherwise what is indented as the next line is within
    it, and what is indented less is not.
    """
    found = (_Line.of(line) for line in lines if not line.isspace() and not _COMMENT.match(line))
    first, second, *_ = (*islice(found, 2), _Line.of(""), _Line.of(""))
    if first.column or not second.column:
        return first.column
    is_in_item = second.dashes > 0 and not first.dashes
    if not first.value or _BLOCK.match(first.value):
        return second.column if is_in_item else max(0, second.column - first.dashes - 1)
    if not second.is_entry or _OPEN_QUOTE.match(first.value) or _net(first.value) > 0:
        return 0
    return second.column + (second.dashes if is_in_item else 0 if second.dashes else -first.dashes)
