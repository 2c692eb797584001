"""Guards calls of what is plugged in, such as an encoder: one typed error for whatever it raises, a limit of time, and
how work is stopped for which nobody waits any more.

Without a limit, it is called on the caller's thread. With one, it is called on a thread that is left behind if it is
late, and that does not keep the program from ending.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future, wait
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from functools import partial
from math import inf
from threading import Event, Thread
from time import monotonic
from typing import Any, TypeVar

from ctxcompress.errors import ConfigError, CtxCompressError, PluginError

__all__ = [
    "Guard",
    "called",
    "called_in_time",
    "cancellable",
    "guarding",
    "left_out",
    "on_daemon",
    "stop_if_cancelled",
    "time_limit",
]

T = TypeVar("T")

_POLL_INTERVAL = 0.05
"""Seconds between looks at whether the work is cancelled."""
_CANCELLED: ContextVar[tuple[Event, ...]] = ContextVar("ctxcompress_cancelled", default=())
"""The events that cancel the current work: one for each enclosing `cancellable` block."""


@dataclass(slots=True)
class Patience:
    """How long the current work waits for what is plugged in."""

    left: float = inf
    """The seconds that are left, for all calls together."""


@dataclass(slots=True)
class Guard:
    """How the current work treats what is plugged in."""

    patience: Patience = field(default_factory=Patience)
    forgives: bool = False
    """Whether the work goes on without what fails. Then a wrong result is a failure, too."""
    left_out: frozenset[str] = frozenset()
    """What packages add and the work goes on without, such as "filter NAME"."""
    of_attempts: bool = False
    """Whether the block has several attempts at one work, which share the patience."""

    @classmethod
    def within(cls, seconds: float | None, **options: Any) -> "Guard":
        """Return a guard with so much patience, None for any; an attempt at a work has what the others have left."""
        outer = _guard()
        return cls(outer.patience if outer.of_attempts else Patience(inf if seconds is None else seconds), **options)


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
        answer = on_daemon(partial(copy_context().run, called, part, work)) if left > 0 else Future[T]()
        end = monotonic() + left
        while not answer.done() and monotonic() < end:
            wait([answer], min(end - monotonic(), _POLL_INTERVAL))
            stop_if_cancelled()
        if answer.done():
            return answer.result()
        reason = f"it has not answered within the {left:.3g} s that were left of timeout"
        raise PluginError(f"{part}: {reason}; give more", part, reason, is_late=True) from TimeoutError(reason)


@contextmanager
def time_limit() -> Iterator[float]:
    """Return a block with the seconds that are left for it. What it takes of them is gone for later calls."""
    patience, begin = _guard().patience, monotonic()
    try:
        yield patience.left
    finally:
        patience.left = max(patience.left - (monotonic() - begin), 0.0)


def on_daemon(work: Callable[[], T]) -> Future[T]:
    """Begin work on a thread of its own, and return its future result. The thread does not keep the program from
    ending."""
    answer: Future[T] = Future()
    Thread(target=_settle, args=(answer, work), name="ctxcompress-plugged-in", daemon=True).start()
    return answer


def _settle(answer: Future[T], work: Callable[[], T]) -> None:
    try:
        answer.set_result(work())
    except BaseException as error:  # noqa: BLE001 - raised again by the thread that waits
        answer.set_exception(error)


@contextmanager
def cancellable() -> Iterator[Callable[..., Any]]:
    """Yield a function that runs work in a context of its own, for use on another thread.

    The work is cancelled if the block is left by an exception, such as the cancellation of a task. It stops at its next
    call of `stop_if_cancelled`.
    """
    cancelled, context = Event(), copy_context()
    context.run(_CANCELLED.set, (*_CANCELLED.get(), cancelled))
    try:
        yield context.run
    except BaseException:
        cancelled.set()
        raise


def stop_if_cancelled() -> None:
    """Raise CancelledError if nobody waits for the current work any more."""
    if any(cancelled.is_set() for cancelled in _CANCELLED.get()):
        raise CancelledError
