"""Shows what `adaptive=True` saves, costs and prunes.

    python benchmarks/adaptive_curve.py CASES... -o docs/images/adaptive.svg --folds --docs docs/evidence.md

CASES are files that lib/cases.py reads, one for each set. Each set is compressed to its budget without `adaptive`,
and with several values of `adaptive`. The picture has a line for each set: the share of the budget that is
used (across) against the evidence that is kept (up). A CSV file beside it has the numbers, and a table their means.
A last table shows how well `adaptive` prunes without a budget: precision and recall of the kept segments, and what is
kept of passages that belong to another question.

With --folds, each quarter of every set is tested with weights that were learned from the rest. Without it, the
published weights are tested, which may have been learned from the same cases. --docs replaces the table "adaptive" of
that document. Needs the extra `dev`.
"""

import argparse
import csv
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import matplotlib as mpl
import numpy as np
from lib.evaluation import ENCODING, FOLDS, budget_of, load, survivors
from lib.examples import Example
from lib.learning import Sets, calibrate, learn_words
from lib.markdown_blocks import publish, share, table
from lib.pruning import Pruned, pruned, pruning
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter
from numpy.typing import NDArray

from ctxcompress import CompressionConfig, Compressor
from ctxcompress.score.evidence import Model, load_models

OFF = 0.0
"""Stands for `adaptive=False`, in the CSV too."""
DEFAULT = CompressionConfig(adaptive=True).adaptive
THRESHOLDS = (OFF, 0.001, 0.002, 0.005, DEFAULT, 0.02, 0.05, 0.1)
# Of the palette of Okabe and Ito, which the colour-blind can tell apart; where the colours come again, lines differ.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
LINES = ("-", "--", ":")
_CLOSEST_LABELS = 0.03
_HIGHEST_LABEL = 1.06
"""Between the middles of two names, and where the highest may be, as shares of the axis."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one case."""

    gold: int
    kept: tuple[int, ...]
    """Pieces of evidence, for each threshold."""
    used: tuple[float, ...]
    """Share of the budget, for each threshold."""
    needed: NDArray[np.bool_]
    pruned: tuple[Pruned, ...] = ()
    """Without a budget, for each threshold of `lib.pruning`."""


class Point(NamedTuple):
    """A row of the numbers: one set at one threshold."""

    set: str
    adaptive: float
    cases: int
    budget: int
    used: float
    evidence: float


def outcomes(sets: Sets, in_folds: bool) -> dict[str, list[Outcome]]:
    """What became of each case of each set."""
    found: dict[str, list[Outcome]] = {name: [] for name in sets}
    for model, judged in _models(sets, in_folds):
        for name, cases in judged.items():
            others = [*cases[1:], *cases[:1]]
            found[name] += [
                replace(measure(case, model, budget_of(name)), pruned=_pruned(case, other, model))
                for case, other in zip(cases, others, strict=True)
            ]
    return found


def _models(sets: Sets, in_folds: bool) -> Iterator[tuple[Model, Sets]]:
    """Models over words, and the cases to judge with each."""
    if not in_folds:
        yield load_models()["words"], sets
        return
    for fold in range(FOLDS):
        rest = {name: [c for n, c in enumerate(cases) if n % FOLDS != fold] for name, cases in sets.items()}
        yield learned(rest), {name: cases[fold::FOLDS] for name, cases in sets.items()}


def learned(sets: Sets) -> Model:
    """The model over words, learned from these cases."""
    stages = learn_words(sets)
    return Model(tuple(stages), calibrate(sets, lambda case: case.words(stages)))


def measure(case: Example, model: Model, budget: int, thresholds: Sequence[float] = THRESHOLDS) -> Outcome:
    """Compresses one case at each threshold, as `ctxcompress` does with this model."""
    with _published(model):
        results = [
            Compressor(_config(threshold, budget)).compress(case.query, case.passages) for threshold in thresholds
        ]
    return Outcome(
        gold=len(case.gold),
        kept=tuple(survivors(case, result.text) for result in results),
        used=tuple(result.tokens / budget for result in results),
        needed=case.needed,
    )


def _pruned(case: Example, other: Example, model: Model) -> tuple[Pruned, ...]:
    with _published(model):
        return pruned(case, other)


def _published(model: Model) -> AbstractContextManager[object]:
    """Put a model over words in the place of the published one."""
    return patch("ctxcompress.score.evidence.load_models", return_value={**load_models(), "words": model})


def _config(threshold: float, budget: int) -> CompressionConfig:
    config = CompressionConfig(max_tokens=budget, encoding=ENCODING)
    if threshold == OFF:
        return config
    return CompressionConfig(max_tokens=budget, encoding=ENCODING, adaptive=threshold)


def points(name: str, found: Sequence[Outcome], thresholds: Sequence[float] = THRESHOLDS) -> list[Point]:
    """The rows of one set. Every piece of evidence weighs the same; of the budget, every case."""
    gold = sum(outcome.gold for outcome in found)
    return [
        Point(
            set=name,
            adaptive=threshold,
            cases=len(found),
            budget=budget_of(name),
            used=round(float(np.mean([outcome.used[column] for outcome in found])), 4),
            evidence=round(sum(outcome.kept[column] for outcome in found) / gold, 4),
        )
        for column, threshold in enumerate(thresholds)
    ]


