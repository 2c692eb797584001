"""The outline of XML and HTML: elements with the tags around them."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ctxcompress.data.passages import Node, NodeKind
from ctxcompress.lazy_regex import lazy_regex

__all__ = ["markup_outline"]

_SMALL = 120
"""The most characters of an element whose parts have no nodes of their own."""
_DEEPEST = 60
_LONG_TEXT = 300
"""Longer text within an element is cut into its sentences."""
_BEGINNING = lazy_regex(r"\s*+<(?:\?xml|!doctype|!--|[a-z_][\w.:-]*+[\s/>])", re.IGNORECASE)
_TAG = lazy_regex(
    r"<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|<[!?][^>]*+>"
    r"|<(?P<end>/?)(?P<name>[A-Za-z_][\w.:-]*+)(?:[^<>\"']++|\"[^\"]*+\"|'[^']*+')*+>",
    re.DOTALL,
)
_HTML = lazy_regex(r"<(?:!doctype html|html|body|div|p|table|ul|ol|article|section|h[1-6])\b", re.IGNORECASE)
_VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())
_INLINE = frozenset(
    "a abbr b bdi bdo cite code data dfn em font i kbd label mark q s samp small span strong sub sup time u var".split()
)
_WORD_OF_SENTENCE = lazy_regex(
    rf"\s*+<(?P<name>{'|'.join(sorted(_INLINE))})(?:\s[^<>]*+)?>[^<>]*+</(?P=name)>\s*+[^\s<]", re.IGNORECASE
)
"""A marked word and then text: a sentence begins, such as "<code>/run</code> is empty at boot time."."""
_RAW = lazy_regex(r"<(script|style|svg|noscript|template)\b", re.IGNORECASE)
_WHOLE = lazy_regex(r"<(?:h[1-6]|style|svg|script(?![^>]*json))\b", re.IGNORECASE)
"""The elements of HTML that are not cut: headings, and what no reader sees."""
_SENTENCE_OR_TAG = lazy_regex(r"(?P<tag><[^<>]*+>)|[.!?][\"')\]]*+\s++(?=[^\s<])|[。！？]")
_KEPT = frozenset("table tr ul ol dl select".split())
"""The elements of HTML whose parts need the tags around them. The tags of others are no help to a reader."""
_ROW_OF_HEADERS = lazy_regex(r"<tr\b[^<>]*+>\s*+<th\b", re.IGNORECASE)
_MARKDOWN = lazy_regex(r"^(?:#{1,6} |```|~~~)", re.MULTILINE)
_LINE_END = lazy_regex(r"[ \t]*+\r?\n")
_CLOSING_TAG = "</"


class _Element(NamedTuple):
    """An element that is open."""

    name: str
    start: int
    body: int
    children: list[Node]


def markup_outline(text: str) -> tuple[Node, ...]:
    """Return the elements of XML or HTML, or () if the text is neither. A sentence with marked words is neither.

    The name of a node is that of its element. Its body begins after the opening tag, and its tail is the closing tag.
    Words within a line of HTML, such as links and bold text, are no elements of their own.
    """
    if text.lstrip()[:1] != "<" or not _BEGINNING.match(text):
        return ()
    if _CLOSING_TAG not in text or _MARKDOWN.search(text):
        return ()
    is_html = _HTML.search(text, 0, 2_000) is not None
    if not is_html and _WORD_OF_SENTENCE.match(text):
        return ()
    return _Reader(text, is_html=is_html).nodes


class _Reader:
    """A reader of elements."""

    def __init__(self, text: str, *, is_html: bool) -> None:
        self._text, self._is_html = text, is_html
        self._stack = [_Element("", 0, 0, [])]
        self._place = 0
        """Where the text begins that belongs to no element yet."""
        self._raw = ""
        for match in _TAG.finditer(text):
            name = (match["name"] or "").lower() if is_html else match["name"] or ""
            if name and not self._skips(name, is_end=bool(match["end"])):
                self._read_tag(match, name)
        self._add_text(len(text))
        while len(self._stack) > 1:
            self._close(len(text), len(text))
        first, *others = self._stack[0].children
        self.nodes = (first._replace(start=0), *others)

    def _skips(self, name: str, *, is_end: bool) -> bool:
        """Tell whether a tag is part of the text: a word in HTML, or what is in a script."""
        if self._raw:
            if is_end and name == self._raw:
                self._raw = ""
                return False
            return True
        return self._is_html and (name in _INLINE or name in _VOID)

    def _read_tag(self, match: re.Match[str], name: str) -> None:
        start, end = match.span()
        if match["end"]:
            if any(element.name == name for element in self._stack[-_DEEPEST:]):
                self._add_text(start)
                while self._stack[-1].name != name:
                    self._close(start, start)
                self._close(start, end)
                self._place = end
        elif self._text[end - 2] == "/":
            self._read_empty(start, end, name)
        elif len(self._stack) < 10 * _DEEPEST:
            self._add_text(start)
            self._stack.append(_Element(name, start, end, []))
            self._place = end
            if self._is_html and _RAW.match(self._text, start):
                self._raw = name

    def _read_empty(self, start: int, end: int, name: str) -> None:
        """Add an element without a body if it has lines of its own. Within text, it is a part of the sentence."""
        has_lines = self._text[start - 1 : start].isspace() and _LINE_END.match(self._text, end)
        if has_lines and not self._is_html and not self._text[self._place : start].strip():
            self._add_text(start)
            self._stack[-1].children.append(Node(NodeKind.RECORD, start, end, name, -1, end, end))
            self._place = end

    def _add_text(self, end: int) -> None:
        """Add the text before a tag as children of the present element; white space belongs to what is before it."""
        children = self._stack[-1].children
        if not self._text[self._place : end].strip():
            if children:
                children[-1] = children[-1]._replace(end=end)
            elif len(self._stack) > 1:
                self._stack[-1] = self._stack[-1]._replace(body=end)
        else:
            children += _sentences(self._text, self._place, end)
        self._place = end

    def _close(self, tail: int, end: int) -> None:
        element = self._stack.pop()
        name, start, body, children = element
        around = self._stack[-1].children
        if not self._is_html and not any(child.name for child in children) and end - start <= _SMALL:
            around.append(Node(NodeKind.RECORD, start, end, name))  # a plain value
        elif not children or end - start <= _SMALL or len(self._stack) > _DEEPEST or self._is_whole(start):
            around.append(Node(NodeKind.RECORD, start, end, name, -1, body, tail))
        elif self._is_html and name not in _KEPT:
            around += [_tag(start, body), *children, *([_tag(tail, end)] if tail < end else [])]
        else:
            around.append(self._with_header(element, tail, end))

    def _is_whole(self, start: int) -> bool:
        return self._is_html and _WHOLE.match(self._text, start) is not None

    def _with_header(self, element: _Element, tail: int, end: int) -> Node:
        """Return the node of an element. The header of a table of HTML belongs to the opening tag."""
        name, start, body, children = element
        first, last = 0, len(children)
        if self._is_html and name == "table":
            rows = [number for number, child in enumerate(children) if child.name == "tr"]
            is_header = bool(rows) and _ROW_OF_HEADERS.match(self._text, children[rows[0]].start) is not None
            if rows[is_header:]:
                first, last = rows[is_header], rows[-1] + 1
        body = children[first].start if first else body
        tail = children[last].start if last < len(children) else tail
        return Node(NodeKind.RECORD, start, end, name, -1, body, tail, False, tuple(children[first:last]))


def _tag(start: int, end: int) -> Node:
    return Node(NodeKind.RECORD, start, end)


def _sentences(text: str, start: int, end: int) -> Iterator[Node]:
    """Yield the sentences of a text within an element, or the whole if it is short."""
    if end - start > _LONG_TEXT:
        outside = 0
        for match in _SENTENCE_OR_TAG.finditer(text, start, end - 1):
            if match["tag"]:
                outside = match.end()
            elif match.start() >= outside:
                yield Node(NodeKind.RECORD, start, match.end())
                start = match.end()
    yield Node(NodeKind.RECORD, start, end)
