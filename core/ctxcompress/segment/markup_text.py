"""HTML as a reader sees it: its text nodes, with line breaks and marks of Markdown in place of the tags."""

import re
from itertools import pairwise

from ctxcompress.data.documents import Document, Piece
from ctxcompress.data.passages import Segment, Span
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.segment.markup_outline import INLINE, TAG, is_html
from ctxcompress.segment.prose import prose_segments

__all__ = ["TextNode", "html_segments", "text_nodes"]

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
_DEEPEST = 8
"""The deepest list whose entries are indented more than those of the list around it."""
_LAYOUT = lazy_regex(r"</table|<(?P<block>table|h[1-6]|pre|hr|form)\b", re.IGNORECASE)
"""The end of a table, or before it a block that is in no row of data."""
_CLOSING = lazy_regex(r"(?:\s*+</[^<>]*+>)*+\s*+")
_MOST_CELLS = 1_000
"""The most cells of a row that are told apart."""
_DATA = lazy_regex(r"<(?P<cell>td)\b|</?(?:tr|thead|tbody|table)\b", re.IGNORECASE)
"""A cell of data, or before it the end of a row."""
_WRAP = lazy_regex(r"[^\S\n]*+\n\s*+")


def text_nodes(text: str) -> list[TextNode]:
    """Return the text nodes of HTML, each with the white space and the mark before it; none if the text is no HTML.

    Between two nodes of a word is nothing. A row of data is one line, with a tab before each cell but the first.
    """
    return _Reader(text).nodes if is_html(text) else []


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


class _Reader:
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
        self._is_data = self._is_row = self._is_headed = False
        """Whether the present table is one of data, whether a row of it is open, and whether that has headers only."""
        self._depth = self._rows = self._cells = 0
        """The number of open lists, of the rows of the table, and of the cells of its last row."""
        place, before, unread = 0, "", ""
        for match in TAG.finditer(text):
            name, is_end = (match["name"] or "").lower(), bool(match["end"])
            if unread and not (is_end and name == unread):
                continue
            if not unread:
                self._add(place, match.start())
            unread = name if name in _UNREAD and not is_end else ""
            if name in INLINE:
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
            self._gap = self._gap.rstrip(" ") + ("\t" if self._cells else "")
            self._begin(f"{self._mark}| ")
            self._cells += 1

    def _read_block(self, name: str, place: int, *, is_end: bool) -> None:
        if name == "table":
            layout = None if is_end else _LAYOUT.search(self._text, place)
            self._is_data = layout is not None and not layout["block"]
            self._is_row, self._rows = False, 0
        self._depth = max(self._depth + (name in _LISTS) * (-1 if is_end else 1), 0)
        if is_end and name in _MARKS:
            self._close()
        self._part(" " if name in _BLANKS else "\n" if name in _LINES else "\n\n")
        indent = 2 * min(self._depth, _DEEPEST)
        if name in _MARKS and not is_end:
            self._begin(_MARKS[name].rjust(indent * (name in _ITEMS)))
        elif not self._is_begun and name not in _BLANKS:
            self._mark = " " * indent

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
