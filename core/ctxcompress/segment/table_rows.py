"""The rows of Markdown tables, and how many rows at the top say what the columns are.

Tables of reports have a heading over several columns first, and the years below it. Markdown knows one header row, so
the years are a row like any other there. But no figure can be read without its year.
"""

from collections.abc import Iterator, Sequence
from itertools import takewhile

from ctxcompress.data.passages import Segment
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.segment.markdown import Block
from ctxcompress.text.lines import split_lines

__all__ = ["table_rows"]

_MOST_HEADERS = 3
"""The most rows below the delimiter line that count as header."""
_LONGEST_PERIOD = 40
"""Characters of a cell that can be a year or a date."""
_PERIOD = lazy_regex(r"[^\d|]*(?:\b\d{1,2}\b[^\d|]*)?\b(?:FY|CY|Q[1-4] ?)?(?:19|20)\d\d\b[^\d|]*")
_AMOUNT = lazy_regex(r"\d")


def table_rows(text: str, block: Block, number: int, first: int) -> Iterator[Segment]:
    """Yield one segment for the header, which every row needs, and one for each row.

    The label of a row is its first cell. A row without one is in the group of a row above, which it needs, and whose
    label it has. number: of the block. first: the number of the first segment.
    """
    kind, start, end, heading = block
    lines = split_lines(text[start:end])
    header = _header_lines(lines)
    if header:
        yield Segment(kind, start, start + sum(map(len, lines[:header])), number, heading)
    above, begin = (first,) if header else (), first + bool(header)
    rows = [_cells(line) for line in lines[header:]]
    start += sum(map(len, lines[:header]))
    for index, (line, group) in enumerate(zip(lines[header:], _groups(rows), strict=True)):
        needs = above if group == index else (*above, begin + group)
        yield Segment(kind, start, start + len(line), number, heading, needs, None, rows[group][0])
        start += len(line)


def _groups(rows: Sequence[Sequence[str]]) -> Iterator[int]:
    """Yield for each row the number of the row that names its group: its own, unless its first cell is empty, or it has
    a cell less than that row, whose first cell spans several rows."""
    named = width = 0
    for number, cells in enumerate(rows):
        is_unnamed = any(cells) and (not cells[0] or 1 < len(cells) == width - 1)
        if not number or not is_unnamed:
            named, width = number, len(cells)
        yield named


def _header_lines(lines: Sequence[str]) -> int:
    """Return the number of lines of the header, with its delimiter line; 0 if there is none."""
    if len(lines) < 2 or not _is_delimiter(lines[1]):
        return 0
    if all(_cells(lines[0])[1:]):  # each column has its name
        return 2
    below = list(takewhile(_names_columns, lines[2 : 2 + _MOST_HEADERS]))
    return 2 + len(below) if 2 + len(below) < len(lines) else 2


def _names_columns(row: str) -> bool:
    """Tell whether the cells after the first are years or dates, or words over which no row has a name."""
    label, *others = _cells(row)
    named = list(filter(None, others))
    if named and all(len(cell) <= _LONGEST_PERIOD and _PERIOD.fullmatch(cell) for cell in named):
        return True
    return bool(named) and not label and not any(map(_AMOUNT.search, named))


def _cells(row: str) -> list[str]:
    """Return the cells of a row, at least one."""
    return [cell.strip() for cell in row.strip().removeprefix("|").removesuffix("|").split("|")]


def _is_delimiter(line: str) -> bool:
    return "-" in line and not line.strip(" \t\r\n|:-+>")
