"""Whether anybody still waits for what is being worked out on another thread."""

from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from threading import Event
from typing import Any

__all__ = ["stop_if_given_up", "waiting"]

_GIVEN_UP: ContextVar[tuple[Event, ...]] = ContextVar("ctxcompress_given_up", default=())


@contextmanager
def waiting() -> Iterator[Callable[..., Any]]:
    """Gives what calls a function in a context of its own, for another thread to do. What it does is given up when this
    is left by an exception, such as that of a task that is cancelled."""
    given_up, context = Event(), copy_context()
    context.run(_GIVEN_UP.set, (*_GIVEN_UP.get(), given_up))
    try:
        yield context.run
    except BaseException:
        given_up.set()
        raise


def stop_if_given_up() -> None:
    """Raises CancelledError, which nobody will see, where nobody waits any more."""
    for given_up in _GIVEN_UP.get():
        if given_up.is_set():
            raise CancelledError
