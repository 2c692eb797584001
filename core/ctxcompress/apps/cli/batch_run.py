"""The command `batch`: its progress bar, its statistics, and what a stop means."""

import json
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from ctxcompress.apps.batch.job import BatchJob
from ctxcompress.apps.batch.ray import run_on_ray
from ctxcompress.apps.batch.row_files import found_files
from ctxcompress.apps.batch.row_records import BatchStats, FieldNames, Totals
from ctxcompress.apps.cli.batch_command import Request
from ctxcompress.apps.cli.report import complain, error_screen, write_text
from ctxcompress.apps.prices import InputPrice
from ctxcompress.config.options import CompressionConfig
from ctxcompress.errors import ConfigError

__all__ = ["run_batch"]

_STOPPED = 130


def run_batch(request: Request, options: CompressionConfig, price: InputPrice | None, *, as_json: bool) -> bool:
    """Compress the rows, show the statistics, and return whether some rows failed. If it is stopped, exit.

    options: of all rows. price: that of the language model, to say what is saved. as_json: write the statistics to
    standard output as JSON, not as a table.
    """
    if request.engine == "local" and request.address is not None:
        raise ConfigError(f"--address {request.address} is given without --engine ray; give both or neither")
    try:
        with _stoppable():
            stats = (_on_ray if request.engine == "ray" else _on_this_machine)(request, options)
    except KeyboardInterrupt:
        again = "the same command goes on there" if request.engine == "local" else "begin anew with --overwrite"
        complain(f"stopped before the end of {request.output!r}; {again}")
        raise typer.Exit(_STOPPED) from None
    except OSError as error:
        complain(f"{error.filename or request.output!r} cannot be read or written ({error.strerror or error})")
        raise typer.Exit(1) from error
    numbers = stats.to_dict()
    if price:
        numbers |= _saved(numbers, price)
    if as_json:
        write_text(json.dumps(numbers, indent=2))
    else:
        error_screen().print(_table(numbers))
    if numbers["errors"]:
        complain(f"rows that failed: {numbers['errors']}; {request.output}.errors.jsonl says why")
    return bool(numbers["errors"])


def _saved(numbers: Mapping[str, int | float], price: InputPrice) -> dict[str, float]:
    """Return the dollars that the rows save on average, as so many calls."""
    rows = int(numbers["rows"]) or 1
    mean = int(numbers["original_tokens"]) // rows, int(numbers["tokens"]) // rows
    saving = price.saving([mean], rows)
    return {
        "dollars": round(float(saving.before), 6),
        "dollars_saved": round(float(saving.before - saving.after), 6),
        "dollars_saved_if_cached": round(float(saving.before_cached - saving.after_cached), 6),
    }


def _on_this_machine(request: Request, options: CompressionConfig) -> BatchStats:
    files = [file for pattern in request.inputs for file in found_files(pattern)]
    job = BatchJob(files=files, output=Path(request.output), config=options, fields=_fields(request))
    with _bar(error_screen(), job) as progress:
        return job.run(workers=request.workers, progress=progress, anew=request.overwrite)


def _on_ray(request: Request, options: CompressionConfig) -> BatchStats:
    return run_on_ray(
        request.inputs,
        request.output,
        config=options,
        fields=_fields(request),
        actors=request.workers,
        address=request.address,
        overwrite=request.overwrite,
    )


def _fields(request: Request) -> FieldNames:
    return FieldNames(request.query_field, request.passages_field)


@contextmanager
def _stoppable() -> Iterator[None]:
    """Treat a request to end (SIGTERM) as Ctrl-C, so that what is done gets written."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _bar(screen: Console, job: BatchJob) -> Iterator[Callable[[Totals], object]]:
    """Yield a function that shows the totals, if somebody looks."""
    if not screen.is_terminal:
        yield lambda _: None
        return
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rates]}"), TimeRemainingColumn())
    with Progress(*columns, console=screen) as progress:
        task = progress.add_task("rows", total=sum(file.count() for file in job.files), rates="")
        first: list[Totals] = []

        def show(totals: Totals) -> None:
            first[:] = first or [totals]
            seconds = max(progress.tasks[task].elapsed or 0.0, 0.1)
            rows, saved = totals.rows - first[0].rows, totals.saved - first[0].saved
            rates = f"{rows / seconds:,.0f} rows/s, {saved / seconds:,.0f} tokens saved/s"
            progress.update(task, completed=totals.rows, rates=rates)

        yield show


def _table(numbers: dict[str, int | float]) -> Table:
    table = Table("ctxcompress batch", "", show_edge=False)
    for name, value in numbers.items():
        table.add_row(name.replace("_", " "), f"{value:,}")
    return table
