"""Learns models from sets of cases and measures the evidence that they keep, on folds and on left-out sets."""

import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import numpy as np

from ctxcompress import CompressionConfig, Compressor
from ctxcompress.encoders import WORDS, encoder_named
from ctxcompress.encoders.encoder import Comparer, Encoder
from ctxcompress.score.evidence import COLUMNS, Model, Stage, load_models, sigmoid
from ctxcompress.score.semantic import Meaning
from ctxcompress.text.tokens import TokenCounter
from lib.cases import read_cases, set_name
from lib.examples import Example, Floats, example, kept_evidence
from lib.kinds import LINES, kind_of
from lib.learning import (
    UNCHANGED,
    Judge,
    LastPass,
    Sets,
    calibrate,
    is_source,
    is_talk,
    learn_reading,
    learn_semantic,
    learn_source,
    learn_table,
    learn_turns,
    learn_words,
)

__all__ = [
    "BUDGET",
    "BUDGETS",
    "ENCODING",
    "FOLDS",
    "LAST",
    "MEASURED_ONLY",
    "alone_left_out",
    "budget_of",
    "compressed_with",
    "folds",
    "in_place_of_published",
    "last_left_out",
    "learn",
    "learn_last_alone",
    "learn_one",
    "learn_reader",
    "learn_table_model",
    "left_out",
    "load",
    "models_left_out",
    "neutral",
    "survivors",
]

ENCODING = "cl100k_base"
"""The encoding that counts the tokens of all budgets."""
BUDGETS = {
    **dict.fromkeys(("page", "mdpage", "fixes"), 1000),
    **dict.fromkeys(("faq", "polyglot", "scenes", "minutes"), 900),
    **dict.fromkeys(("faqs", "finance", "help_ml", "npcs"), 600),
    **dict.fromkeys(("fmt_conf", "fmt_csv", "fmt_json", "fmt_yaml"), 600),
    **dict.fromkeys(("fmt_html", "doc_changes", "doc_mail", "doc_manual", "doc_pdf"), 700),
    "doc_contract": 800,
    "meeting": 1100,
    **dict.fromkeys(("logs", "faq_ml", "talks"), 700),
    "efaq": 550,
    "changes": 550,
    "table": 400,
    "hotpot": 350,
    "kv": 300,
}
BUDGET = 500
MEASURED_ONLY = frozenset(("kv", "logs", "saga", "saga_lines", "fiction"))
"""Sets that only the pass over turns may be learned from. Lines of logs are scored by rules, and their licence is for
research. In stories the question stands in the text, and the answer after it has none of its words."""
FOLDS = 4
FOREIGN = frozenset(("xquad_ar", "xquad_zh"))
"""Sets in languages that the encoders do not know. Closeness is not learned from them."""


def budget_of(name: str) -> int:
    """Return the tokens in which a set is tested."""
    return BUDGETS.get(name.removesuffix(LINES), BUDGET)


Judges = Mapping[str, Judge]
Comparers = Mapping[str, Comparer]


def learn(sets: Sets, encoders: Comparers, without: frozenset[str] = frozenset()) -> tuple[Judges, dict[str, Model]]:
    """Learn all models. Returns their judges, which score source code and turns once more, and the models."""
    prose = _prose(sets)
    words = learn_words(prose, without)
    judges: dict[str, Judge] = {"words": lambda case: case.words(words)}
    models = {"words": Model(tuple(words), calibrate(prose, judges["words"]))}
    for name, encoder in encoders.items():
        models[name], judges[name] = _learn_closeness(prose, name, words, encoder, without)
    of_words = models["words"].calibration.probability
    last: dict[str, LastPass] = {}
    for name in LAST:
        if any(LAST[name].is_for(case) for cases in sets.values() for case in cases):
            last[name] = LAST[name].learn(sets, lambda case: of_words(judges["words"](case)), without)
            models[name] = last[name].model

    def final(name: str) -> Judge:
        def judge(case: Example) -> Floats:
            logits = judges[name](case)
            again = next((of for of in last if LAST[of].is_for(case)), None)
            if again is None:
                return logits
            probability = models[name].calibration.probability(logits)
            if again == "source" and name != "words":  # words and the encoder have an equal say
                probability = sigmoid((_logit(probability) + _logit(of_words(judges["words"](case)))) / 2)
            return last[again].logits(case, probability)

        return judge

    return {name: final(name) for name in judges}, models


