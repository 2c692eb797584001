"""The outline of XML: elements with the tags around them."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ctxcompress.data.passages import Node, NodeKind
from ctxcompress.lazy_regex import lazy_regex

__all__ = ["INLINE", "TAG", "is_html", "markup_outline"]

_SMALL = 120
"""The most characters of an element whose parts have no nodes of their own."""
_DEEPEST = 60
_LONG_TEXT = 300
"""Longer text within an element is cut into its sentences."""
_BEGINNING = lazy_regex(r"\s*+<(?:\?xml|!doctype|!--|/?+[a-z_][\w.:-]*+[\s/>])", re.IGNORECASE)
TAG = lazy_regex(
    r"<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|<[!?][^>]*+>"
    r"|<(?P<end>/?)(?P<name>[A-Za-z_][\w.:-]*+)(?:[^<>\"']++|\"[^\"]*+\"|'[^']*+')*+"
    r"(?:>|[\"']?+[^<>]*+\Z)",
    re.DOTALL,
)
_HTML = lazy_regex(r"<(?:!doctype html|html|body|div|p|table|ul|ol|article|section|h[1-6])\b", re.IGNORECASE)
INLINE = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd link mark meta nobr output q ruby s "
    "samp small span strike strong sub sup time tt u var wbr".split()
)
"""The elements of HTML that are part of a sentence."""
_WORD_OF_SENTENCE = lazy_regex(
    rf"\s*+<(?P<name>{'|'.join(sorted(INLINE))})(?:\s[^<>]*+)?>[^<>]*+</(?P=name)>\s*+[^\s<]", re.IGNORECASE
)
"""A marked word and then text: a sentence begins, such as "<code>/run</code> is empty at boot time."."""
_SENTENCE_OR_TAG = lazy_regex(r"(?P<tag><[^<>]*+>)|[.!?][\"')\]]*+\s++(?=[^\s<])|[。！？]")
_MARKDOWN = lazy_regex(r"^(?:#{1,6} |```|~~~)", re.MULTILINE)
_PAGE = lazy_regex(r"\s*+<(?:\?xml|!doctype|html)\b", re.IGNORECASE)
_LINE_END = lazy_regex(r"[ \t]*+\r?\n")
_CLOSING_TAG = "</"


class _Element(NamedTuple):
    """An element that is open."""

    name: str
    start: int
    body: int
    children: list[Node]


def markup_outline(text: str) -> tuple[Node, ...]:
    """Return the elements of XML, or () if the text is none. A sentence with marked words is none, and HTML is none.

    The name of a node is that of its element. Its body begins after the opening tag, and its tail is the closing tag.
    """
    is_xml = _is_markup(text) and not is_html(text) and not _WORD_OF_SENTENCE.match(text)
    return _Reader(text).nodes if is_xml else ()


def is_html(text: str) -> bool:
    """Tell whether a text is HTML: a page, or a part of one that begins with a tag."""
    return _is_markup(text) and _HTML.search(text, 0, 2_000) is not None


def _is_markup(text: str) -> bool:
    if text.lstrip()[:1] != "<" or not _BEGINNING.match(text) or _CLOSING_TAG not in text:
        return False
    return _PAGE.match(text) is not None or not _MARKDOWN.search(text)


class _Reader:
    """A reader of elements."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._stack = [_Element("", 0, 0, [])]
        self._place = 0
        """Where the text begins that belongs to no element yet."""
        for match in TAG.finditer(text):
            if match["name"]:
                self._read_tag(match, match["name"])
        self._add_text(len(text))
        while len(self._stack) > 1:
            self._close(len(text), len(text))
        first, *others = self._stack[0].children
        self.nodes = (first._replace(start=0), *others)

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

    def _read_empty(self, start: int, end: int, name: str) -> None:
        """Add an element without a body if it has lines of its own. Within text, it is a part of the sentence."""
        has_lines = self._text[start - 1 : start].isspace() and _LINE_END.match(self._text, end)
        if has_lines and not self._text[self._place : start].strip():
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
        name, start, body, children = self._stack.pop()
        node = Node(NodeKind.RECORD, start, end, name, -1, body, tail)
        if end - start > _SMALL and len(self._stack) <= _DEEPEST:
            node = node._replace(children=tuple(children))
        elif not any(child.name for child in children) and end - start <= _SMALL:
            node = Node(NodeKind.RECORD, start, end, name)  # a plain value
        self._stack[-1].children.append(node)


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
