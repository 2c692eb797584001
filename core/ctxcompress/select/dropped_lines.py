"""Gap markers that say how many lines of a log were dropped between two kept ones."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ctxcompress.data.metadata import RECORD_KEY, Record
from ctxcompress.data.passages import Kind, Passage, Span
from ctxcompress.data.table import SegmentTable
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.select.layout import Elide
from ctxcompress.text.lines import BREAKS, INVISIBLE

__all__ = ["like_line_markers", "with_dropped_lines"]

_LOOKS_LIKE_MARKER = lazy_regex(
    rf"(?<![^{BREAKS}])(?:(?![{BREAKS}])[\s{INVISIBLE}])*+(\[[\s{INVISIBLE}]*+(?:…|\.\.\.)[^{BREAKS}]{{0,80}}?dropped)",
    re.IGNORECASE,
)


def with_dropped_lines(elide: Elide, table: SegmentTable, texts: Sequence[str]) -> Elide:
    """Return `elide` with markers that count the dropped lines of documents that are logs.

    texts: of the documents.
    """

    def markers(number: int, spans: Sequence[Span]) -> Sequence[tuple[int, str]]:
        first = table.first[number]
        is_log = first < table.first[number + 1] and table.segments[first].kind is Kind.LOG
        return list(_markers(texts[number], spans)) if is_log else elide(number, spans)

    return markers


def like_line_markers(passage: Passage) -> tuple[int, ...]:
    """Return the places in a passage's text that look like such a marker, without those that its record knows.

    The caller shows a backslash before each, so that they cannot be mistaken for a real marker.
    """
    if "dropped" not in passage.text.lower():
        return ()
    own = {text.strip() for _, text in Record.read(passage.metadata.get(RECORD_KEY)).markers}
    found = _LOOKS_LIKE_MARKER.finditer(passage.text)
    return tuple(match.start(1) for match in found if _line_at(passage.text, match.start(1)) not in own)


def _line_at(text: str, start: int) -> str:
    end = text.find("\n", start)
    return text[start : end if end >= 0 else len(text)].strip()


def _markers(text: str, spans: Sequence[Span]) -> Iterator[tuple[int, str]]:
    for before, after in pairwise(spans):
        lines = sum(bool(line.strip()) for line in text[before.end : after.start].split("\n"))
        if lines:
            newline = "\r\n" if text.startswith("\r\n", before.end) else "\n"
            yield before.end, f"{newline}[… {lines:,} line{'s' if lines > 1 else ''} dropped]"
