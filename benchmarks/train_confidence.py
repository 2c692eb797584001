"""Learns the weights of core/ctxcompress/score/evidence.py, and measures the confidence in contexts.

    python benchmarks/train_confidence.py CASES...                          # print the table and the weights
    python benchmarks/train_confidence.py CASES... --docs docs/evidence.md  # and replace the table there

CASES are files of question answering cases that lib/cases.py reads, one for each set. Each question is asked of its own
passages, which answer it, and of those of two other cases of its set, which do not. The area under the curve (AUC) says
how often the confidence in the first is greater; 0.5 is chance. A harder test are the columns "removed": the
question's own passages without those that have evidence. Precision and recall are of what the confidence doubts among
as many contexts without an answer as with one.

Each set is tested with weights that were learned from the other kinds of text (lib/kinds.py). Every set weighs the
same, and so do the two answers. Needs the extra `dev`.
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np
from lib.cases import Case, read_cases, set_name
from lib.examples import Example, Floats, example
from lib.kinds import kind_of
from lib.markdown_blocks import publish, share, table
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from ctxcompress.query.terms import query_terms
from ctxcompress.score.evidence import CONFIDENCE, confidence_features
from ctxcompress.text.words import Terms

DOUBTED = 0.25
"""Below this confidence `adaptive` makes all segments less likely: see `_likelihoods` in pipeline/scoring.py."""
_OTHERS = 2
"""How many other contexts each question is asked of."""
_REGULARIZATION = 1.0
_UNKNOWN = "–"


@dataclass(frozen=True, slots=True)
class Contexts:
    """The features of the questions of a set in their contexts, each of shape (contexts, features)."""

    own: Floats
    of_others: Floats
    without_answer: Floats


class Confidences(NamedTuple):
    """The confidences in the contexts of a set."""

    own: Floats
    of_others: Floats
    without_answer: Floats


def contexts(cases: Sequence[Case]) -> Contexts:
    """Measure each question in its own context, in those of others, and in its own without the answer."""
    draw = Random(0)
    texts = [{document.text for document in case.documents} for case in cases]
    own, others, without = list[Case](), list[Case](), list[Case]()
    for number, case in enumerate(cases):
        strangers = [other for other in range(len(cases)) if texts[other].isdisjoint(texts[number])]
        own.append(case)
        chosen = draw.sample(strangers, min(_OTHERS, len(strangers)))
        others += [Case(case.query, cases[other].documents, (), ()) for other in chosen]
        gold = {document for document, _, _ in case.gold}
        rest = tuple(document for place, document in enumerate(case.documents) if place not in gold)
        without += [Case(case.query, rest, (), ())] if rest else []
    return Contexts(*(_measured(found) for found in (own, others, without)))


def _measured(cases: Sequence[Case]) -> Floats:
    rows = [confidence_features(_wanted(found), found.matches) for case in cases if (found := example(case)).wanted]
    return np.array(rows).reshape(-1, len(CONFIDENCE))


def _wanted(case: Example) -> Mapping[str, float]:
    return query_terms(case.query, language=case.language, terms=Terms(case.language))


def learned(sets: Sequence[Contexts]) -> LogisticRegression:
    """Return the regression that tells own contexts from those of others."""
    rows, answers, weights = [], [], []
    for found in sets:
        for of_kind, answer in ((found.own, True), (found.of_others, False)):
            rows.append(of_kind)
            answers.append(np.full(len(of_kind), answer))
            weights.append(np.full(len(of_kind), 100 / max(len(of_kind), 1)))
    model = LogisticRegression(C=_REGULARIZATION, max_iter=2000)
    return model.fit(np.vstack(rows), np.concatenate(answers), sample_weight=np.concatenate(weights))


def left_out(sets: Mapping[str, Contexts]) -> Iterator[tuple[str, Confidences]]:
    """Yield the confidences in the contexts of each set, with weights learned from the other kinds."""
    for name, found in sets.items():
        rest = [other for of, other in sets.items() if kind_of(of) != kind_of(name) and len(other.of_others)]
        model = learned(rest)
        contexts_of = (found.own, found.of_others, found.without_answer)
        yield name, Confidences(*(model.predict_proba(of)[:, 1] if len(of) else np.array([]) for of in contexts_of))


def by_name(title: str, found: Mapping[str, Sequence[Confidences]]) -> str:
    """Return a table with a row for each name, the means of its sets: precision and recall of what is doubted, for both
    ways to have no answer. There are as many contexts without an answer as with one."""
    header = [title, "precision", "recall", "removed: precision", "removed: recall"]
    return table(header, [[name, *_doubted(sets, 1), *_doubted(sets, 2)] for name, sets in found.items()])


def _doubted(sets: Sequence[Confidences], way: int) -> tuple[str, str]:
    """Return (precision, recall). way: the field of the contexts without an answer."""
    shares = [[(of_set[place] < DOUBTED).mean() for place in (0, way)] for of_set in sets if len(of_set[way])]
    if not shares:
        return _UNKNOWN, _UNKNOWN
    alarms, recall = np.mean(shares, axis=0)
    return share(recall / (alarms + recall)) if alarms + recall else _UNKNOWN, share(recall)


def aucs(title: str, found: Mapping[str, Confidences]) -> str:
    """Return the table of the AUC of each set, and their mean, for both ways to have no answer."""
    known = {
        name: [_auc(of_set.own, of_set[way]) if len(of_set[way]) else np.nan for way in (1, 2)]
        for name, of_set in found.items()
    }
    known["mean"] = list(np.nanmean(list(known.values()), axis=0))
    return table([title, "AUC", "removed: AUC"], [[name, *map(share, of_set)] for name, of_set in known.items()])


def _auc(own: Floats, others: Floats) -> float:
    truth = np.concatenate([np.ones(len(own)), np.zeros(len(others))])
    return float(roc_auc_score(truth, np.concatenate([own, others])))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path, nargs="+")
    parser.add_argument("--limit", type=int, default=100, help="cases of a set at most")
    parser.add_argument("--docs", type=Path, help="the document to put the table into")
    options = parser.parse_args()
    sets = {set_name(path): contexts(list(read_cases(path, options.limit))) for path in options.cases}
    found = dict(left_out(sets))
    of_sets = {name: [of_set] for name, of_set in found.items()}
    print(by_name("set", of_sets), aucs("set", found), sep="\n\n", end="\n\n")
    kinds = sorted(set(map(kind_of, found)))
    of_kinds = {kind: [of_set for name, of_set in found.items() if kind_of(name) == kind] for kind in kinds}
    publish({"confidence": by_name("kind", of_kinds | {"mean": list(found.values())})}, options.docs)
    model = learned([found for found in sets.values() if len(found.of_others)])
    for name, weight in zip(CONFIDENCE, model.coef_[0], strict=True):
        print(f"{name}: {weight:.2f}")
    print(f"intercept: {model.intercept_[0]:.2f}")


if __name__ == "__main__":
    main()
