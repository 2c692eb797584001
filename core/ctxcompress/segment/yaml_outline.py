"""The outline of YAML: entries under the keys above them, and the parts of long scalars.

The text may be a chunk that begins anywhere, and whose first line has lost its indentation.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import NamedTuple

from ctxcompress.data.passages import Node, NodeKind
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.text.lines import split_lines

__all__ = ["yaml_outline"]

_SAMPLE = 4_000
_SMALL = 120
"""The most characters of an entry whose entries have no nodes of their own."""
_LONG_SCALAR = 500
"""The most characters of a scalar that is not cut."""
_PIECE = 150
"""The least characters of a piece of a long scalar."""
_SHORT_COMMENT = 200
"""The most characters of a comment that is kept with the entry below it."""
_DEEPEST = 40
_INNERMOST = 1_000_000
"""A depth that no entry has."""
_FEWEST_ENTRIES = 5
_READ_FOR_COLUMN = 200
"""The number of lines that are read to find the indentation that the first line had."""
_NAME = lazy_regex(r"\.ya?ml$", re.IGNORECASE)
_NESTED = lazy_regex(
    r"^[ ]*+(?:- )?(?:[\w.\"'/@$<{}-]|:(?!\s))++:[ ]*+\r?\n(?:[ ]*+- |[ ]++(?:[\w.\"'/@$<{}-]|:(?!\s))++:)",
    re.MULTILINE,
)
_LINE = lazy_regex(
    r"""(?P<indent>[ ]*+)(?P<dashes>(?:-(?:[ \t]++|(?=\s|\Z)))*+)
    (?:(?P<key>"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+'|(?!["'\#\[{&*!|>%`])(?:[^:\s]++|:(?=\S)|[ \t]++(?=[^\#\s:]))++)
       [ \t]*+:(?=\s|\Z))?+
    [ \t]*+(?:[!&]\S*+[ \t]*+)*+
    (?P<value>[^\s#][^\n]*+)?""",
    re.VERBOSE,
)
_BLOCK = lazy_regex(r"[|>][-+]?(?P<indent>\d?)[-+]?[ \t]*+(?:#|\r?\n?\Z)")
"""The header of a scalar that is given as a block of lines."""
_CLOSING = {"'": "'", '"': '"', "[": "]", "{": "}"}
_DOCUMENT = lazy_regex(r"---(?:\s|\Z)")
_CODE_END = lazy_regex(r"[;{(,][ \t\r\n]*+\Z")
"""The end of a line that belongs to source code rather than YAML."""


def yaml_outline(text: str, name: str | None = None) -> tuple[Node, ...]:
    """Return the entries of YAML, or () if the text is something else. Entries that are indented deeper are children.

    name: a file name, path or title, if known. Without the extension of YAML, some entries must be nested: lines such
    as "Anna: Hello" are none.
    """
    if name is not None and _NAME.search(name):
        reader = _Reader(text)
        return reader.nodes() if reader.count.are_entries() else ()
    may_nest = "\n" in text and ":" in text  # most passages of prose have no line break
    if not may_nest or not _NESTED.search(text, 0, _SAMPLE):
        return ()
    sample = text[: text.rfind("\n", 0, _SAMPLE) + 1] if len(text) > _SAMPLE else text
    return _Reader(text).nodes() if _Reader(sample).count.are_surely_entries() else ()


@dataclass(slots=True)
class _Count:
    """How many lines of each kind a text has, not counting blank ones."""

    keys: int = 0
    others: int = 0
    """Items of lists, and signs between documents."""
    within: int = 0
    """Lines of scalars."""
    folded: int = 0
    """Lines that continue a scalar without quotes."""
    strange: int = 0
    """Lines that are nothing of this."""
    before: int = 0
    """Such lines before the first entry: the rest of a scalar."""
    doubtful: int = 0
    """Keys that a line of prose or source code could have, too."""

    def are_entries(self) -> bool:
        """Tell whether a file with the extension of YAML is YAML, and not a chunk of a long scalar alone."""
        return 2 * (self.keys + self.others) > max(2, self.strange)

    def are_surely_entries(self) -> bool:
        """Tell whether the lines are YAML, whatever the name of the file."""
        strange = self.strange + self.before
        lines = self.keys + self.others + self.within + self.folded + strange
        return (
            lines >= _FEWEST_ENTRIES
            and self.keys - self.doubtful >= self.others
            and strange + self.doubtful <= 0.1 * lines
            and self.folded <= 0.2 * lines
        )


@dataclass(slots=True)
class _Entry:
    """An entry that has not ended."""

    depth: int
    start: int
    """Where it begins, with the comment above it."""
    line: int
    """Where its first line begins, and where that ends."""
    body: int
    name: str = ""
    scalar: str = ""
    """The value on its first line."""
    lines: list[int] = field(default_factory=list)
    """Where the other lines of its scalar begin."""
    inner: list[Node] = field(default_factory=list)


class _Line(NamedTuple):
    """What the first characters of a line say."""

    column: int
    dashes: int
    """The number of characters of the dashes before an item of a list."""
    key: str | None
    value: str

    @classmethod
    def of(cls, line: str) -> "_Line":
        found = _LINE.match(line)
        if found is None:
            return cls(0, 0, None, line)
        return cls(len(found["indent"]), len(found["dashes"]), found["key"], found["value"] or "")

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
        self._text = text
        self.count = _Count()
        self._open = [_Entry(-1, 0, 0, 0)]
        """The entries that have not ended, around all of which is the text."""
        self._scalar = -1
        """The indentation below which the lines of the last scalar are not; -1 if there is none."""
        self._comment = self._comment_column = -1
        lines = split_lines(text)
        self._first_column = _column_of_first(lines)
        start = 0
        for line in lines:
            if not line.isspace():
                self._read(line, start)
            start += len(line)

    def nodes(self) -> tuple[Node, ...]:
        """End all entries, and return the nodes, which partition the text."""
        self._end_deeper(0, len(self._text))
        inner = self._open[0].inner
        return (inner[0]._replace(start=0), *inner[1:]) if inner else ()

    def _read(self, text: str, start: int) -> None:
        column = len(text) - len(text.lstrip(" "))
        if 0 <= self._scalar <= column:
            self._add_to_scalar(start)
            return
        self._scalar = -1
        if text[column] == "#":
            if self._comment < 0 or self._comment_column != column:
                self._comment, self._comment_column = start, column
        elif _DOCUMENT.match(text):
            self.count.others += 1
            self._begin(0, start, len(text), column)
        else:
            line = _Line.of(text)
            if not start and not column:
                line = line._replace(column=self._first_column)
            if line.is_entry:
                self._begin_entry(line, text, start)
            else:
                self._begin_text(text, start)

    def _begin_entry(self, line: _Line, text: str, start: int) -> None:
        entry = self._begin(line.depth, start, len(text), line.column)
        entry.name, entry.scalar = (line.key or "").strip("\"'"), line.value
        self.count.keys += line.key is not None
        self.count.others += line.key is None
        self.count.doubtful += line.key is not None and (
            (" " in line.key and line.key[0] not in "\"'") or _CODE_END.search(text) is not None
        )
        if line.value:
            dash = line.column + len(text[line.column : line.column + line.dashes].rstrip()) - 1
            self._scalar = 1 + (line.column + line.dashes if line.key is not None else dash)

    def _begin_text(self, text: str, start: int) -> None:
        """Add a line that is no entry to what is before it. The rest of a scalar at the beginning has no entries."""
        self._comment = -1
        is_first = len(self._open) == 1 and not self._open[0].inner
        if is_first:
            self._begin(_INNERMOST, start, len(text), 0)
        if is_first or self._open[-1].depth == _INNERMOST:
            self.count.before += 1
        else:
            self.count.strange += not text.startswith((*"]}%", "..."))

    def _begin(self, depth: int, start: int, length: int, column: int) -> _Entry:
        """Begin an entry with the comment above it. A long comment stands alone."""
        begins = start
        if self._comment >= 0 and self._comment_column == column:
            begins = self._comment
            if start - begins > _SHORT_COMMENT:
                self._end_deeper(depth, begins)
                self._open.append(_Entry(depth, begins, begins, start))
                begins = start
        self._comment = -1
        self._end_deeper(depth, begins)
        self._open.append(_Entry(depth, begins, start, start + length))
        return self._open[-1]

    def _add_to_scalar(self, start: int) -> None:
        entry = self._open[-1]
        entry.lines.append(start)
        if entry.scalar[:1] in ("'", '"', "[", "{") or _BLOCK.match(entry.scalar):
            self.count.within += 1
        else:
            self.count.folded += 1

    def _end_deeper(self, depth: int, end: int) -> None:
        """End the entries that are at least as deep."""
        while self._open[-1].depth >= depth:
            entry = self._open.pop()
            self._open[-1].inner.append(self._node(entry, end))

    def _node(self, entry: _Entry, end: int) -> Node:
        node = Node(NodeKind.RECORD, entry.start, end, entry.name)
        if entry.inner:
            is_cut = end - entry.start > _SMALL and len(self._open) <= _DEEPEST
            children = tuple(entry.inner) if is_cut else ()
            return node._replace(signature=entry.start, body=entry.body, tail=end, children=children)
        if end - entry.start <= _LONG_SCALAR or len(entry.lines) < _FEWEST_ENTRIES:
            return node
        begins, tail = self._pieces(entry), entry.lines[-1] if entry.scalar[0] in "'\"" else end
        begins = [begin for begin in begins if begin < tail]
        if len(begins) < 2:
            return node
        pieces = tuple(Node(NodeKind.RECORD, begin, stop) for begin, stop in pairwise((*begins, tail)))
        return node._replace(signature=entry.start, body=begins[0], tail=tail, children=pieces)

    def _pieces(self, entry: _Entry) -> list[int]:
        """Return where the pieces of a long scalar begin. In a block, none is indented deeper than the first one."""
        block = _BLOCK.match(entry.scalar)
        if entry.scalar[0] in "[{" or (block and block["indent"]):
            return []
        first = self._indent(entry.lines[0])
        found = [entry.lines[0]]
        for line in entry.lines[1:]:
            if line - found[-1] >= _PIECE and (not block or self._indent(line) == first):
                found.append(line)
        return found

    def _indent(self, start: int) -> int:
        found = _LINE.match(self._text, start)
        return len(found["indent"]) if found else 0


def _column_of_first(lines: Iterable[str]) -> int:
    """Return the indentation that the first line had, which splitters remove from chunks.

    A value on its line ends it, so the next entry is beside it. Otherwise what is indented as the next line is within
    it, and what is indented less is not.
    """
    found = (_Line.of(line) for line in lines if not line.isspace() and line.lstrip(" ")[:1] != "#")
    first, second, *others = [*islice(found, _READ_FOR_COLUMN), _Line(0, 0, "", ""), _Line(0, 0, "", "")]
    if not first.is_entry or first.column or not second.column:
        return first.column
    if _BLOCK.match(first.value):
        return max(0, second.column - 2)
    if first.value:
        return _column_beside(first, second) if second.is_entry and not _goes_on(first.value) else 0
    entries = (line for line in others if line.is_entry)
    ends = (
        line
        for line in entries
        if line.column < second.column or (second.dashes and line.column == second.column and not line.dashes)
    )
    return _column_beside(first, next(ends, _Line(0, 0, "", "")))


def _goes_on(value: str) -> bool:
    """Tell whether a value in quotes or brackets seems to end on a later line."""
    closing = _CLOSING.get(value[0])
    return closing is not None and not (len(value) > 1 and value.rstrip().endswith(closing))


def _column_beside(first: _Line, other: _Line) -> int:
    """Return the indentation of the first entry if another one is the next that is not within it."""
    if other.dashes and not first.dashes:
        return other.column + other.dashes  # the first one is in the item before
    return max(0, other.column - (first.dashes if not other.dashes else 0))
