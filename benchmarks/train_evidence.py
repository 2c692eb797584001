"""Learns the weights of core/ctxcompress/score/evidence.json.

    python benchmarks/train_evidence.py CASES... --encoder FOLDER            # tables, then train on all and write
    python benchmarks/train_evidence.py CASES... --encoder FOLDER --dry-run  # the tables only
    python benchmarks/train_evidence.py CASES... --encoder FOLDER --only encoder static  # the other weights stay

CASES are files of question-answering cases with marked evidence, in one of the formats that cases.py reads; a file is
a set. FOLDER is a model of sentence-transformers, all-MiniLM-L6-v2 for the weights that are published. Needs the dev,
semantic and static extras.

Two tables say what to expect: "folds" of each set when a quarter of every set is kept apart in turn, which stands for
other cases of the same kinds; "left out" when all of the set is, which stands for other kinds.
"""

import argparse
import datetime
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from cases import read_cases, set_name
from examples import Example, Floats, example, kept_evidence
from learning import REGULARIZATION, Judge, Sets, calibrate, learn_semantic, learn_source, learn_words

from ctxcompress.encoders import SentenceEncoder, StaticVectors
from ctxcompress.encoders.encoder import Comparer, Encoder, ManyComparer
from ctxcompress.score.evidence import COLUMNS, Model, Stage, load_models
from ctxcompress.score.semantic import Semantics
from ctxcompress.tokens import TokenCounter

OUTPUT = Path(__file__).parent.parent / "core" / "ctxcompress" / "score" / "evidence.json"
BUDGETS = {"page": 1000, "mdpage": 1000, "hotpot": 350, "table": 400, "kv": 300}
BUDGET = 500
FOLDS = 4
FOREIGN = frozenset(("xquad_ar", "xquad_zh"))
"""Sets in languages that the encoders do not know: of closeness nothing is learned from them."""
CODELESS = frozenset(("static", "encoder_and_static"))
"""Models that learn nothing from source code, which has a pass of its own. An encoder alone does, and finds what shares
no word with the question the better for it; word vectors beside it are not asked for that."""


class Remembered:
    """An encoder that encodes no text twice, and what stands beside it."""

    def __init__(self, encoder: Encoder, word_vectors: Comparer | None = None) -> None:
        self._encoder = encoder
        self.word_vectors = word_vectors
        self._known: dict[str, Floats] = {}

    def encode_query(self, text: str, /) -> Floats:
        return self.encode_document([text])[0]

    def encode_document(self, texts: Sequence[str], /) -> Floats:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known.update(zip(new, self._encoder.encode_document(new), strict=True))
        return np.array([self._known[text] for text in texts])


class RememberedComparer:
    """A comparer that compares with no question twice, where it is always given the same texts."""

    compares_all = True

    def __init__(self, comparer: ManyComparer) -> None:
        self._comparer = comparer
        self._known: dict[tuple[tuple[str, ...], int], Floats] = {}

    def compare(self, query: str, texts: Sequence[str], /) -> Floats:
        return self.compare_each([query], texts)[0]

    def compare_each(self, queries: Sequence[str], texts: Sequence[str], /) -> Floats:
        key = (tuple(queries), hash(tuple(texts)))
        if key not in self._known:
            self._known[key] = np.asarray(self._comparer.compare_each(queries, texts))
        return self._known[key]


Judges = Mapping[str, Judge]
Encoders = Mapping[str, Encoder | Comparer]


def learn(sets: Sets, encoders: Encoders, without: frozenset[str] = frozenset()) -> tuple[Judges, dict[str, Model]]:
    """What each model makes of a case, source code judged once more; and the models."""
    words = learn_words(sets, without)
    judges: dict[str, Judge] = {"words": lambda case: case.words(words)}
    models = {"words": Model(tuple(words), calibrate(sets, judges["words"]))}
    for name, encoder in encoders.items():
        models[name], judge = _learn_closeness(sets, name, words, encoder, without)
        judges[name] = _of_each_case(name, judge, encoder, judges)
    if not any(case.corpus.table.is_source.any() for cases in sets.values() for case in cases):
        return judges, models  # where nothing of source code may be learned from
    of_words = models["words"].calibration.probability
    source, calibration, again = learn_source(sets, lambda case: of_words(judges["words"](case)), without)
    models["source"] = Model(tuple(source), calibration)

    def final(name: str) -> Judge:
        def judge(case: Example) -> Floats:
            logits = judges[name](case)
            is_source = case.corpus.table.is_source.all()
            return again(case, models[name].calibration.probability(logits)) if is_source else logits

        return judge

    return {name: final(name) for name in judges}, models


def learn_one(sets: Sets, name: str, encoder: Encoder | Comparer) -> Model:
    """The model for an encoder, on the weights for words that are published."""
    words = load_models()["words"].stages
    model, _ = _learn_closeness(sets, name, words, encoder, frozenset())
    return model


def _learn_closeness(
    sets: Sets, name: str, words: Sequence[Stage], encoder: Encoder | Comparer, without: frozenset[str]
) -> tuple[Model, Judge]:
    semantics = _semantics(encoder)
    judged = {of: found for of, cases in sets.items() if (found := [c for c in cases if semantics(c).model == name])}
    familiar = {
        of: cases
        for of, cases in judged.items()
        if of not in FOREIGN and not (name in CODELESS and any(case.corpus.table.is_source.all() for case in cases))
    }
    stages, judge = learn_semantic(familiar, name, words, semantics, without)
    return Model(tuple(stages), calibrate(judged, judge)), judge


