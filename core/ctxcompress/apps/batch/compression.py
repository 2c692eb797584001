"""Compress many rows in several processes. A row is a query with its passages, and a row that fails is a result too."""

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import CancelledError, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from functools import partial
from typing import Self, Unpack, cast

from ctxcompress.apps.batch.processes import LOST, ProcessMap
from ctxcompress.compressor import Compressor, PassageInput
from ctxcompress.config.options import CompressionConfig, Options
from ctxcompress.data.results import Compression
from ctxcompress.encoders.encoder import AsyncEncoder, OnLoop
from ctxcompress.errors import InputError
from ctxcompress.guarded import on_thread

__all__ = ["BatchProgress", "BatchResult", "BatchRow", "CompressionPool", "acompress_batch", "compress_batch"]

BatchRow = tuple[str | None, PassageInput] | Mapping[str, object]
"""A query and its passages, as a pair or as a mapping with the keys "query" and "passages"."""


@dataclass(frozen=True, slots=True)
class BatchResult:
    """The result of one row: a compression or an error."""

    index: int
    """The position of the row, from 0."""
    compression: Compression | None = None
    """The compression; None if the row failed."""
    error: str | None = None
    """Why the row failed, with the name of the exception: "InputError: passage 0 is a int; ..."."""
    is_lost: bool = False
    """Whether it failed because its process ended."""


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """The rows that are done so far."""

    rows: int
    errors: int
    """The rows that failed."""
    tokens: int
    """The tokens of all final texts together."""


def compress_batch(
    rows: Iterable[BatchRow],
    *,
    config: CompressionConfig | None = None,
    workers: int | None = None,
    progress: Callable[[BatchProgress], object] | None = None,
    **options: Unpack[Options],
) -> Generator[BatchResult, None, None]:
    """Yield the result of each row, in their order: what `compress` returns for it, or an error.

    A row that fails does not stop the others: see `BatchResult.error`. Rows are read as they are needed, so there may
    be any number of them.

    workers: the number of processes, which are spawned: a script has to call this under
    ``if __name__ == "__main__"``. None decides: the first two seconds of work are done in this process, and if rows are
    left, one process for each core does the rest. An encoder or an encoding that cannot be pickled keeps the work in
    this process. A cache in memory is one for each process.
    progress: called after each row.
    options: options of CompressionConfig, for all rows.

    Raises ConfigError for a wrong option, and for more than one worker where processes cannot be used. Raises
    TokenizerUnavailable if the encoding cannot be loaded.
    """
    work = CompressRows((config or CompressionConfig()).with_options(**options))
    work.prepare()  # what is wrong for every row is an error here, not one in every row
    return _results(work, rows, ProcessMap(work, workers=workers), progress)


async def acompress_batch(
    rows: Iterable[BatchRow] | AsyncIterable[BatchRow],
    *,
    config: CompressionConfig | None = None,
    workers: int | None = None,
    progress: Callable[[BatchProgress], object] | None = None,
    **options: Unpack[Options],
) -> AsyncIterator[BatchResult]:
    """Do the same as `compress_batch` without blocking the event loop.

    Rows may come from an async iterable. They are read, and `progress` is called, on another thread. An async encoder
    is awaited on this event loop, one row after the other.
    """
    config, loop = (config or CompressionConfig()).with_options(**options), asyncio.get_running_loop()
    on_loop = OnLoop(config.encoder, loop) if isinstance(config.encoder, AsyncEncoder) else None
    inside = config if on_loop is None else config.with_options(encoder=on_loop)
    source = rows if isinstance(rows, Iterable) else _pulled(rows, loop)
    # A thread of its own: it waits for async rows and encoders, which may need one of the loop's threads.
    thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ctxcompress")
    results = await on_thread(lambda: compress_batch(source, config=inside, workers=workers, progress=progress), thread)
    try:
        while (result := await on_thread(partial(next, results, None), thread)) is not None:
            yield result if on_loop is None else _operated(result, config)
    finally:
        thread.submit(results.close)
        thread.shutdown(wait=False)


