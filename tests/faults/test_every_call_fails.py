"""Each call that reads or writes fails in turn: a right answer or an error of a declared type, and nothing is lost."""

import json
import sqlite3
import warnings
from contextlib import suppress
from pathlib import Path

import pytest
from failing_io import FAULTS, each_failing

from ctxcompress import CompressionConfig, compress
from ctxcompress.agents.left_out import DiskStore
from ctxcompress.apps.batch.job import BatchJob
from ctxcompress.apps.batch.row_files import found_files
from ctxcompress.apps.feedback import FeedbackLog
from ctxcompress.apps.index import FolderIndex
from ctxcompress.apps.xray import write_page
from ctxcompress.cache import Cache, SqliteStore
from ctxcompress.errors import CtxCompressError

TEXTS = ["The timeout is 30 s. " * 9, "Logs are kept for a week. " * 9]
QUERY = "what is the timeout?"
PLAIN = compress(QUERY, TEXTS, max_tokens=20)
OURS = (CtxCompressError, OSError)
faults = pytest.mark.parametrize("make", FAULTS.values(), ids=FAULTS)


@pytest.fixture
def folders(tmp_path: Path):
    """New folders, one after the other."""
    return (folder for n in range(10_000) if (folder := tmp_path / str(n)).mkdir() is None)


def walked(make, least: int):
    """Yield each fault, and check that there were some."""
    found = None
    for found in each_failing(make):
        yield found
    assert found[0].at > least


@faults
def test_a_cache_in_a_file_changes_no_result(make, folders):
    for _, failing in walked(make, 15):
        path = next(folders) / "cache.sqlite"
        SqliteStore(path)["old"] = b"value"
        with failing(), suppress(CtxCompressError):
            for _ in range(2):
                assert compress(QUERY, TEXTS, max_tokens=20, cache=Cache(SqliteStore(path), max_bytes=0)) == PLAIN
        assert SqliteStore(path)["old"] == b"value"
        assert compress(QUERY, TEXTS, max_tokens=20, cache=Cache(SqliteStore(path), max_bytes=0)) == PLAIN


@faults
def test_a_store_in_a_file_has_the_old_value_or_the_new_one(make, folders):
    for _, failing in walked(make, 10):
        store = SqliteStore(next(folders) / "cache.sqlite")
        store["a"], store["b"] = b"1", b"2"
        store.close()
        with failing(), suppress(*OURS, sqlite3.Error):
            store["a"] = b"3"
            del store["b"]
        found = dict(SqliteStore(store.path))
        assert found in ({"a": b"1", "b": b"2"}, {"a": b"3", "b": b"2"}, {"a": b"3"})


@faults
def test_what_was_left_out_stays(make, folders):
    for _, failing in walked(make, 20):
        path = next(folders) / "left.sqlite"
        DiskStore(path).put("talk", "one", "first")
        with failing(), suppress(*OURS):
            store = DiskStore(path)
            assert store.put("talk", "two", "second")
            assert store.get("talk", "one") == "first"
            assert store.handles("talk") == ["two", "one"]
            store.forget("talk", "two")
        assert DiskStore(path).get("talk", "one") == "first"
        assert DiskStore(path).get("talk", "two") in (None, "second")


@faults
def test_feedback_stays(make, folders):
    for _, failing in walked(make, 20):
        log = FeedbackLog(next(folders) / "feedback.sqlite")
        assert log.record(PLAIN, used=[PLAIN.passages[0]]) == 1
        with failing(), suppress(CtxCompressError):
            other = FeedbackLog(log.path)
            other.record(PLAIN, missing=True)
            assert len(other.records()) == 2
        assert len(log.records()) in (1, 2)


ROWS = [{"id": n, "query": QUERY, "passages": TEXTS} for n in range(3)] + [{"id": 3}]


def job(folder: Path, output: str) -> BatchJob:
    return BatchJob(
        files=found_files(str(folder / "rows.jsonl")), output=folder / output, config=CompressionConfig(max_tokens=20)
    )


def rows_of(path: Path) -> list[object]:
    if path.is_file():
        return [json.loads(line) for line in path.read_bytes().splitlines()]
    parquet = pytest.importorskip("pyarrow.parquet")
    return [row for part in sorted(path.glob("*.parquet")) for row in parquet.read_table(part).to_pylist()]


@pytest.mark.parametrize("output", ["out.jsonl", "out.parquet"])
@faults
def test_a_batch_goes_on_where_it_stopped(make, output, folders):
    whole = None
    for fault, failing in walked(make, 15):
        folder = next(folders)
        (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
        if whole is None:
            job(folder, f"whole-{output}").run(workers=1)
            whole = rows_of(folder / f"whole-{output}")
            assert len(whole) == 3
        with failing(), suppress(*OURS):
            job(folder, output).run(workers=1)
        job(folder, output).run(workers=1)
        assert rows_of(folder / output) == whole, fault.where
        errors = (folder / f"{output}.errors.jsonl").read_bytes().splitlines()
        assert [json.loads(line)["row"] for line in errors] == [3], fault.where


@faults
def test_a_page_is_whole_or_not_there(make, folders):
    page = "<p>The page.</p>" * 99
    for fault, failing in walked(make, 5):
        folder = next(folders)
        with failing(), warnings.catch_warnings(record=True):
            path = write_page(page, folder)
        assert path is None or path.is_file()
        # On a disk that is gone, half a page cannot be removed.
        assert fault.stays or all(found.read_text(encoding="utf-8") == page for found in folder.iterdir()), fault.where


@faults
def test_a_file_of_configuration_is_read_or_there_is_an_error(make, folders):
    for _, failing in walked(make, 2):
        path = next(folders) / "a.toml"
        path.write_text("[compression]\nmax_tokens = 5\n", encoding="utf-8")
        with failing(), suppress(*OURS):
            assert CompressionConfig.from_file(path).max_tokens == 5


@faults
def test_a_folder_is_searched_without_what_cannot_be_read(make, folders):
    for _, failing in walked(make, 5):
        folder = next(folders)
        for name in ("a.md", "b.md"):
            (folder / name).write_text(f"# {name}\n\nThe timeout of {name} is 30 s.\n", encoding="utf-8")
        index = FolderIndex(folder)
        with failing(), suppress(*OURS):
            assert {hit.chunk.path for hit in index.search("timeout")} <= {"a.md", "b.md"}
        assert {hit.chunk.path for hit in index.search("timeout")} == {"a.md", "b.md"}
