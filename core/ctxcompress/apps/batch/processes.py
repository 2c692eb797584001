"""Do the same work on many items in several processes, with the results in order.

Items travel in chunks that take a worker about a fifth of a second, and at most two chunks for each worker are under
way, so that memory stays bounded however many items there are. A worker that ends, for example because the system ran
out of memory, ends the pool. Then a new pool does the items that were under way one at a time, so that only an item
that ends its worker once more is lost.
"""

import logging
import math
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from itertools import islice
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from pickle import PicklingError
from typing import Any, Generic, Protocol, Self, TypeVar

from ctxcompress.errors import ConfigError

__all__ = ["LOST", "ProcessMap", "Work", "usable_cores"]

_PATIENCE = 2.0
"""Seconds of work in this process after which other processes are started, if their number is open."""
_CHUNK_SECONDS = 0.2
_LARGEST_CHUNK = 64
_CHUNKS_PER_WORKER = 2
_TRIES = 3
_REFUSALS = (TypeError, ValueError, AttributeError, RuntimeError, ImportError, PicklingError)
"""What objects raise that cannot be pickled."""

LOST = "the process ended while it compressed the row; it may have been out of memory"
"""Why a row failed that ended its process."""
_log = logging.getLogger("ctxcompress")
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
_ItemIn = TypeVar("_ItemIn", contravariant=True)
_ResultOut = TypeVar("_ResultOut", covariant=True)


class Work(Protocol[_ItemIn, _ResultOut]):
    """The work on each item. It is pickled once for each process."""

    def prepare(self) -> None:
        """Load what the work needs, such as a vocabulary. Called once in each process."""

    def do(self, item: _ItemIn, /) -> _ResultOut:
        """Return the result for an item. An error is a result, too: this must not raise."""

    def lost(self, item: _ItemIn, /) -> _ResultOut:
        """Return the result for an item whose process ended during the work."""


class ProcessMap(Generic[_Item, _Result]):
    """Does `work` on items in spawned processes. Use it as a context manager, which ends the processes.

    workers: the number of processes; 1 works in this process. None decides: the first two seconds of work are done in
    this process. If more is left, one process for each core takes over, unless this is a process of a pool, the work
    cannot be pickled, or a script without ``if __name__ == "__main__"`` would be run again by each process.

    Raises ConfigError if `workers` is no number from 1, or more than 1 where processes cannot be used.
    """

    def __init__(self, work: Work[_Item, _Result], *, workers: int | None = None) -> None:
        if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
            raise ConfigError(f"workers is {workers!r}; give a number of processes from 1, or None to decide")
        self._work, self._workers = work, workers
        self._count = workers or usable_cores()
        self._spent, self._began, self._chunk = 0.0, math.inf, 4
        self._executor: ProcessPoolExecutor | None = None
        self._has_started = False
        self._lock = threading.RLock()
        obstacle = _obstacle(work) if self._count > 1 else None
        if obstacle is not None:
            self._stay_here(obstacle)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    @property
    def processes(self) -> int:
        """The number of processes that have worked so far: 1 is this process."""
        return self._count if self._has_started else 1

    def map(self, items: Iterable[_Item]) -> Iterator[_Result]:
        """Yield the results in the order of the items."""
        source = iter(items)
        while not self._pays():
            first = list(islice(source, 1))
            if not first:
                return
            yield self._here(first[0])
        yield from self._there(source)

    def do(self, item: _Item) -> _Result:
        """Return the result for one item. Threads can call this at the same time."""
        since = time.perf_counter()
        for _ in range(_TRIES):
            with self._lock:
                self._began = min(self._began, since)
                self._spent = since - self._began  # threads work at the same time: their times do not add up
                if not self._pays():
                    break
                executor = self._running()
            with suppress(BrokenProcessPool):
                return self._done_by(executor, item)
        else:
            return self._work.lost(item)
        return self._here(item)

    def _pays(self) -> bool:
        """Decide whether processes do the next items, and start them before the first."""
        if self._count == 1:
            return False
        if self._executor is None:
            if self._workers is None and self._spent < _PATIENCE:
                return False
            self._start()
        return self._count > 1

    def _here(self, item: _Item) -> _Result:
        since = time.perf_counter()
        result = self._work.do(item)
        self._spent += time.perf_counter() - since
        return result

    def _there(self, source: Iterator[_Item]) -> Iterator[_Result]:
        waiting: deque[tuple[list[_Item], Future[Any]]] = deque()
        while chunk := list(islice(source, self._chunk)):
            waiting.append((chunk, _submit(self._running(), chunk)))
            if len(waiting) == _CHUNKS_PER_WORKER * self._count:
                yield from self._first_of(waiting)
        while waiting:
            yield from self._first_of(waiting)

    def _first_of(self, waiting: deque[tuple[list[_Item], "Future[Any]"]]) -> Iterator[_Result]:
        chunk, future = waiting[0]
        error = future.exception()
        if isinstance(error, BrokenProcessPool):
            self._replace(self._running())
            chunk = [item for items, _ in waiting for item in items]
            waiting.clear()
            yield from map(self._alone, chunk)
            return
        waiting.popleft()
        if error is not None:  # something in the chunk cannot be pickled
            yield from map(self._work.do, chunk)
            return
        results, seconds = future.result()
        self._chunk = min(max(int(_CHUNK_SECONDS * len(chunk) / max(seconds, 1e-6)), 1), _LARGEST_CHUNK)
        yield from results

    def _alone(self, item: _Item) -> _Result:
        try:
            return self._done_by(self._running(), item)
        except BrokenProcessPool:
            return self._work.lost(item)

    def _done_by(self, executor: ProcessPoolExecutor, item: _Item) -> _Result:
        """Return the result for one item, from a process if the item can be pickled.

        Raises BrokenProcessPool if the process ended during the work. The next item gets new processes.
        """
        future = _submit(executor, [item])
        error = future.exception()
        if isinstance(error, BrokenProcessPool):
            self._replace(executor)
            raise error
        if error is not None:  # it cannot be pickled
            return self._work.do(item)
        result: _Result = future.result()[0][0]
        return result

    def _start(self) -> None:
        self._executor, self._has_started = self._new_executor(), True
        with _interrupts_blocked():
            started = self._executor.submit(_ready)
        error = started.exception()
        if error is not None:
            self._stop()
            self._stay_here(
                f'processes cannot start here ({error}); a script has to call this under if __name__ == "__main__"'
            )

    def _running(self) -> ProcessPoolExecutor:
        with self._lock:
            if self._executor is None:
                self._executor = self._new_executor()
            return self._executor

    def _new_executor(self) -> ProcessPoolExecutor:
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(self._count, mp_context=context, initializer=_begin, initargs=(self._work,))

    def _replace(self, broken: ProcessPoolExecutor) -> None:
        """End a broken pool. The next item starts a new one."""
        with self._lock:
            if self._executor is broken:
                _log.warning("a process ended during its work; new ones take over")
                self._stop()

    def _stop(self) -> None:
        if self._executor is not None:
            self._executor.shutdown(cancel_futures=True)
            self._executor = None

    def _stay_here(self, obstacle: str) -> None:
        if self._workers is not None:
            raise ConfigError(f"workers is {self._workers}, but {obstacle}; or give workers=1")
        _log.info("one process does all the work: %s", obstacle)
        self._count = 1


