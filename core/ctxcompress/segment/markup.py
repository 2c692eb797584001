"""Markup: XML as elements with the tags around them, and HTML as a reader sees it: its text nodes, with line breaks and
marks of Markdown in place of the tags."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from ctxcompress.data.documents import Document, Piece
from ctxcompress.data.passages import Node, NodeKind, Segment, Span
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.segment.prose import prose_segments

__all__ = ["TextNode", "html_segments", "is_html", "markup_outline", "text_nodes"]

_SMALL, _LONG_TEXT = 120, 300
"""The most characters of an element whose parts have no nodes, and of text in one that is not cut."""
_DEEPEST_ELEMENT = 60
_BEGINNING = lazy_regex(r"\s*+<(?:\?xml|!doctype|!--|/?+[a-z_][\w.:-]*+[\s/>])", re.IGNORECASE)
_TAG = lazy_regex(
    r"<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|<[!?][^>]*+>"
    r"|<(?P<end>/?)(?P<name>[A-Za-z_][\w.:-]*+)(?:[^<>\"']++|\"[^\"]*+\"|'[^']*+')*+"
    r"(?:>|[\"']?+[^<>]*+\Z)",
    re.DOTALL,
)
_HTML = lazy_regex(r"<(?:!doctype html|html|body|div|p|table|ul|ol|article|section|h[1-6])\b", re.IGNORECASE)
_INLINE = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd link mark meta nobr output q ruby s "
    "samp small span strike strong sub sup time tt u var wbr".split()
)
"""The elements of HTML that are part of a sentence."""
_WORD_OF_SENTENCE = lazy_regex(
    rf"\s*+<(?P<name>{'|'.join(sorted(_INLINE))})(?:\s[^<>]*+)?>[^<>]*+</(?P=name)>\s*+[^\s<]", re.IGNORECASE
)
"""A marked word and then text: a sentence begins, such as "<code>/run</code> is empty at boot time."."""
_SENTENCE_OR_TAG = lazy_regex(r"(?P<tag><[^<>]*+>)|[.!?][\"')\]]*+\s++(?=[^\s<])|[。！？]")
_MARKDOWN = lazy_regex(r"^(?:#{1,6} |```|~~~)", re.MULTILINE)
_PAGE = lazy_regex(r"\s*+<(?:\?xml|!doctype|html)\b", re.IGNORECASE)
_LINE_END = lazy_regex(r"[ \t]*+\r?\n")
TextNode = tuple[Span, str]
"""A text node, and what comes before it: white space, and the mark of its line."""
_UNREAD = frozenset("script style svg noscript template".split())
_BLANKS = frozenset("button input label select textarea".split())
_LINES = frozenset("br col colgroup dd dl dt li ol option tbody tfoot thead tr ul".split())
"""The elements after which a line or an entry of a list begins. After all others is an empty line."""
_GAPS = ("", " ", "\n", "\n\n")
_LISTS = frozenset(("ul", "ol", "dl"))
_ITEMS = {"li": "- ", "dt": "- ", "dd": ""}
_MARKS = {**_ITEMS, **{f"h{level}": f"{'#' * level} " for level in range(1, 7)}}
_ENCLOSED = {"pre": ("`" * 6, "`" * 6), **dict.fromkeys(("nav", "footer"), ("<!--", "-->"))}
"""The elements that are one block: code, and what is no part of the content."""
_DEEPEST_LIST = 8
"""The deepest list whose entries are indented more than those of the list around it."""
_LAYOUT = lazy_regex(r"</table|<(?P<block>table|h[1-6]|pre|hr|form)\b", re.IGNORECASE)
"""The end of a table, or before it a block that is in no row of data."""
_CLOSING = lazy_regex(r"(?:\s*+</[A-Za-z_][^<>\"']*+>)*+\s*+")
"""Closing tags, of which no character is text."""
_MOST_CELLS = 1_000
"""The most cells of a row that are told apart."""
_DATA = lazy_regex(r"<(?P<cell>td)\b|</?(?:tr|thead|tbody|table)\b", re.IGNORECASE)
"""A cell of data, or before it the end of a row."""
_WRAP = lazy_regex(r"[^\S\n]*+\n\s*+")


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
    return _ElementReader(text).nodes if is_xml else ()


def is_html(text: str) -> bool:
    """Tell whether a text is HTML: a page, or a part of one that begins with a tag."""
    return _is_markup(text) and _HTML.search(text, 0, 2_000) is not None


def _is_markup(text: str) -> bool:
    if text.lstrip()[:1] != "<" or not _BEGINNING.match(text) or "</" not in text:
        return False
    return _PAGE.match(text) is not None or not _MARKDOWN.search(text)


class _ElementReader:
    """A reader of elements."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._stack = [_Element("", 0, 0, [])]
        self._place = 0
        """Where the text begins that belongs to no element yet."""
        for match in _TAG.finditer(text):
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
            if any(element.name == name for element in self._stack[-_DEEPEST_ELEMENT:]):
                self._add_text(start)
                while self._stack[-1].name != name:
                    self._close(start, start)
                self._close(start, end)
                self._place = end
        elif self._text[end - 2] == "/":
            self._read_empty(start, end, name)
        elif len(self._stack) < 10 * _DEEPEST_ELEMENT:
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
        if end - start > _SMALL and len(self._stack) <= _DEEPEST_ELEMENT:
            node = node._replace(children=tuple(children))
        elif not any(child.name for child in children) and end - start <= _SMALL:
            node = Node(NodeKind.RECORD, start, end, name)  # a plain value
        self._stack[-1].children.append(node)


