"""Measures calls on several threads of one process, beside a thread that is busy with Python, and of an event loop.

    python benchmarks/threads.py CASES... [--limit 30] [--seconds 4] [--docs docs/speed.md]

CASES are files of question answering cases that lib/cases.py reads. Every way compresses the same cases in turn for
some seconds. The percentiles are milliseconds of wall time of one call, as its caller waits for it. The CPU time of a
call is that of the whole process, without the busy thread. Needs the extra `dev`.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from threading import Thread
from time import perf_counter, process_time, thread_time

import numpy as np
from lib.cases import read_cases, set_name
from lib.evaluation import ENCODING, budget_of
from lib.markdown_blocks import publish, publishing_parser, table

from ctxcompress import CompressionConfig, Compressor, Passage

_THREADS = (1, 2, 4, 8)
_HEADER = ("calls from", "calls a second", "p50", "p95", "p99", "CPU ms a call")


@dataclass(frozen=True, slots=True)
class Call:
    """What one call compresses."""

    compressor: Compressor
    query: str
    passages: Sequence[Passage]

    def timed(self) -> float:
        """Return the milliseconds of wall time that the call takes."""
        begin = perf_counter()
        self.compressor.compress(self.query, self.passages)
        return 1e3 * (perf_counter() - begin)

    async def timed_on_loop(self) -> float:
        begin = perf_counter()
        await self.compressor.acompress(self.query, self.passages)
        return 1e3 * (perf_counter() - begin)


def calls_of(file: Path, limit: int) -> Iterator[Call]:
    """Return a call for each case of a file."""
    compressor = Compressor(CompressionConfig(max_tokens=budget_of(set_name(file)), encoding=ENCODING))
    for case in read_cases(file, limit):
        documents = enumerate(case.documents)
        yield Call(compressor, case.query, [Passage(str(n), d.text, title=d.title or None) for n, d in documents])


def for_seconds(calls: Sequence[Call], seconds: float, first: int = 0) -> list[float]:
    """Return the times of the calls in turn, as many as begin within these seconds."""
    end = perf_counter() + seconds
    times = []
    for call in islice(cycle(calls), first, None):
        if perf_counter() >= end:
            return times
        times.append(call.timed())
    return times


def on_threads(calls: Sequence[Call], seconds: float, threads: int) -> list[float]:
    """Return the times of calls on so many threads at once."""
    with ThreadPoolExecutor(threads) as pool:
        parts = pool.map(partial(for_seconds, calls, seconds), range(threads))
        return [time for part in parts for time in part]


def on_loop(calls: Sequence[Call], seconds: float, tasks: int) -> list[float]:
    """Return the times of calls of one event loop, so many at once."""

    async def work(first: int) -> list[float]:
        end, times = perf_counter() + seconds, []
        for call in islice(cycle(calls), first, None):
            if perf_counter() >= end:
                break
            times.append(await call.timed_on_loop())
        return times

    async def all_tasks() -> list[list[float]]:
        return await asyncio.gather(*map(work, range(tasks)))

    return [time for part in asyncio.run(all_tasks()) for time in part]


@contextmanager
def busy_thread() -> Iterator[Callable[[], float]]:
    """Run Python on another thread. Yields a function that returns the CPU seconds that this took so far."""
    spent = [0.0, 1.0]

    def spin() -> None:
        begin = thread_time()
        while spent[1]:
            spent[0] = thread_time() - begin

    thread = Thread(target=spin)
    thread.start()
    try:
        yield lambda: spent[0]
    finally:
        spent[1] = 0.0
        thread.join()


def row(name: str, work: Callable[[], list[float]], busy: Callable[[], float] = float) -> list[str]:
    """Return the figures of one way. busy: the CPU seconds that are not the way's."""
    work_begin, cpu_begin, busy_begin = perf_counter(), process_time(), busy()
    times = work()
    cpu = process_time() - cpu_begin - (busy() - busy_begin)
    rate = len(times) / (perf_counter() - work_begin)
    percentiles = np.percentile(times, (50, 95, 99))
    return [name, f"{rate:,.0f}", *(f"{value:.1f}" for value in percentiles), f"{1e3 * cpu / len(times):.1f}"]


def main() -> None:
    parser = publishing_parser(__doc__)
    parser.add_argument("cases", nargs="+", type=Path)
    parser.add_argument("--limit", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=4)
    options = parser.parse_args()
    calls = [call for file in options.cases for call in calls_of(file, options.limit)]
    for call in calls:
        call.timed()
    rows = [row(f"{n} thread{'s' * (n > 1)}", partial(on_threads, calls, options.seconds, n)) for n in _THREADS]
    rows.append(row("an event loop, 8 tasks", partial(on_loop, calls, options.seconds, 8)))
    with busy_thread() as busy:
        rows.append(row("1 thread beside a busy one", partial(for_seconds, calls, options.seconds), busy))
    publish({"threads": table(_HEADER, rows)}, options.docs)


if __name__ == "__main__":
    main()
