"""The outline of data in sections: INI, TOML and properties. A key stands under the line of its section."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ctxcompress.code.detection import is_code_name
from ctxcompress.data.passages import Node, NodeKind
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.text.lines import split_lines

__all__ = ["section_outline"]

_SAMPLE = 4_000
_SHORT_COMMENT = 120
"""The most characters of a comment that is kept with the section below it."""
_SMALL = 250
"""The most characters of a value whose lines have no nodes of their own."""
_FEWEST_KEYS = 2
_NAME = lazy_regex(r"\.(?:toml|ini|cfg|cnf|conf|properties|desktop|service|editorconfig|gitconfig)$", re.IGNORECASE)
_TOML_NAME = lazy_regex(r"\.toml$", re.IGNORECASE)
_SECTION = lazy_regex(
    r"[ \t]*+(?P<mark>\[\[?)[ \t]*+(?P<name>[^\[\]\n]++(?:\[[^\[\]\n]*+\][^\[\]\n]*+)*+)\]\]?[ \t]*+(?:[#;].*+)?\s*+\Z"
)
_SECTION_LINE = lazy_regex(r"\n\[\[?[^\[\]\n]++(?:\[[^\[\]\n]*+\][^\[\]\n]*+)*+\]\]?[ \t]*+(?:[#;\r\n]|\Z)")
_KEY = lazy_regex(r"[ \t]*+(\"[^\"\n]*+\"|'[^'\n]*+'|[^\s=:#;\[\]{}()\"'][^=:\n]*+)[ \t]*+[=:]")
_PLAIN_KEY = lazy_regex(
    r"[ \t]*+(?:\"[^\"\n]*+\"|'[^'\n]*+'|[\w-]++)(?:[ \t]*+\.[ \t]*+(?:\"[^\"\n]*+\"|[\w-]++))*+[ \t]*+=(?![=>~])"
    r"(?:.*[^;{(,\s])?\s*\Z"
)
"""A key where no file name says that there are any: a line of code often ends with one of these signs."""
_COMMENT = lazy_regex(r"[ \t]*+[#;!]")
_TOKEN = lazy_regex(r"\"(?:[^\"\\\n]|\\.)*+\"?|'[^'\n]*+'?|#[^\n]*+|[\[\]{}]")
_DEPTH = {"[": 1, "{": 1, "]": -1, "}": -1}
_QUOTES = ('"' * 3, "'" * 3)


def section_outline(text: str, name: str | None = None) -> tuple[Node, ...]:
    """Return the sections and keys of INI, TOML or properties, or () if the text is something else.

    A section has its keys as children. A section of TOML that is part of an element of a list, such as ``[a.b]`` after
    ``[[a]]``, is a child of this element. name: a file name, path or title, if known. Without one, there must be a
    section, and almost all lines must be keys.
    """
    is_named = name is not None and _NAME.search(name) is not None
    if not is_named and (is_code_name(name) or not _may_have_sections(text[:_SAMPLE])):
        return ()
    is_toml = is_named and name is not None and _TOML_NAME.search(name) is not None
    if not is_named and not _has_plain_keys(text[:_SAMPLE]):
        return ()
    entries = _Reader(text, is_named=is_named, is_toml=is_toml).entries
    return tuple(_nodes(text, entries)) if not is_named or _has_keys(text, entries, is_toml=is_toml) else ()


def _may_have_sections(sample: str) -> bool:
    return "=" in sample and "[" in sample and _SECTION_LINE.search(f"\n{sample}") is not None


def _has_keys(text: str, entries: Sequence["_Entry"], *, is_toml: bool) -> bool:
    """Tell whether the lines of a file with the extension of such data are keys."""
    sections = sum(entry.section != "" for entry in entries)
    keys = [_KEY.match(text, entry.line) for entry in entries if not entry.section and not entry.is_comment]
    share = 0.5 if sections or is_toml else 0.8
    return len(keys) + sections > 0 and len(keys) - keys.count(None) >= share * len(keys)


def _has_plain_keys(sample: str) -> bool:
    """Tell whether there are sections, and nearly all other lines are keys. The first and the last one may be cut."""
    entries = [entry for entry in _Reader(sample, is_named=False, is_toml=False).entries if not entry.is_comment]
    lines = [sample[entry.line :].partition("\n")[0] for entry in entries if not entry.section]
    keys = sum(_PLAIN_KEY.match(line) is not None for line in lines)
    return len(lines) < len(entries) and keys >= max(_FEWEST_KEYS, len(lines) - 2, 0.8 * len(lines))


class _Entry:
    """A section, a key with its value, or a comment that stands alone."""

    __slots__ = ("is_comment", "is_element", "line", "parts", "section", "start", "tail")

    def __init__(self, start: int, line: int, section: str = "", *, is_element: bool = False, is_comment: bool = False):
        self.start = start
        """Where it begins, with the comment above it."""
        self.line = line
        """Where its own line begins."""
        self.section = section
        self.is_element = is_element
        """Whether the section is an element of a list of TOML."""
        self.is_comment = is_comment
        self.parts: list[int] = []
        """Where the lines of its value begin that can be dropped."""
        self.tail = -1
        """Where the line begins that closes its value; -1 if none does."""


class _Reader:
    """A reader of the entries of a text."""

    def __init__(self, text: str, *, is_named: bool, is_toml: bool) -> None:
        self._text, self._is_toml, self._has_brackets = text, is_toml, is_toml or not is_named
        self.entries: list[_Entry] = []
        self._value: _Entry | None = None
        """The entry whose value may go on on the next line."""
        self._comment = -1
        """Where the comment begins that is above the next line."""
        self._indent = self._depth = 0
        """The indentation of the last key, and the brackets that its value leaves open."""
        self._quote = ""
        self._is_continued = False
        start = 0
        for line in split_lines(text):
            self._read(line, start)
            start += len(line)
        self._end_comment()

    def _read(self, line: str, start: int) -> None:
        bare = line.lstrip(" \t")
        section = _SECTION.match(line) if bare[:1] == "[" else None
        if self._value and self._goes_on(self._value, line, start, is_section=section is not None):
            return
        if not bare.strip():
            self._end_comment()
        elif _COMMENT.match(line):
            self._comment = start if self._comment < 0 else self._comment
        else:
            if section and start - self._comment > _SHORT_COMMENT:
                self._end_comment()
            begins = start if self._comment < 0 else self._comment
            self._comment = -1
            if section:
                self._value = None
                name = section["name"].strip()
                self.entries.append(_Entry(begins, start, name, is_element=section["mark"] == "[["))
            else:
                self._begin_key(_Entry(begins, start), line, len(line) - len(bare))

    def _end_comment(self) -> None:
        """Let a comment stand alone that belongs to no line below it."""
        if self._comment >= 0:
            self.entries.append(_Entry(self._comment, self._comment, is_comment=True))
        self._comment = -1

    def _begin_key(self, entry: _Entry, line: str, indent: int) -> None:
        self._value, self._indent = entry, indent
        self.entries.append(entry)
        self._is_continued = not self._is_toml and line.rstrip("\r\n").endswith("\\")
        key = _KEY.match(line) if self._has_brackets else None
        value = line[key.end() :].lstrip() if key else ""
        self._depth, self._quote = 0, ""
        if value.startswith(_QUOTES):
            is_open = value.find(value[:3], 3) < 0 and self._text.find(value[:3], entry.line + len(line)) >= 0
            self._quote = value[:3] if is_open else ""
        elif value[:1] in ("[", "{"):
            self._depth = max(0, _net(value))

    def _goes_on(self, entry: _Entry, line: str, start: int, *, is_section: bool) -> bool:
        """Return whether a line belongs to the value of an entry."""
        if self._quote or (self._depth and not (is_section and not line[0].isspace())):
            self._go_on_inside(entry, line, start)
            return True
        self._depth = 0
        if self._is_continued:
            self._is_continued = line.rstrip("\r\n").endswith("\\")
            return True
        bare = line.lstrip(" \t")
        is_deeper = len(line) - len(bare) > self._indent and bare.strip() != ""
        if self._is_toml or not is_deeper or (is_section and self._has_brackets):
            return False
        self._comment = -1
        entry.parts.append(start)
        return True

    def _go_on_inside(self, entry: _Entry, line: str, start: int) -> None:
        """Add a line within quotes or brackets."""
        if self._quote:
            entry.parts.append(start)
            if self._quote in line:
                self._quote, entry.tail = "", start
            return
        if self._depth == 1:
            entry.parts.append(start)
        self._depth = max(0, self._depth + _net(line))
        if not self._depth:
            entry.tail = start


def _net(line: str) -> int:
    """Return how many brackets a line opens minus those that it closes."""
    return sum(_DEPTH.get(token, 0) for token in _TOKEN.findall(line))


def _nodes(text: str, entries: Sequence[_Entry]) -> list[Node]:
    """Return the nodes of the entries of a text. They partition it."""
    open_: list[tuple[_Entry | None, list[Node]]] = [(None, [])]
    comments: list[Node] = []
    starts = [0, *(entry.start for entry in entries[1:]), len(text)]
    for entry, (start, end) in zip(entries, pairwise(starts), strict=True):
        if entry.is_comment:
            comments.append(Node(NodeKind.RECORD, start, end))
            continue
        if entry.section:
            _end_sections(text, open_, entry, comments[0].start if comments else start)
        open_[-1][1].extend(comments)
        comments = []
        if entry.section:
            entry.start = start
            open_.append((entry, []))
        else:
            open_[-1][1].append(_key_node(text, entry, start, end))
    open_[-1][1].extend(comments)
    _end_sections(text, open_, None, len(text))
    return open_[0][1]


def _end_sections(text: str, open_: list[tuple[_Entry | None, list[Node]]], next_: _Entry | None, end: int) -> None:
    """End the sections that the next one is no part of."""
    while (section := open_[-1][0]) is not None:
        if next_ and section.is_element and next_.section.startswith(f"{section.section}."):
            return
        _, children = open_.pop()
        body = text.find("\n", section.line) + 1 or len(text)
        node = Node(NodeKind.RECORD, section.start, end, section.section)
        if children:
            node = node._replace(signature=section.line, body=body, tail=end, children=tuple(children))
        open_[-1][1].append(node)


def _key_node(text: str, entry: _Entry, start: int, end: int) -> Node:
    """Return the node of a key. The lines of a long value are its children."""
    key = _KEY.match(text, entry.line, end)
    node = Node(NodeKind.RECORD, start, end, key[1].strip() if key else "")
    tail = entry.tail if entry.tail >= 0 else end
    parts = [part for part in entry.parts if part < tail]
    if end - start <= _SMALL or len(parts) < _FEWEST_KEYS:
        return node
    children = tuple(_part_nodes(parts, tail))
    return node._replace(signature=entry.line, body=parts[0], tail=tail, children=children)


def _part_nodes(parts: Sequence[int], end: int) -> Iterator[Node]:
    return (Node(NodeKind.RECORD, start, stop) for start, stop in pairwise((*parts, end)))
