"""Shows whether the probabilities of segments are right, for kinds of text that nothing was learned from.

    python benchmarks/reliability.py CASES... [--limit 60] [--docs docs/evidence.md]

CASES are files that lib/cases.py reads, one for each set. Each kind of text (lib/kinds.py) is tested with weights and a
calibration that were learned from the other kinds. One table compares the probabilities with how often a segment was
evidence. The other one has of each kind:

- Brier: the mean squared error of the probabilities.
- skill: which share of the error it takes away that a forecaster makes who says of every segment of the kind how often
  one is evidence. Below 0 the probabilities are worse than that.
- expected: how many pieces of evidence the probabilities add up to, as a share of those that there are.

Every set weighs the same. --docs replaces the tables "calibration" and "brier" of that document. Needs the extras `dev`
and `static`.
"""

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import numpy as np
from lib.evaluation import in_place_of_published, load, models_left_out
from lib.examples import Example, Floats
from lib.kinds import kind_of
from lib.learning import Sets
from lib.markdown_blocks import publish, publishing_parser, share, table
from train_evidence import RememberedComparer

from ctxcompress.encoders import WORDS, StaticVectors
from ctxcompress.query.terms import Question
from ctxcompress.score.evidence import evidence, matches_in

BINS = (0.0, 0.001, 0.005, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)

Judged = Mapping[str, Floats]
"""Name of a set -> shape (segments, 3): the probability by words, that of the default, and whether it is evidence."""


def judged(sets: Sets) -> Judged:
    """Judge all segments with models that were learned from the other kinds."""
    found: dict[str, list[Floats]] = {name: [] for name in sets}
    for models, tested in models_left_out(sets, RememberedComparer(StaticVectors())):
        with in_place_of_published(models):
            for name, cases in tested.items():
                found[name] += map(_judged, cases)
    return {name: np.vstack(rows) for name, rows in found.items()}


def _judged(case: Example) -> Floats:
    question = Question.of(case.query, case.language, {})
    matches = matches_in(case.corpus, question)
    by_words = evidence(question, case.corpus, matches)
    return np.vstack([by_words, evidence(question, case.corpus, matches, case.semantics(WORDS)), case.needed]).T


def reliability(found: Judged) -> str:
    """Return a row for each bin of the probabilities: what was predicted, and how often it was so."""
    rows, weight = np.vstack(list(found.values())), _weights(found)
    needed, cells = rows[:, 2], []
    for low, high in pairwise(BINS):
        line = [f"{low:g} to {high:g}"]
        for column in (0, 1):
            inside = (rows[:, column] >= low) & (rows[:, column] < high + (high == BINS[-1]))
            means = [np.average(values[inside], weights=weight[inside]) for values in (rows[:, column], needed)]
            line += [f"{inside.sum():,}", *(f"{mean:.4f}" if mean < 0.1 else share(mean) for mean in means)]
        cells.append(line)
    return table(["probability", *["segments", "predicted", "were evidence"] * 2], cells)


def brier(found: Judged) -> str:
    """Return a row for each kind: the errors by words and of the default."""
    kinds = {kind: {of: rows for of, rows in found.items() if kind_of(of) == kind} for kind in map(kind_of, found)}
    cells = [_errors(kind, of_kind) for kind, of_kind in sorted(kinds.items())]
    header = ["kind", "evidence", "Brier", "skill", "expected", "Brier, words", "skill, words", "expected, words"]
    return table(header, [*cells, _errors("all", found)])


def _errors(kind: str, found: Judged) -> list[str]:
    rows, weight = np.vstack(list(found.values())), _weights(found)
    needed = rows[:, 2]
    often = float(np.average(needed, weights=weight))
    cells = [kind, f"{100 * often:.1f} %"]
    for column in (1, 0):
        error = float(np.average((rows[:, column] - needed) ** 2, weights=weight))
        expected = float(np.average(rows[:, column], weights=weight)) / often
        cells += [f"{error:.4f}", f"{1 - error / (often * (1 - often)):.2f}".replace("-", "−"), f"{expected:.2f}"]
    return cells


def _weights(found: Judged) -> Floats:
    return np.concatenate([np.full(len(rows), 1 / len(rows)) for rows in found.values()])


def main() -> None:
    parser = publishing_parser(__doc__)
    parser.add_argument("cases", nargs="+", type=Path)
    parser.add_argument("--limit", type=int, default=60, help="cases of a set at most")
    options = parser.parse_args()
    found = judged(load(options.cases, options.limit))
    publish({"calibration": reliability(found), "brier": brier(found)}, options.docs)


if __name__ == "__main__":
    main()
