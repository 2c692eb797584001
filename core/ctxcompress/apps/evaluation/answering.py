"""Answers of a language model from compressed and from whole contexts, judged and compared in pairs.

    answered = answer(report, model, store=SqliteStore("answers.sqlite"))

Every answer is stored under the prompt that it answers, so that a run that was stopped goes on where it ended, and a
second run asks nothing.
"""

import asyncio
import math
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, TypeVar

import numpy as np

from ctxcompress.apps.evaluation.evaluation_report import Asked, Report, Row
from ctxcompress.apps.evaluation.intervals import Estimate, estimates
from ctxcompress.apps.evaluation.measures import normalized
from ctxcompress.errors import ConfigError
from ctxcompress.text.words import has_unspaced

__all__ = [
    "AnswerSummary",
    "Answered",
    "Answers",
    "Progress",
    "Reader",
    "aanswer",
    "answer",
    "f1",
    "mcnemar",
    "together",
]

Ask = Callable[[str], Awaitable[str]]
Progress = Callable[[int, int], object]
"""Is told how many are done, and of how many."""
_T = TypeVar("_T")

_PROMPT = """Answer the question from the context alone, as briefly as you can: a name, a number or a few words.
If the context does not say it, answer: unknown

Context:
{context}

Question: {question}
Answer:"""
_RUBRIC = """You grade an answer to a question. Accepted answers: {accepted}

Question: {question}
Answer: {answer}

The answer is right if it says the same as an accepted one. More detail and other words are right; a hedge between
several answers, an answer that leaves out what was asked, and "unknown" are wrong.
Reply with one word, right or wrong:"""


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer to a question from one context."""

    question: str
    """The id of the question."""
    method: str
    budget: int | None
    """None: the whole context."""
    answer: str
    f1: float
    """Words in common with the nearest accepted answer, as SQuAD counts them, from 0 to 1."""
    right: bool
    """Whether it is an accepted answer, word for word, or the judge says so."""


@dataclass(frozen=True, slots=True)
class AnswerSummary:
    """The answers of one method under a budget, beside those from the whole context."""

    method: str
    budget: int | None
    f1: Estimate
    right: Estimate
    f1_difference: Estimate
    """Less that of the whole context, for the same questions."""
    gained: int
    """The questions that are right here, and wrong from the whole context."""
    lost: int
    p_value: float
    """Of McNemar's exact test: the chance of such a difference between `gained` and `lost` if neither is likelier."""


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers of a language model, by question, then method, then budget."""

    rows: tuple[Answered, ...]
    seed: int = 0

    def summary(self) -> tuple[AnswerSummary, ...]:
        """Return what each method under each budget came to."""
        settings = dict.fromkeys((row.method, row.budget) for row in self.rows)
        whole = {row.question: row for row in self.rows if row.budget is None}
        return tuple(self._of(*setting, whole) for setting in settings)

    def _of(self, method: str, budget: int | None, whole: Mapping[str, Answered]) -> AnswerSummary:
        rows = [row for row in self.rows if (row.method, row.budget) == (method, budget)]
        values = np.array([[row.f1, row.right, row.f1 - whole[row.question].f1] for row in rows], dtype=float)
        f1, right, difference = (found for found in estimates(values, self.seed) if found is not None)
        gained = sum(row.right and not whole[row.question].right for row in rows)
        lost = sum(whole[row.question].right and not row.right for row in rows)
        return AnswerSummary(method, budget, f1, right, difference, gained, lost, mcnemar(gained, lost))


async def aanswer(
    report: Report,
    model: Any,
    *,
    judge: Any = None,
    store: MutableMapping[str, bytes] | None = None,
    at_once: int = 8,
    progress: Progress | None = None,
) -> Answers:
    """Have a language model answer the questions of a report that have answers, from each of its texts.

    model: a chat model of LangChain, an LLM of LlamaIndex, or a function from a prompt to a text, async or not. What
    fails is repeated as the frameworks do it (`with_retry`, `max_retries`). judge: a model that grades the answers by a
    fixed rubric; None compares them word for word. store: where answers are kept, such as a `SqliteStore`. at_once: how
    many prompts are asked at the same time. progress: is told how many answers are there, and of how many.

    Raises ConfigError for another model, and if no question has an answer or no text is the whole context; what the
    model raises. What was answered before is in the store.
    """
    asked = {each.id: each for each in report.questions if each.answers}
    if not asked:
        raise ConfigError("no question of the report has an answer; give questions with answers")
    if None not in report.budgets:
        raise ConfigError(
            f"the budgets are {report.budgets}; evaluate with None, the whole context, too (`all` in the shell)"
        )
    rows = [row for row in report.rows if row.question in asked]
    reader = Reader(model, store, asyncio.Semaphore(at_once))
    grader = None if judge is None else Reader(judge, store, reader.turn)
    found = [_answered(asked[row.question], row, reader, grader) for row in rows]
    return Answers(tuple(await together(found, progress)), report.seed)


def answer(
    report: Report,
    model: Any,
    *,
    judge: Any = None,
    store: MutableMapping[str, bytes] | None = None,
    at_once: int = 8,
    progress: Progress | None = None,
) -> Answers:
    """Do the same where no event loop is running."""
    return asyncio.run(aanswer(report, model, judge=judge, store=store, at_once=at_once, progress=progress))


async def together(waiting: Sequence[Awaitable[_T]], progress: Progress | None) -> list[_T]:
    """Return what all of them come to, in their order, and tell how many are done."""
    done = 0

    async def told(each: Awaitable[_T]) -> _T:
        nonlocal done
        found = await each
        done += 1
        if progress is not None:
            progress(done, len(waiting))
        return found

    return await asyncio.gather(*map(told, waiting))


class Reader:
    """A language model that is asked each prompt once, and only so many at the same time."""

    def __init__(self, model: Any, store: MutableMapping[str, bytes] | None, turn: asyncio.Semaphore) -> None:
        self.turn = turn
        names = (getattr(model, name, None) for name in ("model_name", "model", "__qualname__"))
        name = next((name for name in names if isinstance(name, str)), "")
        self._name = f"{type(model).__qualname__}:{name}"
        """Tells the model from others that are asked the same: its class and the name of its weights."""
        self._ask, self._store = _ask(model), store
        self._known: dict[str, asyncio.Task[str]] = {}

    async def answer(self, prompt: str) -> str:
        """Return the answer to a prompt: a stored one, or the model's."""
        if prompt not in self._known:
            self._known[prompt] = asyncio.ensure_future(self._answer(prompt))
        return await self._known[prompt]

    async def _answer(self, prompt: str) -> str:
        key = sha256(f"{self._name}\0{prompt}".encode("utf-8", "surrogatepass")).hexdigest()
        stored = None if self._store is None else self._store.get(key)
        if stored is not None:
            return stored.decode()
        async with self.turn:
            answer = await self._ask(prompt)
        if self._store is not None:
            self._store[key] = answer.encode("utf-8", "replace")
        return answer


