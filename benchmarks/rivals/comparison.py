"""Compares ctxcompress with other compressors: the evidence that they keep in the same budget, what they cost, and how
they behave.

    python benchmarks/rivals CASES... --environments DIR [--limit 40] [--only ADAPTER...] [--learn CASES...]
        [--model FOLDER] [--docs docs/comparison.md] [--json comparison.json]

CASES are files of question answering cases that lib/cases.py reads, one for each set; public_cases.py makes some of
what can be downloaded. Each compressor runs in an environment of its own below DIR, which is made the first time, with
pip; after that nothing needs a network. All are given the same texts and the same budget. Their answer is counted and
searched as it is, also where it is longer than the budget.

The published weights of ctxcompress were learned from many sets. With `--learn` there are rows for weights that were
learned from those files, without the kind of text (lib/kinds.py) that they are tested on. With `--model`, the folder of
a model of sentence-transformers, those take part that need one, and torch is installed for them. Needs the extras `dev`
and `static`.
"""

import argparse
import json
import os
import runpy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lib.cases import Case, read_cases, set_name
from lib.evaluation import ENCODING, budget_of, in_place_of_published, load, models_left_out
from lib.markdown_blocks import publish
from lib.measured import measured as measured_on
from train_evidence import RememberedComparer

from ctxcompress.encoders import StaticVectors
from ctxcompress.text.tokens import TokenCounter
from rivals.behaviours import BEHAVIOURS, behaves
from rivals.environments import ADAPTERS, WITH_MODEL, Answer, Running, Way, interpreter, ways_of
from rivals.tables import Figures, Outcome, behaviours_table, cost_table, evidence_table

__all__ = ["Asked", "main", "outcome"]

_OURS = "ctxcompress"
_LEFT_OUT = "{}, new kinds"
_UNSPOKEN = frozenset(("yes", "no"))
"""Answers that a text has or lacks by chance."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A case as every compressor is given it, and what to look for in its answer."""

    query: str
    texts: Sequence[str]
    titles: Sequence[str]
    budget: int
    evidence: Sequence[str]
    answers: Sequence[str]
    """The accepted answers that stand in the texts."""

    @classmethod
    def of(cls, case: Case, budget: int) -> "Asked":
        texts = [document.text for document in case.documents]
        folded = _folded(" ".join(texts)).casefold()
        answers = {_folded(answer).casefold() for answer in case.answers} - _UNSPOKEN
        return cls(
            case.query,
            texts,
            [document.title for document in case.documents],
            budget,
            [_folded(texts[number][start:end]) for number, start, end in case.gold],
            [answer for answer in sorted(answers) if answer and answer in folded],
        )

    def given(self) -> dict[str, object]:
        """Return the case as adapters take it."""
        return {"query": self.query, "texts": self.texts, "titles": self.titles, "budget": self.budget}


def _folded(text: str) -> str:
    return " ".join(text.split())


_tokens = TokenCounter(ENCODING)


def outcome(asked: Asked, answer: Answer) -> Outcome:
    """Return what is left of a case in an answer."""
    folded = _folded(answer.text)
    return Outcome(
        kept=sum(piece in folded for piece in asked.evidence),
        pieces=len(asked.evidence),
        answered=any(found in folded.casefold() for found in asked.answers) if asked.answers else None,
        tokens=_tokens(answer.text),
        budget=asked.budget,
        milliseconds=answer.milliseconds,
        error=answer.error,
    )


def measured(way: Way, python: Path, sets: Mapping[str, Sequence[Asked]]) -> Figures:
    """Return what a way keeps of each set, all in one process."""
    with Running(way, python) as running:
        found = {name: [outcome(asked, running.compress(**asked.given())) for asked in of] for name, of in sets.items()}
        return Figures(way.version, found, running.megabytes())


def left_out(files: Sequence[Path], learned: Sequence[Path], limit: int) -> Iterator[tuple[str, Figures]]:
    """Yield each way of ctxcompress with what it keeps if the kind of a set was left out when its weights were learned.
    Neither time nor memory is measured: they are those of the published weights."""
    examples = load(list(dict.fromkeys((*files, *learned))), limit)
    sets = {set_name(file): _asked(file, limit) for file in files}
    asked = {id(of): case for name, cases in sets.items() for of, case in zip(examples[name], cases, strict=True)}
    found: dict[str, dict[int, Outcome]] = {}
    for models, tested in models_left_out(examples, RememberedComparer(StaticVectors())):
        with in_place_of_published(models):
            for name, compress in _our_ways().items():
                for of in (of for cases in tested.values() for of in cases if id(of) in asked):
                    text = compress(asked[id(of)].given())
                    found.setdefault(name, {})[id(of)] = outcome(asked[id(of)], Answer(text))
    for way, outcomes in found.items():
        yield _LEFT_OUT.format(way), Figures("", {name: [outcomes[id(of)] for of in examples[name]] for name in sets})


def _our_ways() -> Mapping[str, Callable[[Mapping[str, object]], str]]:
    adapter = runpy.run_path(str(Path(__file__).with_name(f"{_OURS}.py")))
    return {name: start() for name, start in adapter["WAYS"].items()}


def _asked(file: Path, limit: int) -> list[Asked]:
    return [Asked.of(case, budget_of(set_name(file))) for case in read_cases(file, limit)]


def _given() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path, nargs="+")
    parser.add_argument("--environments", type=Path, required=True, help="the folder of the environments")
    parser.add_argument("--limit", type=int, default=40, help="cases of a set at most")
    parser.add_argument("--only", nargs="+", choices=ADAPTERS, default=ADAPTERS, help="adapters to measure")
    parser.add_argument("--learn", type=Path, nargs="+", default=(), help="files that weights are learned from, too")
    parser.add_argument("--model", type=Path, help="the folder of a sentence encoder, for adapters that need one")
    parser.add_argument("--docs", type=Path, help="the page whose tables are replaced")
    parser.add_argument("--json", type=Path, help="the file to write all outcomes to")
    return parser.parse_args()


def main() -> None:
    given = _given()
    sets = {set_name(file): _asked(file, given.limit) for file in given.cases}
    figures: dict[str, Figures] = {}
    behaviours: dict[str, list[str]] = {}
    if given.model:
        os.environ["RIVAL_MODEL"] = str(given.model.absolute())
    for adapter in (*given.only, *(WITH_MODEL if given.model else ())):
        first, *others = ways_of(adapter)
        python = interpreter(first, given.environments)
        figures |= {way.name: measured(way, python, sets) for way in (first, *others)}
        with Running(first, python) as running:
            behaviours[first.name] = [behaves(row, running.compress) for row in BEHAVIOURS]
    if given.learn:
        figures = dict(left_out(given.cases, given.learn, given.limit)) | figures
    publish(
        {
            "measured": measured_on(f"{sum(map(len, sets.values()))} cases in {len(sets)} sets"),
            **_tables(figures, behaviours),
        },
        given.docs,
    )
    if given.json:
        found = {name: [of.version, of.megabytes, of.outcomes] for name, of in figures.items()}
        given.json.write_text(json.dumps({"ways": found, "behaviours": behaviours}) + "\n", encoding="utf-8")


def _tables(figures: Mapping[str, Figures], behaviours: Mapping[str, Sequence[str]]) -> dict[str, str]:
    return {
        "evidence": evidence_table(figures),
        "cost": cost_table(figures),
        "behaviours": behaviours_table([row.name for row in BEHAVIOURS], behaviours),
    }