def _sentences(text: str, start: int, end: int) -> Iterator[Node]:
    """Yield the sentences of a text within an element, or the whole if it is short."""
    for match in _SENTENCE_OR_TAG.finditer(text, start, end - 1) if end - start > _LONG_TEXT else ():
        if not match["tag"]:
            yield Node(NodeKind.RECORD, start, match.end())
            start = match.end()
    yield Node(NodeKind.RECORD, start, end)


def text_nodes(text: str) -> list[TextNode]:
    """Return the text nodes of HTML, each with the white space and the mark before it; none if the text is no HTML.

    Between two nodes of a word is nothing. A row of data is one line, with a tab before each cell but the first.
    """
    return _TextReader(text).nodes if is_html(text) else []


def html_segments(text: str, language: str) -> list[Segment]:
    """Return the segments of HTML that is read with its tags. Opening tags belong to the segment after them."""
    nodes = text_nodes(text)
    if not nodes:
        return []
    read = Document.of([Piece(0, span, before) for span, before in nodes], [text])
    segments = prose_segments(read.text, language)
    places = (read.in_passage(part.start).span.start for part in segments[1:])
    starts = [match.end() for place in places if (match := _CLOSING.match(text, place))]
    found = zip(segments, pairwise([0, *starts, len(text)]), strict=True)
    return [part._replace(start=start, end=end) for part, (start, end) in found]


