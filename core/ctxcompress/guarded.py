"""Guards calls of what is plugged in, such as an encoder: one typed error for whatever it raises, a limit of time, and
how work is stopped for which nobody waits any more.

Without a limit, it is called on the caller's thread. With one, it is called on a thread that is left behind if it is
late, and that does not keep the program from ending.
"""

from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, CancelledError, Future, wait
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from functools import partial
from math import inf
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from ctxcompress.errors import ConfigError, CtxCompressError, PluginError

if TYPE_CHECKING:
    import asyncio
    from concurrent.futures import Executor

__all__ = [
    "Guard",
    "awaited",
    "begun",
    "called",
    "called_in_time",
    "cancellable",
    "guarding",
    "left_out",
    "on_own_thread",
    "on_thread",
    "remembered",
    "stop_if_cancelled",
    "time_limit",
    "wait_for",
]

T = TypeVar("T")

_AT_ONCE, _POLL_INTERVAL = 8, 0.05
"""The most threads of one work that ask, and the seconds between looks at whether it is cancelled."""
_CANCELLED: ContextVar[tuple[Event, ...]] = ContextVar("ctxcompress_cancelled", default=())
"""The events that cancel the current work: one for each enclosing `cancellable` block."""


@dataclass(slots=True)
class Attempts:
    """What several attempts at one work share."""

    left: float = inf
    """The seconds that are left for what is plugged in, for all calls together."""
    known: dict[object, Any] = field(default_factory=dict)
    """What need not be asked again."""


@dataclass(slots=True)
class Guard:
    """How the current work treats what is plugged in."""

    attempts: Attempts = field(default_factory=Attempts)
    forgives: bool = False
    """Whether the work goes on without what fails. Then a wrong result is a failure, too."""
    left_out: frozenset[str] = frozenset()
    """What packages add and the work goes on without, such as "filter NAME"."""
    of_attempts: bool = False
    """Whether the block has several attempts at one work."""

    @classmethod
    def within(cls, seconds: float | None, **options: Any) -> "Guard":
        """Return a guard with so much time, None for any; an attempt at a work has what the others have left."""
        outer = _guard()
        return cls(outer.attempts if outer.of_attempts else Attempts(inf if seconds is None else seconds), **options)


_GUARD: ContextVar[Guard | None] = ContextVar("ctxcompress_guard", default=None)


@contextmanager
def guarding(guard: Guard) -> Iterator[Guard]:
    """Return a block whose calls have this guard."""
    before = _GUARD.set(guard)
    try:
        yield guard
    finally:
        _GUARD.reset(before)


def _guard() -> Guard:
    return _GUARD.get() or Guard()


def left_out() -> frozenset[str]:
    """Return what packages add and the current work goes on without."""
    return _guard().left_out


def remembered() -> dict[object, Any]:
    """Return what attempts at the current work have found out, for all of them to read and write."""
    return _guard().attempts.known


def called(part: str, work: Callable[[], T]) -> T:
    """Return what a call of a plugged-in part returns. Raises PluginError from what it raises."""
    try:
        return work()
    except CancelledError:
        raise
    except Exception as error:
        is_ours = isinstance(error, CtxCompressError)
        if is_ours and not (isinstance(error, ConfigError) and _guard().forgives):
            raise
        kind = type(error).__name__
        remedy = 'mend it, or give on_error="without" or "original" for a result in any case'
        raise PluginError(f"{part} raised {kind}: {error}; {remedy}", part, f"it raised {kind}") from error


def called_in_time(part: str, work: Callable[[], T]) -> T:
    """Do the same within the limit of the current work. Raises PluginError with a TimeoutError as its cause if it is
    late, and CancelledError if the work is cancelled."""
    with time_limit() as left:
        if left == inf:
            return called(part, work)
        answer = begun([partial(called, part, work)])[0] if left > 0 else Future[T]()
        wait_for([answer], left)
        if answer.done():
            return answer.result()
        reason = f"it has not answered within the {left:.3g} s that were left of timeout"
        raise PluginError(f"{part}: {reason}; give more", part, reason, is_late=True) from TimeoutError(reason)


