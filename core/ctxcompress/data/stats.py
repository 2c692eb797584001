"""The statistics of a compression, and the clock that times its stages.

Observers are told of compressions. Several attempts at one compression are told as one."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from time import perf_counter
from typing import NamedTuple, Protocol, TypeVar, runtime_checkable

from ctxcompress.errors import PluginError, warn
from ctxcompress.guarded import called, stop_if_cancelled
from ctxcompress.plugins import plugin

T = TypeVar("T")
__all__ = [
    "CacheUse",
    "Clock",
    "Failure",
    "LLMStats",
    "Observation",
    "Observer",
    "Report",
    "StageStats",
    "Stats",
    "observed",
    "observer_of",
]


class CacheUse(NamedTuple):
    """The lookups of one compression in its cache."""

    hits: int = 0
    misses: int = 0
    is_outcome: bool = False
    """Whether the cache had the whole result."""
    failure: str = ""
    """Why its store was not used, if it was not."""


class Failure(NamedTuple):
    """What was plugged in and failed, so that the result is one without it."""

    part: str
    """"encoder", "llm", "cache", "encoding", or what a package adds, such as "filter NAME"."""
    reason: str
    is_original: bool = False
    """Whether the result has the passages as they came, whatever the budget."""

    def warning(self) -> str:
        """Return a sentence for people to read."""
        instead = "the passages are as they came, whatever the budget" if self.is_original else "it is done without"
        return f"{self.part}: {self.reason}; {instead}"


@dataclass(frozen=True, slots=True)
class StageStats:
    """The counts and the outcome of one stage of the pipeline."""

    name: str
    items_in: int
    items_out: int
    milliseconds: float = field(compare=False)
    note: str = ""
    """What the stage was asked to do, or why it did nothing: for people, not for programs."""
    skipped: bool = False
    """Whether the stage could not work because its input lacked something, such as scores."""
    emptied: bool = False
    """Whether the stage would have dropped every passage, so that `on_empty` decided."""
    doubtful: bool = False
    """Whether the stage used scores that get better from the first passage to the last."""


@dataclass(frozen=True, slots=True)
class LLMStats:
    """What a language model was asked for one compression, and what came of it."""

    outcome: str
    """"used", or "cached" if all answers were known. Otherwise "not asked: ..." or "failed: ..." with the reason; then
    the result is the one without the model."""
    candidates: int = 0
    """Segments that the model could name."""
    named: int = 0
    """Segments that it named."""
    calls: int = 0
    """Prompts that were sent."""
    input_tokens: int = 0
    """Of the answered prompts."""
    output_tokens: int = 0
    is_estimated: bool = False
    """Whether some tokens were counted with the option `encoding`, because the model does not say how many they are."""
    cost: float | None = None
    """What the answers cost, in the currency of the price; None if unknown."""

    def summary(self) -> str:
        """Return the line for people to read."""
        tokens = f"{'about ' * self.is_estimated}{self.input_tokens:,} + {self.output_tokens:,} tokens"
        spent = f", {self.calls} call{'s' * (self.calls != 1)}, {tokens}" if self.calls else ""
        return f"- Language model: {self.outcome}{spent}{'' if self.cost is None else f', cost {self.cost:.6f}'}"


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts of one compression. Tokens are counted in the final, joined text."""

    original_count: int
    """Input passages."""
    after_threshold: int
    after_dedup: int
    after_limit: int
    clusters_merged: int
    """Passages dropped as duplicates or near-duplicates of another one."""
    metadata_only_count: int
    """Passages replaced by a metadata line."""
    kept_count: int
    """Passages of which some text is kept."""
    original_tokens: int
    compressed_tokens: int
    stages: tuple[StageStats, ...]
    cache_hits: int = field(default=0, compare=False)
    """Lookups in the cache that found something."""
    cache_misses: int = field(default=0, compare=False)
    llm: LLMStats | None = None
    """What the language model of the option `llm` did; None without one."""
    failures: tuple[Failure, ...] = field(default=(), compare=False)
    """What failed of what was plugged in."""

    @property
    def tokens_saved(self) -> int:
        return self.original_tokens - self.compressed_tokens

    @property
    def savings_percent(self) -> float:
        """The share of the original tokens that were saved, from 0 to 100."""
        return 100 * self.tokens_saved / self.original_tokens if self.original_tokens else 0.0

    def summary(self) -> str:
        """Return the counts as a few lines of text for people to read."""
        notes = {stage.name: f" ({stage.note})" if stage.note else "" for stage in self.stages}
        return "\n".join(
            (
                "Compression Stats:",
                f"- Original results: {self.original_count}",
                *([f"- Shortlist{notes['shortlist']}"] if "shortlist" in notes else []),
                f"- After score filter{notes.get('threshold', '')}: {self.after_threshold}",
                f"- After deduplication: {self.after_dedup}",
                f"- After document limit{notes.get('limit', '')}: {self.after_limit}",
                f"- Clusters merged: {self.clusters_merged}",
                *[f"- Semantic {stage.note}" for stage in self.stages if stage.name == "semantic" and stage.skipped],
                *([f"- Must keep{notes['must_keep']}"] if notes.get("must_keep") else []),
                *[f"- Metadata only: {self.metadata_only_count}"] * (self.metadata_only_count > 0),
                f"- Tokens: {self.original_tokens:,} -> {self.compressed_tokens:,}, {self.savings_percent:.1f} % saved",
                *([self.llm.summary()] if self.llm else []),
                *[f"- Failed: {failure.warning()}" for failure in self.failures],
            )
        )

    def metrics(self) -> dict[str, int | str]:
        """Return the six numbers for the log line of a search: `totalChunks`, `metadataOnlyChunks`,
        `tokensBeforeCompression`, `tokensAfterCompression`, `tokensSaved`, and `compressionRate`, which is the share
        of tokens saved, such as "30.0%"."""
        return {
            "totalChunks": self.original_count,
            "metadataOnlyChunks": self.metadata_only_count,
            "tokensBeforeCompression": self.original_tokens,
            "tokensAfterCompression": self.compressed_tokens,
            "tokensSaved": self.tokens_saved,
            "compressionRate": f"{self.savings_percent:.1f}%",
        }

    def to_dict(self) -> dict[str, object]:
        """Return the counts and the stages with their notes, in types that JSON has."""
        return {
            **{name: getattr(self, name) for name in _COUNTS},
            "tokens_saved": self.tokens_saved,
            "savings_percent": round(self.savings_percent, 2),
            **({"llm": asdict(self.llm)} if self.llm else {}),
            **({"failures": [failure._asdict() for failure in self.failures]} if self.failures else {}),
            "stages": [{name: getattr(stage, name) for name in _STAGE_FIELDS} for stage in self.stages],
        }


