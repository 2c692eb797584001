"""Evaluating: each method compresses the passages of each question under each budget, and the results are measured."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from time import process_time
from typing import Any

from ctxcompress.apps.evaluation.answering import Progress
from ctxcompress.apps.evaluation.citations import cited
from ctxcompress.apps.evaluation.evaluation_report import Asked, Report, Row
from ctxcompress.apps.evaluation.measures import Needs
from ctxcompress.apps.evaluation.methods import JOIN, Method, method_named
from ctxcompress.apps.evaluation.questions import Question, Retrieve, passages_of
from ctxcompress.data.passages import Passage
from ctxcompress.errors import ConfigError, InputError
from ctxcompress.text.tokens import Encoding, TokenCounter

__all__ = ["BUDGETS", "evaluate"]

BUDGETS = (100, 200, 500, 1_000, 2_000, 5_000, None)


def evaluate(
    questions: Iterable[Question],
    *,
    budgets: Sequence[int | None] = BUDGETS,
    methods: Sequence[str | Method] = ("default",),
    retrieve: Retrieve | None = None,
    encoding: Encoding = "o200k_base",
    progress: Progress | None = None,
    seed: int = 0,
) -> Report:
    """Measure what each method keeps of what the questions need, under each budget.

    budgets: in tokens; None is the context as it is. methods: names (see `method_named`) or objects; the first is the
    one that others are compared with. retrieve: a function from a query to passages, in place of those that a question
    has. encoding: what counts tokens, for all methods. progress: is called after each question. seed: of the intervals.

    CPU time is measured without a cache. Before that, methods with a name are called once on another text.

    Raises InputError if there are no questions, or one has no passages, and ConfigError for a wrong budget or method.
    """
    asked = _with_ids(questions)
    trial = _Trial(_methods(methods, encoding), _ascending(budgets), TokenCounter(encoding))
    found: list[tuple[Asked, list[Row]]] = []
    for done, (name, question) in enumerate(asked.items(), 1):
        passages = passages_of(question, retrieve)
        found.append(trial.of(name, cited(question, passages), passages))
        if progress is not None:
            progress(done, len(asked))
    return Report(
        questions=tuple(about for about, _ in found),
        rows=tuple(row for _, rows in found for row in rows),
        methods=tuple(method.name for method in trial.methods),
        budgets=trial.budgets,
        encoding=encoding if isinstance(encoding, str) else getattr(encoding, "__name__", repr(encoding)),
        seed=seed,
    )


@dataclass(frozen=True, slots=True)
class _Trial:
    """What is done with each question."""

    methods: Sequence[Method]
    budgets: tuple[int | None, ...]
    count: TokenCounter

    def of(self, id: str, question: Question, passages: Sequence[Passage]) -> tuple[Asked, list[Row]]:
        """Return what is known of a question, and its rows."""
        whole = JOIN.join(passage.text for passage in passages)
        needs, tokens = Needs.of(question), self.count(whole)
        absent = needs.missing(whole)
        asked = Asked(
            id=id,
            query=question.query,
            passages=len(passages),
            input_tokens=tokens,
            pieces=needs.count,
            held=needs.count - len(absent),
            answer=needs.has_answer(whole),
            made=question.made,
            cited=bool(question.response) and needs.count > 0,
            answers=tuple(question.answers),
        )
        measured: dict[str, dict[str, Any]] = {}
        rows = []
        for method in self.methods:
            for budget in self.budgets:
                text, milliseconds = whole, 0.0
                if budget is not None and passages:
                    text, milliseconds = _timed(method, question.query, passages, budget)
                if text not in measured:  # small contexts are the same under many budgets
                    measured[text] = self._measured(text, needs, absent)
                row = Row(id, method.name, budget, text, milliseconds=milliseconds, **measured[text])
                if row.lost and budget is not None and (why := getattr(method, "why", None)):
                    row = replace(row, why=why(question.query, passages, budget, row.lost))
                rows.append(row)
        return asked, rows

    def _measured(self, text: str, needs: Needs, absent: Sequence[str]) -> dict[str, Any]:
        missing = needs.missing(text)
        return {
            "tokens": self.count(text),
            "evidence": needs.evidence(missing),
            "answer": needs.has_answer(text),
            "precision": needs.precision(text, self.count),
            "lost": tuple(piece for piece in missing if piece not in absent),
        }


def _timed(method: Method, query: str, passages: Sequence[Passage], budget: int) -> tuple[str, float]:
    """Return a method's text, and the milliseconds of CPU that it took."""
    start = process_time()
    text = method(query, passages, budget)
    if not isinstance(text, str):
        raise ConfigError(f"method {method.name!r} returned a {type(text).__name__}; it must return a string")
    return text, 1e3 * (process_time() - start)


def _with_ids(questions: Iterable[Question]) -> dict[str, Question]:
    """Return id -> question; the id of one that has none is its number, from 1. Raises InputError."""
    found: dict[str, Question] = {}
    for number, question in enumerate(questions, 1):
        if not isinstance(question, Question):
            raise InputError(f"question {number} is a {type(question).__name__}; give a Question")
        name = str(number) if question.id is None else question.id
        if name in found:
            raise InputError(f"question {number} has the id {name!r}, as an earlier one; give each an id of its own")
        found[name] = question
    if not found:
        raise InputError("there is no question; give at least one")
    return found


def _ascending(budgets: Sequence[int | None]) -> tuple[int | None, ...]:
    for budget in budgets:
        if budget is not None and (isinstance(budget, bool) or not isinstance(budget, int) or budget < 1):
            raise ConfigError(f"a budget is {budget!r}; give a number of tokens, at least 1, or None for all")
    if not budgets:
        raise ConfigError("budgets is empty; give at least one, such as 500")
    return tuple(sorted({*budgets}, key=lambda budget: (budget is None, budget or 0)))


def _methods(given: Sequence[str | Method], encoding: Encoding) -> list[Method]:
    if isinstance(given, str) or not given:
        raise ConfigError(f"methods is {given!r}; give a list of at least one")
    methods = [method_named(each, encoding) if isinstance(each, str) else each for each in given]
    for method, each in zip(methods, given, strict=True):
        if not isinstance(method, Method):
            raise ConfigError(f"a method is a {type(method).__name__}; give a name, or an object with a name to call")
        if isinstance(each, str):  # the first call of this package's own loads what later ones find
            method("Is it warm?", [Passage("0", "It is warm. It was cold.")], 4)
    if len({method.name for method in methods}) < len(methods):
        raise ConfigError(f"methods has the same name twice: {', '.join(method.name for method in methods)}")
    return methods