@contextmanager
def time_limit() -> Iterator[float]:
    """Return a block with the seconds that are left for it. What it takes of them is gone for later calls."""
    attempts, begin = _guard().attempts, monotonic()
    try:
        yield attempts.left
    finally:
        attempts.left = max(attempts.left - (monotonic() - begin), 0.0)


def begun(works: Iterable[Callable[[], T]]) -> list[Future[T]]:
    """Begin works on threads that see the caller's context variables, a few at the same time, and return their future
    results. The threads do not keep the program from ending."""
    waiting = deque((Future[T](), partial(copy_context().run, work)) for work in works)
    answers = [answer for answer, _ in waiting]
    for _ in answers[:_AT_ONCE]:
        Thread(target=_work_off, args=(waiting,), name="ctxcompress-plugged-in", daemon=True).start()
    return answers


def _work_off(waiting: deque[tuple[Future[T], Callable[[], T]]]) -> None:
    with suppress(IndexError):  # of the empty deque: whatever the work raises goes to the future
        while True:
            _settle(*waiting.popleft())


def _settle(answer: Future[T], work: Callable[[], T]) -> None:
    if not answer.set_running_or_notify_cancel():
        return
    try:
        answer.set_result(work())
    except BaseException as error:  # noqa: BLE001 - raised again by the thread that waits
        answer.set_exception(error)


def wait_for(answers: Sequence[Future[Any]], seconds: float) -> None:
    """Wait until all are there, one has failed, or the time is over. Raises CancelledError if the work is cancelled."""
    pending, end = set(answers), monotonic() + seconds
    while pending and (left := end - monotonic()) > 0:
        done, pending = wait(pending, min(left, _POLL_INTERVAL), FIRST_EXCEPTION)
        stop_if_cancelled()
        if any(answer.cancelled() or answer.exception() is not None for answer in done):
            return


def awaited(coroutine: Coroutine[Any, Any, T], loop: "asyncio.AbstractEventLoop") -> T:
    """Return the result of a coroutine, which runs on an event loop of another thread.

    Raises CancelledError, and cancels the coroutine, if the work is cancelled, or the loop is closed.
    """
    from asyncio import run_coroutine_threadsafe  # takes time to import, which calls without a loop do not need

    if loop.is_closed():
        coroutine.close()
        raise CancelledError
    answer = run_coroutine_threadsafe(coroutine, loop)
    try:
        while not answer.done():  # a loop that has stopped never completes it
            wait_for([answer], _POLL_INTERVAL)
            if loop.is_closed():
                raise CancelledError
        return answer.result()
    finally:
        answer.cancel()


@contextmanager
def cancellable() -> Iterator[Callable[..., Any]]:
    """Yield a function that runs work in a context of its own, for use on another thread.

    What still works when the block is left, such as by the cancellation of a task, is cancelled. It stops at its next
    call of `stop_if_cancelled`.
    """
    cancelled, context = Event(), copy_context()
    context.run(_CANCELLED.set, (*_CANCELLED.get(), cancelled))
    try:
        yield context.run
    finally:
        cancelled.set()


async def on_thread(work: Callable[[], T], executor: "Executor | None" = None) -> T:
    """Run `work` on another thread and return its result. If this is cancelled, the work stops at its next stage.

    executor: where to run it; None for the event loop's own executor.
    """
    from asyncio import get_running_loop

    with cancellable() as call:
        result: T = await get_running_loop().run_in_executor(executor, call, work)
    return result


async def on_own_thread(work: Callable[[], T]) -> T:
    """Do the same on a thread that nothing else uses, for work that waits for something on this event loop.

    What it waits for may need one of the loop's own threads.
    """
    from concurrent.futures import ThreadPoolExecutor

    executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ctxcompress")
    try:
        return await on_thread(work, executor)
    finally:
        executor.shutdown(wait=False)


def stop_if_cancelled() -> None:
    """Raise CancelledError if nobody waits for the current work any more."""
    for cancelled in _CANCELLED.get():
        if cancelled.is_set():
            raise CancelledError
