"""Rows: of CSV and TSV, which need their header, of Markdown tables, and lines with columns, as programs print them.

If the lines of `ps` or of a report were cut like prose, the beginning of one row could stand before the end of another,
which would be a statement that nobody made. Tables of reports have a heading over several columns first, and the years
below it. Markdown knows one header row, so the years are a row like any other there. But no figure can be read without
its year.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, groupby, pairwise, takewhile

from ctxcompress.data.passages import Kind, Node, NodeKind, Segment
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.segment.markdown import Block
from ctxcompress.text.lines import are_wrapped, split_lines

__all__ = ["begins_with_header", "column_rows", "have_columns", "row_outline", "table_rows"]

_FEWEST, _FEWEST_SPACED_ROWS = 3, 5
"""The least lines of a block of rows, without rules and blank ones, and rows of CSV; if spaces follow commas."""
_LONGEST_ROW, _LONGEST_CELL = 500, 100
"""The most characters of a row and of a cell, on average. Longer rows have many cells, or else texts in them."""
_ROW = lazy_regex(r"(?:[^\"\n]++|\"(?:[^\"]++|\"\")*+\"?)*+\n?")
_QUOTED = lazy_regex(r"\"(?:[^\"]++|\"\")*+\"")
_NUMBER = lazy_regex(r"[\"\s]*[-+$€]?\d")
_ROWS_NAME = lazy_regex(r"\.[ct]sv$", re.IGNORECASE)
_READ = 2_000
"""Characters of a text that tell whether it begins with a header."""
_COLUMNS, _ALIGNED = 0.6, 0.8
"""The least share of lines with a gap between columns, and of filled ones with it at the same place."""
_GAP = lazy_regex(r"[^\s.!?:;](?: {2,}|\t[ \t]*| \| )\S")
_MAY_BE_GAP = lazy_regex(r"  (?<=[^\s.!?:;]  )|\t(?<=[^\s.!?:;]\t)| \| (?<=[^\s.!?:;] \| )")
"""Its beginning, which is found twice as fast: most prose has none."""
_PUNCTUATED = lazy_regex(r"[^\W\d_]{2}[)\]\"'\u2019]?(?:[.,;!?](?=\s)|[-\u2010\u00ad]\s*\Z)")
_RULE = lazy_regex(r"\|-[^|\n]*+\n?")
"""The line between two rows of a wiki."""
_DRAWN = lazy_regex(r"[ \t]*+[+|][-=+|]{3,}+\s*+")
"""The line between two rows that are drawn with signs, as programs print them."""
_MOST_HEADERS, _LONGEST_PERIOD = 3, 40
"""The most rows below the delimiter line that are header; characters of a cell that can be a year or a date."""
_PERIOD = lazy_regex(r"[^\d|]*(?:\b\d{1,2}\b[^\d|]*)?\b(?:FY|CY|Q[1-4] ?)?(?:19|20)\d\d\b[^\d|]*")


def row_outline(text: str, name: str | None = None) -> tuple[Node, ...]:
    """Return the rows of CSV or TSV, or () if the text has none. The rows are children of the header if there is one.

    name: a file name, path or title, if known.
    """
    is_named = name is not None and _ROWS_NAME.search(name) is not None
    line = text[: text.find("\n")] if "\n" in text and not text[0].isspace() else ""
    for sign in "\t;,":
        if line.count(sign) >= (1 if is_named or sign == "\t" else 2):
            rows = _rows(text)
            return _rows_with_header(rows, sign) if _is_table(text, rows, sign, is_named=is_named) else ()
    return ()


def column_rows(text: str, start: int, end: int, block: int, first: int, heading: tuple[str, ...]) -> list[Segment]:
    """Return one segment for each row of ``text[start:end]`` if it has columns, else none.

    If the first one is the header of columns, the others need it.

    block: the number of the block. first: the number of the first segment in the text. heading: its heading path.
    """
    if text.count("\n", start, end) < _FEWEST - 1 or not _MAY_BE_GAP.search(text, start, end):
        return []
    raw = split_lines(text[start:end])
    whole = [line for line in raw if any(map(str.isalnum, line))]
    lines = [line.strip() for line in whole]
    if len(lines) < _FEWEST or not have_columns(lines) or _are_justified(whole):
        return []
    rows, has_header = _rows_of(raw), _is_header(lines)
    kind = Kind.TABLE if has_header or len(rows) < len(raw) else Kind.PARAGRAPH
    needs = (first,) if has_header else ()
    pairs = pairwise((start, *_ends(rows, start)))
    return [Segment(kind, begin, last, block, heading, needs if begin > start else ()) for begin, last in pairs]


def _rows_of(lines: Sequence[str]) -> list[str]:
    """Return the rows: a line each, or all lines between two rules if there are rules between rows, as where cells are
    wrapped. A rule belongs to the row above it if that has several lines, and to the first row what is around it."""
    rules = [_DRAWN.fullmatch(line) is not None for line in lines]
    have_rules = sum(not is_rule for is_rule, _ in groupby(rules)) >= _FEWEST
    rows: list[str] = []
    for line, is_rule, is_below in zip(lines, rules, (True, *rules), strict=False):
        is_above = len(rows) == 1 and not any(map(str.isalnum, rows[0]))
        is_end = is_rule and (len(rows) < 2 or "\n" in rows[-1].rstrip())
        if rows and (is_end or is_above or (have_rules and not is_rule and not is_below)):
            rows[-1] += line
        else:
            rows.append(line)
    return rows


def begins_with_header(text: str) -> bool:
    """Tell whether a text begins with columns below a header."""
    lines = [line.strip() for line in split_lines(text[:_READ]) if any(map(str.isalnum, line))]
    return bool(lines) and have_columns(lines) and _is_header(lines)


def have_columns(lines: Sequence[str]) -> bool:
    """Tell whether most lines have a gap between columns."""
    return _share(lines, lambda line: _GAP.search(line) is not None) >= _COLUMNS


def _cells(row: str, sign: str) -> int:
    return (_QUOTED.sub("", row) if '"' in row else row).count(sign)


def _rows(text: str) -> list[str]:
    return split_lines(text) if '"' not in text else [row for row in _ROW.findall(text) if row]


def _is_table(text: str, rows: Sequence[str], sign: str, *, is_named: bool) -> bool:
    """Tell whether all rows have the same number of cells, but for those that are cut at either end."""
    filled = [row for row in rows if row.strip()]
    if "".join(rows) != text or len(filled) < _FEWEST:
        return False
    if len(text) > len(filled) * max(_LONGEST_ROW, _LONGEST_CELL * _cells(filled[0], sign)):
        return False
    if sign == "," and not is_named and len(filled) < _FEWEST_SPACED_ROWS and ", " in text:
        return False
    counts = [_cells(row, sign) for row in filled]
    return len(set(counts[:-1])) == 1 and counts[-1] <= counts[0]


def _rows_with_header(rows: Sequence[str], sign: str) -> tuple[Node, ...]:
    ends = list(accumulate(map(len, rows)))
    first = [cell.strip().lower() for cell in rows[0].split(sign)]
    has_header = all(first[1:]) and len(set(first)) == len(first) and not any(map(_NUMBER.match, first))
    nodes = tuple(Node(NodeKind.RECORD, *bounds) for bounds in pairwise([0, *ends][has_header:]))
    if not has_header:
        return nodes
    return (Node(NodeKind.RECORD, 0, ends[-1], "", 0, ends[0], ends[-1], nodes),)


def _are_justified(lines: Sequence[str]) -> bool:
    """Tell whether lines are wrapped prose with wider blanks, which do not stand below one another as in columns."""
    if not (are_wrapped(lines) and any(map(_PUNCTUATED.search, lines))):
        return False
    gaps = [gap.span() for line in lines[1:] for gap in _GAP.finditer(line.expandtabs())]
    shared = max((n for ends in zip(*gaps, strict=True) for n in Counter(ends).values()), default=0)
    return shared < _ALIGNED * (len(lines) - 1)


def _ends(lines: Sequence[str], start: int) -> Iterator[int]:
    """Yield where lines end. Blank lines belong to the line before."""
    for line, below in zip(lines, (*lines[1:], ""), strict=True):
        start += len(line)
        if not below.isspace():
            yield start


def _is_header(lines: Sequence[str]) -> bool:
    """Tell whether the first line says what the others are: only the lines below it have numbers or small letters."""
    first, others = lines[0], lines[1:]
    is_capital = first.isupper() and not any(map(str.isupper, others))
    return not _has_digit(first) and (is_capital or _share(others, _has_digit) > 0.5)


def _has_digit(text: str) -> bool:
    return any(map(str.isdecimal, text))


def _share(lines: Sequence[str], is_so: Callable[[str], bool]) -> float:
    return sum(map(is_so, lines)) / len(lines)


def table_rows(text: str, block: Block, number: int, first: int) -> Iterator[Segment]:
    """Yield one segment for the header, which every row needs, and one for each row.

    The label of a row is its first cell. A row without one is in the group of a row above, which it needs, and whose
    label it has. number: of the block. first: the number of the first segment.
    """
    kind, start, end, heading = block
    lines = _with_cells_joined(split_lines(text[start:end]))
    header = _header_lines(lines)
    if header:
        yield Segment(kind, start, start + sum(map(len, lines[:header])), number, heading)
    above, begin = (first,) if header else (), first + bool(header)
    rows = [_cells_between_bars(line) for line in lines[header:]]
    start += sum(map(len, lines[:header]))
    for index, (line, (group, label)) in enumerate(zip(lines[header:], _groups(rows), strict=True)):
        needs = above if group == index else (*above, begin + group)
        yield Segment(kind, start, start + len(line), number, heading, needs, None, label)
        start += len(line)


def _with_cells_joined(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines; in the markup of wikis, which has a cell on a line and rules between rows, one for each row."""
    rules = [number for number, line in enumerate(lines) if _RULE.fullmatch(line)]
    if not _FEWEST <= len(rules) <= len(lines) / 2:
        return lines
    bounds = sorted({0, *rules, len(lines)})
    return ["".join(lines[start:end]) for start, end in pairwise(bounds)]


