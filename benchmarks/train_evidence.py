"""Learns the weights of core/ctxcompress/score/evidence.json.

    python benchmarks/train_evidence.py CASES            # leave-one-set-out table, then train on all and write
    python benchmarks/train_evidence.py CASES --dry-run  # the table only

CASES is a folder of NAME.json.gz files, question-answering sets with marked evidence, each
``{"docs": {key: {title, text}}, "cases": [{query, docs: [key, ...], gold: [[document, start, end], ...]}, ...]}``
with half-open character offsets. Needs scikit-learn, which the dev extra has.
"""

import argparse
import datetime
import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from ctxcompress.query.terms import query_terms
from ctxcompress.score.bridges import BRIDGES, Bridges
from ctxcompress.score.corpus import Corpus
from ctxcompress.score.evidence import Stage, follow, passes
from ctxcompress.score.features import FEATURES, features
from ctxcompress.score.matches import find_matches
from ctxcompress.segment.segments import segment
from ctxcompress.select.candidates import Candidates
from ctxcompress.select.layout import Layout
from ctxcompress.select.qatbe import select
from ctxcompress.text.language import detect_language
from ctxcompress.text.stopwords import STOP_WORDS
from ctxcompress.text.words import Terms
from ctxcompress.tokens import TokenCounter
from ctxcompress.types import Passage

OUTPUT = Path(__file__).parent.parent / "core" / "ctxcompress" / "score" / "evidence.json"
BUDGETS = {"page": 1000, "mdpage": 1000, "hotpot": 350, "table": 400, "kv": 300}
PASSES = 3
REGULARIZATION = 0.3
SEED = 20261121

Floats = NDArray[np.float64]


@dataclass(slots=True)
class Example:
    """One case, as far as it does not depend on the weights."""

    passages: list[Passage]
    candidates: Candidates
    rows: Floats
    bridges: Bridges | None
    needed: NDArray[np.bool_]
    gold: list[str]

    def inputs(self, stages: Sequence[Stage]) -> Floats | None:
        """What the pass after `stages` sees; None if that pass does not take place."""
        if not stages:
            return self.rows
        if self.bridges is None or len(stages) >= passes(len(self.passages)):
            return None
        return np.vstack([self.rows, self.bridges.features(self.probability(stages))])

    def probability(self, stages: Sequence[Stage]) -> Floats:
        """What the passes so far say."""
        probability = stages[0].probability(self.rows)
        later = stages[1 : passes(len(self.passages))]
        return follow(self.bridges, self.rows, probability, later) if self.bridges else probability


def examples(path: Path, limit: int | None) -> Iterator[Example]:
    data = json.loads(gzip.decompress(path.read_bytes()))
    for case in data["cases"][:limit]:
        documents = [data["docs"][key] for key in case["docs"]]
        yield example(case, documents)


def example(case: dict[str, Any], documents: Sequence[dict[str, str]]) -> Example:
    passages = [Passage(str(i), d["text"], title=d["title"] or None) for i, d in enumerate(documents)]
    language = detect_language(" ".join([case["query"], *(p.text[:150] for p in passages[:3])]))
    segmented = [segment(p.text, language=language, name=p.title) for p in passages]
    candidates = Candidates.of([p.text for p in passages], segmented)
    corpus = Corpus.of(passages, segmented, candidates.texts)
    terms = Terms(language)
    wanted = query_terms(case["query"], language=language, terms=terms)
    matches = find_matches(corpus.words, corpus.sections, corpus.labels, wanted, terms, corpus.names)
    ignored = STOP_WORDS.get(language, frozenset())
    return Example(
        passages=passages,
        candidates=candidates,
        rows=features(corpus, matches),
        bridges=Bridges(case["query"], corpus, ignored) if passes(len(passages)) > 1 else None,
        needed=np.array(list(needed(candidates, case["gold"]))),
        gold=[" ".join(documents[d]["text"][start:end].split()) for d, start, end in case["gold"]],
    )


