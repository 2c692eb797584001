"""Segmentation of any text: prose into blocks and their segments, source code by its outline, long code fences."""

import re
from collections.abc import Iterable, Iterator, Sequence

from ctxcompress.data.passages import Kind, Node, Segment
from ctxcompress.segment.boilerplate import mark_boilerplate, notice_cuts
from ctxcompress.segment.markdown import Block, markdown_blocks
from ctxcompress.segment.sentences import split_sentences
from ctxcompress.segment.source_code import WHOLE, code_segments, outline
from ctxcompress.text.lines import split_lines

__all__ = ["segment", "segment_outlined"]

# A name is ten times as fast as an attribute of an enum.
_HEADING, _LIST_ITEM, _TABLE, _CODE = Kind.HEADING, Kind.LIST_ITEM, Kind.TABLE, Kind.CODE
_LONG_ITEM = 300
"""The most characters of a list item that is not split into sentences."""
_LONG_FENCE = 1_500
"""The most characters of a code block that is one segment."""
_PIECE = 250
"""The most characters of statements in a fence that are kept or dropped together."""
_CLOSER = re.compile(r"[ \t]*(?:[})\]{]|end\b|else\b|elif\b|except\b|finally\b|catch\b)")


def segment(text: str, *, language: str = "en", name: str | None = None) -> list[Segment]:
    """Return the segments of `text` in order. Together they are exactly `text`. An empty text has none.

    language: ISO 639-1 code, for the sentence rules. name: file name or path, if known. Its extension distinguishes
    code from prose better than the content.
    """
    return segment_outlined(text, outline(text, name), language=language)


def segment_outlined(text: str, nodes: Sequence[Node], *, language: str, whole: int = WHOLE) -> list[Segment]:
    """Return the segments of a text whose outline is known.

    nodes: the outline, empty for prose. whole: the most characters of a function that is one segment.
    """
    if not text:
        return []
    if nodes:
        return code_segments(text, nodes, whole)
    segments: list[Segment] = []
    for number, block in enumerate(markdown_blocks(text)):
        segments.extend(_split(text, block, number, len(segments), language))
    return mark_boilerplate(text, segments)


def _split(text: str, block: Block, number: int, first: int, language: str) -> Iterable[Segment]:
    kind, start, end, heading = block
    if kind is _TABLE:
        return _rows(text, block, number, first)
    if kind is _CODE:
        return _code(text, block, number, first)
    if kind is _HEADING or (kind is _LIST_ITEM and end - start <= _LONG_ITEM):
        return [Segment(kind, start, end, number, heading)]
    cuts: list[int] = []
    for part in notice_cuts(text, start, end) if kind is not _LIST_ITEM else (end,):
        cuts += split_sentences(text, cuts[-1] if cuts else start, part, language)
    return [Segment(kind, begin, cut, number, heading) for begin, cut in zip([start, *cuts], cuts, strict=False)]


def _rows(text: str, block: Block, number: int, first: int) -> Iterator[Segment]:
    """Yield one segment for the header with its delimiter line, which every row needs, and one for each row."""
    kind, start, end, heading = block
    lines = split_lines(text[start:end])
    header = 2 if len(lines) > 1 and _is_delimiter(lines[1]) else 0
    pieces = ["".join(lines[:header]), *lines[header:]] if header else lines
    for index, piece in enumerate(pieces):
        needs = (first,) if header and index else ()
        yield Segment(kind, start, start + len(piece), number, heading, needs)
        start += len(piece)


def _is_delimiter(line: str) -> bool:
    return "-" in line and not line.strip(" \t\r\n|:-+>")


def _code(text: str, block: Block, number: int, first: int) -> Iterator[Segment]:
    """Yield one segment for a short code block, else its pieces, each of which needs the fences or the signature."""
    kind, start, end, heading = block
    if end - start <= _LONG_FENCE:
        yield Segment(kind, start, end, number, heading)
        return
    cuts, closed = _split_fence(text, start, end)
    last = first + len(cuts) - 1
    for index, cut in enumerate(cuts, first):
        around = (first, last) if closed else (first,)
        needs = tuple(other for other in around if other != index)
        yield Segment(kind, start, cut, number, heading, needs if index != first or closed else ())
        start = cut


def _split_fence(text: str, start: int, end: int) -> tuple[list[int], bool]:
    """Cut a long code block into pieces, and return their ascending end offsets and whether it has a closing fence.

    The first piece is the signature or the opening fence, the last piece is the closing fence. The others are cut at
    the least indented lines between them. Statements share a piece as long as it stays short.
    """
    lines = split_lines(text[start:end])
    fence = lines[0].lstrip(" \t>")[:3]
    fenced = fence in ("```", "~~~")
    closing = _closing_fence(lines, fence) if fenced else len(lines)
    inner = lines[1:closing]
    base = min((_indent(line) for line in inner if not line.isspace()), default=0)
    most = _PIECE if fenced else 1
    cuts: list[int] = []
    statement = position = start + len(lines[0])
    for number, line in enumerate(lines[1:], 1):
        at_statement = not line.isspace() and _indent(line) <= base and not (_CLOSER.match(line) and number != closing)
        if at_statement:
            _close_piece(cuts, statement, position, most)
            statement = position
        if number == closing:
            cuts.append(position)
        position += len(line)
    if closing == len(lines):
        _close_piece(cuts, statement, end, most)
    return [*dict.fromkeys(cuts), end], closing < len(lines)


def _close_piece(cuts: list[int], statement: int, end: int, most: int) -> None:
    """Add a cut before a statement that would make its piece too long. The first cut is after the head."""
    if not cuts or (end - cuts[-1] > most and statement > cuts[-1]):
        cuts.append(statement)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _closing_fence(lines: list[str], fence: str) -> int:
    return next((n for n in range(len(lines) - 1, 0, -1) if lines[n].lstrip(" \t>").startswith(fence)), len(lines))
