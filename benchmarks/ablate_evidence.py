"""Shows what each group of features is worth: the evidence kept when the scorer is learned again without it.

    python benchmarks/ablate_evidence.py CASES... -o ablation.md --docs docs/evidence.md

CASES are files that lib/cases.py reads, one for each set. The model over words is learned without one group after the
other, and tested on folds. --docs replaces the table "ablation" of that document. Needs the extra `dev`.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path
from statistics import mean

from lib.evaluation import folds, load
from lib.learning import Sets
from lib.markdown_blocks import publish, share, table

from ctxcompress.score.bridges import BRIDGES

GROUPS: Mapping[str, tuple[str, ...]] = {
    "the hand-made score": ("combined",),
    "segment: BM25 and coverage": ("alone", "covered_rank", "covered_with_label"),
    "turns and neighbours": ("unit_before", "unit_after", "unit_covered_with_before", "covered_around"),
    "labels of segments": ("label_covers",),
    "section: rank, coverage": ("section_rank", "covered_by_section"),
    "headings": ("heading_precise", "heading_fits"),
    "position and length": ("first", "length", "short"),
    "bridges: the pass before": ("before", "before_logit", "before_relative", "passage_before"),
    "bridges: titles": ("title_mentioned", "title_mentioned_and_before", "mentions_title", "title_in_query"),
    "bridges: names": ("names", "names_log", "names_of_passage"),
    "source code: what it is": ("is_function", "is_protocol"),
    "source code: calls and neighbours": ("called", "calls", "same_outermost", "same_definition", "near"),
    "source code: names": ("resembles",),
}
"""Every feature of the model over words and of the pass over source code, in one group each; but for what was judged
before, without which a pass would begin anew."""

EVERYTHING = "everything"
Row = Mapping[str, float]
"""Of each set the evidence kept."""


def rows(sets: Sets) -> dict[str, Row]:
    """Of each model, by what is left out of it."""
    without = {EVERYTHING: (), **GROUPS, "all bridges": BRIDGES}
    return {name: _words(folds(sets, {}, frozenset(names))) for name, names in without.items()}


def _words(results: Mapping[str, Mapping[str, float]]) -> Row:
    return {name: of["words"] for name, of in results.items()}


def ablation(found: Mapping[str, Row]) -> str:
    """A row for each model: its difference to everything as a mean of the sets, and the set that loses most."""
    everything = found[EVERYTHING]
    rows = [[title, *_cells(row, everything)] for title, row in found.items() if title != EVERYTHING]
    return table([f"{share(mean(everything.values()))} without", "difference", "loses most"], rows)


def _cells(row: Row, everything: Row) -> tuple[str, str]:
    changes = {name: row[name] - everything[name] for name in everything}
    least = min(changes, key=changes.__getitem__)
    loses = f"{least} {difference(changes[least])}" if changes[least] < 0 else ""
    return difference(mean(changes.values())), loses


def difference(value: float) -> str:
    """With its sign, in thousandths: "+12", "−3", "0"."""
    thousandths = round(1000 * value)
    return f"{thousandths:+d}".replace("-", "−") if thousandths else "0"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path, nargs="+")
    parser.add_argument("-o", "--output", type=Path, help="a file for the table")
    parser.add_argument("--docs", type=Path, help="the document to put the table into")
    parser.add_argument("--limit", type=int, default=200, help="cases of a set at most")
    options = parser.parse_args()
    found = ablation(rows(load(options.cases, options.limit)))
    publish({"ablation": found}, options.docs)
    if options.output:
        options.output.write_text(found + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
