"""The segments of data: records, and the fields of long records.

A list is cut into its elements. A record that is short for the budget is one segment. A long one is cut into its
fields, which need the brackets around them and the fields that name the record, so that what is kept can be parsed.
"""

import re
from collections.abc import Sequence

from ctxcompress.code.detection import is_code_name
from ctxcompress.data.passages import Kind, Node, NodeKind, Segment
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.segment.catalog_outline import catalog_outline
from ctxcompress.segment.json_outline import embedded_outline, json_outline
from ctxcompress.segment.markup_outline import markup_outline
from ctxcompress.segment.row_outline import row_outline
from ctxcompress.segment.section_outline import section_outline
from ctxcompress.segment.yaml_outline import yaml_outline

__all__ = ["data_outline", "embedded_records", "is_data", "record_segments", "sectioned_outline"]

_PART = 2
"""A record takes at most this part of the characters that one segment may have."""
_LONGEST = 750
"""The most characters of a record that is one segment."""
_EMBEDDED = 400
"""The same for records within prose, where the budget is not known."""
_IDS = ("id", "_id", "uuid", "key", "code")
_TITLES = ("name", "title", "label")
_TYPES = ("type", "kind")
"""The keys that name a record: of each group the first that it has."""
_SCRIPT = lazy_regex(r"<(?:script|style|svg|noscript|template|head|nav|footer)\b", re.IGNORECASE)
_HEADING = lazy_regex(r"<[hH](?P<level>[1-6])\b")
_TAG = lazy_regex(r"<[^<>]*+>")
_LONGEST_NAME = 80
"""The most characters of a field that is kept with all others because it names the record."""
_FIRST_STRING = lazy_regex(
    r"""(?:["'][^"'\\]*+["']\s*+:[\s\[{]*+)*+(?:"((?:[^"\\]|\\.){1,80}+)"|'((?:[^'\\]|\\.){1,80}+)')"""
)
"""The first value within a list or an object, after its keys, if it is a short string."""
_SAYS_SOMETHING = lazy_regex(r"""["'][^"'\\]*+["']\s*+:\s*+(?:["']\w|-?\d)""")
"""A field of JSON with a number or a word."""


def data_outline(text: str, name: str | None = None) -> tuple[Node, ...]:
    """Return the outline of `text` if it is data, else an empty one.

    name: a file name, path or title, if known.
    """
    if found := json_outline(text) or sectioned_outline(text, name):
        return found
    return () if is_code_name(name) else markup_outline(text) or row_outline(text, name)


def sectioned_outline(text: str, name: str | None = None) -> tuple[Node, ...]:
    """Return the outline of INI, TOML, properties, gettext or YAML, else an empty one. name: see `data_outline`."""
    return section_outline(text, name) or catalog_outline(text, name) or yaml_outline(text, name)


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
    return _with_headings(text, builder.segments)


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


