"""Tables of what compressors keep and cost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median
from typing import NamedTuple

import numpy as np
from lib.markdown_blocks import share, table
from numpy.typing import NDArray

__all__ = ["Figures", "Outcome", "behaviours_table", "cost_table", "difference", "evidence_table", "paired_table"]

_RESAMPLES = 4_000
_NONE = "–"


class Outcome(NamedTuple):
    """What is left of a case."""

    kept: int
    """Pieces of evidence that are whole in the text."""
    pieces: int
    answered: bool | None
    """Whether an accepted answer is in the text; None if none is in the passages."""
    tokens: int
    budget: int
    milliseconds: float
    error: str


@dataclass(frozen=True, slots=True)
class Figures:
    """What a way to compress keeps of each set."""

    version: str
    outcomes: Mapping[str, Sequence[Outcome]]
    megabytes: float | None = None
    """The peak of its process's memory."""


Shares = Mapping[str, NDArray[np.float64]]
"""Set -> of each case what is kept, and of how much: an array of two columns."""


def evidence_table(figures: Mapping[str, Figures]) -> str:
    """Return the table of the evidence that each way keeps."""
    return paired_table({name: _shares(of) for name, of in figures.items()})


def _shares(figures: Figures) -> Shares:
    return {name: np.array([[of.kept, of.pieces] for of in found], float) for name, found in figures.outcomes.items()}


def paired_table(
    shares: Mapping[str, Shares], columns: Sequence[str] = (), more: Mapping[str, Sequence[str]] | None = None
) -> str:
    """Return the share that each way keeps of each set, and the difference of the means to the first row with its
    interval. A star marks a difference in a set that chance does not explain. more: cells of further columns."""
    first = next(iter(shares.values()))
    rows = []
    for name, of in shares.items():
        cells = [_cell(of, first, of_set) for of_set in first]
        low, middle, high = difference(of, first, list(first))
        interval = _NONE if of is first else f"{_signed(middle)} [{_signed(low)}, {_signed(high)}]"
        rows.append([name, *cells, share(mean(map(_kept, of.values()))), interval, *(more or {}).get(name, ())])
    return table(["", *first, "mean", "difference [95 %]", *columns], rows)


def _cell(of: Shares, first: Shares, of_set: str) -> str:
    low, _, high = difference(of, first, [of_set])
    return share(_kept(of[of_set])) + ("*" if low > 0 or high < 0 else "")


def _kept(found: NDArray[np.float64]) -> float:
    kept, pieces = found.sum(axis=0)
    return float(kept / pieces)


def difference(one: Shares, other: Shares, sets: Sequence[str]) -> tuple[float, float, float]:
    """Return the difference of what two ways keep, a mean of sets, between the ends of its interval of 95 %.

    Each sample draws cases of each set anew, the same ones for both.
    """
    random = np.random.default_rng(0)
    samples = np.zeros(_RESAMPLES)
    for name in sets:
        kept, pieces = one[name][:, 0] - other[name][:, 0], one[name][:, 1]
        drawn = random.integers(kept.size, size=(_RESAMPLES, kept.size))
        samples += kept[drawn].sum(axis=1) / pieces[drawn].sum(axis=1)
    low, high = np.quantile(samples / len(sets), (0.025, 0.975))
    exact = mean(_kept(one[name]) - _kept(other[name]) for name in sets)
    return float(low), exact, float(high)


def _signed(value: float) -> str:
    return f"{'−' if value < 0 else '+'}{share(abs(round(value, 3)))}"


def _answered(outcomes: Sequence[Outcome]) -> float | None:
    told = [of.answered for of in outcomes if of.answered is not None]
    return mean(told) if told else None


def _over(outcomes: Sequence[Outcome]) -> float:
    return mean(of.tokens > of.budget for of in outcomes)


def _milliseconds(outcomes: Sequence[Outcome]) -> float | None:
    return median(of.milliseconds for of in outcomes) or None


def _percent(value: float) -> str:
    return f"{100 * value:.0f} %"


def cost_table(figures: Mapping[str, Figures]) -> str:
    """Return the version of each way and its means over the sets: answers, cases over the budget, tokens, CPU, memory,
    and how many cases it failed on."""
    rows = []
    for name, way in figures.items():
        sets = [*way.outcomes.values()]
        answered = [told for told in map(_answered, sets) if told is not None]
        times = [time for time in map(_milliseconds, sets) if time is not None]
        used = mean(of.tokens / of.budget for outcomes in sets for of in outcomes)
        cells = (
            way.version or _NONE,
            share(mean(answered)) if answered else _NONE,
            _percent(mean(map(_over, sets))),
            _percent(used),
            f"{mean(times):.1f}" if times else _NONE,
            f"{way.megabytes:.0f}" if way.megabytes else _NONE,
            f"{sum(bool(of.error) for outcomes in sets for of in outcomes)}",
        )
        rows.append([name, *cells])
    return table(["", "version", "answers", "over the budget", "budget used", "CPU ms", "memory MB", "errors"], rows)


def behaviours_table(names: Sequence[str], found: Mapping[str, Sequence[str]]) -> str:
    """Return for each behaviour in which compressors it does not hold, and how many hold in each."""
    rows = [
        [name, ", ".join(of for of, cell in zip(found, cells, strict=True) if cell != "yes") or _NONE]
        for name, *cells in zip(names, *found.values(), strict=True)
    ]
    total = ", ".join(f"{of} {sum(cell == 'yes' for cell in cells)}" for of, cells in found.items())
    return table(["what should hold", "does not in"], [*rows, ["**hold**", f"{total} of {len(names)}"]])