def _logit(probability: Floats) -> Floats:
    clipped = np.clip(probability, 1e-9, 1 - 1e-9)
    found: Floats = np.log(clipped / (1 - clipped))
    return found


def learn_one(sets: Sets, name: str, comparer: Comparer) -> Model:
    """Learn the model for a comparer, on top of the published weights for words."""
    words = load_models()["words"].stages
    model, _ = _learn_closeness(_prose(sets), name, words, comparer, frozenset())
    return model


def learn_table_model(sets: Sets) -> Model:
    """Learn the model for the word table, between the published weights for words and for larger word vectors."""
    return _learn_table(sets, load_models())


def _learn_table(sets: Sets, models: Mapping[str, Model]) -> Model:
    """Learn the model for the word table, between these models for words and for larger word vectors."""
    english = {of: [case for case in cases if case.language == "en"] for of, cases in _prose(sets).items()}
    static, table = models["static"], encoder_named(WORDS)
    stage = learn_table(english, models["words"].stages, static.stages[0], Meaning(table))
    return Model((stage,), static.calibration)


def learn_reader(sets: Sets, encoder: Encoder | Comparer) -> Model:
    """Learn the model for an encoder that reads the best segments, from sets in languages that it knows."""
    return learn_reading({of: cases for of, cases in _prose(sets).items() if of not in FOREIGN}, encoder)


def alone_left_out(
    sets: Sets, name: str, encoder: Encoder | Comparer | str, model_of: Callable[[Sets], Model]
) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield each set with the evidence that ctxcompress keeps without and with an encoder, whose model was learned
    from the other kinds."""
    for kind in dict.fromkeys(map(kind_of, sets)):
        model = model_of({of: cases for of, cases in sets.items() if kind_of(of) != kind})
        for of, cases in sets.items():
            if kind_of(of) == kind:
                found = compressed_with({**load_models(), name: model}, cases, budget_of(of), {name: encoder})
                yield of, {way: _share([pair]) for way, pair in found.items()}


def learn_last_alone(
    name: str, sets: Sets, without: frozenset[str] = frozenset(), words: Model | None = None
) -> tuple[Judge, Model]:
    """Learn only one of LAST, on top of a model for words, or the published one. Returns its judge, too."""
    words = words or load_models()["words"]

    def before(case: Example) -> Floats:
        return words.calibration.probability(case.words(words.stages))

    last = LAST[name].learn(sets, before, without)
    return lambda case: last.logits(case, before(case)), last.model


def last_left_out(name: str, sets: Sets, without: frozenset[str] = frozenset()) -> dict[str, dict[str, float]]:
    """Return the evidence that one of LAST keeps of each set, each part of which is tested with weights that were
    learned without it. The parts of source code are its languages, those of Python four groups of files. The parts of
    conversations are the sets."""
    part_of = LAST[name].part
    found: dict[str, list[tuple[int, int]]] = {of: [] for of in sets}
    for part in sorted({part_of(of, case) for of, cases in sets.items() for case in cases}):
        rest = {of: [case for case in cases if part_of(of, case) != part] for of, cases in sets.items()}
        judge, _ = learn_last_alone(name, {of: cases for of, cases in rest.items() if cases}, without)
        for of, cases in sets.items():
            of_part = [case for case in cases if part_of(of, case) == part]
            if of_part:
                found[of].append(kept(of_part, {name: judge}, budget_of(of))[name])
    return {of: {name: _share(pairs)} for of, pairs in found.items()}


def _language(_: str, case: Example) -> str:
    """Return the most common ending of a case's file names, for Python with the group of its first file."""
    titles = [passage.title or "" for passage in case.passages]
    ending = Counter(title.rpartition(".")[2] for title in titles).most_common(1)[0][0]
    return f"{ending} {zlib.crc32(titles[0].encode()) % FOLDS}" if ending == "py" else ending


