"""The segments of data: records, and the fields of long records.

A list is cut into its elements. A record that is short for the budget is one segment. A long one is cut into its
fields, which need the brackets around them and the fields that name the record, so that what is kept can be parsed.
"""

import re
from collections.abc import Mapping, Sequence

from ctxcompress.data.passages import Kind, Node, NodeKind, Segment
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.segment.json_outline import embedded_outline

__all__ = ["embedded_records", "is_data", "record_segments"]

_IDS = ("id", "_id", "uuid", "key", "code")
_TITLES = ("name", "title", "label")
_TYPES = ("type", "kind")
"""The keys that name a record: of each group the first that it has."""
_LONGEST_NAME, _LONGEST_BESIDE = 80, 200
"""The most characters of a field, and of an object, that is kept with others because it names the record."""
_NAME_WITHIN = lazy_regex(
    r"""[\s{,"'](?:id|name|title|label)["']?[ \t]*+[:=][ \t]*+["']?(?P<value>[^"'\n,{}\[\]]{1,80})""", re.IGNORECASE
)
_ELEMENT = lazy_regex(r"<[^<>]++>([^<>]++)</")
_PART = 2
"""A record takes at most this part of the characters that one segment may have."""
_LONGEST, _EMBEDDED = 750, 400
"""The most characters of a record that is one segment; and within prose, where the budget is not known."""


def is_data(nodes: Sequence[Node]) -> bool:
    """Return whether this is an outline of data, and not of source code."""
    return bool(nodes) and nodes[0].kind is NodeKind.RECORD


