"""Rows of files, the records that are written for them, in types that JSON and Parquet have, and their counts."""

import json
from collections.abc import Mapping
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import NamedTuple, cast

from ctxcompress.apps.batch.processes import LOST
from ctxcompress.compressor import Compressor, PassageInput
from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.results import KeptPassage
from ctxcompress.errors import InputError

__all__ = [
    "RESULT_COLUMNS",
    "USUAL_FIELDS",
    "BatchStats",
    "CompressRecords",
    "FieldNames",
    "Row",
    "RowOutcome",
    "Totals",
    "json_line",
]

RESULT_COLUMNS = ("text", "tokens", "original_tokens", "passages")
"""The columns that a record has besides those of its row. Columns of the row with these names are replaced."""


class FieldNames(NamedTuple):
    """The names of the columns that hold the query and the passages of a row."""

    query: str = "query"
    passages: str = "passages"


USUAL_FIELDS = FieldNames()


class Row(NamedTuple):
    """A row of the input."""

    number: int
    """Its number in all files together, from 0."""
    content: bytes | Mapping[str, object]
    """A line of JSON, or the columns by name."""


@dataclass(frozen=True, slots=True)
class RowOutcome:
    """What became of a row: a record or an error."""

    number: int
    record: Mapping[str, object] | bytes = b""
    """The record, as a line of JSON or by column; of a row that failed, what was given."""
    error: str | None = None
    tokens: int = 0
    original_tokens: int = 0


class Totals(NamedTuple):
    """The rows that are done, and their tokens."""

    rows: int = 0
    errors: int = 0
    """The rows that failed."""
    original_tokens: int = 0
    tokens: int = 0

    @property
    def saved(self) -> int:
        """The tokens that were saved."""
        return self.original_tokens - self.tokens

    def plus(self, outcome: RowOutcome) -> "Totals":
        """Return the totals with one row more."""
        return Totals(
            self.rows + 1,
            self.errors + (outcome.error is not None),
            self.original_tokens + outcome.original_tokens,
            self.tokens + outcome.tokens,
        )


@dataclass(frozen=True, slots=True)
class BatchStats:
    """The statistics of a batch."""

    totals: Totals
    """All rows of the output, also those of earlier runs."""
    rows: int
    """The rows of this run."""
    seconds: float
    """The time of this run."""
    workers: int
    """The processes that worked."""

    def to_dict(self) -> dict[str, int | float]:
        """Return the numbers by name."""
        totals = self.totals
        share = totals.saved / totals.original_tokens if totals.original_tokens else 0.0
        return {
            "rows": totals.rows,
            "errors": totals.errors,
            "original_tokens": totals.original_tokens,
            "tokens": totals.tokens,
            "tokens_saved": totals.saved,
            "savings_percent": round(100 * share, 2),
            "rows_of_this_run": self.rows,
            "seconds_of_this_run": round(self.seconds, 3),
            "rows_per_second": round(self.rows / max(self.seconds, 1e-9), 1),
            "workers": self.workers,
        }


class CompressRecords:
    """The work on rows of files. An error is an outcome, too."""

    def __init__(self, config: CompressionConfig, fields: FieldNames, *, as_lines: bool) -> None:
        """as_lines: write records as lines of JSON, and not as columns by name."""
        self._compressor, self._fields, self._as_lines = Compressor(config), fields, as_lines

    def prepare(self) -> None:
        """Load the vocabulary, so that no row waits for it."""
        self._compressor.count("")

    def do(self, row: Row, /) -> RowOutcome:
        """Compress the passages of a row."""
        try:
            return self._compressed(row)
        except CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - any error of a row, also one of an encoder, is its outcome
            return RowOutcome(row.number, row.content, f"{type(error).__name__}: {error}")

    def lost(self, row: Row, /) -> RowOutcome:
        """Return the error of a row that ended its process."""
        return RowOutcome(row.number, row.content, f"BrokenProcessPool: {LOST}")

    def _compressed(self, row: Row) -> RowOutcome:
        columns = _columns(row.content)
        result = self._compressor.compress(*_parts(columns, self._fields))
        others = {name: value for name, value in columns.items() if name != self._fields.passages}
        before = result.stats.original_tokens
        values = (result.text, result.tokens, before, [_kept(part) for part in result.passages])
        record = {**others, "row": row.number, **dict(zip(RESULT_COLUMNS, values, strict=True))}
        written: Mapping[str, object] | bytes = record
        if self._as_lines:
            written = json_line(record)
        elif isinstance(row.content, bytes):  # Parquet cannot hold half of a surrogate pair, nor an id of any type
            json.dumps(record, ensure_ascii=False, default=str).encode()
            written = {**record, "id": None if record.get("id") is None else str(record["id"])}
        return RowOutcome(row.number, written, None, result.tokens, before)


def json_line(record: Mapping[str, object]) -> bytes:
    """Return a record as a line of JSON in UTF-8. What JSON has no type for, such as a date, becomes a string."""
    try:
        return json.dumps(record, ensure_ascii=False, default=str).encode() + b"\n"
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON can write and UTF-8 cannot
        return json.dumps(record, default=str).encode() + b"\n"


def _columns(content: bytes | Mapping[str, object]) -> Mapping[str, object]:
    if not isinstance(content, bytes):
        return content
    try:
        columns = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InputError(f"the line is not JSON ({error}); write one JSON object per line") from error
    if not isinstance(columns, dict):
        raise InputError(f"the line is a JSON {type(columns).__name__}; write an object with a query and passages")
    return columns


def _parts(columns: Mapping[str, object], fields: FieldNames) -> tuple[str | None, PassageInput]:
    missing = [name for name in fields if name not in columns]
    if missing:
        names = ", ".join(map(str, columns))
        raise InputError(
            f"the row has no {missing[0]!r} but {names}; name its columns with --query-field and --passages-field"
        )
    query, passages = columns[fields.query], columns[fields.passages]
    return cast("str | None", query), cast(PassageInput, passages)


def _kept(part: KeptPassage) -> dict[str, object]:
    return {
        "index": part.index,
        "id": part.id,
        "text": part.text,
        "spans": [[start, end] for start, end in part.spans],
        "tokens": part.tokens,
        "relevance": float(part.relevance),
    }