class _Last(NamedTuple):
    """How a last pass is learned."""

    is_for: Callable[[Example], bool]
    learn: Callable[[Sets, Judge, frozenset[str]], LastPass]
    part: Callable[[str, Example], str]
    """A function of the name of a set and a case: the part of the kind that the case belongs to."""


LAST = {
    "source": _Last(is_source, learn_source, _language),
    "turns": _Last(is_talk, learn_turns, lambda name, _: name.removesuffix(LINES)),
}
"""The passes that come after all others, each for one kind of text."""


def _learn_closeness(
    sets: Sets, name: str, words: Sequence[Stage], comparer: Comparer, without: frozenset[str]
) -> tuple[Model, Judge]:
    familiar = {of: cases for of, cases in sets.items() if of not in FOREIGN}
    stages, judge = learn_semantic(familiar, name, words, Meaning(comparer), without)
    return Model(tuple(stages), calibrate(sets, judge)), judge


def worth(logits: Floats) -> Floats:
    """Return the fourth root of the odds, as the pipeline does."""
    return np.exp(np.clip(logits, -80, 80) / 4)


def kept(cases: Sequence[Example], judges: Judges, budget: int) -> dict[str, tuple[int, int]]:
    """Return for each model (pieces of evidence kept, all pieces)."""
    count = TokenCounter(ENCODING)
    total = sum(len(case.gold) for case in cases)
    return {
        name: (sum(kept_evidence(case, worth(judge(case)), budget, count) for case in cases), total)
        for name, judge in judges.items()
    }


def folds(sets: Sets, encoders: Comparers, without: frozenset[str] = frozenset()) -> dict[str, dict[str, float]]:
    """Return the evidence that each model keeps of each set, tested on cases that it was not learned from."""
    found: dict[str, dict[str, list[tuple[int, int]]]] = {name: {} for name in sets}
    for fold in range(FOLDS):
        rest = {name: [c for n, c in enumerate(cases) if n % FOLDS != fold] for name, cases in sets.items()}
        judges, _ = learn(rest, encoders, without)
        for name, cases in sets.items():
            for model, pair in kept(cases[fold::FOLDS], judges, budget_of(name)).items():
                found[name].setdefault(model, []).append(pair)
    return {name: {model: _share(pairs) for model, pairs in of.items()} for name, of in found.items()}


def left_out(sets: Sets, comparer: Comparer) -> dict[str, dict[str, float]]:
    """Return the evidence that ctxcompress keeps of each set: with `scorer="bm25"`, and with the models that
    `models_left_out` has for it, over words, with the word table and with the comparer."""
    found: dict[str, dict[str, list[tuple[int, int]]]] = {name: {} for name in sets}
    for models, tested in models_left_out(sets, comparer):
        for name, cases in tested.items():
            encoders = {"word_table": WORDS, "static": comparer}
            for way, pair in compressed_with(models, cases, budget_of(name), encoders).items():
                found[name].setdefault(way, []).append(pair)
    return {name: {way: _share(pairs) for way, pairs in of.items()} for name, of in found.items()}