def _with_headings(text: str, segments: list[Segment]) -> list[Segment]:
    """Return the segments of HTML with its headings, and each segment with its heading path; others as they are."""
    found: list[Segment] = []
    path: list[tuple[int, str]] = []
    for segment in segments if _HEADING.search(text) else ():
        if segment.kind is Kind.RECORD and (match := _HEADING.match(text, segment.start, segment.end)):
            level = int(match["level"])
            while path and path[-1][0] >= level:
                path.pop()
            path.append((level, _TAG.sub("", text[segment.start : segment.end]).strip()))
            segment = segment._replace(kind=Kind.HEADING)
        found.append(segment._replace(heading=tuple(title for _, title in path)))
    return found or segments


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

    def _add_block(self, node: Node, path: tuple[str, ...], around: tuple[int, ...]) -> None:
        """Append the segments of a value that is a block of its own."""
        before = self._block
        self._blocks += 1
        self._block = self._blocks
        self._add(node, path, around)
        self._block = before

    def _add(self, node: Node, path: tuple[str, ...], around: tuple[int, ...]) -> None:
        """Append the segments of a value. path: the keys above it. around: the segments that it needs."""
        if node.children and (node.end - node.start > self._longest or _is_collection(node)):
            self._add_cut(node, path, around)
        else:
            self._append(node.start, node.end, path, around)

    def _add_cut(self, node: Node, path: tuple[str, ...], around: tuple[int, ...]) -> None:
        """Append the opening of a list or an object, its values and its closing bracket.

        If the text ends before the closing bracket, the first value begins with the opening.
        """
        head = len(self.segments)
        is_closed = node.tail < node.end
        has_opening = is_closed or node.signature >= 0
        inner = (*around, self._first + head) if has_opening else around
        if has_opening:
            self._append(node.start, node.body, path, around)
        is_record = any(child.name for child in node.children) and not _is_collection(node)
        names = _names(self._text, node, is_record=is_record, is_item=bool(around) and not node.name)
        path = (*path, *([node.name] if node.name else []), *(_value(self._text, field) for field in names))
        numbers: list[int] = []
        add = self._add if is_record else self._add_block
        for child in node.children:
            if child in names:
                numbers += self._add_name(child, path, inner)
            else:
                add(child, path, inner)
        if not has_opening:
            self.segments[head] = self.segments[head]._replace(start=node.start)
        if is_closed:
            last = len(self.segments)
            self._append(node.tail, node.end, path, inner)
            self._need(range(head, last), [last])
            self._need(range(head + 1, last), numbers)

    def _add_name(self, field: Node, path: tuple[str, ...], around: tuple[int, ...]) -> list[int]:
        """Append the segments of a field that names a record, and return the numbers of those that name it.

        Of an object such as {"common": "Chad", "official": ...} that is its first value, with the brackets.
        """
        first = len(self.segments)
        if not field.children:
            self._add(field, path, around)
            return [first]
        self._add_cut(field, path, around)
        return [first, first + 1, len(self.segments) - 1]

    def _need(self, numbers: Sequence[int], needed: Sequence[int]) -> None:
        """Add needs to these segments, but not to those that are needed: only brackets need each other."""
        shifted = tuple(self._first + other for other in needed)
        for number in numbers if needed else ():
            if number not in needed:
                needs = self.segments[number].needs
                more = (other for other in shifted if other not in needs)
                self.segments[number] = self.segments[number]._replace(needs=(*needs, *more))

    def _append(self, start: int, end: int, path: tuple[str, ...], around: tuple[int, ...]) -> None:
        kind = Kind.BOILERPLATE if _SCRIPT.match(self._text, start) else Kind.RECORD
        self.segments.append(Segment(kind, start, end, self._block, (), around, None, " ".join(path)))


def _is_collection(node: Node) -> bool:
    """Return whether a list or an object has nothing but lists and objects, at least two."""
    return len(node.children) > 1 and all(child.body >= 0 for child in node.children)


def _names(text: str, node: Node, *, is_record: bool, is_item: bool) -> list[Node]:
    """Return the short fields that name a record: its id, its name and its type.

    The name may be an object with a short string first. If an item of a list has neither id nor name, the first field
    that says something names it.
    """
    short = [c for c in node.children if c.body < 0 and c.end - c.start <= _LONGEST_NAME]
    fields = {c.name.lower(): c for c in reversed(short)}
    identity, title, kind = (
        next((fields[key] for key in keys if key in fields), None) for keys in (_IDS, _TITLES, _TYPES)
    )
    if is_record and title is None:
        title = next((c for c in node.children if c.name.lower() in _TITLES and _is_name(text, c)), None)
    if is_record and is_item and identity is title is None:
        identity = next((c for c in short if c is not kind and _SAYS_SOMETHING.match(text, c.start)), None)
    return [field for field in (identity, title, kind) if field is not None]


def _is_name(text: str, field: Node) -> bool:
    """Tell whether a list or an object has a short string first."""
    is_cut = field.children and (field.children[0].body >= 0 or field.tail >= field.end)
    return field.body >= 0 and not is_cut and _FIRST_STRING.match(text, field.body) is not None


def _value(text: str, field: Node) -> str:
    if field.body >= 0 and (found := _FIRST_STRING.match(text, field.body)):
        return found[1] or found[2]
    return text[field.start : field.end].partition(":")[2].strip(" \t\r\n,\"'\\")
