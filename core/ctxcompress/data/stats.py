"""What a compression counted."""

from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field, fields
from threading import Event
from time import perf_counter
from typing import Any

__all__ = ["Clock", "StageStats", "Stats", "stop_if_given_up", "waiting"]


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
class Stats:
    """Counts of one compression. Tokens are counted in the final, joined text."""

    original_count: int
    """Passages that came in."""
    after_threshold: int
    after_dedup: int
    after_limit: int
    clusters_merged: int
    """Passages that were left out because another one stands for them."""
    metadata_only_count: int
    """Passages in whose place a line is shown."""
    kept_count: int
    """Passages of which something is kept."""
    original_tokens: int
    compressed_tokens: int
    stages: tuple[StageStats, ...]

    @property
    def tokens_saved(self) -> int:
        return self.original_tokens - self.compressed_tokens

    @property
    def savings_percent(self) -> float:
        """Share of the original tokens that were saved, 0 to 100."""
        return 100 * self.tokens_saved / self.original_tokens if self.original_tokens else 0.0

    def summary(self) -> str:
        """What happened, in a few lines to be read."""
        notes = {stage.name: f" ({stage.note})" if stage.note else "" for stage in self.stages}
        return "\n".join(
            (
                "Compression Stats:",
                f"- Original results: {self.original_count}",
                f"- After score filter{notes.get('threshold', '')}: {self.after_threshold}",
                f"- After deduplication: {self.after_dedup}",
                f"- After document limit{notes.get('limit', '')}: {self.after_limit}",
                f"- Clusters merged: {self.clusters_merged}",
                *[f"- Metadata only: {self.metadata_only_count}"] * (self.metadata_only_count > 0),
                f"- Tokens: {self.original_tokens:,} -> {self.compressed_tokens:,}, {self.savings_percent:.1f} % saved",
            )
        )

    def metrics(self) -> dict[str, int | str]:
        """The six numbers that a log line of a search has: `totalChunks`, `metadataOnlyChunks`,
        `tokensBeforeCompression`, `tokensAfterCompression`, `tokensSaved`, and `compressionRate`, the share that was
        saved, as "30.0%"."""
        return {
            "totalChunks": self.original_count,
            "metadataOnlyChunks": self.metadata_only_count,
            "tokensBeforeCompression": self.original_tokens,
            "tokensAfterCompression": self.compressed_tokens,
            "tokensSaved": self.tokens_saved,
            "compressionRate": f"{self.savings_percent:.1f}%",
        }

    def to_dict(self) -> dict[str, object]:
        """Return the numbers and the stages with their notes, in types that JSON has."""
        return {
            **{name: getattr(self, name) for name in _COUNTS},
            "tokens_saved": self.tokens_saved,
            "savings_percent": round(self.savings_percent, 2),
            "stages": [{name: getattr(stage, name) for name in _STAGE_FIELDS} for stage in self.stages],
        }


_COUNTS = tuple(entry.name for entry in fields(Stats) if entry.name != "stages")
_STAGE_FIELDS = ("name", "items_in", "items_out", "milliseconds", "note")


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