def _of_each_case(name: str, judge: Judge, encoder: Encoder | Comparer, others: Judges) -> Judge:
    """The judge, but for cases for which the encoder has another one: word vectors are not asked of all."""
    semantics = _semantics(encoder)

    def judged(case: Example) -> Floats:
        model = semantics(case).model
        return judge(case) if model == name else others[model](case)

    return judged


def _semantics(encoder: Encoder | Comparer) -> Callable[[Example], Semantics]:
    def semantics(case: Example) -> Semantics:
        found = Semantics.of(encoder, [None] * len(case.passages), case.language)
        return found if case.matched else found.alone()

    return semantics


def worth(logits: Floats) -> Floats:
    """As the pipeline has it: the fourth root of the odds."""
    return np.exp(np.clip(logits, -80, 80) / 4)


def kept(cases: Sequence[Example], judges: Judges, budget: int) -> dict[str, tuple[int, int]]:
    """Of each model (pieces of evidence kept, pieces there are)."""
    count = TokenCounter("cl100k_base")
    total = sum(len(case.gold) for case in cases)
    return {
        name: (sum(kept_evidence(case, worth(judge(case)), budget, count) for case in cases), total)
        for name, judge in judges.items()
    }


def folds(sets: Sets, encoders: Encoders, without: frozenset[str] = frozenset()) -> dict[str, dict[str, float]]:
    """Of each set and model the evidence kept of cases kept apart."""
    found: dict[str, dict[str, list[tuple[int, int]]]] = {name: {} for name in sets}
    for fold in range(FOLDS):
        rest = {name: [c for n, c in enumerate(cases) if n % FOLDS != fold] for name, cases in sets.items()}
        judges, _ = learn(rest, encoders, without)
        for name, cases in sets.items():
            for model, pair in kept(cases[fold::FOLDS], judges, BUDGETS.get(name, BUDGET)).items():
                found[name].setdefault(model, []).append(pair)
    return {name: {model: _share(pairs) for model, pairs in of.items()} for name, of in found.items()}


def left_out(sets: Sets, encoders: Encoders) -> Iterator[tuple[str, dict[str, float]]]:
    """Of each set and model the evidence kept if nothing of the set was learned from."""
    for name, cases in sets.items():
        judges, _ = learn({other: of for other, of in sets.items() if other != name}, encoders)
        pairs = kept(cases, judges, BUDGETS.get(name, BUDGET))
        yield name, {model: _share([pair]) for model, pair in pairs.items()}


def _share(pairs: Sequence[tuple[int, int]]) -> float:
    return round(sum(k for k, _ in pairs) / max(sum(n for _, n in pairs), 1), 3)


def written(sets: Sets, models: Mapping[str, Model], tables: Mapping[str, Any], model_name: str) -> dict[str, Any]:
    return {
        "about": "Weights of the evidence scorer in several passes: see score/evidence.py and docs/evidence.md.",
        "trained": datetime.date.today().isoformat(),
        "seed": "none is needed: nothing is drawn at random",
        "regularization": REGULARIZATION,
        "encoder": model_name,
        "cases": {name: len(cases) for name, cases in sets.items()},
        **tables,
        "models": {name: _model(model, COLUMNS[name]) for name, model in models.items()},
    }


def _model(model: Model, columns: Sequence[Sequence[str]]) -> dict[str, Any]:
    calibration = model.calibration
    return {
        "calibration": {name: round(getattr(calibration, name), 5) for name in calibration.__slots__},
        "stages": [
            {
                "intercept": round(stage.intercept, 5),
                "weights": {name: round(float(w), 5) for name, w in zip(names, stage.weights, strict=True)},
            }
            for stage, names in zip(model.stages, columns, strict=True)
        ],
    }


def load(files: Sequence[Path], limit: int) -> dict[str, list[Example]]:
    return {set_name(file): [example(case) for case in read_cases(file, limit)] for file in files}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path, nargs="+")
    parser.add_argument("--encoder", required=True, help="folder or name of a model of sentence-transformers")
    parser.add_argument("--limit", type=int, default=200, help="cases of a set at most")
    parser.add_argument(
        "--only",
        nargs="+",
        choices=["static", "encoder", "encoder_and_static"],
        help="the models that are learned; the others stay",
    )
    parser.add_argument("--dry-run", action="store_true")
    options = parser.parse_args()
    static = RememberedComparer(StaticVectors())
    encoder = Remembered(SentenceEncoder(options.encoder, word_vectors=False))
    encoders: Encoders = {
        "static": static,
        "encoder": encoder,
        "encoder_and_static": Remembered(encoder, word_vectors=static),
    }
    sets = load(options.cases, options.limit)
    table = folds(sets, encoders)
    print_table("folds", table)
    others = dict(left_out(sets, encoders))
    print_table("left out", others)
    if not options.dry_run:
        if options.only:
            models = {**load_models(), **{name: learn_one(sets, name, encoders[name]) for name in options.only}}
        else:
            _, models = learn(sets, encoders)
        data = written(sets, models, {"folds": table, "left_out": others}, Path(options.encoder).name)
        OUTPUT.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def print_table(title: str, table: Mapping[str, Mapping[str, float]]) -> None:
    models = list(dict.fromkeys(model for row in table.values() for model in row))
    print(f"{title:12s}" + "".join(f"{model:>10s}" for model in models))
    for name, row in table.items():
        print(f"{name:12s}" + "".join(f"{row[model]:10.3f}" for model in models), flush=True)


if __name__ == "__main__":
    main()
