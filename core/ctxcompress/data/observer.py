"""Observers of compressions, and how several attempts at one compression are reported as one."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Protocol, runtime_checkable

from ctxcompress.data.results import Compression

__all__ = ["Observer", "Report", "observed"]

Report = Callable[[Compression], None]
"""A function that is called with the result of a compression."""


@runtime_checkable
class Observer(Protocol):
    """Is told of compressions. Threads share it, and what it raises is not caught."""

    def observe(self) -> AbstractContextManager[Report]:
        """Return a block that is entered before a compression and left after it, by an exception if it fails.

        The block yields the function that gets the result. That call is the last thing in the block.
        """


class _Attempts:
    """The attempts within one outer block. Only the last one is reported."""

    __slots__ = ("last", "observer")

    def __init__(self, observer: Observer) -> None:
        self.observer = observer
        self.last: Compression | None = None

    def keep(self, result: Compression) -> None:
        self.last = result


_OUTER: ContextVar[_Attempts | None] = ContextVar("ctxcompress_observed", default=None)


@contextmanager
def observed(observer: Observer | None) -> Iterator[Report]:
    """Report the last result that the yielded function gets to the observer.

    Within another such block of the same observer, the result belongs to that block, also on another thread that has
    its context.
    """
    outer = _OUTER.get()
    if observer is None:
        yield _ignore
    elif outer is not None and outer.observer is observer:
        yield outer.keep
    else:
        attempts = _Attempts(observer)
        with observer.observe() as report:
            before = _OUTER.set(attempts)
            try:
                yield attempts.keep
            finally:
                _OUTER.reset(before)
            if attempts.last is not None:
                report(attempts.last)


def _ignore(_: Compression) -> None:
    """Report nothing."""