def _groups(rows: Sequence[Sequence[str]]) -> Iterator[tuple[int, str]]:
    """Yield for each row the number of the row that names its group, or its own, and its label.

    That is the row above if the first cell is empty, or if there is a cell less than in that row, whose first cell
    spans several rows. It is the last row with nothing but its first cell if there are several such rows.
    """
    heads = {n for n, cells in enumerate(rows) if len(cells) > 1 and cells[0] and not any(cells[1:])}
    named = width = 0
    head = -1
    for number, cells in enumerate(rows):
        if not number or not any(cells) or (cells[0] and not 1 < len(cells) == width - 1):
            named, width = number, len(cells)
            head = number if len(heads) > 1 and number in heads else head
        is_named = number == named
        label = f"{rows[head][0]} {cells[0]}" if is_named and -1 < head < number else rows[named][0]
        yield (head if is_named and head >= 0 else named), label


def _header_lines(lines: Sequence[str]) -> int:
    """Return the number of lines of the header, with its delimiter line; 0 if there is none."""
    if len(lines) < 2 or "-" not in lines[1] or lines[1].strip(" \t\r\n|:-+>"):
        return 0
    if all(_cells_between_bars(lines[0])[1:]):  # each column has its name
        return 2
    below = list(takewhile(_names_columns, lines[2 : 2 + _MOST_HEADERS]))
    return 2 + len(below) if 2 + len(below) < len(lines) else 2


def _names_columns(row: str) -> bool:
    """Tell whether the cells after the first are years or dates, or words over which no row has a name."""
    label, *others = _cells_between_bars(row)
    named = list(filter(None, others))
    if named and all(len(cell) <= _LONGEST_PERIOD and _PERIOD.fullmatch(cell) for cell in named):
        return True
    return bool(named) and not label and not any(map(_has_digit, named))


def _cells_between_bars(row: str) -> list[str]:
    """Return the cells of a row, at least one."""
    return [cell.strip() for cell in row.strip().removeprefix("|").removesuffix("|").split("|")]
