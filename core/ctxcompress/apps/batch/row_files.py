"""Read rows from files: JSON Lines, and Parquet with the extra `batch`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from glob import glob, has_magic
from itertools import chain
from pathlib import Path
from typing import Any

from ctxcompress.apps.batch.row_records import Row
from ctxcompress.errors import ConfigError, InputError, MissingExtra

__all__ = ["PARQUET", "RowFile", "check_apart", "check_form", "found_files", "is_parquet", "pyarrow_parquet", "rows_of"]

PARQUET = ".parquet"
_LINES = (".jsonl", ".ndjson", ".json")
_ROWS_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class RowFile:
    """A file of rows."""

    path: Path
    size: int
    """Its bytes."""

    def rows(self, skip: int = 0) -> Iterator[bytes | Mapping[str, object]]:
        """Yield the rows after the first `skip`: lines that are not blank, or rows of Parquet by column."""
        return _parquet_rows(self.path, skip) if is_parquet(self.path) else _lines(self.path, skip)

    def count(self) -> int:
        """Count the rows."""
        if is_parquet(self.path):
            return int(pyarrow_parquet().read_metadata(self.path).num_rows)
        with self.path.open("rb") as file:
            return sum(not line.isspace() for line in file)


def found_files(pattern: str) -> list[RowFile]:
    """Return the files that a path or a glob names, by name; of a folder, its files of rows.

    Raises ConfigError if there is none or one of another kind, and MissingExtra for Parquet without the extra `batch`.
    """
    # Not Path.glob, which takes no absolute pattern.
    paths = sorted(map(Path, glob(pattern, recursive=True))) if has_magic(pattern) else [Path(pattern)]  # noqa: PTH207
    paths = [file for path in paths for file in (_in_folder(path) if path.is_dir() else [path])]
    if not paths:
        raise ConfigError(f"{pattern!r} names no file; give a path, or a glob such as 'rows/*.jsonl'")
    files = []
    for path in paths:
        if path.suffix not in (*_LINES, PARQUET):
            raise ConfigError(f"{str(path)!r} is no file of rows; give .jsonl or .parquet files")
        if is_parquet(path):
            pyarrow_parquet()
        try:
            files.append(RowFile(path, path.stat().st_size))
        except OSError as error:
            raise ConfigError(f"{str(path)!r} cannot be read ({error.strerror}); give a file that can") from error
    return files


def rows_of(files: Sequence[RowFile], first: int = 0) -> Iterator[Row]:
    """Yield the rows of all files, in their order, from the row with the number `first`."""
    number, skip = first, first
    for place, file in enumerate(files):
        size = file.count() if skip else 0
        if skip and skip >= size:
            skip -= size
            continue
        rest = chain.from_iterable([file.rows(skip), *(other.rows() for other in files[place + 1 :])])
        yield from (Row(at, content) for at, content in enumerate(rest, number))
        return


def check_form(output: Path) -> None:
    """Raise ConfigError if the name of an output has another form than rows have."""
    if output.suffix not in (*_LINES, PARQUET):
        raise ConfigError(f"{str(output)!r} is no name for rows; give a .jsonl file, or a folder that ends in .parquet")


def check_apart(output: Path, inputs: Iterable[str | Path]) -> None:
    """Raise ConfigError if an input is the output or in it. To begin anew would delete it."""
    for path in inputs:
        if Path(path).resolve().is_relative_to(output.resolve()):
            raise ConfigError(f"the input {str(path)!r} is in the output {str(output)!r}; give another output")


def is_parquet(path: Path) -> bool:
    """Tell by its name whether a file has the form of Parquet."""
    return path.suffix == PARQUET


def pyarrow_parquet() -> Any:
    """Return the module `pyarrow.parquet`. Raises MissingExtra."""
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtra("Parquet needs pyarrow; install it with: pip install 'ctxcompress[batch]'") from error
    return pyarrow.parquet


def _in_folder(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.suffix in (*_LINES, PARQUET) and path.is_file())


def _lines(path: Path, skip: int) -> Iterator[bytes]:
    with path.open("rb") as file:
        for line in file:
            if not line.isspace():
                if skip:
                    skip -= 1
                else:
                    yield line


def _parquet_rows(path: Path, skip: int) -> Iterator[Mapping[str, object]]:
    try:
        with pyarrow_parquet().ParquetFile(path) as file:
            groups: list[int] = []
            for group in range(file.num_row_groups):
                size = file.metadata.row_group(group).num_rows
                if not groups and skip >= size:
                    skip -= size
                else:
                    groups.append(group)
            # Without a group, some versions of pyarrow fail.
            for batch in file.iter_batches(_ROWS_AT_ONCE, row_groups=groups) if groups else ():
                rows = batch.slice(skip).to_pylist() if skip else batch.to_pylist()
                skip = max(skip - batch.num_rows, 0)
                yield from rows
    except (ValueError, OSError) as error:  # pyarrow's ArrowInvalid is a ValueError
        raise InputError(f"{str(path)!r} is not Parquet that can be read ({error}); write it again") from error