def models_left_out(sets: Sets, comparer: Comparer) -> Iterator[tuple[dict[str, Model], Sets]]:
    """Yield all models, learned without a kind, and the cases of that kind to test them on.

    Where a last pass is for such cases, it is learned from the other parts of their kind: see `last_left_out`.
    """
    for kind in dict.fromkeys(map(kind_of, sets)):
        others = {name: cases for name, cases in sets.items() if kind_of(name) != kind}
        _, models = learn(others, {"static": comparer})
        models["word_table"] = _learn_table(others, models)
        tested = {name: cases for name, cases in sets.items() if kind_of(name) == kind}
        yield models, _where(tested, lambda _, case: not any(last.is_for(case) for last in LAST.values()))
        for name in LAST:
            for model, of_part in _last_by_part(name, sets, tested, models["words"]):
                yield models | {name: model}, of_part


def _last_by_part(name: str, sets: Sets, tested: Sets, words: Model) -> Iterator[tuple[Model, Sets]]:
    """Yield for each part of the tested sets a last pass that was learned without it, and the cases of the part."""
    last = LAST[name]
    found, tested = (_where(of, lambda _, case: last.is_for(case)) for of in (sets, tested))
    for part in sorted({last.part(of, case) for of, cases in tested.items() for case in cases}):
        rest = _where(found, lambda of, case, part=part: last.part(of, case) != part)
        model = learn_last_alone(name, rest, words=words)[1] if rest else neutral()[name]
        yield model, _where(tested, lambda of, case, part=part: last.part(of, case) == part)


def _where(sets: Sets, is_wanted: Callable[[str, Example], bool]) -> Sets:
    """Return the cases that are wanted, without sets that have none."""
    found = {name: [case for case in cases if is_wanted(name, case)] for name, cases in sets.items()}
    return {name: cases for name, cases in found.items() if cases}


def compressed_with(
    models: Mapping[str, Model], cases: Sequence[Example], budget: int, encoders: Mapping[str, Encoder | Comparer | str]
) -> dict[str, tuple[int, int]]:
    """Return (pieces of evidence kept, all pieces) of these cases with `scorer="bm25"`, and with these models in the
    place of the published ones: over words and with each encoder. A last pass that `models` lacks changes nothing."""
    config = CompressionConfig(max_tokens=budget, encoding=ENCODING, encoder=None)
    ways = {"bm25": replace(config, scorer="bm25"), "words": config}
    ways |= {name: replace(config, encoder=encoder) for name, encoder in encoders.items()}
    with in_place_of_published(models):
        return {name: _compressed(cases, way) for name, way in ways.items()}


def in_place_of_published(models: Mapping[str, Model]) -> AbstractContextManager[object]:
    """Return a block in which these models score, and last passes that `models` lacks change nothing."""
    return patch("ctxcompress.score.evidence.load_models", return_value=neutral() | dict(models))


def _compressed(cases: Sequence[Example], config: CompressionConfig) -> tuple[int, int]:
    """Return (pieces of evidence kept, all pieces)."""
    compressor = Compressor(config)
    kept = sum(survivors(case, compressor.compress(case.query, case.passages).text) for case in cases)
    return kept, sum(len(case.gold) for case in cases)


def neutral() -> dict[str, Model]:
    """Return last passes that return the probabilities they are given."""
    judged = {name: np.array([float(column == "judged") for column in COLUMNS[name][0]]) for name in LAST}
    return {name: Model((Stage(0.0, weights),), UNCHANGED) for name, weights in judged.items()}


def _prose(sets: Sets) -> Sets:
    """Return the sets to learn from that are not source code, which has a pass of its own."""
    return {name: cases for name, cases in sets.items() if name not in MEASURED_ONLY and not any(map(is_source, cases))}


def _share(pairs: Sequence[tuple[int, int]]) -> float:
    return round(sum(k for k, _ in pairs) / max(sum(n for _, n in pairs), 1), 3)


def survivors(case: Example, text: str) -> int:
    """Return how many pieces of the case's evidence are whole in the text."""
    folded = " ".join(text.split())
    return sum(gold in folded for gold in case.gold)


def load(files: Sequence[Path], limit: int) -> dict[str, list[Example]]:
    """Read sets of cases, one from each file."""
    return {set_name(file): [example(case) for case in read_cases(file, limit)] for file in files}
