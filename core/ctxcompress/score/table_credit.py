"""What rows of a table gain from its header, and from the total below them.

"How many shares are to be issued?" names a column: its words are in the header, and no row has any. "Which component
contributes most to total expenses?" names the last row, and asks for the rows above it.
"""

import re
from collections.abc import Iterator
from itertools import groupby

import numpy as np

from ctxcompress.data.passages import Kind
from ctxcompress.data.table import Floats, SegmentTable

__all__ = ["raise_rows"]

_TABLE = Kind.TABLE
_SHARE = 0.03
"""What a row gets of the probability of its header or total. Reports keep the same with 0.02 to 0.05, and more takes
the room of better text."""
_TOTAL = re.compile(
    r"(?:sub|grand )?total|totaal|summe\b|gesamt|insgesamt|somme\b|suma\b|итого|всего|合计|总计|合計", re.IGNORECASE
)


def raise_rows(table: SegmentTable, probability: Floats) -> Floats:
    """Return the probabilities; that of a row is at least a share of those of its header and of its total."""
    if _TABLE not in table.kinds:
        return probability
    raised = probability.copy()
    for rows in _tables(table):
        header = [number for number in rows if not table.needs(number)] if table.needs(rows[-1]) else []
        for giver, takers in (*((number, rows) for number in header), *_sums(table, rows[len(header) :])):
            raised[takers] = np.maximum(raised[takers], _SHARE * probability[giver])
    return raised


def _tables(table: SegmentTable) -> Iterator[list[int]]:
    """Yield the numbers of the segments of each table."""
    rows = (number for number, segment in enumerate(table.segments) if segment[0] is _TABLE)
    for _, of_table in groupby(rows, key=lambda number: (table.document[number], table.segments[number].block)):
        yield list(of_table)


def _sums(table: SegmentTable, rows: list[int]) -> Iterator[tuple[int, list[int]]]:
    """Yield each total with the rows between it and the total before."""
    summands: list[int] = []
    for row in rows:
        if _TOTAL.match(table.segments[row].label):
            yield row, summands
            summands = []
        else:
            summands.append(row)
