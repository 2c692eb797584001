"""Plots the evidence kept against the budget, for ctxcompress and a plain baseline.

    python benchmarks/plot_budget.py CASES... -o docs/images/evidence-by-budget.svg --limit 100

CASES are files that lib/cases.py reads, or folders of them. Each set gets a panel: the share of the marked evidence
that survives whole at each budget, white space aside. The dotted line is the mean size of all the documents of a
case. The numbers are printed and written to a CSV file beside the picture. --limit spreads the cases evenly over the
set, because neighbours are often questions about the same text. Needs matplotlib and rank-bm25 (extra `dev`).
"""

import argparse
import csv
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain
from multiprocessing import Pool
from multiprocessing.pool import Pool as Workers
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
from lib.baseline import RankedSentences
from lib.cases import SUFFIXES, Case, read_cases, set_name
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator
from numpy.typing import NDArray

from ctxcompress import CompressionConfig, Compressor, Passage
from ctxcompress.text.tokens import TokenCounter

BUDGETS = (100, 150, 200, 300, 500, 700, 1000, 1400, 2000)
PROCESSES = 2
_COLUMNS = 4
_GREY = "#555555"
_TICKS = (100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000)
Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one case. The tables have a row for each method, a column for each budget."""

    gold: int
    input_tokens: int
    kept: Counts
    tokens: Counts


class Style(NamedTuple):
    """How a curve looks."""

    color: str
    marker: str
    line: str


# Of the palette of Okabe and Ito, which the colour-blind can tell apart; the marks tell without any colour.
STYLES = {"ctxcompress": Style("#0072B2", "o", "-"), "rank_bm25": Style("#D55E00", "s", "--")}
METHODS = tuple(STYLES)


class Point(NamedTuple):
    """A row of the numbers: one set, one method, one budget."""

    set: str
    method: str
    budget: int
    cases: int
    evidence: float
    tokens: float
    over_budget: int
    input_tokens: float


def measure(case: Case, budgets: Sequence[int]) -> Outcome:
    """Compresses one case by each method to each budget."""
    texts = [document.text for document in case.documents]
    gold = [_folded(texts[document][start:end]) for document, start, end in case.gold]
    results = [_compressed(case, budgets), _baseline(case.query, texts, budgets)]
    kept = [[_survivors(gold, text) for text in row] for row in results]
    count = _counter()
    return Outcome(
        gold=len(gold),
        input_tokens=count("\n\n".join(texts)),
        kept=np.array(kept),
        tokens=np.array([[count(text) for text in row] for row in results]),
    )


def _compressed(case: Case, budgets: Sequence[int]) -> list[str]:
    compressor = Compressor()
    passages = [Passage(str(n), d.text, title=d.title or None) for n, d in enumerate(case.documents)]
    return [compressor.compress(case.query, passages, max_tokens=budget).text for budget in budgets]


def _baseline(query: str, texts: Sequence[str], budgets: Sequence[int]) -> list[str]:
    ranked = RankedSentences.of(query, texts)
    return [ranked.within(budget, _counter()) for budget in budgets]


def _survivors(gold: Sequence[str], text: str) -> int:
    folded = _folded(text)
    return sum(found in folded for found in gold)


def _folded(text: str) -> str:
    return " ".join(text.split())


@lru_cache(maxsize=1)
def _counter() -> TokenCounter:
    """What counts for both: the tokenizer of the default configuration."""
    return TokenCounter(CompressionConfig().encoding)


def points(name: str, outcomes: Sequence[Outcome], budgets: Sequence[int]) -> list[Point]:
    """The rows of one set. Every stretch of evidence weighs the same, whatever case it is of."""
    gold = sum(outcome.gold for outcome in outcomes)
    evidence = np.sum([outcome.kept for outcome in outcomes], axis=0) / gold
    tokens = np.array([outcome.tokens for outcome in outcomes])
    over = (tokens > np.array(budgets)).sum(axis=0)
    whole = round(float(np.mean([outcome.input_tokens for outcome in outcomes])), 1)
    return [
        Point(
            set=name,
            method=method,
            budget=budget,
            cases=len(outcomes),
            evidence=round(float(evidence[row, column]), 4),
            tokens=round(float(tokens[:, row, column].mean()), 1),
            over_budget=int(over[row, column]),
            input_tokens=whole,
        )
        for row, method in enumerate(METHODS)
        for column, budget in enumerate(budgets)
    ]


def spread(cases: Sequence[Case], limit: int | None) -> list[Case]:
    """At most `limit` of the cases, evenly spread."""
    if limit is None or limit >= len(cases):
        return list(cases)
    return [cases[index * len(cases) // limit] for index in range(limit)]


def measured(path: Path, budgets: Sequence[int], limit: int | None, workers: Workers) -> list[Point]:
    """The rows of the set that a file holds."""
    cases = spread(list(read_cases(path)), limit)
    if not cases:
        raise ValueError(f"{path} has no case with evidence; give a set whose evidence is marked")
    return points(set_name(path), workers.map(partial(measure, budgets=budgets), cases, chunksize=4), budgets)


def files_of(paths: Sequence[Path]) -> list[Path]:
    """The files given, in place of a folder those in it that can be read, by name."""
    found: list[Path] = []
    for path in paths:
        inside = sorted(file for file in path.iterdir() if file.name.endswith(SUFFIXES)) if path.is_dir() else [path]
        if not inside:
            raise ValueError(f"{path} has no files of cases; they are named *{', *'.join(SUFFIXES)}")
        found += inside
    return found


def draw(sets: Sequence[Sequence[Point]], output: Path) -> None:
    """One panel for each set, all on the same axes."""
    columns = min(_COLUMNS, len(sets))
    rows = -(-len(sets) // columns)
    with mpl.rc_context({"font.size": 9, "svg.hashsalt": "ctxcompress"}):  # the same picture from the same numbers
        figure = Figure(figsize=(2.6 * columns + 0.4, 2.0 * rows + 0.9), layout="constrained", facecolor="white")
        axes = list(figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).flat)
        for panel, found in zip(axes, sets, strict=False):
            _draw_panel(panel, found)
        for lowest in axes[len(sets) - columns : len(sets)]:
            lowest.tick_params(labelbottom=True)
        for unused in axes[len(sets) :]:
            unused.remove()
        _draw_frame(figure, axes[0], sets)
        figure.savefig(output, metadata={"Date": None} if output.suffix == ".svg" else None)


def _draw_panel(panel: Axes, found: Sequence[Point]) -> None:
    for method, style in STYLES.items():
        curve = [point for point in found if point.method == method]
        (line,) = panel.plot([point.budget for point in curve], [point.evidence for point in curve], label=method)
        line.set(color=style.color, marker=style.marker, linestyle=style.line, markersize=3.5, linewidth=1.4)
        line.set_clip_on(False)  # a mark at 1 is seen whole
    whole = found[0].input_tokens
    panel.axvline(whole, color=_GREY, linestyle=":", linewidth=1)
    place = (whole, 0.03)
    panel.annotate(
        f"all: {whole:,.0f} ", place, xycoords=("data", "axes fraction"), ha="right", fontsize=7, color=_GREY
    )
    panel.set_title(found[0].set, fontsize=9, loc="left")
    panel.grid(color="#e4e4e4", linewidth=0.6)
    panel.spines[["top", "right"]].set_visible(False)


def _draw_frame(figure: Figure, first: Axes, sets: Sequence[Sequence[Point]]) -> None:
    """What the panels share: axes, labels, legend."""
    everything = list(chain.from_iterable(sets))
    low = min(point.budget for point in everything) * 0.9
    high = max(max(point.budget, point.input_tokens) for point in everything) * 1.15
    first.set_xscale("log")
    first.set_xlim(low, high)
    ticks = [tick for tick in _TICKS if low <= tick <= high]
    first.set_xticks(ticks, [_short(tick) for tick in ticks])
    first.xaxis.set_minor_locator(NullLocator())
    first.set_ylim(0, 1)
    first.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0", ".25", ".5", ".75", "1"])
    figure.supxlabel("budget in tokens", fontsize=9)
    figure.supylabel("evidence kept whole", fontsize=9)
    lines, labels = first.get_legend_handles_labels()
    figure.legend(lines, labels, loc="outside upper center", ncols=len(labels), frameon=False)


def _short(tokens: int) -> str:
    return f"{tokens // 1000}k" if tokens >= 1000 else str(tokens)


def write_numbers(sets: Sequence[Sequence[Point]], output: Path) -> None:
    """The rows of all sets as CSV."""
    with output.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Point._fields)
        writer.writerows(chain.from_iterable(sets))


def show(found: Sequence[Point]) -> None:
    """One set's numbers for the eye: for each method a line of the evidence, one of the tokens used."""
    print(f"{found[0].set}: {found[0].cases} cases, {found[0].input_tokens:,.0f} tokens on average")
    print(f"  {'budget':22s}" + "".join(f"{point.budget:>7d}" for point in found if point.method == METHODS[0]))
    for method in METHODS:
        curve = [point for point in found if point.method == method]
        print(f"  {method + ' evidence':22s}" + "".join(f"{point.evidence:>7.3f}" for point in curve))
        print(f"  {method + ' tokens':22s}" + "".join(f"{point.tokens:>7.0f}" for point in curve))
        if any(point.over_budget for point in curve):
            print(f"  {method} over budget: {[point.over_budget for point in curve]}")
    sys.stdout.flush()


def main() -> None:
    options = _options()
    sets = []
    with Pool(PROCESSES) as workers:
        for path in files_of(options.cases):
            sets.append(measured(path, options.budgets, options.limit, workers))
            show(sets[-1])
    options.output.parent.mkdir(parents=True, exist_ok=True)
    write_numbers(sets, options.output.with_suffix(".csv"))
    draw(sets, options.output)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path, nargs="+")
    parser.add_argument("-o", "--output", type=Path, required=True, help="the picture; the numbers stand beside it")
    parser.add_argument("--limit", type=int, help="cases of a set at most; all without it")
    parser.add_argument("--budgets", type=int, nargs="+", default=list(BUDGETS))
    options = parser.parse_args()
    options.budgets = sorted(set(options.budgets))
    if options.output.suffix == ".csv":
        parser.error("-o is the picture (.svg, .png, .pdf); the .csv is written beside it")
    return options


if __name__ == "__main__":
    main()
