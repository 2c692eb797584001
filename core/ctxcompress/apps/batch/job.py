"""Compress files of rows into a file, so that a second run goes on where the first one stopped.

Beside the output OUT there are two files. `OUT.errors.jsonl` has the rows that failed, with the reason.
`OUT.batch.json` says which inputs and options the output belongs to, and has the statistics.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from ctxcompress.apps.batch.outputs import JsonLinesSink, ParquetSink, ResumableOutput, Sink
from ctxcompress.apps.batch.processes import ProcessMap
from ctxcompress.apps.batch.row_files import RowFile, check_apart, check_form, is_parquet, rows_of
from ctxcompress.apps.batch.row_records import USUAL_FIELDS, BatchStats, CompressRecords, FieldNames, Totals
from ctxcompress.config.options import OPTIONS, CompressionConfig
from ctxcompress.errors import ConfigError
from ctxcompress.version import __version__

__all__ = ["BatchJob"]

_NOT_IN_THE_TEXT = ("cache", "telemetry")
"""Options on which no output depends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchJob:
    """The work of a batch: its files and options.

    The name of the output decides its form. `.jsonl` is a file of JSON Lines. `.parquet` is a folder of part files, of
    which none is written by halves. Raises ConfigError for another name, and for an output that has an input in it.
    """

    files: Sequence[RowFile]
    output: Path
    config: CompressionConfig
    fields: FieldNames = USUAL_FIELDS
    rows_per_part: int = 10_000

    def __post_init__(self) -> None:
        check_form(self.output)
        check_apart(self.output, (file.path for file in self.files))

    @property
    def errors_path(self) -> Path:
        """The file of the rows that failed."""
        return self.output.with_name(f"{self.output.name}.errors.jsonl")

    @property
    def stats_path(self) -> Path:
        """The file of the statistics, which also says what the output belongs to."""
        return self.output.with_name(f"{self.output.name}.batch.json")

    def run(
        self, *, workers: int | None = None, progress: Callable[[Totals], object] = lambda _: None, anew: bool = False
    ) -> BatchStats:
        """Compress the rows that the output does not have yet, and return the statistics.

        progress: called with the totals before the first row and after each. anew: forget what the output has.

        Raises ConfigError if the output exists and belongs to other inputs or options, or if another batch writes it.
        """
        if anew:
            self._remove()
        self._claim()
        work = CompressRecords(self.config, self.fields, as_lines=not is_parquet(self.output))
        work.prepare()
        with ExitStack() as stack:
            output = stack.enter_context(ResumableOutput(self._sink(), self.errors_path))
            processes = stack.enter_context(ProcessMap(work, workers=workers))
            totals = output.resume()
            progress(totals)
            since, before = monotonic(), totals.rows
            for outcome in processes.map(rows_of(self.files, totals.rows)):
                output.add(outcome)
                totals = totals.plus(outcome)
                progress(totals)
            stats = BatchStats(totals, totals.rows - before, monotonic() - since, processes.processes)
        _replace(self.stats_path, {"job": self._description(), "stats": stats.to_dict()})
        return stats

    def _sink(self) -> Sink:
        if is_parquet(self.output):
            return ParquetSink(self.output, self.files, self.fields, self.rows_per_part)
        return JsonLinesSink(self.output)

    def _claim(self) -> None:
        """Check that the output is new, or belongs to the same inputs and options."""
        described = self._description()
        try:
            known = json.loads(self.stats_path.read_bytes()).get("job")
        except FileNotFoundError:
            known = None
        except (OSError, ValueError, AttributeError):
            known = {}
        if known is None and self.output.exists():
            raise ConfigError(f"{str(self.output)!r} exists; give another output, or --overwrite")
        for name, value in described.items() if known is not None else ():
            if known.get(name) != value:
                raise ConfigError(
                    f"{str(self.output)!r} was begun with other {name}; give the same to go on, another output, or "
                    "--overwrite"
                )
        if known is None:
            _replace(self.stats_path, {"job": described})

    def _description(self) -> dict[str, object]:
        """Return what the output depends on."""
        options = {name: _shown(getattr(self.config, name)) for name in OPTIONS if name not in _NOT_IN_THE_TEXT}
        changed = {name: value for name, value in options.items() if value != _shown(OPTIONS[name].default)}
        return {
            "inputs": [[str(file.path), file.size] for file in self.files],
            "options": {**changed, "fields": list(self.fields)},
            "version": __version__,
        }

    def _remove(self) -> None:
        if self.output.is_dir():
            ParquetSink.remove(self.output)
        else:
            self.output.unlink(missing_ok=True)
        for path in (self.errors_path, self.stats_path):
            path.unlink(missing_ok=True)


def _replace(path: Path, content: Mapping[str, object]) -> None:
    """Write a JSON file so that there is always the old one or the new one."""
    new = path.with_name(f"{path.name}.new")
    new.write_text(json.dumps(content, indent=2, default=str) + "\n", encoding="utf-8")
    new.replace(path)


def _shown(value: object) -> object:
    """Return an option's value as JSON has it; of an object, such as an encoder, only its class."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        return {str(key): list(item) if isinstance(item, tuple) else item for key, item in value.items()}
    return getattr(value, "__qualname__", type(value).__qualname__)
