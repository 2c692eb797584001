"""The outlines of data in lines: rows of CSV and TSV, which need their header, and entries of YAML."""

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice

from ctxcompress.data.passages import Node, NodeKind
from ctxcompress.lazy_regex import lazy_regex

__all__ = ["row_outline", "yaml_outline"]

_FEWEST_ROWS = 3
_FEWEST_SPACED_ROWS = 5
"""The fewest rows with a space after their commas, as prose has."""
_LONGEST_ROW = 500
_LONGEST_CELL = 100
"""The most characters of a row and of a cell, on average. Longer rows have many cells, or else texts in them."""
_ROW = lazy_regex(r"(?:[^\"\n]++|\"(?:[^\"]++|\"\")*+\"?)*+\n?")
_QUOTED = lazy_regex(r"\"(?:[^\"]++|\"\")*+\"")
_NUMBER = lazy_regex(r"[\"\s]*[-+$€]?\d")
_SAMPLE = 4_000
_SMALL = 120
"""The most characters of an entry whose entries have no nodes of their own."""
_DEEPEST = 40
_FEWEST_ENTRIES = 5
_NESTED = lazy_regex(r"^[ ]*+(?:- )?[\w.\"'/@-]++:[ ]*+\n(?:[ ]*+- |[ ]++[\w.\"'/@-]++:)", re.MULTILINE)
_ENTRY = lazy_regex(r"[ ]*+(?:- )*+[\"']?([\w./@-]++)[\"']?:(?:\s|$)")
_OTHER_ENTRY = lazy_regex(r"[ ]*+(?:- |-$|#|---|\.\.\.$)")
_YAML_NAME = lazy_regex(r"\.ya?ml$", re.IGNORECASE)
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
        return text.splitlines(keepends=True) if "\r" not in text else text.split("\n")
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
    has_header = all(first) and len(set(first)) == len(first) and not any(map(_NUMBER.match, first))
    nodes = tuple(
        Node(NodeKind.RECORD, end - len(row), end) for row, end in list(zip(rows, ends, strict=True))[has_header:]
    )
    if not has_header:
        return nodes
    return (Node(NodeKind.RECORD, 0, ends[-1], "", 0, ends[0], ends[-1], False, nodes),)


def yaml_outline(text: str, name: str | None = None) -> tuple[Node, ...]:
    """Return the entries of YAML, or () if the text is something else. Entries that are indented deeper are children.

    name: a file name, path or title, if known. Without the extension of YAML, some entries must be nested: lines such
    as "Anna: Hello" are none.
    """
    is_named = name is not None and _YAML_NAME.search(name) is not None
    may_nest = "\n" in text and ":" in text  # most passages of prose have no line break
    if not is_named and not (may_nest and _NESTED.search(text, 0, _SAMPLE)):
        return ()
    lines = [line for line in text[:_SAMPLE].splitlines() if line.strip()]
    lines = lines[:-1] if len(text) > _SAMPLE else lines
    entries = sum(_ENTRY.match(line) is not None for line in lines)
    others = sum(_OTHER_ENTRY.match(line) is not None for line in lines if not _ENTRY.match(line))
    if len(lines) < _FEWEST_ENTRIES or 2 * entries < len(lines) or entries + others < 0.9 * len(lines):
        return ()
    return _Entries(text).nodes


class _Entries:
    """The entries of a YAML text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._open: list[tuple[int, int, int, list[Node]]] = [(-1, 0, 0, [])]
        """The depth, start, end of the line, and inner entries of each entry that has not ended."""
        for depth, start, end in _lines(text):
            self._end_deeper(depth, start)
            self._open.append((depth, start, end, []))
        self._end_deeper(0, len(text))
        self.nodes = tuple(self._open[0][3])

    def _end_deeper(self, depth: int, end: int) -> None:
        """End the entries that are at least as deep."""
        while self._open[-1][0] >= depth:
            _, start, body, inner = self._open.pop()
            named = _ENTRY.match(self._text, start)
            is_cut = bool(inner) and end - start > _SMALL and len(self._open) <= _DEEPEST
            node = Node(NodeKind.RECORD, start, end, named[1] if named else "")
            children = tuple(inner) if is_cut else ()
            cut = node._replace(signature=start, body=body, tail=end, children=children)
            self._open[-1][3].append(cut if inner else node)


def _lines(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield the depth, start and end of the lines that begin an entry. Blank lines and comments belong to what is
    before them. A list item is deeper than a key with the same indentation."""
    start = 0
    begins = 0
    for line in text.splitlines(keepends=True):
        end = start + len(line)
        bare = line.lstrip(" ")
        if bare.strip() and (not bare.startswith("#") or not begins):
            yield 2 * (len(line) - len(bare)) + bare.startswith("-"), start if begins else 0, end
            begins += 1
        start = end
