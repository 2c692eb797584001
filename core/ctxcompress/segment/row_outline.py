"""The outline of data in rows: CSV and TSV, whose rows need their header."""

import re
from collections.abc import Sequence
from itertools import accumulate, islice

from ctxcompress.data.passages import Node, NodeKind
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.text.lines import split_lines

__all__ = ["row_outline"]

_FEWEST_ROWS = 3
_FEWEST_SPACED_ROWS = 5
"""The fewest rows with a space after their commas, as prose has."""
_LONGEST_ROW = 500
_LONGEST_CELL = 100
"""The most characters of a row and of a cell, on average. Longer rows have many cells, or else texts in them."""
_ROW = lazy_regex(r"(?:[^\"\n]++|\"(?:[^\"]++|\"\")*+\"?)*+\n?")
_QUOTED = lazy_regex(r"\"(?:[^\"]++|\"\")*+\"")
_NUMBER = lazy_regex(r"[\"\s]*[-+$€]?\d")
_ROWS_NAME = lazy_regex(r"\.[ct]sv$", re.IGNORECASE)


def row_outline(text: str, name: str | None = None) -> tuple[Node, ...]:
    """Return the rows of CSV or TSV, or () if the text has none. The rows are children of the header if there is one.

    name: a file name, path or title, if known.
    """
    is_named = name is not None and _ROWS_NAME.search(name) is not None
    line = text[: text.find("\n")] if "\n" in text and not text[0].isspace() else ""
    for sign in "\t;,":
        if line.count(sign) >= (1 if is_named or sign == "\t" else 2):
            if not _begins_alike(text, sign):
                return ()
            rows = _rows(text)
            return _rows_with_header(rows, sign) if _is_table(text, rows, sign, is_named=is_named) else ()
    return ()


def _begins_alike(text: str, sign: str) -> bool:
    """Tell whether the first two rows may have the same number of cells. Most prose is ruled out by them."""
    if '"' not in text:
        return True  # its rows are found fast
    filled = (row[0] for row in _ROW.finditer(text) if row[0].strip())
    return len({_cells(row, sign) for row in islice(filled, 2)}) < 2


def _cells(row: str, sign: str) -> int:
    return (_QUOTED.sub("", row) if '"' in row else row).count(sign)


def _rows(text: str) -> list[str]:
    if '"' not in text:
        return text.splitlines(keepends=True) if "\r" not in text else split_lines(text)
    return [row for row in _ROW.findall(text) if row]


def _is_table(text: str, rows: Sequence[str], sign: str, *, is_named: bool) -> bool:
    """Tell whether all rows have the same number of cells, but for those that are cut at either end."""
    filled = [row for row in rows if row.strip()]
    if "".join(rows) != text or len(filled) < _FEWEST_ROWS:
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
    nodes = tuple(
        Node(NodeKind.RECORD, end - len(row), end) for row, end in list(zip(rows, ends, strict=True))[has_header:]
    )
    if not has_header:
        return nodes
    return (Node(NodeKind.RECORD, 0, ends[-1], "", 0, ends[0], ends[-1], False, nodes),)