def trade_off(sets: Sequence[Sequence[Point]]) -> str:
    """The evidence kept and the share of the budget used, as means of the sets, a row for each threshold."""
    rows = [["off" if of[0].adaptive == OFF else f"{of[0].adaptive:g}", *_means(of)] for of in zip(*sets, strict=True)]
    return table(["adaptive", "evidence", "budget used"], rows)


def _means(of: Sequence[Point]) -> tuple[str, str]:
    return share(_mean(point.evidence for point in of)), f"{100 * _mean(point.used for point in of):.0f} %"


def _mean(values: Iterator[float]) -> float:
    return float(np.mean(list(values)))


def draw(sets: Sequence[Sequence[Point]], output: Path) -> None:
    """A line for each set, with its name at the end where the budget is full."""
    with mpl.rc_context({"font.size": 9, "svg.hashsalt": "ctxcompress"}):  # the same picture from the same numbers
        figure = Figure(figsize=(7.2, 6.2), layout="constrained", facecolor="white")
        axes = figure.subplots()
        for number, found in enumerate(sets):
            _draw_line(axes, found, COLORS[number % len(COLORS)], LINES[number // len(COLORS) % len(LINES)])
        low = min(point.evidence for found in sets for point in found)
        bottom = np.floor(20 * low) / 20
        axes.set_ylim(bottom, 1.005)
        axes.set_xlim(0, 1)
        _label(axes, sets, (bottom, 1.005))
        axes.xaxis.set_major_formatter(PercentFormatter(1))
        axes.set_xlabel(
            "share of the budget used, mean of the cases\n"
            f"(adaptive from {max(THRESHOLDS):g}, left, to off, right; large mark: {DEFAULT:g})"
        )
        axes.set_ylabel("evidence kept whole")
        axes.grid(color="#e4e4e4", linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
        figure.savefig(output, metadata={"Date": None} if output.suffix == ".svg" else None)


def _draw_line(axes: Axes, found: Sequence[Point], color: str, line: str) -> None:
    used, evidence = [point.used for point in found], [point.evidence for point in found]
    axes.plot(used, evidence, color=color, linestyle=line, marker="o", markersize=2.8, linewidth=1.4, clip_on=False)
    default = [point for point in found if point.adaptive == DEFAULT]
    axes.plot([p.used for p in default], [p.evidence for p in default], color=color, marker="o", markersize=7)


def _label(axes: Axes, sets: Sequence[Sequence[Point]], limits: tuple[float, float]) -> None:
    """Each set's name to the right of its line, the names apart from each other."""
    low, high = limits
    order = sorted(range(len(sets)), key=lambda number: sets[number][0].evidence)
    ends = [(sets[number][0].evidence - low) / (high - low) for number in order]
    for number, place in zip(order, spaced(ends, _CLOSEST_LABELS), strict=True):
        end = sets[number][0]
        color = COLORS[number % len(COLORS)]
        axes.annotate(
            end.set,
            (end.used, end.evidence),
            xytext=(1.04, place),
            textcoords="axes fraction",
            va="center",
            color=color,
            arrowprops={"arrowstyle": "-", "color": color, "linewidth": 0.6, "shrinkA": 0, "shrinkB": 2},
            annotation_clip=False,
        )


def spaced(places: Sequence[float], least: float) -> list[float]:
    """Ascending places, moved apart so that no two are closer than `least`, none of them above the highest."""
    moved: list[float] = []
    for place in places:
        moved.append(max(place, moved[-1] + least) if moved else place)
    highest = _HIGHEST_LABEL
    for number in range(len(moved) - 1, -1, -1):
        moved[number] = min(moved[number], highest)
        highest = moved[number] - least
    return moved


def write_numbers(sets: Sequence[Sequence[Point]], output: Path) -> None:
    """The rows of all sets as CSV."""
    with output.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Point._fields)
        writer.writerows(point for found in sets for point in found)


def main() -> None:
    options = _options()
    found = outcomes(load(options.cases, options.limit), options.folds)
    rows = [points(name, of_set) for name, of_set in found.items()]
    options.output.parent.mkdir(parents=True, exist_ok=True)
    write_numbers(rows, options.output.with_suffix(".csv"))
    draw(rows, options.output)
    publish({"adaptive": trade_off(rows)}, options.docs)
    print(pruning({name: [(o.pruned, o.needed) for o in of_set] for name, of_set in found.items()}))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path, nargs="+")
    parser.add_argument("-o", "--output", type=Path, required=True, help="the picture; the numbers stand beside it")
    parser.add_argument("--folds", action="store_true", help="judge each case with weights not learned from it")
    parser.add_argument("--docs", type=Path, help="the document to put the table into")
    parser.add_argument("--limit", type=int, default=200, help="cases of a set at most")
    options = parser.parse_args()
    if options.output.suffix == ".csv":
        parser.error("-o is the picture (.svg, .png, .pdf); the .csv is written beside it")
    return options


if __name__ == "__main__":
    main()
