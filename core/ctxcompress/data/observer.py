"""Observers of compressions, and how several attempts at one compression are reported as one."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Protocol, runtime_checkable

from ctxcompress.data.results import Compression, Decision
from ctxcompress.data.stats import CacheUse

__all__ = ["Observation", "Observer", "Report", "drop_counts", "observed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What an observer is told of a compression."""

    passages: int
    """Passages given, or results of a search."""
    kept: int
    """Passages of which text is kept."""
    original_tokens: int
    compressed_tokens: int
    max_tokens: int | None
    """The budget; None if there was none."""
    dropped: Mapping[str, int]
    """The number of passages that lost text for each drop reason."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """The seconds of each stage; empty for a result from the cache, and for results of a search."""
    cache: CacheUse = field(default_factory=CacheUse)
    result: object
    """The `Compression`, or the `SearchCompression`."""
    duration: float = 0.0
    """The seconds that it took, all attempts together."""

    @property
    def tokens_saved(self) -> int:
        return self.original_tokens - self.compressed_tokens

    @classmethod
    def of(cls, result: Compression) -> "Observation":
        """Return what is told of a result. This counts the tokens of the whole input."""
        stats = result.stats
        stages = () if result.cache.is_outcome else stats.stages
        return cls(
            passages=stats.original_count,
            kept=stats.kept_count,
            original_tokens=stats.original_tokens,
            compressed_tokens=stats.compressed_tokens,
            max_tokens=result.max_tokens,
            dropped=drop_counts(result.dropped),
            seconds={stage.name: stage.milliseconds / 1e3 for stage in stages},
            cache=result.cache,
            result=result,
        )


def drop_counts(dropped: Iterable[Decision]) -> Mapping[str, int]:
    """Return the number of passages that lost text for each drop reason."""
    return Counter(str(reason) for _, reason in {(decision.index, decision.reason) for decision in dropped})


Report = Callable[[Observation], None]
"""A function that is called with what a compression did."""


@runtime_checkable
class Observer(Protocol):
    """Is told of compressions. Threads share it, and what it raises is not caught."""

    def observe(self) -> AbstractContextManager[Report]:
        """Return a block that is entered before a compression and left after it, by an exception if it fails.

        The block yields the function that is told what the compression did. That call is the last thing in the block.
        """


class _Attempts:
    """The attempts within one outer block. Only the last one is reported."""

    __slots__ = ("_begin", "_end", "_last", "observer")

    def __init__(self, observer: Observer) -> None:
        self.observer = observer
        self._begin = self._end = perf_counter()
        self._last: Callable[[], Observation] | None = None

    def keep(self, make: Callable[[], Observation]) -> None:
        self._last, self._end = make, perf_counter()

    def tell(self, report: Report) -> None:
        if self._last is not None:
            report(replace(self._last(), duration=self._end - self._begin))


_OUTER: ContextVar[_Attempts | None] = ContextVar("ctxcompress_observed", default=None)


@contextmanager
def observed(observer: Observer | None) -> Iterator[Callable[[Callable[[], Observation]], None]]:
    """Yield a function that takes what to tell the observer. When the block ends, the observer is told the last of it.

    The yielded function takes a function that makes the observation, because making one takes time and only the last
    one is needed. In a block within another block of the same observer, the outer block tells it. This also holds on
    another thread that runs in the context of the outer block.
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
            attempts.tell(report)


def _ignore(_: Callable[[], Observation]) -> None:
    """Report nothing."""
