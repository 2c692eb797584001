"""Compress the rows of a Ray dataset, on one machine or many. It needs the extra `ray`; importing this does not.

    import ray
    from ctxcompress.apps.batch.ray import compress_dataset

    dataset = ray.data.read_parquet("s3://bucket/rows/")  # columns "query" and "passages"
    compress_dataset(dataset, config=CompressionConfig(max_tokens=500)).write_parquet("s3://bucket/compressed/")

Each actor loads its vocabulary and its encoder once. Ray gives the rows of an actor that ends to another one.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

from ctxcompress.apps.batch.outputs import result_schema, result_types
from ctxcompress.apps.batch.processes import usable_cores
from ctxcompress.apps.batch.row_files import check_apart
from ctxcompress.apps.batch.row_records import (
    RESULT_COLUMNS,
    USUAL_FIELDS,
    BatchStats,
    CompressRecords,
    FieldNames,
    Row,
    RowOutcome,
    Totals,
    json_line,
)
from ctxcompress.config.options import CompressionConfig
from ctxcompress.errors import ConfigError, InputError, MissingExtra

__all__ = ["CompressBatch", "compress_dataset", "run_on_ray"]

_ROWS_AT_ONCE = 64
_LINE = "text"
"""The column in which `ray.data.read_text` puts a line."""


class CompressBatch:
    """Compresses the rows of a batch: a class for `Dataset.map_batches`, of which each actor makes one object.

        dataset.map_batches(
            CompressBatch,
            fn_constructor_kwargs={"config": CompressionConfig(max_tokens=500)},
            batch_format="pyarrow",
            compute=ray.data.ActorPoolStrategy(size=8),
        )

    The passages of each row are replaced by the kept ones. There are new columns: `text`, `tokens`,
    `original_tokens`, and `error`, which is null unless the row failed. All other columns stay.
    """

    def __init__(
        self,
        config: CompressionConfig | None = None,
        *,
        query_field: str = "query",
        passages_field: str = "passages",
        lines: bool = False,
    ) -> None:
        """query_field, passages_field: the columns of the query and the passages. lines: the rows are lines of JSON in
        a column "text", as `ray.data.read_text` makes them; a line that cannot be read is a row that failed.

        Raises TokenizerUnavailable.
        """
        self._fields, self._lines = FieldNames(query_field, passages_field), lines
        self._work = CompressRecords(config or CompressionConfig(), self._fields, as_lines=False)
        self._work.prepare()

    def __call__(self, batch: Any) -> Any:
        """Return the compressed rows of a `pyarrow.Table`. Raises InputError for a batch in another form."""
        import pyarrow

        if not isinstance(batch, pyarrow.Table):
            raise InputError(f"the batch is a {type(batch).__name__}; give batch_format='pyarrow' to map_batches")
        rows = [row[_LINE].encode("utf-8", "surrogatepass") if self._lines else row for row in batch.to_pylist()]
        outcomes = [self._work.do(Row(number, content)) for number, content in enumerate(rows)]
        return pyarrow.Table.from_pylist(list(map(self._record, outcomes)), schema=self._schema(batch.schema))

    def _record(self, outcome: RowOutcome) -> Mapping[str, object]:
        given = outcome.record
        if isinstance(given, bytes):
            return {"error": outcome.error, "input": given.decode(errors="replace")}
        if outcome.error is None:
            return given
        own = {name: value for name, value in given.items() if name not in (self._fields.passages, *RESULT_COLUMNS)}
        return {**own, "error": outcome.error, "input": json_line(given).decode(errors="replace").rstrip()}

    def _schema(self, given: Any) -> Any:
        import pyarrow

        types = {**result_types(), "error": pyarrow.string(), "input": pyarrow.string()}
        return result_schema(None if self._lines else given, self._fields, types)


def compress_dataset(
    dataset: Any,
    *,
    config: CompressionConfig | None = None,
    actors: int | None = None,
    fields: FieldNames = USUAL_FIELDS,
    lines: bool = False,
) -> Any:
    """Return a Ray dataset with the rows of another one compressed: see `CompressBatch`. It runs when it is used.

    actors: the most processes, each on one core; None for one on each core that the cluster has. They become as many
    while cores are free. lines: see `CompressBatch`.
    """
    return dataset.map_batches(
        CompressBatch,
        fn_constructor_kwargs={
            "config": config,
            "query_field": fields.query,
            "passages_field": fields.passages,
            "lines": lines,
        },
        batch_format="pyarrow",
        batch_size=_ROWS_AT_ONCE,
        # Not all at once: reading and writing need a core, too.
        compute=_ray().data.ActorPoolStrategy(min_size=1, max_size=actors or _cores()),
    )


def run_on_ray(
    inputs: Sequence[str],
    output: str,
    *,
    config: CompressionConfig,
    fields: FieldNames = USUAL_FIELDS,
    actors: int | None = None,
    address: str | None = None,
    overwrite: bool = False,
) -> BatchStats:
    """Compress files of rows into a folder of files, and return the statistics.

    inputs: paths that Ray can read, of Parquet if they end in .parquet, and of JSON Lines otherwise. output: a folder
    for files of Parquet if it ends in .parquet, and of JSON Lines otherwise. address: the cluster; None starts one on
    this machine. overwrite: write the output anew if it exists.

    Raises MissingExtra, and ConfigError if the output exists or has an input in it.
    """
    ray = _ray()
    check_apart(Path(output), inputs)
    if Path(output).exists() and not overwrite:
        raise ConfigError(f"{output!r} exists; give another output, or --overwrite")
    since = monotonic()
    with _cluster(ray, address, actors):
        is_lines = not all(path.rstrip("/").endswith(".parquet") for path in inputs)
        read = ray.data.read_text if is_lines else ray.data.read_parquet
        dataset = compress_dataset(read(list(inputs)), config=config, actors=actors, fields=fields, lines=is_lines)
        is_parquet, mode = output.endswith(".parquet"), ray.data.SaveMode.OVERWRITE
        (dataset.write_parquet if is_parquet else dataset.write_json)(output, mode=mode)
        workers = actors or _cores()
    totals = _totals(output, "parquet" if is_parquet else "json")
    return BatchStats(totals, totals.rows, monotonic() - since, workers)


def _ray() -> Any:
    try:
        import ray.data
    except ImportError as error:
        raise MissingExtra("the engine ray needs ray; install it with: pip install 'ctxcompress[ray]'") from error
    return ray


def _cores() -> int:
    return int(_ray().cluster_resources().get("CPU", 1))


@contextmanager
def _cluster(ray: Any, address: str | None, actors: int | None) -> Iterator[None]:
    """Connect to a cluster, or start one on this machine, unless the process has one already."""
    if ray.is_initialized():
        yield
        return
    # On this machine, with a core on paper for reading and writing, which take little.
    local = {} if address else {"num_cpus": (actors or usable_cores()) + 1, "include_dashboard": False}
    ray.init(address=address, **local)
    try:
        yield
    finally:
        ray.shutdown()


def _totals(output: str, form: str) -> Totals:
    """Return the totals of an output, and write its errors beside it if it is on this machine."""
    import pyarrow.dataset

    text, number = pyarrow.string(), pyarrow.int64()
    schema = pyarrow.schema({"error": text, "input": text, "tokens": number, "original_tokens": number})
    totals, failed = Totals(), list[bytes]()
    for batch in pyarrow.dataset.dataset(output, format=form, schema=schema).to_batches():
        for row in batch.to_pylist():
            before, after = row["original_tokens"] or 0, row["tokens"] or 0
            totals = totals.plus(RowOutcome(0, error=row["error"], original_tokens=before, tokens=after))
            if row["error"] is not None:
                failed.append(json_line({"error": row["error"], "input": row["input"]}))
    if "://" not in output:
        Path(f"{output}.errors.jsonl").write_bytes(b"".join(failed))
    return totals
