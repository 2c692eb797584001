"""Learns the weights of core/ctxcompress/score/evidence.json.

    python benchmarks/train_evidence.py CASES...                     # print the table, learn from all, write
    python benchmarks/train_evidence.py CASES... --dry-run           # only print the table
    python benchmarks/train_evidence.py CASES... --only left_out     # print the table, and keep it with the weights
    python benchmarks/train_evidence.py CASES... --only source       # learn the pass over source code, keep the others
    python benchmarks/train_evidence.py CASES... --only turns        # the same for the pass over turns
    python benchmarks/train_evidence.py CASES... --only word_table   # the same for the share of the word table
    python benchmarks/train_evidence.py CASES... --only encoder --encoder FOLDER  # the same for the share of an encoder

CASES are files of question answering cases with marked evidence that lib/cases.py reads, one for each set. FOLDER is
a model of sentence-transformers; the published weights were learned with all-MiniLM-L6-v2. Needs the extras `dev`,
`semantic` and `static`.

A table says what to expect: the sets of each kind are tested with weights that were learned from the other kinds, which
stands for new kinds. lib/kinds.py names the kinds. The pass over source code is tested on languages that it was not
learned from, the pass over turns on other sets of conversations. The shares of the word table and of an encoder are
tested on the other kinds.
"""

import argparse
import datetime
import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from lib.evaluation import (
    LAST,
    alone_left_out,
    last_left_out,
    learn,
    learn_last_alone,
    learn_one,
    learn_reader,
    learn_table_model,
    left_out,
    load,
)
from lib.examples import Floats
from lib.learning import REGULARIZATION, Sets

from ctxcompress.encoders import WORDS, SentenceEncoder, StaticVectors
from ctxcompress.encoders.encoder import Encoder
from ctxcompress.score.evidence import COLUMNS, Model, load_models

ALONE = (*LAST, "word_table", "encoder")
"""The models that are learned one at a time, on top of the others."""
OUTPUT = Path(__file__).parent.parent / "core" / "ctxcompress" / "score" / "evidence.json"


class Remembered:
    """An encoder that encodes no text twice."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
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

    def __init__(self, comparer: StaticVectors) -> None:
        self._comparer = comparer
        self._known: dict[tuple[tuple[str, ...], int], Floats] = {}

    def pieces(self, words: Sequence[str], /) -> tuple[int, int]:
        return self._comparer.pieces(words)

    def compare(self, query: str, texts: Sequence[str], /) -> Floats:
        return self.compare_each([query], texts)[0]

    def compare_each(self, queries: Sequence[str], texts: Sequence[str], /) -> Floats:
        key = (tuple(queries), hash(tuple(texts)))
        if key not in self._known:
            self._known[key] = np.asarray(self._comparer.compare_each(queries, texts))
        return self._known[key]


def written(sets: Sets, models: Mapping[str, Model]) -> dict[str, Any]:
    return {
        "about": "Weights of the evidence scorer in several passes: see score/evidence.py and docs/evidence.md.",
        "trained": datetime.date.today().isoformat(),
        "seed": "none is needed: nothing is drawn at random",
        "regularization": REGULARIZATION,
        "cases": {name: len(cases) for name, cases in sets.items()},
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path, nargs="+")
    parser.add_argument("--encoder", help="folder or name of a model of sentence-transformers")
    parser.add_argument("--limit", type=int, default=200, help="cases of a set at most")
    parser.add_argument(
        "--only",
        choices=["left_out", "static", *ALONE],
        help="the model that is learned; with left_out all models stay",
    )
    parser.add_argument("--dry-run", action="store_true")
    options = parser.parse_args()
    if (options.only == "encoder") != (options.encoder is not None):
        parser.error("--encoder is required with --only encoder, and has no use without it")
    sets = load(options.cases, options.limit)
    if options.only in ALONE:
        train_alone(options.only, sets, options.encoder, dry_run=options.dry_run)
        return
    comparer = RememberedComparer(StaticVectors())
    others = left_out(sets, comparer)
    print_table("left out", others)
    if not options.dry_run:
        data = json.loads(OUTPUT.read_text(encoding="utf-8")) | {"left_out": others}
        if options.only is None:
            _, learned = learn(sets, {"static": comparer})
            models = {**load_models(), **learned}  # the shares of the table and the encoder are learned on top of these
            data |= written(sets, models)
        elif options.only == "static":
            data["models"]["static"] = _model(learn_one(sets, "static", comparer), COLUMNS["static"])
        OUTPUT.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def train_alone(name: str, sets: Sets, folder: str | None, *, dry_run: bool) -> None:
    """Learn one of the models of ALONE, and put its weights into the file with the others.

    folder: of the encoder.
    """
    if name in LAST:
        found, model = last_left_out(name, sets), lambda: learn_last_alone(name, sets)[1]
    else:
        encoder = Remembered(SentenceEncoder(folder, word_vectors=False)) if folder else WORDS
        learned = learn_table_model if encoder == WORDS else partial(learn_reader, encoder=encoder)
        found, model = dict(alone_left_out(sets, name, encoder, learned)), lambda: learned(sets)
    print_table("left out", found)
    if not dry_run:
        data = json.loads(OUTPUT.read_text(encoding="utf-8"))
        data["models"][name] = _model(model(), COLUMNS[name])
        if folder:
            data["encoder"] = Path(folder).name
        data["cases"] |= {of: len(cases) for of, cases in sets.items()}
        OUTPUT.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def print_table(title: str, table: Mapping[str, Mapping[str, float]]) -> None:
    models = list(dict.fromkeys(model for row in table.values() for model in row))
    print(f"{title:12s}" + "".join(f"{model:>12s}" for model in models))
    for name, row in table.items():
        print(f"{name:12s}" + "".join(f"{row[model]:12.3f}" for model in models), flush=True)


if __name__ == "__main__":
    main()
