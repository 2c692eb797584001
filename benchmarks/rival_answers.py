"""Has a language model answer from what compressors keep in the same budget, and compares its answers in pairs.

    python benchmarks/rival_answers.py CASES... --environments DIR --llm MODULE:NAME --answers FILE [--limit 40]
        [--only ADAPTER...] [--docs docs/comparison.md]

CASES and DIR are those of benchmarks/rivals. The model is what `ctxcompress eval --llm` takes: a chat model of
LangChain, an LLM of LlamaIndex, or a function from a prompt to a text. Its answers are kept in FILE: what was stopped
goes on. Besides what the compressors keep, it reads the whole context, and the marked evidence alone, which is the most
that a compressor can hope for.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from lib.cases import set_name
from lib.evaluation import ENCODING, budget_of
from lib.markdown_blocks import publish, share
from rivals.environments import ADAPTERS, Running, Way, interpreter, ways_of
from rivals.tables import paired_table

from ctxcompress.apps.evaluation import Answered, Method, Question, answer, evaluate, read_questions
from ctxcompress.apps.evaluation.answering import mcnemar
from ctxcompress.cache import SqliteStore
from ctxcompress.data.passages import Passage

__all__ = ["Answers", "main", "table_of"]

_WHOLE, _EVIDENCE = "the whole context", "the evidence alone"
_RIGHT = ("right", "only here", "only ctxcompress", "p")

Answers = Mapping[str, Mapping[str, Sequence[Answered]]]
"""Way -> set -> the answers, in the order of the questions."""


class _Contexts(NamedTuple):
    """A method of an evaluation."""

    name: str
    of: Callable[[str, Sequence[Passage], int], str]

    def __call__(self, query: str, passages: Sequence[Passage], max_tokens: int, /) -> str:
        return self.of(query, passages, max_tokens)


def read(
    file: Path, questions: Sequence[Question], rivals: Sequence[Method], model: Any, store: SqliteStore
) -> Iterator[Answered]:
    """Yield the answers to the questions of a set, from all contexts."""
    evidence = {question.query: "\n\n".join(question.evidence) for question in questions}
    methods = [*rivals, _Contexts(_EVIDENCE, lambda query, *_: evidence[query])]
    report = evaluate(questions, budgets=[budget_of(set_name(file)), None], methods=methods, encoding=ENCODING)
    for row in answer(report, model, store=store, at_once=1).rows:
        if row.budget is not None or row.method == rivals[0].name:  # the whole context is the same for all
            yield row


def by_way(found: Mapping[str, Sequence[Answered]]) -> Answers:
    """Sort the answers of sets by the way that made their context: the first one, both ends, and the others."""
    first = next(iter(found.values()))[0].method
    ways = dict.fromkeys([first, _WHOLE, _EVIDENCE, *(_way(row) for rows in found.values() for row in rows)])
    return {way: {name: [row for row in rows if _way(row) == way] for name, rows in found.items()} for way in ways}


def _way(row: Answered) -> str:
    return row.method if row.budget is not None else _WHOLE


def table_of(answers: Answers) -> str:
    """Return the table: F1 in each set and its difference to the first way; then the answers that are right."""
    shares = {
        way: {f"{name} ({len(rows)})": np.array([[row.f1, 1.0] for row in rows]) for name, rows in sets.items()}
        for way, sets in answers.items()
    }
    right = {way: [row.right for rows in sets.values() for row in rows] for way, sets in answers.items()}
    ours = next(iter(right.values()))
    return paired_table(shares, _RIGHT, {way: _against(of, ours) for way, of in right.items()})


def _against(right: Sequence[bool], ours: Sequence[bool]) -> list[str]:
    """Return the share that is right, how many are in this way alone and in ours alone, and the chance of that."""
    here = sum(one and not other for one, other in zip(right, ours, strict=True))
    there = sum(other and not one for one, other in zip(right, ours, strict=True))
    cells = ["–"] * 3 if right is ours else [f"{here}", f"{there}", f"{mcnemar(here, there):.2f}"]
    return [share(sum(right) / len(right)), *cells]


def _given() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path, nargs="+")
    parser.add_argument("--environments", type=Path, required=True, help="the folder of the environments")
    parser.add_argument("--llm", required=True, metavar="MODULE:NAME", help="the model that answers")
    parser.add_argument("--answers", required=True, help="the file that answers are kept in")
    parser.add_argument("--limit", type=int, default=40, help="cases of a set at most")
    parser.add_argument("--only", nargs="+", choices=ADAPTERS, default=ADAPTERS, help="adapters to read from")
    parser.add_argument("--docs", type=Path, help="the page whose table is replaced")
    return parser.parse_args()


def main() -> None:
    given = _given()
    module, _, name = given.llm.partition(":")
    model, store = getattr(import_module(module), name), SqliteStore(given.answers)
    found = {}
    with ExitStack() as stack:
        rivals = [_started(ways_of(adapter)[0], given.environments, stack) for adapter in given.only]
        for file in given.cases:
            questions = read_questions(file, limit=given.limit)
            found[set_name(file)] = [*read(file, questions, rivals, model, store)]
    publish({"read": table_of(by_way(found))}, given.docs)


def _started(way: Way, environments: Path, stack: ExitStack) -> Method:
    running = stack.enter_context(Running(way, interpreter(way, environments)))

    def compress(query: str, passages: Sequence[Passage], max_tokens: int) -> str:
        texts, titles = [passage.text for passage in passages], [passage.title or "" for passage in passages]
        return running.compress(query, texts, max_tokens, titles).text

    return _Contexts(way.name, compress)


if __name__ == "__main__":
    main()
