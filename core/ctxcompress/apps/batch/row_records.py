"""Rows of files and the records that are written for them, in types that JSON and Parquet have."""

import json
from collections.abc import Mapping
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import NamedTuple, cast

from ctxcompress.apps.batch.processes import LOST
from ctxcompress.compressor import Compressor, PassageInput
from ctxcompress.config.options import CompressionConfig
from ctxcompress.data.results import Compression, KeptPassage
from ctxcompress.errors import InputError

__all__ = ["RESULT_COLUMNS", "USUAL_FIELDS", "CompressRecords", "FieldNames", "Row", "RowOutcome", "json_line"]

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
        query, passages = _parts(columns, self._fields)
        result = self._compressor.compress(query, passages)
        others = {name: value for name, value in columns.items() if name != self._fields.passages}
        before = result.stats.original_tokens
        record = {**others, "row": row.number, **_described(result, before)}
        written: Mapping[str, object] | bytes = record
        if self._as_lines:
            written = json_line(record)
        elif isinstance(row.content, bytes):
            written = _for_columns(record)
        return RowOutcome(row.number, written, None, result.tokens, before)


def json_line(record: Mapping[str, object]) -> bytes:
    """Return a record as a line of JSON in UTF-8. What JSON has no type for, such as a date, becomes a string."""
    try:
        return json.dumps(record, ensure_ascii=False, default=str).encode() + b"\n"
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON can write and UTF-8 cannot
        return json.dumps(record, default=str).encode() + b"\n"


def _for_columns(record: Mapping[str, object]) -> Mapping[str, object]:
    """Return what a line said as Parquet has it: with an id that is a string. Raises UnicodeEncodeError for half of a
    surrogate pair, which Parquet cannot hold."""
    json.dumps(record, ensure_ascii=False, default=str).encode()
    return {**record, "id": None if record.get("id") is None else str(record["id"])}


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


def _described(result: Compression, before: int) -> dict[str, object]:
    """Return the columns of a result. before: the tokens of its input."""
    values = (result.text, result.tokens, before, [_kept(part) for part in result.passages])
    return dict(zip(RESULT_COLUMNS, values, strict=True))


def _kept(part: KeptPassage) -> dict[str, object]:
    return {
        "index": part.index,
        "id": part.id,
        "text": part.text,
        "spans": [[start, end] for start, end in part.spans],
        "tokens": part.tokens,
        "relevance": float(part.relevance),
    }
