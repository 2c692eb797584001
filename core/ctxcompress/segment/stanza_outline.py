"""The outline of records that are lines such as `Key: value`: stanzas and blocks.

Package: curl            BEGIN:VCARD
Version: 7.88            FN:Ana Diaz
Depends: libc6           TEL:+49 170 1000000
                         END:VCARD
Package: tar ...

The first line of a stanza names it: its other lines need it. So it is in the lists of packages of Debian, in LDIF and
in much that programs print. Blocks, from BEGIN to END, are those of vCard and iCalendar.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ctxcompress.data.passages import Node, NodeKind
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.text.lines import split_lines

__all__ = ["block_outline", "stanza_outline"]

_FEWEST_STANZAS = 3
_FEWEST_KEYS = 3
"""The fewest lines with a key in a stanza, on average: two people who speak in turn have two."""
_KEYS, _SPOKEN = 0.95, 0.4
"""The least share of lines with a key, and the most that end like sentences."""
_LONG_VALUE = 500
"""The most characters of a value that is not cut at its lines."""
_LONGEST_NAME = 80
_BLANK = lazy_regex(r"\n(?:[ \t]*+\r?\n)++")
_FIELD = lazy_regex(r"(?P<key>[A-Za-z][\w./-]*+(?: [\w./()-]++){0,2})[ \t]*+:")
_BEGIN = lazy_regex(r"BEGIN:(?P<name>[A-Za-z][\w-]*+)\s*+\Z")
_END = lazy_regex(r"END:[A-Za-z][\w-]*+\s*+\Z")
_PROPERTY = lazy_regex(r"(?:[\w-]++\.)?(?P<key>[A-Za-z][\w-]*+)(?:;[^:\n]*+)?:")
_BLOCK = lazy_regex(r"^BEGIN:[A-Za-z][\w-]*+\r?$", re.MULTILINE)


def stanza_outline(text: str) -> tuple[Node, ...]:
    """Return the stanzas of a text, each with its lines, or () if the text is something else.

    All must begin with the same key, but for the first one, of which the beginning may be missing.
    """
    key = _key_of_stanzas(text)
    if key is None:
        return ()
    starts = [0, *(found.end() for found in _BLANK.finditer(text))]
    stanzas = [_Stanza(text, start, end) for start, end in pairwise([*starts, len(text)]) if start < end]
    return tuple(stanza.node() for stanza in stanzas) if _are_records(stanzas, key) else ()


def _key_of_stanzas(text: str) -> str | None:
    """Return the key that the second and the third stanza begin with. Nearly all prose is ruled out by them."""
    first = _BLANK.search(text) if ":" in text else None
    found = _FIELD.match(text, first.end()) if first else None
    second = _BLANK.search(text, found.end()) if found else None
    other = _FIELD.match(text, second.end()) if second else None
    return found["key"] if found and other and found["key"] == other["key"] else None


class _Stanza:
    """The lines between two blank lines."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self._text, self._start, self._end = text, start, end
        self.fields: list[tuple[int, str]] = []
        """Where each line with a key begins, and its key."""
        self.strange = self.spoken = 0
        """The lines that have no key and go on from no line above, and the values that end like a sentence."""
        for line in split_lines(text[start:end]):
            self._read(line, start)
            start += len(line)

    def _read(self, line: str, start: int) -> None:
        found = _FIELD.match(line)
        if found:
            self.fields.append((start, found["key"]))
            self.spoken += line.rstrip().endswith((".", "!", "?"))
        elif line[0] not in " \t#\r\n":
            self.strange += 1

    def begins_with(self, key: str) -> bool:
        """Tell whether the first line has this key, and no other line has."""
        return [number for number, (_, other) in enumerate(self.fields) if other == key] == [0]

    def node(self) -> Node:
        """Return the node of the stanza. What its first line says is its name."""
        node = Node(NodeKind.RECORD, self._start, self._end)
        if len(self.fields) < 2:
            return node
        starts = [start for start, _ in self.fields[1:]]
        body = starts[0]
        value = self._text[self.fields[0][0] : body].partition(":")[2].strip()
        fields = zip(self.fields[1:], [*starts[1:], self._end], strict=True)
        children = tuple(_value_node(self._text, start, end, key) for (start, key), end in fields)
        name = value if len(value) <= _LONGEST_NAME else ""
        return node._replace(name=name, signature=self._start, body=body, tail=self._end, children=children)


