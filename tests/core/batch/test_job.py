"""Batches of files: what is written, and what a second run makes of what the first one left."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from batch_rows import rows
from hypothesis import given
from hypothesis import strategies as st

from ctxcompress import CompressionConfig, compress
from ctxcompress.apps.batch.job import BatchJob
from ctxcompress.apps.batch.outputs import JsonLinesSink, ResumableOutput
from ctxcompress.apps.batch.row_files import found_files
from ctxcompress.apps.batch.row_records import RowOutcome, Totals
from ctxcompress.errors import ConfigError

CONFIG = CompressionConfig(max_tokens=30)
BAD = {3: b"{torn\n", 4: b'{"query": "x"}\n', 9: b'{"query": "x", "passages": [5]}\n'}
COUNT = 10


def lines(count: int = COUNT) -> Iterator[bytes]:
    for number, (query, passages) in enumerate(rows(count)):
        row = {"id": f"row {number}", "query": query, "passages": passages, "lang": "en"}
        yield BAD.get(number, json.dumps(row).encode() + b"\n")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Two files of rows, with blank lines."""
    given = list(lines())
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(given[:6]))
    (tmp_path / "b.jsonl").write_bytes(b"".join(given[6:]).rstrip(b"\n"))
    return tmp_path


def job(source: Path, output: Path, *, config: CompressionConfig = CONFIG, rows_per_part: int = 4) -> BatchJob:
    files = found_files(f"{source}/[ab].jsonl")
    return BatchJob(files=files, output=output, config=config, rows_per_part=rows_per_part)


