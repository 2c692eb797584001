"""The counts of a batch."""

from dataclasses import dataclass
from typing import NamedTuple

from ctxcompress.apps.batch.row_records import RowOutcome

__all__ = ["BatchStats", "Totals"]


class Totals(NamedTuple):
    """The rows that are done, and their tokens."""

    rows: int = 0
    errors: int = 0
    """The rows that failed."""
    original_tokens: int = 0
    tokens: int = 0

    @property
    def saved(self) -> int:
        """The tokens that were saved."""
        return self.original_tokens - self.tokens

    def plus(self, outcome: RowOutcome) -> "Totals":
        """Return the totals with one row more."""
        return Totals(
            self.rows + 1,
            self.errors + (outcome.error is not None),
            self.original_tokens + outcome.original_tokens,
            self.tokens + outcome.tokens,
        )


@dataclass(frozen=True, slots=True)
class BatchStats:
    """The statistics of a batch."""

    totals: Totals
    """All rows of the output, also those of earlier runs."""
    rows: int
    """The rows of this run."""
    seconds: float
    """The time of this run."""
    workers: int
    """The processes that worked."""

    def to_dict(self) -> dict[str, int | float]:
        """Return the numbers by name."""
        totals = self.totals
        share = totals.saved / totals.original_tokens if totals.original_tokens else 0.0
        return {
            "rows": totals.rows,
            "errors": totals.errors,
            "original_tokens": totals.original_tokens,
            "tokens": totals.tokens,
            "tokens_saved": totals.saved,
            "savings_percent": round(100 * share, 2),
            "rows_of_this_run": self.rows,
            "seconds_of_this_run": round(self.seconds, 3),
            "rows_per_second": round(self.rows / max(self.seconds, 1e-9), 1),
            "workers": self.workers,
        }
