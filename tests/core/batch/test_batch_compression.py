"""Batches of rows: the results are those of single calls, whatever the processes do."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from itertools import chain, cycle
from pathlib import Path

import pytest
from batch_rows import NoEncoder, deadly_row, rows
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcompress import CompressionConfig, Passage, compress
from ctxcompress.apps.batch import acompress_batch, compress_batch, processes
from ctxcompress.errors import ConfigError

BUDGET = 30


text = st.text(max_size=60)


@settings(max_examples=25)
@given(st.lists(st.tuples(st.none() | text, st.lists(text, max_size=4)), max_size=5), st.integers(1, 40))
def test_one_process_gives_the_results_of_single_calls(given: list[tuple[str | None, list[str]]], budget: int) -> None:
    results = compress_batch(given, max_tokens=budget, workers=1)
    assert [result.compression for result in results] == [compress(*row, max_tokens=budget) for row in given]


@pytest.mark.parametrize("workers", [1, 2])
def test_results_are_in_order_a_row_that_fails_stops_no_other_and_rows_are_read_as_they_are_needed(
    workers: int,
) -> None:
    wrong: list[object] = [7, {"query": "x"}, ("x", [7]), ("fails", ["a b"] * 50)]
    read = 0

    def endless() -> Iterator[object]:
        nonlocal read
        for row in chain(rows(20), wrong, cycle(rows(20))):
            read += 1
            yield row

    config = CompressionConfig(max_tokens=BUDGET, encoder=NoEncoder())
    batch = compress_batch(endless(), config=config, workers=workers)  # type: ignore[arg-type]
    results = [next(batch) for _ in range(44)]
    batch.close()
    assert read <= 44 + 2 * 2 * 64
    assert [result.index for result in results] == list(range(44))
    assert [result.error for result in results[20:24]] == [
        "InputError: the row is a int; give a pair of query and passages",
        "InputError: the row has the keys ['query']; give 'query' and 'passages'",
        "InputError: passage 0 is a int; give a string, a mapping with 'text', or a Passage",
        "PluginError: encoder raised ZeroDivisionError: the encoder has failed; mend it, or give "
        'on_error="without" or "original" for a result in any case',
    ]
    expected = [compress(*row, config=config) for row in rows(20)]
    for good in (results[:20], results[24:]):
        assert [result.compression for result in good] == expected
    assert all(result.compression is None for result in results[20:24])
    assert expected[7].stats.original_tokens > BUDGET
    assert results[7].compression is not None
    assert results[7].compression.render("xml").startswith("<")


def test_a_row_that_ends_its_process_is_an_error_and_the_others_are_done() -> None:
    given = [*rows(5), deadly_row(), *rows(12)]
    results = list(compress_batch(given, max_tokens=BUDGET, workers=2))
    assert [result.index for result in results if result.error] == [5]
    assert str(results[5].error).startswith("BrokenProcessPool: the process ended")
    assert [result.compression for result in results[6:]] == [compress(*row, max_tokens=BUDGET) for row in rows(12)]


def test_what_cannot_be_sent_is_compressed_in_this_process() -> None:
    passage = Passage("a", "The default timeout is 30 seconds.", metadata={"lock": threading.Lock()})
    given = [("timeout?", [passage]), ("timeout?", (text for text in ["It is 30 seconds."]))]
    results = list(compress_batch(given, workers=2))
    assert [result.compression and result.compression.text for result in results] == [passage.text, "It is 30 seconds."]


def test_an_encoding_that_cannot_be_sent_keeps_the_work_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_PATIENCE", 0.0)
    config = CompressionConfig(max_tokens=BUDGET, encoding=lambda text: len(text.split()))
    assert [result.error for result in compress_batch(rows(3), config=config)] == [None] * 3
    with pytest.raises(ConfigError, match=r"workers is 2, but the options cannot be sent .*; or give workers=1"):
        compress_batch(rows(3), config=config, workers=2)


@pytest.mark.parametrize("workers", [0, -1, True, 1.5, "2"])
def test_wrong_options_are_refused_at_once(workers: object) -> None:
    with pytest.raises(ConfigError, match="workers is"):
        compress_batch([], workers=workers)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="max_tokens"):
        compress_batch([], max_tokens=-1)


SCRIPT = """
from ctxcompress import CtxCompressError
from ctxcompress.apps.batch import compress_batch, processes
processes._PATIENCE, processes.usable_cores = 0.0, lambda: 2
print("began")
{body}
"""


def run(path: Path, body: str) -> subprocess.CompletedProcess[str]:
    path.write_text(SCRIPT.format(body=body), encoding="utf-8")
    return subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=120)


def test_a_script_that_has_no_guard_is_not_run_again(tmp_path: Path) -> None:
    ran = run(tmp_path / "script.py", "print(len(list(compress_batch([('a', ['a b'])] * 5))))")
    assert (ran.stdout, ran.returncode) == ("began\n5\n", 0)
    body = "try: compress_batch([], workers=2)\nexcept CtxCompressError as error: print(error)"
    assert "the script would run again in each process" in run(tmp_path / "script.py", body).stdout


@pytest.mark.parametrize(
    "workers", [None, pytest.param(2, marks=pytest.mark.slow(reason="processes, as of the batch that is not async"))]
)
async def test_the_async_batch_gives_the_same(workers: int | None) -> None:
    async def coming() -> AsyncIterator[tuple[str, list[str]]]:
        for row in rows(30):
            await asyncio.sleep(0)
            yield row

    expected = list(compress_batch(rows(30), max_tokens=BUDGET))
    assert [result async for result in acompress_batch(coming(), max_tokens=BUDGET, workers=workers)] == expected
    assert [result async for result in acompress_batch(rows(30), max_tokens=BUDGET)] == expected
    with pytest.raises(ConfigError):
        await anext(acompress_batch([], max_tokens=-1))


async def test_an_async_batch_that_is_left_ends_its_work() -> None:
    before = threading.enumerate()
    async for _ in acompress_batch(rows(100), max_tokens=BUDGET):
        break
    batch = acompress_batch(rows(100), max_tokens=BUDGET)
    task = asyncio.ensure_future(anext(batch))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await batch.aclose()
    started = [thread for thread in threading.enumerate() if thread not in before]
    for thread in started:
        if thread.name.startswith("ctxcompress"):
            await asyncio.to_thread(thread.join)
    assert threading.active_count() <= len(before) + 2
