"""Batches on a cluster of Ray, which the tests start on this machine."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from batch_rows import rows

from ctxcompress import CompressionConfig, compress
from ctxcompress.apps.batch.ray import CompressBatch, compress_dataset, run_on_ray
from ctxcompress.errors import ConfigError, InputError

pyarrow = pytest.importorskip("pyarrow")

CONFIG = CompressionConfig(max_tokens=30)


def table(count: int) -> Any:
    given = [{"id": number, "query": query, "passages": texts} for number, (query, texts) in enumerate(rows(count))]
    return pyarrow.Table.from_pylist(given)


def test_a_batch_is_compressed_row_by_row() -> None:
    found = CompressBatch(CONFIG)(table(5))
    assert found.column_names == [*("id", "query", "text", "tokens", "original_tokens", "passages", "error", "input")]
    for number, row in enumerate(found.to_pylist()):
        result = compress(*rows(5)[number], config=CONFIG)
        assert (row["id"], row["text"], row["tokens"], row["error"]) == (number, result.text, result.tokens, None)


def test_a_row_that_fails_keeps_its_columns() -> None:
    given = pyarrow.Table.from_pylist([{"id": 1, "q": "x", "passages": ["y"]}])
    (row,) = CompressBatch(CONFIG)(given).to_pylist()
    assert (row["id"], row["q"], row["text"], json.loads(row["input"])) == (1, "x", None, given.to_pylist()[0])
    assert "has no 'query'" in row["error"]
    (line,) = CompressBatch(CONFIG, lines=True)(pyarrow.table({"text": ["{torn"]})).to_pylist()
    assert (line["input"], line["text"]) == ("{torn", None)


def test_a_batch_in_another_form_is_refused() -> None:
    with pytest.raises(InputError, match="batch_format='pyarrow'"):
        CompressBatch(CONFIG)({"query": ["x"]})


class _EndsOnce(CompressBatch):
    """Ends the process of the first actor that comes to a certain row."""

    def __init__(self, marker: str, **options: Any) -> None:
        super().__init__(CONFIG, **options)
        self._marker = Path(marker)

    def __call__(self, batch: Any) -> Any:
        if 150 in batch["id"].to_pylist() and not self._marker.exists():
            self._marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__call__(batch)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    ray = pytest.importorskip("ray")
    pytest.importorskip("ray.data")
    here = {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])}
    ray.init(num_cpus=3, include_dashboard=False, runtime_env={"env_vars": here})
    yield ray
    ray.shutdown()


@pytest.mark.slow("starts a cluster")
@pytest.mark.enable_socket
def test_an_actor_that_ends_in_the_middle_loses_and_repeats_nothing(cluster: Any, tmp_path: Path) -> None:
    dataset = cluster.data.from_arrow(table(300)).repartition(30)
    found = dataset.map_batches(
        _EndsOnce,
        fn_constructor_kwargs={"marker": str(tmp_path / "ended")},
        batch_format="pyarrow",
        batch_size=10,
        compute=cluster.data.ActorPoolStrategy(size=2),
    )
    found.write_parquet(str(tmp_path / "out.parquet"))
    assert (tmp_path / "ended").exists()
    written = pyarrow.parquet.read_table(tmp_path / "out.parquet").to_pylist()
    texts = [(row["id"], row["text"]) for row in sorted(written, key=lambda row: row["id"])]
    assert texts == [(number, compress(*row, config=CONFIG).text) for number, row in enumerate(rows(300))]


@pytest.mark.slow("starts a cluster")
@pytest.mark.enable_socket
def test_the_command_reads_and_writes_what_ray_does(cluster: Any, tmp_path: Path) -> None:
    given = table(40).to_pylist()
    (tmp_path / "in.jsonl").write_text("\n".join([*map(json.dumps, given[:20]), "{torn", *map(json.dumps, given[20:])]))
    output = str(tmp_path / "out.parquet")
    stats = run_on_ray([str(tmp_path / "in.jsonl")], output, config=CONFIG, actors=2)
    assert (stats.totals.rows, stats.totals.errors) == (41, 1)
    texts = {row["id"]: row["text"] for row in pyarrow.parquet.read_table(output).to_pylist()}
    assert texts == {None: None} | {str(n): compress(*row, config=CONFIG).text for n, row in enumerate(rows(40))}
    (error,) = (tmp_path / "out.parquet.errors.jsonl").read_text().splitlines()
    assert json.loads(error)["input"] == "{torn"
    with pytest.raises(ConfigError, match="--overwrite"):
        run_on_ray([str(tmp_path / "in.jsonl")], output, config=CONFIG)
    for path in (output, f"{output}/*.parquet"):
        with pytest.raises(ConfigError, match="give another output"):
            run_on_ray([path], output, config=CONFIG, overwrite=True)
    again = run_on_ray([output], str(tmp_path / "out"), config=CONFIG, actors=1)
    assert (again.totals.rows, again.totals.errors) == (41, 1)
    (dataset,) = [compress_dataset(cluster.data.from_arrow(table(3)), config=CONFIG, actors=1)]
    assert sorted(row["id"] for row in dataset.take_all()) == [0, 1, 2]
