"""Decomposition of a query into sub-queries, each of which searches for something different."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from types import CoroutineType
from typing import Protocol, runtime_checkable

from ctxcompress.errors import InputError, warn
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.query.complexity import classify_complexity
from ctxcompress.query.focus import questions_in, without_courtesy
from ctxcompress.query.phrases import (
    Signals,
    asks_for_best,
    aspects_of_best,
    compared_things,
    signals_for,
    things_to_explain,
)

__all__ = ["Completes", "Invokes", "LanguageModel", "adecompose", "decompose"]

_PROMPT = """\
Write {count} search queries that together find everything needed to answer the question below.
Each looks for something that the others do not. Keep names, numbers and the language of the question as they are.
Answer with the queries alone, one a line.

Question: {query}"""
_NUMBERING = lazy_regex(r"\s*+(?:[-*\u2022]|\(?\d{1,2}[.):])\s++")
_QUOTED_LINE = lazy_regex(r"([\"'`])(?P<a>[^\"'`]++)\1|\u201c(?P<b>[^\u201c\u201d]++)\u201d")
"""A whole line in quotation marks."""
_REFUSAL = lazy_regex(
    r"\W*+(?:I(?:['\u2019]m| am) (?:sorry|unable|not able)|I (?:can(?:no|['\u2019])t|won['\u2019]t)|sorry\b|as an AI"
    r"|unfortunately)",
    re.IGNORECASE,
)
_LONGEST = 300
"""The most characters of a search; a longer line is an essay."""
_MOST_WRITTEN, _MOST_ASPECTS = 4, 8
"""The most sub-queries of a query for the best of many: by a language model, and by its aspects."""


@runtime_checkable
class Invokes(Protocol):
    """A chat model of LangChain, or any of its runnables that accept a string."""

    def invoke(self, input: str, /) -> object:
        """Return the answer: a string, or a message with a `text`."""


@runtime_checkable
class Completes(Protocol):
    """A language model of LlamaIndex."""

    def complete(self, prompt: str, /) -> object:
        """Return the answer, an object with a `text`."""


LanguageModel = Invokes | Completes | Callable[[str], object]
"""Anything that answers a prompt."""


def decompose(query: str, llm: LanguageModel | None = None, *, language: str | None = None) -> tuple[str, ...]:
    """Return the sub-queries of a query: at most one, two or four, depending on its complexity, and at least one.

    Greetings and thanks are left out. A simple query is its own only sub-query. With `llm`, the language model writes
    the sub-queries. Without it, rules make them from the questions of the query, the things it compares or the things
    it asks to explain. A query for the best of many has a sub-query for each aspect that it names, at most eight. If
    there are fewer than the complexity allows, the whole query is added.

    llm: a chat model of LangChain, a model of LlamaIndex, or a function from a prompt to an answer. It is called once,
    and only if the query is not simple or asks for a number of best things. If it fails, refuses or writes no search,
    there is a warning and the rules make them.

    language: ISO 639-1 code of the query; None detects it.

    Raises InputError if `query` is not a string or `llm` is none of these.
    """
    plan = _Plan.of(query, language)
    if llm is None or plan.written == 1:
        return plan.by_rules()
    ask = _completer(llm)
    try:
        answer = ask(plan.prompt)
    except InputError:
        raise
    except Exception as error:  # noqa: BLE001 - a model's client may raise anything, and the rules do without it
        return plan.after_failure(error)
    return plan.checked(answer)


async def adecompose(
    query: str, ask: Callable[[str], Awaitable[object]] | None = None, *, language: str | None = None
) -> tuple[str, ...]:
    """Do the same with a model that is awaited. ask: a function from a prompt to an awaitable answer."""
    plan = _Plan.of(query, language)
    if ask is None or plan.written == 1:
        return plan.by_rules()
    try:
        answer = await ask(plan.prompt)
    except Exception as error:  # noqa: BLE001 - see above; a cancellation is no Exception
        return plan.after_failure(error)
    return plan.checked(answer)


@dataclass(frozen=True, slots=True)
class _Plan:
    """A query, and how many sub-queries it is worth."""

    query: str
    signals: Signals
    count: int
    """The number by the complexity."""
    written: int
    """The number that a language model is asked for."""

    @classmethod
    def of(cls, query: str, language: str | None) -> "_Plan":
        signals, query = signals_for(query, language), without_courtesy(query)
        count = classify_complexity(query, language=language).sub_query_count
        return cls(query, signals, count, _MOST_WRITTEN if asks_for_best(query) else count)

    @property
    def prompt(self) -> str:
        return _PROMPT.format(count=self.written, query=self.query)

    def checked(self, answer: object) -> tuple[str, ...]:
        """Return the sub-queries that a language model wrote, or those by rules if it wrote none."""
        text = answer if isinstance(answer, str) else getattr(answer, "text", answer)
        text = text if isinstance(text, str) else ""
        found = () if _REFUSAL.match(text) else _searches(text)
        if found:
            return found[: self.written]
        warn("the language model wrote no sub-queries; making them by rules instead")
        return self.by_rules()

    def after_failure(self, error: Exception) -> tuple[str, ...]:
        warn(f"the language model failed ({error!r}); making the sub-queries by rules instead")
        return self.by_rules()

    def by_rules(self) -> tuple[str, ...]:
        query, signals = self.query, self.signals
        aspects = aspects_of_best(query, signals)
        if aspects:
            return _at_most(aspects.each(), _MOST_ASPECTS)
        if self.count == 1:
            return (query,)
        parts = questions_in(query)
        if len(parts) == 1:
            things = compared_things(query, signals) or things_to_explain(query, signals)
            parts = things.each() if things else parts
        whole = (query,) if len(parts) < self.count else ()
        return tuple(dict.fromkeys((*_at_most(parts, self.count), *whole)))


def _completer(llm: LanguageModel) -> Callable[[str], object]:
    """Return the function that asks a language model."""
    if isinstance(llm, Invokes):
        return llm.invoke
    if isinstance(llm, Completes):
        return llm.complete
    if not callable(llm):
        raise InputError(f"llm is a {type(llm).__name__}; give a chat model or a function from a prompt to an answer")
    given = llm

    def ask(prompt: str) -> object:
        answer = given(prompt)
        if isinstance(answer, CoroutineType):
            answer.close()
            raise InputError("llm is a coroutine function; give a function that returns the answer")
        return answer

    return ask


def _searches(answer: str) -> tuple[str, ...]:
    """Return the lines of an answer without numbering, quotation marks, fences, introductions and essays."""
    bare = (line for line in answer.splitlines() if not line.lstrip().startswith("```"))
    lines = (_unquoted(_NUMBERING.sub("", line, count=1).strip()) for line in bare)
    return tuple(dict.fromkeys(line for line in lines if line and not line.endswith(":") and len(line) <= _LONGEST))


def _unquoted(line: str) -> str:
    match = _QUOTED_LINE.fullmatch(line)
    return (match["a"] or match["b"]).strip() if match else line


def _at_most(parts: tuple[str, ...], count: int) -> tuple[str, ...]:
    """Return at most `count` parts, the last of which joins all the rest."""
    return parts if len(parts) <= count else (*parts[: count - 1], " ".join(parts[count - 1 :]))
