"""The segments of data: records, and the fields of long records.

A list is cut into its elements. A record that is short for the budget is one segment. A long one is cut into its
fields, which need the brackets around them and the fields that name the record, so that what is kept can be parsed.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ctxcompress.data.passages import Kind, Node, NodeKind, Segment
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.segment.json_outline import embedded_outline, string_outline

__all__ = ["Name", "embedded_records", "is_data", "names_of", "record_segments", "value_of"]

_IDS = ("id", "_id", "uuid", "key", "code")
_TITLES = ("name", "title", "label")
_TYPES = ("type", "kind")
"""The keys that name a record: of each group the first that it has."""
_LONGEST_NAME = 80
"""The most characters of a field that is kept with all others because it names the record."""
_LONGEST_BESIDE = 200
"""The most characters of an object that is kept with all others because the name is in it."""
_FIRST_STRING = lazy_regex(
    r"""(?:["'][^"'\\]*+["']\s*+:[\s\[{]*+)*+(?:"((?:[^"\\]|\\.){1,80}+)"|'((?:[^'\\]|\\.){1,80}+)')"""
)
"""The first value within a list or an object, after its keys, if it is a short string."""
_SAYS_SOMETHING = lazy_regex(r"""["'][^"'\\]*+["']\s*+:\s*+(?:["']\w|-?\d)""")
"""A field of JSON with a number or a word."""
_NAME_WITHIN = lazy_regex(r"""[\s{,<"'](?:name|title|label)(?:["']?[ \t]*+[:=]|>)""", re.IGNORECASE)
_ELEMENT = lazy_regex(r"<[^<>]++>([^<>]++)</")


class Name(NamedTuple):
    """What names a record."""

    field: Node
    """The field of the record: the name itself, or the object that has it."""
    within: tuple[Node, ...] = ()
    """The fields of this object that name the record. If there are none, its first value does."""


def names_of(text: str, node: Node, *, is_record: bool, is_item: bool) -> list[Name]:
    """Return what names a record.

    The name may be an object with a short string first, or in an object beside the other fields. If an item of a list
    has none of these, the first field that says something names it.
    """
    short = _short(node.children)
    identity, title, kind = (_first(short, keys) for keys in (_IDS, _TITLES, _TYPES))
    if is_record and title is None:
        title = next((c for c in node.children if c.name.lower() in _TITLES and _is_name(text, c)), None)
    beside: list[Name] = []
    if (is_record or is_item) and identity is title is None:
        beside = next(filter(None, (_beside(text, child, node.name) for child in node.children)), [])
        if is_record and is_item and not beside:
            identity = next((c for c in short if c is not kind and _SAYS_SOMETHING.match(text, c.start)), None)
    return [*(Name(field) for field in (identity, title, kind) if field is not None), *beside]


def value_of(text: str, field: Node) -> str:
    """Return the value of a field as words."""
    if field.body >= 0 and (found := _FIRST_STRING.match(text, field.body)):
        return found[1] or found[2]
    source = text[field.start : field.end]
    if source.startswith("<") and (element := _ELEMENT.match(source)):
        return element[1].strip()
    return source.partition(":" if ":" in source else "=")[2].strip(" \t\r\n,\"'\\")


def _short(fields: Iterable[Node]) -> list[Node]:
    return [field for field in fields if field.body < 0 and field.end - field.start <= _LONGEST_NAME]


def _first(fields: Iterable[Node], keys: Sequence[str]) -> Node | None:
    """Return the first field with the first of these keys."""
    found = {field.name.lower(): field for field in reversed(list(fields)) if field.name}
    return next((found[key] for key in keys if key in found), None)


def _beside(text: str, child: Node, record: str) -> list[Name]:
    """Return the name of a record that is in one of its objects.

    record: the name of the record's own element. An id that begins with it, such as EventRecordID, names the record.
    """
    if child.body < 0 or not child.name:
        return []
    if not child.children:
        is_small = child.end - child.start <= _LONGEST_BESIDE
        return [Name(child)] if is_small and _NAME_WITHIN.search(text, child.body, child.end) else []
    short = _short(child.children)
    found = [field for field in (_first(short, _IDS), _first(short, _TITLES)) if field is not None]
    begins = record.lower()
    own = [c for c in short if begins and c.name.lower().startswith(begins) and c.name.lower().endswith("id")]
    return [Name(child, tuple(dict.fromkeys((*own, *found))))] if own or found else []


def _is_name(text: str, field: Node) -> bool:
    """Tell whether a list or an object has a short string first."""
    is_cut = field.children and (field.children[0].body >= 0 or field.tail >= field.end)
    return field.body >= 0 and not is_cut and _FIRST_STRING.match(text, field.body) is not None


_PART = 2
"""A record takes at most this part of the characters that one segment may have."""
_LONGEST = 750
"""The most characters of a record that is one segment."""
_EMBEDDED = 400
"""The same for records within prose, where the budget is not known."""
_LONG_ELEMENT = 250
"""The most characters of an element in a record of XML that is one segment."""


def is_data(nodes: Sequence[Node]) -> bool:
    """Return whether this is an outline of data, and not of source code."""
    return bool(nodes) and nodes[0].kind is NodeKind.RECORD