def _are_records(stanzas: Sequence[_Stanza], key: str) -> bool:
    """Tell whether nearly all lines have keys, and the stanzas are not what people say in turn."""
    fields = sum(len(stanza.fields) for stanza in stanzas)
    return (
        len(stanzas) >= _FEWEST_STANZAS
        and all(stanza.begins_with(key) for stanza in stanzas[1:])
        and fields >= _FEWEST_KEYS * len(stanzas)
        and (1 - _KEYS) * fields >= sum(stanza.strange for stanza in stanzas)
        and _SPOKEN * fields >= sum(stanza.spoken for stanza in stanzas)
    )


def _value_node(text: str, start: int, end: int, key: str) -> Node:
    """Return the node of a line with a key and the lines that go on from it."""
    node = Node(NodeKind.RECORD, start, end, key)
    body = text.find("\n", start, end) + 1
    if end - start <= _LONG_VALUE or not 0 < body < end:
        return node
    children = tuple(_lines(text, body, end))
    return node._replace(signature=start, body=body, tail=end, children=children) if len(children) > 1 else node


def _lines(text: str, start: int, end: int) -> Iterator[Node]:
    for line in split_lines(text[start:end]):
        yield Node(NodeKind.RECORD, start, start + len(line))
        start += len(line)


def block_outline(text: str) -> tuple[Node, ...]:
    """Return the blocks of vCard or iCalendar, each with its lines, or () if the text is something else.

    The text may be a chunk that begins and ends anywhere.
    """
    if "BEGIN:" not in text or not _BLOCK.search(text):
        return ()
    reader = _BlockReader(text)
    return reader.nodes() if reader.are_blocks else ()


class _BlockReader:
    """A reader of the lines of blocks."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._open: list[tuple[Node, list[Node]]] = [(Node(NodeKind.RECORD, 0, 0), [])]
        """The blocks that have not ended, with what is in them. Around all is the text."""
        self._lines = self._strange = 0
        start = 0
        for line in split_lines(text):
            self._read(line, start, start + len(line))
            start += len(line)

    @property
    def are_blocks(self) -> bool:
        """Whether nearly all lines belong to blocks."""
        return self._strange <= (1 - _KEYS) * self._lines

    def nodes(self) -> tuple[Node, ...]:
        """Return the nodes of all blocks. Those that are open end with the text."""
        while len(self._open) > 1:
            self._close(len(self._text), len(self._text))
        first, *others = self._open[0][1]
        return (first._replace(start=0), *others)

    def _read(self, line: str, start: int, end: int) -> None:
        self._lines += 1
        inner = self._open[-1][1]
        if begin := _BEGIN.match(line):
            self._open.append((Node(NodeKind.RECORD, start, end, begin["name"], start, end), []))
        elif _END.match(line) and len(self._open) > 1:
            self._close(start, end)
        elif (found := _PROPERTY.match(line)) or not inner:
            self._strange += found is None and line.strip() != ""
            inner.append(Node(NodeKind.RECORD, start, end, found["key"] if found else ""))
        else:  # the line goes on from the one above
            self._strange += not line[0].isspace()
            inner[-1] = _extended(inner[-1], end)

    def _close(self, tail: int, end: int) -> None:
        block, children = self._open.pop()
        node = block._replace(end=end, tail=tail, children=tuple(children))
        self._open[-1][1].append(node if children else Node(NodeKind.RECORD, block.start, end, block.name))


def _extended(node: Node, end: int) -> Node:
    """Return the node with more text at its end."""
    if node.tail == node.end and node.children:
        *others, last = node.children
        return node._replace(end=end, tail=end, children=(*others, last._replace(end=end)))
    return node._replace(end=end)
