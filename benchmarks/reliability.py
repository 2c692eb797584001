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
from lib.markdown_blocks import publish, publishing_parser, table
from train_evidence import RememberedComparer

from ctxcompress.encoders import WORDS, StaticVectors
from ctxcompress.query.terms import Question
from ctxcompress.score.evidence import evidence, matches_in

BINS = (0.0, 0.001, 0.005, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
_WORDS, _DEFAULT = 0, 1
"""The columns of the probabilities."""

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
    """Return a row for each bin of the default's probabilities: what was predicted, and how often it was so."""
    (_, probability, needed), weight = np.vstack(list(found.values())).T, _weights(found)
    place = np.clip(np.digitize(probability, BINS) - 1, 0, len(BINS) - 2)
    cells = []
    for number, (low, high) in enumerate(pairwise(BINS)):
        inside = place == number
        if inside.any():
            means = [np.average(values[inside], weights=weight[inside]) for values in (probability, needed)]
            cells.append([f"{low:g} to {high:g}", f"{inside.sum():,}", *(f"{mean:.4f}" for mean in means)])
    return table(["probability", "segments", "predicted", "were evidence"], cells)


def brier(found: Judged) -> str:
    """Return a row for each kind, and two for all: of the default and by words alone."""
    kinds = {kind: {of: rows for of, rows in found.items() if kind_of(of) == kind} for kind in map(kind_of, found)}
    cells = [[kind, *_errors(of_kind, _DEFAULT)] for kind, of_kind in sorted(kinds.items())]
    cells += [["all", *_errors(found, _DEFAULT)], ["all, by words alone", *_errors(found, _WORDS)]]
    return table(["kind", "Brier", "skill", "expected"], cells)


def _errors(found: Judged, column: int) -> list[str]:
    rows, weight = np.vstack(list(found.values())), _weights(found)
    probability, needed = rows[:, column], rows[:, -1]
    often, expected, error = (
        float(np.average(values, weights=weight)) for values in (needed, probability, (probability - needed) ** 2)
    )
    skill = f"{1 - error / (often * (1 - often)):.2f}".replace("-", "−")
    return [f"{error:.4f}", skill, f"{expected / often:.2f}"]


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
