"""Work that is waited for no longer than so many seconds, whatever it waits for itself."""

from collections.abc import Callable
from concurrent.futures import Future
from threading import Lock, Thread
from typing import Any, TypeVar

__all__ = ["Aside"]

T = TypeVar("T")

_MOST = 8


class Aside:
    """Does work on threads of its own, which end with the process at the latest. Those that are late go on alone; where
    there are too many of them, nothing more is begun."""

    __slots__ = ("_late", "_lock")

    def __init__(self) -> None:
        self._late: list[Future[Any]] = []
        self._lock = Lock()

    def do(self, work: Callable[[], T], seconds: float) -> T:
        """What the work returns or raises. Raises TimeoutError if it does neither in time."""
        with self._lock:
            self._late = [future for future in self._late if not future.done()]
            if len(self._late) >= _MOST:
                raise TimeoutError("earlier requests have not ended")
        future: Future[T] = Future()
        Thread(target=_settle, args=(future, work), name="ctxcompress-cache", daemon=True).start()
        try:
            return future.result(seconds)
        except TimeoutError:
            if future.done():
                raise
            with self._lock:
                self._late.append(future)
            raise TimeoutError("it does not answer") from None


def _settle(future: Future[T], work: Callable[[], T]) -> None:
    try:
        found = work()
    except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
        future.set_exception(error)
    else:
        future.set_result(found)
