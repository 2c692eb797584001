"""Decomposition of a query into sub-queries, each of which searches for something different."""

import inspect
import logging
import re
from collections.abc import Callable
from typing import Protocol, runtime_checkable

from ctxcompress.errors import InputError
from ctxcompress.query.aspects import Aspects, compared_things, split_questions, things_to_explain
from ctxcompress.query.complexity import classify_complexity
from ctxcompress.query.phrases import Signals, signals_for

__all__ = ["Completes", "Invokes", "LanguageModel", "decompose"]

_PROMPT = """\
Write {count} search queries that together find everything needed to answer the question below.
Each looks for something that the others do not. Keep names, numbers and the language of the question as they are.
Answer with the queries alone, one a line.

Question: {query}"""
_NUMBERING = re.compile(r"\s*+(?:[-*\u2022]|\(?\d{1,2}[.):])\s++")
_QUOTED_LINE = re.compile(r"([\"'`])(?P<a>[^\"'`]++)\1|\u201c(?P<b>[^\u201c\u201d]++)\u201d")
"""A whole line in quotation marks."""
_log = logging.getLogger("ctxcompress")


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

    A simple query is its own only sub-query. With `llm`, the language model writes the sub-queries. Without it, or if
    its answer has none, rules make them from the sentences of the query, the things it compares or the things it asks
    to explain. If they are fewer than the complexity allows, the whole query is added.

    llm: a chat model of LangChain, a model of LlamaIndex, or a function from a prompt to an answer. It is called once,
    and only if the query is not simple. language: ISO 639-1 code of the query; None detects it.

    Raises InputError if `query` is not a string or `llm` is none of these. Errors of the language model propagate.
    """
    count = classify_complexity(query, language=language).sub_query_count
    if count == 1:
        return (query,)
    if llm is not None:
        written = _searches(_answer(llm, _PROMPT.format(count=count, query=query)))
        if written:
            return written[:count]
        _log.warning("the language model wrote no sub-queries; making them by rules instead")
    return _by_rules(query, count, signals_for(query, language))


def _answer(llm: LanguageModel, prompt: str) -> str:
    """Return the answer of the language model as text."""
    if isinstance(llm, Invokes):
        answer = llm.invoke(prompt)
    elif isinstance(llm, Completes):
        answer = llm.complete(prompt)
    elif callable(llm):
        answer = llm(prompt)
    else:
        raise InputError(f"llm is a {type(llm).__name__}; give a chat model or a function from a prompt to an answer")
    if inspect.iscoroutine(answer):
        answer.close()
        raise InputError("llm is a coroutine function; give a function that returns the answer")
    text = answer if isinstance(answer, str) else getattr(answer, "text", answer)
    return text if isinstance(text, str) else ""


def _searches(answer: str) -> tuple[str, ...]:
    """Return the lines of an answer without numbering, quotation marks, fences and introductions."""
    bare = (line for line in answer.splitlines() if not line.lstrip().startswith("```"))
    lines = (_unquoted(_NUMBERING.sub("", line, count=1).strip()) for line in bare)
    return tuple(dict.fromkeys(line for line in lines if line and not line.endswith(":")))


def _unquoted(line: str) -> str:
    match = _QUOTED_LINE.fullmatch(line)
    return (match["a"] or match["b"]).strip() if match else line


def _by_rules(query: str, count: int, signals: Signals) -> tuple[str, ...]:
    parts = (
        split_questions(query)
        or _each(compared_things(query, signals))
        or _each(things_to_explain(query, signals))
        or (query,)
    )
    whole = (query,) if len(parts) < count else ()
    return tuple(dict.fromkeys((*_at_most(parts, count), *whole)))


def _each(aspects: Aspects | None) -> tuple[str, ...]:
    return aspects.each() if aspects else ()


def _at_most(parts: tuple[str, ...], count: int) -> tuple[str, ...]:
    """Return at most `count` parts, the last of which joins all the rest."""
    return parts if len(parts) <= count else (*parts[: count - 1], " ".join(parts[count - 1 :]))