_COUNTS = tuple(entry.name for entry in fields(Stats) if entry.name not in ("stages", "llm", "failures"))
_STAGE_FIELDS = ("name", "items_in", "items_out", "milliseconds", "note")


class Clock:
    """Records how long each stage took, and how many items went in and came out."""

    def __init__(self) -> None:
        self.laps: list[StageStats] = []
        self._since = perf_counter()

    def lap(self, name: str, items_in: int, items_out: int, note: str = "", **flags: bool) -> None:
        """Record the end of a stage and start timing the next one: see StageStats.

        Raises CancelledError if the work is cancelled.
        """
        now = perf_counter()
        milliseconds, self._since = 1e3 * (now - self._since), now
        self.laps.append(StageStats(name, items_in, items_out, milliseconds, note, **flags))
        stop_if_cancelled()


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


Report = Callable[[Observation], None]
"""A function that is called with what a compression did."""


@runtime_checkable
class Observer(Protocol):
    """Is told of compressions. Threads share it. What it raises comes out as a PluginError, or as a warning: see the
    option `on_error`."""

    def observe(self) -> AbstractContextManager[Report]:
        """Return a block that is entered before a compression and left after it, by an exception if it fails.

        The block yields the function that is told what the compression did. That call is the last thing in the block.
        """


Keep = Callable[[Callable[[], Observation]], None]
"""A function that takes what makes the observation, because making one takes time and only the last one is needed."""

_OUTER: ContextVar[tuple[Observer, Keep] | None] = ContextVar("ctxcompress_observed", default=None)


@contextmanager
def observed(observer: Observer | None, *, forgives: bool = False) -> Iterator[Keep]:
    """Yield a function that takes what to tell the observer. When the block ends, the observer is told the last of it.

    In a block within another block of the same observer, the outer block tells it. This also holds on another thread
    that runs in the context of the outer block. forgives: whether what the observer raises is only a warning.
    """
    outer = _OUTER.get()
    if observer is None:
        yield lambda _: None
    elif outer is not None and outer[0] is observer:
        yield outer[1]
    else:
        begin, last = perf_counter(), list[tuple[Callable[[], Observation], float]]()

        def keep(make: Callable[[], Observation]) -> None:
            last[:] = [(make, perf_counter())]

        with _block_of(observer, forgives=forgives) as report:
            before = _OUTER.set((observer, keep))
            try:
                yield keep
            finally:
                _OUTER.reset(before)
            for make, end in last:
                report(replace(make(), duration=end - begin))


@contextmanager
def _block_of(observer: Observer, *, forgives: bool) -> Iterator[Report]:
    """Return the observer's block. What it raises is a PluginError, or only a warning."""

    def told(work: Callable[[], T]) -> T | None:
        try:
            return called("telemetry", work)
        except PluginError as error:
            if not forgives:
                raise
            warn(Failure(error.part, error.reason).warning())
            return None

    block = told(observer.observe)
    report = told(block.__enter__) if block is not None else None
    leave = block.__exit__ if block is not None and report is not None else lambda *_: None
    try:
        yield lambda done: told(partial(report, done)) if report is not None else None
    except BaseException as error:
        told(partial(leave, type(error), error, error.__traceback__))
        raise
    told(partial(leave, None, None, None))


def observer_of(telemetry: bool | Observer) -> Observer | None:
    """Return the observer that the option `telemetry` means: True is one of the wings. Raises MissingExtra."""
    return plugin("ctxcompress.observers", "opentelemetry")() if telemetry is True else telemetry or None
