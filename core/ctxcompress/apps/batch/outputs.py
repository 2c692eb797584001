"""Write what became of the rows of a batch, so that after any end of the process another one can go on.

Outcomes come in the order of their rows. They are held for a moment and then written: first the errors, then the
records. So whatever record is in the output, all rows before it are written, too. After a sudden end a torn last line
is cut off, and errors of rows after the last record are cut off, because these rows are done again.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from time import monotonic
from typing import Any, BinaryIO, Self

from ctxcompress.apps.batch.row_files import RowFile, is_parquet, pyarrow_parquet
from ctxcompress.apps.batch.row_records import RESULT_COLUMNS, FieldNames, RowOutcome, Totals, json_line
from ctxcompress.errors import ConfigError

try:
    import fcntl
except ImportError:  # on Windows, where nothing keeps two batches from writing one output
    fcntl = None  # type: ignore[assignment]

__all__ = ["JsonLinesSink", "ParquetSink", "ResumableOutput", "Sink", "result_schema", "result_types"]

_LINES_AT_ONCE, _SECONDS = 256, 1.0
_PART = "part-{:012d}-{:012d}.parquet"
_PARTS = "part-*-*.parquet"


class ResumableOutput:
    """Records in a sink and errors in a file beside it. Use it as a context manager.

    Raises ConfigError if another process writes the same output.
    """

    def __init__(self, sink: "Sink", errors: Path) -> None:
        self._sink, self._held, self._since = sink, list[RowOutcome](), monotonic()
        self._errors = errors.open("a+b")
        if fcntl is not None:
            try:
                fcntl.flock(self._errors, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                self._errors.close()
                raise ConfigError(f"{str(errors)!r} is in use by another batch; wait for it, or stop it") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with closing(self._errors), closing(self._sink):  # each in any case: the errors have the lock
            self.flush()

    def resume(self) -> Totals:
        """Repair what an earlier run has left, and return the totals of the rows that it has done."""
        totals = self._sink.resume()
        end = errors = 0
        for line, record in _whole_lines(self._errors):
            if record["row"] >= totals.rows:
                break
            end, errors = end + len(line), errors + 1
        self._errors.truncate(end)
        return totals._replace(errors=errors)

    def add(self, outcome: RowOutcome) -> None:
        """Take the outcome of the next row, and write all that are held if it is time."""
        self._held.append(outcome)
        if self._sink.is_due(len(self._held), monotonic() - self._since):
            self.flush()

    def flush(self) -> None:
        """Write all that is held."""
        held, self._held = self._held, []
        self._since = monotonic()
        self._errors.write(b"".join(_error_line(outcome) for outcome in held if outcome.error is not None))
        self._errors.flush()
        if held:
            self._sink.write(held)


class JsonLinesSink:
    """A file with a line of JSON for each record, where records go."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a+b")

    def resume(self) -> Totals:
        """Repair what an earlier run has left, and return the rows up to its last record, without their errors."""
        totals, end = Totals(), 0
        for line, record in _whole_lines(self._file):
            end += len(line)
            rows, before, after = record["row"] + 1, record["original_tokens"], record["tokens"]
            totals = Totals(rows, 0, totals.original_tokens + before, totals.tokens + after)
        self._file.truncate(end)
        return totals

    def is_due(self, rows: int, seconds: float, /) -> bool:
        """Tell whether to write now: rows and seconds since the last time."""
        return rows >= _LINES_AT_ONCE or seconds > _SECONDS

    def write(self, outcomes: Sequence[RowOutcome], /) -> None:
        """Write the records of some rows. Those that failed have none."""
        lines = [
            outcome.record if isinstance(outcome.record, bytes) else json_line(outcome.record)
            for outcome in outcomes
            if outcome.error is None
        ]
        self._file.write(b"".join(lines))
        self._file.flush()

    def close(self) -> None:
        self._file.close()


class ParquetSink:
    """The same as a folder of part files. The name of a part says which rows it has, and it appears when complete."""

    def __init__(self, folder: Path, files: Sequence[RowFile], fields: FieldNames, rows_per_part: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._rows_per_part = folder, rows_per_part
        self._parquet = pyarrow_parquet()
        import pyarrow

        is_table = files and all(is_parquet(file.path) for file in files)
        own = self._parquet.read_schema(files[0].path) if is_table else None
        self._schema = result_schema(own, fields, {"row": pyarrow.int64(), **result_types()})
        self._next = 0

    def resume(self) -> Totals:
        original = tokens = 0
        for path in sorted(self._folder.glob(_PARTS)):
            columns = self._parquet.read_table(path, columns=["original_tokens", "tokens"]).to_pydict()
            original, tokens = original + sum(columns["original_tokens"]), tokens + sum(columns["tokens"])
            self._next = int(path.stem.rpartition("-")[2])
        return Totals(self._next, 0, original, tokens)

    def is_due(self, rows: int, _seconds: float, /) -> bool:
        return rows >= self._rows_per_part

    def write(self, outcomes: Sequence[RowOutcome], /) -> None:
        import pyarrow

        first, self._next = self._next, outcomes[-1].number + 1
        records = [outcome.record for outcome in outcomes if outcome.error is None]
        path = self._folder / _PART.format(first, self._next)
        unfinished = path.with_suffix(".unfinished")
        self._parquet.write_table(pyarrow.Table.from_pylist(records, schema=self._schema), unfinished)
        unfinished.replace(path)

    def close(self) -> None:
        """Do nothing: all parts are complete."""

    @staticmethod
    def remove(folder: Path) -> None:
        """Remove the parts, and the folder if nothing else is in it."""
        for path in [*folder.glob(_PARTS), *folder.glob("*.unfinished")]:
            path.unlink()
        if not any(folder.iterdir()):
            folder.rmdir()


Sink = JsonLinesSink | ParquetSink


def _whole_lines(file: BinaryIO) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """Yield the lines up to the first that is torn, with what they say."""
    file.seek(0)
    for line in file:
        try:
            record = json.loads(line) if line.endswith(b"\n") else None
        except ValueError:
            return
        if not isinstance(record, dict) or not isinstance(record.get("row"), int):
            return
        yield line, record


def _error_line(outcome: RowOutcome) -> bytes:
    given = outcome.record
    content = given.decode(errors="replace").rstrip("\r\n") if isinstance(given, bytes) else given
    return json_line({"row": outcome.number, "error": outcome.error, "input": content})


def result_types() -> dict[str, Any]:
    """Return the columns of a result with their types in Arrow."""
    import pyarrow

    text, number = pyarrow.string(), pyarrow.int64()
    kept = {
        "index": number,
        "id": text,
        "text": text,
        "spans": pyarrow.list_(pyarrow.list_(number)),
        "tokens": number,
        "relevance": pyarrow.float64(),
    }
    types = (text, number, number, pyarrow.list_(pyarrow.struct(kept)))
    return dict(zip(RESULT_COLUMNS, types, strict=True))


def result_schema(own: Iterable[Any] | None, fields: FieldNames, types: Mapping[str, Any]) -> Any:
    """Return the columns of an output: those of Parquet inputs, or the query and an id, and then these types."""
    import pyarrow

    own = [pyarrow.field(name, pyarrow.string()) for name in (fields.query, "id")] if own is None else own
    return pyarrow.schema([*(field for field in own if field.name not in (fields.passages, *types)), *types.items()])