async def _answered(asked: Asked, row: Row, reader: Reader, grader: Reader | None) -> Answered:
    found = (await reader.answer(_PROMPT.format(context=row.text, question=asked.query))).strip()
    if grader is None:
        right = normalized(found) in map(normalized, asked.answers)
    else:
        accepted = "; ".join(asked.answers)
        grade = await grader.answer(_RUBRIC.format(accepted=accepted, question=asked.query, answer=found))
        right = normalized(grade).split()[:1] == ["right"]
    return Answered(row.question, row.method, row.budget, found, f1(found, asked.answers), right)


def f1(answer: str, accepted: Sequence[str]) -> float:
    """Return the greatest F1 of the words of an answer and of an accepted one, as SQuAD computes it; characters where
    words are not spaced."""
    found = _parts(answer)
    return max((_f1(found, _parts(other)) for other in accepted), default=0.0)


def _f1(found: Counter[str], wanted: Counter[str]) -> float:
    total = found.total() + wanted.total()
    return 2 * (found & wanted).total() / total if total else 1.0


def _parts(text: str) -> Counter[str]:
    words = normalized(text)
    return Counter(words.replace(" ", "") if has_unspaced(words) else words.split())


def mcnemar(one: int, other: int) -> float:
    """Return the chance of so unequal numbers or more, of pairs that differ in one way and in the other, if both ways
    are as likely (McNemar's exact test, two-sided)."""
    pairs, least = one + other, min(one, other)
    ways = sum(math.comb(pairs, number) for number in range(least + 1))
    return min(1.0, 2 * ways / (1 << pairs))


def _ask(model: Any) -> Ask:
    """Return an async function that asks a model. Raises ConfigError for what is no model."""
    if callable(getattr(model, "ainvoke", None)):
        patient = model.with_retry() if hasattr(model, "with_retry") else model
        return lambda prompt: _said(patient.ainvoke(prompt))
    if callable(getattr(model, "acomplete", None)):
        return lambda prompt: _said(model.acomplete(prompt))
    if callable(model):
        return model if asyncio.iscoroutinefunction(model) else lambda prompt: asyncio.to_thread(model, prompt)
    raise ConfigError(
        f"a {type(model).__name__} cannot answer; give a chat model of LangChain, an LLM of LlamaIndex, or a function "
        "from a prompt to a text"
    )


async def _said(reply: Awaitable[Any]) -> str:
    """Return the text of what a model of a framework replies: a message, a completion or a string."""
    said = await reply
    text = said if isinstance(said, str) else said.text
    return str(text() if callable(text) and not isinstance(text, str) else text)