class CompressionPool:
    """Compresses for many threads in the processes that they share: for a framework that runs a batch in threads.

    Use it as a context manager, which ends the processes. They are started after two seconds of work.

    Raises ConfigError and TokenizerUnavailable as `compress_batch` does.
    """

    def __init__(self, config: CompressionConfig, *, workers: int | None = None) -> None:
        """workers: see `compress_batch`."""
        self._work = CompressRows(config)
        self._work.prepare()
        self._processes = ProcessMap(self._work, workers=workers)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._processes.__exit__()

    def compress(self, query: str | None, passages: PassageInput) -> Compression:
        """Return what `Compressor.compress` returns, and raise what it raises.

        Raises BrokenProcessPool if the processes end during the work.
        """
        row = (query, tuple(passages))
        result = self._processes.do((0, row))
        if result.compression is not None:
            found = _operated(result, self._work.compressor.config).compression
            return cast(Compression, found)
        if result.is_lost:
            raise BrokenProcessPool(result.error)
        return self._work.compressor.compress(*row)  # raises the error with all that belongs to it


def row_parts(row: object) -> tuple[str | None, PassageInput]:
    """Return the query and the passages of a row. Raises InputError if it has none."""
    match row:
        case {"query": query, "passages": passages}:
            pass
        case Mapping():
            raise InputError(f"the row has the keys {sorted(map(str, row))}; give 'query' and 'passages'")
        case (query, passages):
            pass
        case _:
            raise InputError(f"the row is a {type(row).__name__}; give a pair of query and passages")
    return cast("str | None", query), cast(PassageInput, passages)


class CompressRows:
    """The work on rows, with their positions."""

    def __init__(self, config: CompressionConfig) -> None:
        self.compressor = Compressor(config)

    def prepare(self) -> None:
        """Load the vocabulary, and the word vectors or the model if there is an encoder."""
        self.compressor.count("")

    def do(self, item: tuple[int, BatchRow], /) -> BatchResult:
        """Return the result of a row. It comes without the compressor: see `_operated`."""
        index, row = item
        try:
            compression = self.compressor.compress(*row_parts(row))
        except CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - any error of a row, also one of a user's encoder, is its result
            return BatchResult(index, error=f"{type(error).__name__}: {error}")
        return BatchResult(index, replace(compression, compressor=_ELSEWHERE))

    def lost(self, item: tuple[int, BatchRow], /) -> BatchResult:
        """Return the error of a row that ended its process."""
        return BatchResult(item[0], error=f"BrokenProcessPool: {LOST}", is_lost=True)


_ELSEWHERE = Compressor()
"""Stands for the compressor on the way between processes: an encoder may be large."""


def _results(
    work: CompressRows,
    rows: Iterable[BatchRow],
    processes: ProcessMap[tuple[int, BatchRow], BatchResult],
    progress: Callable[[BatchProgress], object] | None,
) -> Generator[BatchResult, None, None]:
    errors = tokens = 0
    with processes:
        for number, result in enumerate(processes.map(enumerate(rows)), start=1):
            errors += result.error is not None
            tokens += result.compression.tokens if result.compression else 0
            if progress is not None:
                progress(BatchProgress(number, errors, tokens))
            yield _operated(result, work.compressor.config)


def _operated(result: BatchResult, config: CompressionConfig) -> BatchResult:
    """Return the result with the compressor that renders and expands it."""
    if result.compression is None:
        return result
    compressor = Compressor(config).resolve_auto_budget(result.compression.query)
    return replace(result, compression=replace(result.compression, compressor=compressor))


def _pulled(rows: AsyncIterable[BatchRow], loop: asyncio.AbstractEventLoop) -> Iterator[BatchRow]:
    """Yield rows of an async iterable on a thread without an event loop."""
    iterator = aiter(rows)

    async def following() -> tuple[BatchRow, ...]:
        async for row in iterator:
            return (row,)
        return ()

    while found := asyncio.run_coroutine_threadsafe(following(), loop).result():
        yield found[0]