class _TextReader:
    """A reader of text nodes."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.nodes: list[TextNode] = []
        self._end = self._gap = self._mark = ""
        """What comes before the next text: the end of a block of code, white space, and the mark of a line."""
        self._is_begun = False
        """Whether a line with a mark has begun and has no text yet."""
        self._enclosed = ""
        """The element that is one block and is open."""
        self._is_row = self._is_headed = False
        self._is_data = self._has_rows(0)
        """Whether a row of the present table is open, whether that has headers only, and whether it is one of data."""
        self._depth = self._rows = self._cells = 0
        """The number of open lists, of the rows of the table, and of the cells of its last row."""
        place, before, unread = 0, "", ""
        for match in _TAG.finditer(text):
            name, is_end = (match["name"] or "").lower(), bool(match["end"])
            if unread and not (is_end and name == unread):
                continue
            if not unread:
                self._add(place, match.start())
            unread = name if name in _UNREAD and not is_end else ""
            if name in _INLINE:
                is_next = before == "/a" and name == "a" and match.start() == place
                self._part(" " if not is_end and (is_next or self._is_power(match, name)) else "")
            elif name and name not in _UNREAD:
                self._read(name, match.end(), is_end=is_end)
            place, before = match.end(), f"{match['end']}{name}"
        if not unread:
            self._add(place, len(text))
        self._trim()

    def _is_power(self, match: re.Match[str], name: str) -> bool:
        """Tell whether a number is raised after another one, as in 10<sup>6</sup>, which is not 106."""
        around = self._text[match.start() - 1 : match.start()], self._text[match.end() : match.end() + 1]
        return name in ("sup", "sub") and around[0].isdigit() and not around[1].isalpha()

    def _read(self, name: str, place: int, *, is_end: bool) -> None:
        """Read a tag that is not part of a sentence. place: where it ends."""
        if name in _ENCLOSED and self._enclosed in ("", name):
            self._read_enclosed(name, is_end=is_end)
        elif self._enclosed:
            self._part("\n")
        elif self._is_data and name == "tr":
            self._read_row(place, is_end=is_end)
        elif self._is_row and name != "table":
            self._read_in_row(is_cell=name in ("td", "th") and not is_end)
        else:
            self._read_block(name, place, is_end=is_end)

    def _read_enclosed(self, name: str, *, is_end: bool) -> None:
        opening, closing = _ENCLOSED[name]
        if is_end:
            self._end = f"\n{closing}" if self._enclosed and not self._is_begun else ""
            self._close()
        self._part("\n\n")
        if not is_end and not self._enclosed:
            self._begin(f"{opening}\n")
        self._enclosed = "" if is_end else name

    def _read_row(self, place: int, *, is_end: bool) -> None:
        self._gap = "" if self._is_row else self._gap
        self._close()
        self._part("\n" if self._rows else "\n\n")
        self._is_row = not is_end
        if self._is_row:
            is_below_header = self._rows == 1 and self._is_headed
            self._begin(f"|{'---|' * self._cells}\n" if is_below_header else "")
            first = _DATA.search(self._text, place)
            self._is_headed = first is None or not first["cell"]
            self._rows, self._cells = self._rows + 1, 0

    def _read_in_row(self, *, is_cell: bool) -> None:
        self._part(" ")
        if is_cell and self._cells < _MOST_CELLS:
            tab = "\t" if self._cells else ""
            if not self._mark:
                self._gap, tab = self._gap.rstrip(" ") + tab, ""
            self._begin(f"{self._mark}{tab}| ")
            self._cells += 1

    def _read_block(self, name: str, place: int, *, is_end: bool) -> None:
        if name == "table":
            self._is_data = not is_end and self._has_rows(place)
            self._is_row, self._rows = False, 0
        self._depth = max(self._depth + (name in _LISTS) * (-1 if is_end else 1), 0)
        if is_end and name in _MARKS:
            self._close()
        self._part(" " if name in _BLANKS else "\n" if name in _LINES else "\n\n")
        indent = 2 * min(self._depth, _DEEPEST_LIST)
        if name in _MARKS and not is_end:
            self._begin(_MARKS[name].rjust(indent * (name in _ITEMS)))
        elif not self._is_begun and name not in _BLANKS:
            self._mark = " " * indent

    def _has_rows(self, place: int) -> bool:
        """Tell whether a table that is open at this place is one of data."""
        block = _LAYOUT.search(self._text, place)
        return block is None or not block["block"]

    def _begin(self, mark: str) -> None:
        self._mark, self._is_begun = mark, True

    def _close(self) -> None:
        self._mark, self._is_begun = "", False

    def _part(self, gap: str) -> None:
        """Have at least this white space before the next text, unless its line has begun."""
        if gap and not self._gap:
            self._trim()
        if not self._is_begun and self._gap in _GAPS:
            self._gap = max(self._gap, gap, key=_GAPS.index)

    def _trim(self) -> None:
        """Remove the white space after the last text."""
        while self.nodes:
            (start, end), before = self.nodes.pop()
            if bare := self._text[start:end].rstrip():
                self.nodes.append((Span(start, start + len(bare)), before))
                return

    def _add(self, start: int, end: int) -> None:
        """Add the text between two tags."""
        if self._gap or not self.nodes:
            begin = end - len(self._text[start:end].lstrip())
            is_indented = self._enclosed == "pre" and begin < end
            start = max(start, self._text.rfind("\n", start, begin) + 1) if is_indented else begin
        if start == end:
            return
        before = f"{self._end}{self._gap}{self._mark}" if self.nodes else self._mark
        self._end = self._gap = ""
        self._close()
        for wrap in _WRAP.finditer(self._text, start, end) if self._is_row else ():
            if start < wrap.start():
                self.nodes.append((Span(start, wrap.start()), before))
                before = ""
            before, start = before or " ", wrap.end()
        if start < end:
            self.nodes.append((Span(start, end), before))
        else:
            self._gap = before