_WORK: ContextVar[Work[Any, Any]] = ContextVar("ctxcompress_work")
"""In a worker process, the work that it does."""


def _begin(work: Work[Any, Any]) -> None:
    """Make this process a worker: it ignores Ctrl-C, which its parent handles, and ends when its parent does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_after, args=(parent,), daemon=True).start()
    _WORK.set(work)
    work.prepare()


def _end_after(parent: Any) -> None:
    parent.join()
    os._exit(1)


def _ready() -> None:
    """Do nothing: the call shows that a worker could start."""


def _do_all(items: list[Any]) -> tuple[list[Any], float]:
    """Return the results, and the seconds that they took."""
    work, since = _WORK.get(), time.perf_counter()
    return [work.do(item) for item in items], time.perf_counter() - since


def _submit(executor: ProcessPoolExecutor, items: list[Any]) -> "Future[Any]":
    try:
        with _interrupts_blocked():
            return executor.submit(_do_all, items)
    except (BrokenProcessPool, RuntimeError) as error:  # RuntimeError: another thread has shut it down
        failed: Future[Any] = Future()
        failed.set_exception(error if isinstance(error, BrokenProcessPool) else BrokenProcessPool(str(error)))
        return failed


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Keep Ctrl-C from a process that starts in this block: it inherits the mask, and is otherwise interrupted before
    it can ignore the signal."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def usable_cores() -> int:
    """Count the cores that this process may use."""
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable is not None else os.cpu_count() or 1


def _obstacle(work: object) -> str | None:
    """Return why processes cannot do the work, or None."""
    if multiprocessing.current_process().daemon:
        return "a process of a multiprocessing.Pool can start none: use processes in one place only"
    if not _main_can_be_imported():
        return 'the script would run again in each process: call this under if __name__ == "__main__"'
    try:
        ForkingPickler.dumps(work)
    except _REFUSALS as error:
        return f"the options cannot be sent to other processes ({error}): give an encoder and an encoding that can"
    return None


def _main_can_be_imported() -> bool:
    """Guess whether the script that runs can be imported by another process without starting its work again."""
    file = getattr(sys.modules.get("__main__"), "__file__", None)
    if file is None:  # an interactive session
        return True
    try:
        return "__main__" in Path(file).read_text(encoding="utf-8", errors="replace") or file.endswith("__main__.py")
    except OSError:
        return True