def read(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def parts(folder: Path) -> list[dict[str, object]]:
    parquet = pytest.importorskip("pyarrow.parquet")
    return [row for path in sorted(folder.glob("*.parquet")) for row in parquet.read_table(path).to_pylist()]


def test_lines_become_the_results_of_single_calls(source: Path) -> None:
    stats = job(source, source / "out.jsonl").run(workers=1)
    found = read(source / "out.jsonl")
    assert [record["row"] for record in found] == [number for number in range(COUNT) if number not in BAD]
    for record in found:
        number = record["row"]
        assert isinstance(number, int)
        result = compress(*rows(COUNT)[number], config=CONFIG)
        assert (record["id"], record["lang"], record["query"]) == (f"row {number}", "en", result.query)
        assert (record["text"], record["tokens"]) == (result.text, result.tokens)
        assert record["original_tokens"] == result.stats.original_tokens
        assert record["passages"] == [
            {
                "index": part.index,
                "id": part.id,
                "text": part.text,
                "spans": [list(span) for span in part.spans],
                "tokens": part.tokens,
                "relevance": part.relevance,
            }
            for part in result.passages
        ]
    errors = read(source / "out.jsonl.errors.jsonl")
    assert [(error["row"], error["input"]) for error in errors] == [
        (number, line.decode().rstrip()) for number, line in BAD.items()
    ]
    assert "is not JSON" in str(errors[0]["error"])
    assert "has no 'passages' but query" in str(errors[1]["error"])
    assert (stats.totals.rows, stats.totals.errors) == (COUNT, len(BAD))
    assert json.loads((source / "out.jsonl.batch.json").read_text())["stats"] == stats.to_dict()


def test_parquet_has_the_same_and_can_be_an_input(source: Path) -> None:
    job(source, source / "out.jsonl").run(workers=1)
    job(source, source / "out.parquet").run(workers=1)
    names = sorted(path.name for path in (source / "out.parquet").iterdir())
    assert names == [
        "part-000000000000-000000000004.parquet",
        "part-000000000004-000000000008.parquet",
        "part-000000000008-000000000010.parquet",
    ]
    of_lines = [{k: v for k, v in row.items() if k != "lang"} for row in read(source / "out.jsonl")]
    assert parts(source / "out.parquet") == of_lines
    again = BatchJob(files=found_files(str(source / "out.parquet")), output=source / "2.parquet", config=CONFIG)
    again.run(workers=1)
    assert [row["text"] for row in parts(source / "2.parquet")] == [row["text"] for row in of_lines]
    assert (source / "2.parquet.errors.jsonl").read_bytes() == b""


outcomes = st.lists(st.booleans(), max_size=12)


@given(outcomes, st.integers(0, 400), st.integers(0, 3))
def test_after_any_end_each_row_is_written_once(fails: list[bool], cut: int, held: int) -> None:
    """Write some of the rows, cut the output anywhere in its last line, and go on."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path, errors = Path(folder, "out.jsonl"), Path(folder, "errors.jsonl")
        done = [
            RowOutcome(n, b"given", "it failed") if fail else RowOutcome(n, _record(n), None, 1, 2)
            for n, fail in enumerate(fails)
        ]
        _write(path, errors, done[: len(done) - held])
        if path.stat().st_size:
            last = path.read_bytes().splitlines(keepends=True)[-1]
            with path.open("r+b") as file:
                file.truncate(path.stat().st_size - cut % (len(last) + 1))
        _write(path, errors, done)
        assert [row["row"] for row in read(path)] == [n for n, fail in enumerate(fails) if not fail]
        assert [row["row"] for row in read(errors)] == [n for n, fail in enumerate(fails) if fail]


def _record(number: int) -> bytes:
    return b'{"row": %d, "tokens": 1, "original_tokens": 2}\n' % number


def _write(path: Path, errors: Path, outcomes: Sequence[RowOutcome]) -> None:
    with ResumableOutput(JsonLinesSink(path), errors) as output:
        totals = output.resume()
        good = totals.rows - totals.errors
        assert totals == Totals(totals.rows, totals.errors, 2 * good, good)
        for outcome in outcomes[totals.rows :]:
            output.add(outcome)


def test_a_part_is_there_whole_or_not_at_all(source: Path) -> None:
    output = source / "out.parquet"
    expected = job(source, output).run(workers=1).totals
    whole = parts(output)
    (output / "part-000000000008-000000000010.parquet").rename(output / "part-000000000008-000000000010.unfinished")
    stats = job(source, output).run(workers=1)
    assert parts(output) == whole
    assert (stats.totals, stats.rows) == (expected, 2)
    assert [error["row"] for error in read(source / "out.parquet.errors.jsonl")] == list(BAD)


def test_an_output_of_other_inputs_or_options_is_not_continued(source: Path) -> None:
    output = source / "out.jsonl"
    job(source, output).run(workers=1)
    with pytest.raises(ConfigError, match="was begun with other options"):
        job(source, output, config=CompressionConfig(max_tokens=31)).run()
    with (source / "b.jsonl").open("ab") as file:
        file.write(b"\n[]")
    with pytest.raises(ConfigError, match="was begun with other inputs"):
        job(source, output).run()
    assert job(source, output).run(workers=1, anew=True).rows == COUNT + 1
    (source / "mine.jsonl").write_text("mine")
    with pytest.raises(ConfigError, match=r"mine.jsonl' exists; give another output, or --overwrite"):
        job(source, source / "mine.jsonl").run()
    assert (source / "mine.jsonl").read_text() == "mine"


def test_one_output_is_written_by_one_batch(source: Path) -> None:
    pytest.importorskip("fcntl")
    with (
        ResumableOutput(JsonLinesSink(source / "out.jsonl"), source / "errors.jsonl"),
        pytest.raises(ConfigError, match="in use by another batch"),
    ):
        ResumableOutput(JsonLinesSink(source / "out.jsonl"), source / "errors.jsonl")


@pytest.mark.parametrize("name", ["out.csv", "out", "out.txt", "out.jsonl.gz", "out.xlsx"])
def test_an_output_whose_name_says_another_form_is_refused(source: Path, name: str) -> None:
    with pytest.raises(ConfigError, match=r"is no name for rows; give a \.jsonl file, or a folder that ends in \.parq"):
        job(source, source / name)
    assert {path.name for path in source.iterdir()} == {"a.jsonl", "b.jsonl"}


def test_an_input_is_never_the_output(source: Path) -> None:
    before = (source / "a.jsonl").read_bytes()
    (source / "link.jsonl").symlink_to(source / "a.jsonl")
    for output in (source / "a.jsonl", source / "link.jsonl", source / "." / "b.jsonl"):
        with pytest.raises(ConfigError, match=r"the input .* is in the output .*; give another output"):
            job(source, output).run(workers=1, anew=True)
    assert (source / "a.jsonl").read_bytes() == before
