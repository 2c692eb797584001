"""Cutting rows of CSV: they have as many fields as before, if the header and the longest row fit."""

import csv
import io

from cutting import cut
from fuzzing import read, spliced
from structures import is_whole

from ctxcompress.segment.rows import row_outline
from ctxcompress.text.tokens import TokenCounter

mutate = spliced(
    *(",", ";", "\t", "|", "\n", "\r\n", '"a, b"', '"a\nb"', '""', '"', "a,b\n", "1,2\n", "id,name,total\n", " "),
    *("7,Lyon,3.5\n", "# note\n", "x;y\n", "1\t2\n", "The timeout is 30 s.", "\n\n"),
)
_COUNT = TokenCounter("o200k_base")


def check(data: bytes) -> None:
    given = read(data)
    result = cut(given, "a.csv")
    if not result or not is_whole("CSV", given.text) or not row_outline(given.text, "a.csv"):
        return
    rows = list(csv.reader(io.StringIO(given.text, newline="")))
    longest = max(_COUNT(",".join(row)) + 2 * len(row) for row in rows)
    if len(rows[0]) > 1 and given.budget > 2 * longest:
        assert is_whole("CSV", result.text), result.text
