"""A question as several searches, each of which looks for something else."""

import inspect
import logging
import re
from collections.abc import Callable
from typing import Protocol, runtime_checkable

from ctxcompress.errors import InputError
from ctxcompress.query.aspects import Aspects, compared, joined, questions
from ctxcompress.query.complexity import classify_complexity
from ctxcompress.query.phrases import Signals, signals_of

__all__ = ["Completes", "Invokes", "Writer", "decompose"]

_PROMPT = """\
Write {count} search queries that together find everything needed to answer the question below.
Each looks for something that the others do not. Keep names, numbers and the language of the question as they are.
Answer with the queries alone, one a line.

Question: {query}"""
_NUMBERING = re.compile(r"\s*+(?:[-*\u2022]|\(?\d{1,2}[.):])\s++")
_PAIR = re.compile(r"([\"'`])(?P<a>[^\"'`]++)\1|\u201c(?P<b>[^\u201c\u201d]++)\u201d")
"""A whole line in quotes."""
_log = logging.getLogger("ctxcompress")


@runtime_checkable
class Invokes(Protocol):
    """A chat model of LangChain, or any of its runnables from a string."""

    def invoke(self, input: str, /) -> object:
        """Its answer: a string, or a message with a `text`."""


@runtime_checkable
class Completes(Protocol):
    """A language model of LlamaIndex."""

    def complete(self, prompt: str, /) -> object:
        """Its answer, with a `text`."""


Writer = Invokes | Completes | Callable[[str], object]
"""What writes an answer to a prompt."""


def decompose(query: str, llm: Writer | None = None, *, language: str | None = None) -> tuple[str, ...]:
    """The searches that a question is worth: one, two or four by its complexity, never more than that.

    A simple question is its own search. With `llm`, the model writes them; where its answer has none, and without
    one, rules do: the sentences of several questions, the things that are compared, the things that are to be
    explained, each with what is said of all of them; and the question as a whole if there are fewer than its
    complexity says. There is always at least one.

    llm: a chat model of LangChain, a model of LlamaIndex, or a function from a prompt to an answer. It is asked once,
    and only for a question that is not simple. language: ISO 639-1 code of the question; None detects it.

    Raises InputError if `query` is no string or `llm` none of these, and what the model raises.
    """
    count = classify_complexity(query, language=language).sub_query_count
    if count == 1:
        return (query,)
    if llm is not None:
        written = _searches(_answer(llm, _PROMPT.format(count=count, query=query)))
        if written:
            return written[:count]
        _log.warning("the model wrote no searches for a question; rules make them")
    return _by_rules(query, count, signals_of(query, language))


def _answer(llm: Writer, prompt: str) -> str:
    """What a model writes, as text."""
    if isinstance(llm, Invokes):
        answer = llm.invoke(prompt)
    elif isinstance(llm, Completes):
        answer = llm.complete(prompt)
    elif callable(llm):
        answer = llm(prompt)
    else:
        raise InputError(f"llm is a {type(llm).__name__}; give a chat model, or a function from a prompt to an answer")
    if inspect.iscoroutine(answer):
        answer.close()
        raise InputError("llm is a coroutine function; give one that returns the answer")
    text = answer if isinstance(answer, str) else getattr(answer, "text", answer)
    return text if isinstance(text, str) else ""


def _searches(answer: str) -> tuple[str, ...]:
    """The lines of an answer, without what models put around them."""
    bare = (line for line in answer.splitlines() if not line.lstrip().startswith("```"))
    lines = (_unquoted(_NUMBERING.sub("", line, count=1).strip()) for line in bare)
    return tuple(dict.fromkeys(line for line in lines if line and not line.endswith(":")))


def _unquoted(line: str) -> str:
    match = _PAIR.fullmatch(line)
    return (match["a"] or match["b"]).strip() if match else line


def _by_rules(query: str, count: int, signals: Signals) -> tuple[str, ...]:
    parts = questions(query) or _each(compared(query, signals)) or _each(joined(query, signals)) or (query,)
    whole = (query,) if len(parts) < count else ()
    return tuple(dict.fromkeys((*_at_most(parts, count), *whole)))


def _each(aspects: Aspects | None) -> tuple[str, ...]:
    return aspects.each() if aspects else ()


def _at_most(parts: tuple[str, ...], count: int) -> tuple[str, ...]:
    """So many searches, of which the last one looks for all that is left."""
    return parts if len(parts) <= count else (*parts[: count - 1], " ".join(parts[count - 1 :]))
