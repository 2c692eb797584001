"""What keeps a store that does not answer from being waited for, again and again."""

import logging
from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import TypeVar

from ctxcompress.entries import Allowance
from ctxcompress.errors import ConfigError

__all__ = ["Guard"]

_log = logging.getLogger("ctxcompress")

T = TypeVar("T")

_FIRST, _LONGEST = 30.0, 600.0
"""Seconds for which a store is left alone, doubled each time that it fails again."""


class Guard:
    """Asks a store as long as it answers in time. One that fails, or takes all that it is allowed, is left alone for a
    while; then one thread tries it again. Of all that, a warning in the log tells once, until it works again."""

    __slots__ = ("_clock", "_lock", "_name", "_pause", "_until")

    def __init__(self, name: str, *, clock: Callable[[], float] = monotonic) -> None:
        """name: of the store, for the log."""
        self._name, self._clock = name, clock
        self._lock = Lock()
        self._pause = self._until = 0.0

    def ask(self, work: Callable[[float], T], allowance: Allowance) -> T | None:
        """What the work makes of the seconds that are left. It raises OSError or ConfigError where it fails.

        None where it did, where the time was over before it began, and where the store is being left alone.
        """
        with allowance.spending() as left:
            if left <= 0 or not self._may_ask():
                return None
            try:
                found = work(left)
            except (ConfigError, OSError) as error:
                self._has_failed(str(error))
                return None
        if allowance.left > 0:
            self._has_worked()
        else:
            self._has_failed("it takes too long")
        return found

    def _may_ask(self) -> bool:
        with self._lock:
            now = self._clock()
            if not self._pause:
                return True
            if now < self._until:
                return False
            self._pause = min(2 * self._pause, _LONGEST)
            self._until = now + self._pause  # for all others, while this one tries
            return True

    def _has_failed(self, reason: str) -> None:
        with self._lock:
            if self._pause:
                return
            self._pause, self._until = _FIRST, self._clock() + _FIRST
        _log.warning("%s cannot be used (%s); going on without, and trying again later", self._name, reason)

    def _has_worked(self) -> None:
        with self._lock:
            was_left, self._pause = self._pause, 0.0
        if was_left:
            _log.info("%s works again", self._name)