def needed(candidates: Candidates, gold: Sequence[tuple[int, int, int]]) -> Iterator[bool]:
    """Whether a good part of a segment is evidence, or it holds a good part of some."""
    for index, found in zip(candidates.passage, candidates.segments, strict=True):
        yield any(
            min(found.end, end) - max(found.start, start) > 0.3 * min(found.end - found.start, end - start)
            for document, start, end in gold
            if document == index
        )


def train(sets: Sequence[Sequence[Example]]) -> list[Stage]:
    """The passes one after the other, each on what the ones before say."""
    stages: list[Stage] = []
    for _ in range(PASSES):
        stages.append(fit([[(case.inputs(stages), case.needed) for case in cases] for cases in sets]))
    return stages


def fit(sets: Sequence[Sequence[tuple[Floats | None, NDArray[np.bool_]]]]) -> Stage:
    """Every set weighs the same, in it every case, in that needed and other segments."""
    rows, answers, weights = [], [], []
    for cases in sets:
        for table, needed in cases:
            positive = needed.sum()
            if table is None or positive == 0:
                continue
            rows.append(table.T)
            answers.append(needed)
            share = np.where(needed, 1 / positive, 1 / max(len(needed) - positive, 1))
            weights.append(share / len(cases))
    inputs = np.vstack(rows)
    scaler = StandardScaler().fit(inputs)
    model = LogisticRegression(C=REGULARIZATION, max_iter=1000, random_state=SEED)
    model.fit(scaler.transform(inputs), np.concatenate(answers), sample_weight=5_000 * np.concatenate(weights))
    scale = np.where(scaler.scale_ > 0, scaler.scale_, 1.0)
    slopes = model.coef_[0] / scale
    return Stage(float(model.intercept_[0] - slopes @ scaler.mean_), slopes)


def kept_evidence(cases: Sequence[Example], stages: Sequence[Stage], budget: int, count: TokenCounter) -> float:
    """Share of the evidence that is whole in what is selected."""
    kept = total = 0
    for case in cases:
        layout = Layout([p.text for p in case.passages], "\n\n", lambda _, text: text, count)
        text = select(case.candidates, case.probability(stages), layout, budget).text
        folded = " ".join(text.split())
        kept += sum(gold in folded for gold in case.gold)
        total += len(case.gold)
    return kept / max(total, 1)


def written(stages: Sequence[Stage], table: dict[str, float], sets: dict[str, list[Example]]) -> dict[str, Any]:
    names = [FEATURES, *[FEATURES + BRIDGES] * (PASSES - 1)]
    return {
        "about": "Weights of a logistic regression in several passes: see score/evidence.py.",
        "trained": datetime.date.today().isoformat(),
        "seed": SEED,
        "regularization": REGULARIZATION,
        "cases": {name: len(cases) for name, cases in sets.items()},
        "left_out_evidence": {name: round(value, 3) for name, value in table.items()},
        "stages": [
            {
                "intercept": round(stage.intercept, 5),
                "weights": {name: round(float(w), 5) for name, w in zip(columns, stage.weights, strict=True)},
            }
            for stage, columns in zip(stages, names, strict=True)
        ],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path)
    parser.add_argument("--sets", nargs="*", help="names of sets; all without it")
    parser.add_argument("--limit", type=int, default=200, help="cases of a set at most")
    parser.add_argument("--dry-run", action="store_true")
    options = parser.parse_args()
    files = sorted(options.cases.glob("*.json.gz"))
    names = options.sets or [file.name.split(".")[0] for file in files]
    sets = {name: list(examples(options.cases / f"{name}.json.gz", options.limit)) for name in names}
    count = TokenCounter("cl100k_base")
    table = {}
    everything = train(list(sets.values()))
    print(f"{'set':12s}{'left out':>10s}{'trained on':>12s}")
    for name, cases in sets.items():
        others = train([rest for other, rest in sets.items() if other != name])
        budget = BUDGETS.get(name, 500)
        table[name] = kept_evidence(cases, others, budget, count)
        print(f"{name:12s}{table[name]:10.3f}{kept_evidence(cases, everything, budget, count):12.3f}", flush=True)
    if not options.dry_run:
        OUTPUT.write_text(json.dumps(written(everything, table, sets), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