def record_segments(text: str, nodes: Sequence[Node], whole: int) -> list[Segment]:
    """Return the segments of a text with this outline. They partition the text.

    The label of a segment is the keys that lead to it and the names of the records that it is in. whole: the most
    characters of a segment.
    """
    builder = _Builder(text, min(whole // _PART, _LONGEST))
    builder.add_all(nodes)
    return builder.segments


def embedded_records(
    text: str, start: int, end: int, block: int, first: int, heading: tuple[str, ...], needs: tuple[int, ...] = ()
) -> list[Segment]:
    """Return the segments of the data in ``text[start:end]``, or none if that is no data.

    block, first: the numbers of the block and of its first segment. heading: the heading path. needs: the segments that
    all need.
    """
    nodes = embedded_outline(text, start, end)
    if not nodes or not nodes[0].children:
        return []
    builder = _Builder(text, _EMBEDDED, first)
    builder.add_all(nodes, needs)
    return [segment._replace(block=block, heading=heading) for segment in builder.segments]


class _Builder:
    """A collector of the segments of one text."""

    def __init__(self, text: str, longest: int, first: int = 0) -> None:
        """first: the number of the first segment."""
        self._text, self._longest, self._first = text, longest, first
        self.segments: list[Segment] = []
        self._block = self._blocks = -1
        """The number of the present block, and of the last one."""

    def add_all(self, nodes: Sequence[Node], around: tuple[int, ...] = ()) -> None:
        for node in nodes:
            self._add_block(node, (), around)

    def _add_block(self, node: Node, path: tuple[str, ...], around: tuple[int, ...], *, is_item: bool = False) -> None:
        """Append the segments of a value that is a block of its own."""
        before = self._block
        self._blocks += 1
        self._block = self._blocks
        self._add(node, path, around, is_item=is_item)
        self._block = before

    def _add(self, node: Node, path: tuple[str, ...], around: tuple[int, ...], *, is_item: bool = False) -> None:
        """Append the segments of a value. path: the keys above it. around: the segments that it needs. is_item: whether
        it is in a list."""
        is_long = node.end - node.start > self._longest or self._has_long_element(node)
        if is_long and not node.children:
            node = string_outline(self._text, node)
        if node.children and (is_long or _is_collection(node, is_item=is_item)):
            self._add_cut(node, path, around, is_item=is_item)
        else:
            self._append(node.start, node.end, path, around)

    def _has_long_element(self, node: Node) -> bool:
        """Tell whether an element of XML, such as the path of a drawing, takes most of the record that it is in."""
        is_markup = self._text.startswith("<", node.start)
        return is_markup and any(child.end - child.start > _LONG_ELEMENT for child in node.children)

    def _add_cut(self, node: Node, path: tuple[str, ...], around: tuple[int, ...], *, is_item: bool = False) -> None:
        """Append the opening of a list or an object, its values and its closing bracket.

        If the text ends before the closing bracket, the first value begins with the opening.
        """
        head = len(self.segments)
        is_closed = node.tail < node.end
        has_opening = is_closed or node.signature >= 0
        inner = (*around, self._first + head) if has_opening else around
        if has_opening:
            self._append(node.start, node.body, path, around)
        is_record = any(child.name for child in node.children) and not _is_collection(node, is_item=is_item)
        names = names_of(self._text, node, is_record=is_record, is_item=is_item and bool(around))
        values = (value_of(self._text, field) for name in names for field in name.within or (name.field,))
        path = (*path, *([node.name] if node.name else []), *values)
        numbers = self._add_children(node, path, inner, {name.field.start: name for name in names}, is_record=is_record)
        if not has_opening:
            self.segments[head] = self.segments[head]._replace(start=node.start)
        last = len(self.segments)
        if is_closed:
            self._append(node.tail, node.end, path, inner)
            self._need(range(head, last), [last])
        self._need(range(head + 1, last), numbers)

    def _add_children(
        self, node: Node, path: tuple[str, ...], around: tuple[int, ...], names: Mapping[int, Name], *, is_record: bool
    ) -> list[int]:
        """Append the segments of the values within a list or an object, and return the numbers of those that name it.

        names: where a field begins -> how it names the object.
        """
        numbers: list[int] = []
        are_items = _are_alike(node.children)
        add = self._add if is_record else self._add_block
        for child in node.children:
            if child.start in names:
                numbers += self._add_name(names[child.start], path, around)
            else:
                add(child, path, around, is_item=are_items)
        return numbers

    def _add_name(self, name: Name, path: tuple[str, ...], around: tuple[int, ...]) -> list[int]:
        """Append the segments of a field that names a record, and return the numbers of those that name it.

        Of an object such as {"common": "Chad", "official": ...} that is its first value, with the brackets.
        """
        first, field = len(self.segments), name.field
        if not field.children:
            self._add(field, path, around)
            return [first]
        self._add_cut(field, path, around)
        last = len(self.segments) - 1
        if not name.within:
            return [first, first + 1, last]
        starts = {inner.start for inner in name.within}
        inner = [number for number in range(first, last + 1) if self.segments[number].start in starts]
        return [first, *inner, *([last] if field.tail < field.end else [])]

    def _need(self, numbers: Sequence[int], needed: Sequence[int]) -> None:
        """Add needs to these segments, but not to those that are needed: only brackets need each other."""
        shifted = tuple(self._first + other for other in needed)
        for number in numbers if needed else ():
            if number not in needed:
                needs = self.segments[number].needs
                more = (other for other in shifted if other not in needs)
                self.segments[number] = self.segments[number]._replace(needs=(*needs, *more))

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