def record_segments(text: str, nodes: Sequence[Node], whole: int) -> list[Segment]:
    """Return the segments of a text with this outline. They partition the text.

    The label of a segment is the keys that lead to it and the names of the records that it is in. whole: the most
    characters of a segment.
    """
    return _Builder(text, min(whole // _PART, _LONGEST), nodes).segments


def embedded_records(block: Segment, text: str, first: int) -> list[Segment]:
    """Return the segments of a block of prose that is data, or none if it is not. first: the number of the first."""
    source = text[block.start : block.end]
    return [
        part._replace(
            start=block.start + part.start,
            end=block.start + part.end,
            block=block.block,
            heading=block.heading,
            needs=(*block.needs, *(first + other for other in part.needs)),
        )
        for part in _Builder(source, _EMBEDDED, embedded_outline(source)).segments
    ]


class _Builder:
    """A collector of the segments of one text."""

    def __init__(self, text: str, longest: int, nodes: Sequence[Node]) -> None:
        self._text, self._longest = text, longest
        self.segments: list[Segment] = []
        self._block = self._blocks = -1
        """The number of the present block, and of the last one."""
        for node in nodes:
            self._add_block(node, (), ())

    def _add_block(self, node: Node, path: tuple[str, ...], around: tuple[int, ...], *, is_item: bool = False) -> None:
        """Append the segments of a value that is a block of its own."""
        before = self._block
        self._blocks += 1
        self._block = self._blocks
        self._add(node, path, around, is_item=is_item)
        self._block = before

    def _add(self, node: Node, path: tuple[str, ...], around: tuple[int, ...], *, is_item: bool = False) -> None:
        """Append the segments of a value. path: the keys above it. around: what it needs. is_item: if in a list."""
        is_long = node.end - node.start > self._longest
        if node.children and (is_long or _is_collection(node, is_item=is_item)):
            self._add_cut(node, path, around, is_item=is_item)
        else:
            self._append(node.start, node.end, path, around)

    def _add_cut(self, node: Node, path: tuple[str, ...], around: tuple[int, ...], *, is_item: bool = False) -> None:
        """Append the opening of a list or an object, its values and its closing bracket.

        If the text ends before the closing bracket, the first value begins with the opening.
        """
        head = len(self.segments)
        is_closed = node.tail < node.end
        has_opening = is_closed or node.signature >= 0
        inner = (*around, head) if has_opening else around
        if has_opening:
            self._append(node.start, node.body, path, around)
        is_record = any(child.name for child in node.children) and not _is_collection(node, is_item=is_item)
        names = _names_of(self._text, node, is_record=is_record)
        path = (*path, *([node.name] if node.name else []), *names.values())
        numbers = self._add_children(node, path, inner, names, is_record=is_record)
        if not has_opening:
            self.segments[head] = self.segments[head]._replace(start=node.start)
        last = len(self.segments)
        if is_closed:
            self._append(node.tail, node.end, path, inner)
            self._need(range(head, last), [last])
        closed = {other: None for number in numbers for other in (number, *self.segments[number].needs)}
        self._need(range(head + 1, last), [*closed])

    def _add_children(
        self, node: Node, path: tuple[str, ...], around: tuple[int, ...], names: Mapping[int, str], *, is_record: bool
    ) -> list[int]:
        """Append the segments of the values within a list or an object, and return the numbers of those that name it.

        names: where these values begin.
        """
        numbers: list[int] = []
        are_items = _are_alike(node.children)
        for child in node.children:
            if child.start in names:
                numbers.append(len(self.segments))
            if is_record or child.start in names:
                self._add(child, path, around, is_item=are_items)
            else:
                self._add_block(child, path, around, is_item=are_items)
        return numbers

    def _need(self, numbers: Sequence[int], needed: Sequence[int]) -> None:
        """Add needs to these segments, but not to those that are needed: only brackets need each other."""
        known: dict[tuple[int, ...], tuple[int, ...]] = {}  # most segments need the same
        for number in numbers if needed else ():
            if number not in needed:
                part = self.segments[number]
                if part.needs not in known:
                    known[part.needs] = (*part.needs, *(other for other in needed if other not in part.needs))
                self.segments[number] = part._replace(needs=known[part.needs])

    def _append(self, start: int, end: int, path: tuple[str, ...], around: tuple[int, ...]) -> None:
        self.segments.append(Segment(Kind.RECORD, start, end, self._block, (), around, None, " ".join(path)))


def _is_collection(node: Node, *, is_item: bool) -> bool:
    """Return whether a list or an object has nothing but lists and objects, at least two, or elements of one name.

    An item of a list that has objects of several names is a record.
    """
    if len(node.children) < 2:
        return False
    if _are_alike(node.children):
        return node.children[0].name != "" or all(child.body >= 0 for child in node.children)
    return not is_item and all(child.body >= 0 for child in node.children)


def _are_alike(nodes: Sequence[Node]) -> bool:
    """Return whether these are the values of a list: they have no names, or all the same one."""
    first, *others = nodes
    return first.name == "" if not others else all(node.name == first.name for node in others)


def _names_of(text: str, node: Node, *, is_record: bool) -> dict[int, str]:
    """Return where the fields begin that name a record -> the name. If the record has no id and no title of its own,
    that is a short object with one."""
    fields = (child for child in reversed(node.children) if child.name and child.body < 0)
    short = {field.name.lower(): field for field in fields if field.end - field.start <= _LONGEST_NAME}
    groups = ([short[key] for key in keys if key in short] for keys in (_IDS, _TITLES, _TYPES))
    names = {group[0].start: _value_of(text, group[0]) for group in groups if group}
    if is_record and short.keys().isdisjoint((*_IDS, *_TITLES)):
        objects = (child for child in node.children if child.name and child.body >= 0)
        for child in objects:
            found = _NAME_WITHIN.search(text, child.body - 1, child.end)
            if found and child.end - child.start <= _LONGEST_BESIDE:
                return {**names, child.start: found["value"]}
    return names


def _value_of(text: str, field: Node) -> str:
    """Return the value of a field as words."""
    source = text[field.start : field.end]
    if source.startswith("<") and (element := _ELEMENT.match(source)):
        return element[1].strip()
    return source.partition(":" if ":" in source else "=")[2].strip(" \t\r\n,\"'\\")
