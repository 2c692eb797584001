"""How long stages take."""

from time import perf_counter

from ctxcompress.stats import StageStats
from ctxcompress.waiting import stop_if_given_up

__all__ = ["Clock"]


class Clock:
    """Takes the time of each stage and what it made of how much."""

    __slots__ = ("_since", "laps")

    def __init__(self) -> None:
        self.laps: list[StageStats] = []
        self._since = perf_counter()

    def lap(self, name: str, items_in: int, items_out: int, note: str = "") -> None:
        """A stage has ended, and the next one begins, unless nobody waits for it."""
        now = perf_counter()
        self.laps.append(StageStats(name, items_in, items_out, 1e3 * (now - self._since), note))
        self._since = now
        stop_if_given_up()
