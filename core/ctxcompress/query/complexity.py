"""The complexity and the intent of a query, classified by its words.

The rules for complexity come from "Query Complexity & Result Compression" (Context Engine Series, part 2): signals add
up to a score, and the score decides how many sub-queries are worth making. Two rules are added, which the examples
there need: three or more compared things add 2 points, and several things to explain add 2. A third counts the
questions of a numbered list. Only whole words match, in the language of the query and in English. A year is a signal
of current events if it is last year, this year or next.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.query.focus import QUESTION_MARKS, numbered_questions
from ctxcompress.query.phrases import Signals, compared_things, signals_for, things_to_explain
from ctxcompress.text.words import has_unspaced, split_words

__all__ = ["Complexity", "ComplexityResult", "Intent", "IntentResult", "classify_complexity", "classify_intent"]

_SHORT, _LONG = 10, 30
"""A query with fewer words is very short, one with more words is long."""
_YEAR = lazy_regex(r"(?<![\w.])(?:19|20)\d\d(?![\w])")
_RANKED = lazy_regex(r"(?<!\w)(?:top|best|leading)\s++(\d{1,3})(?!\w)")
_MANY, _CHARACTERS = 3, 2
"""The fewest things that are many; characters that count as a word in a script without spaces."""


class Complexity(StrEnum):
    """How much a query asks for."""

    SIMPLE = "simple"
    MODERATE = "moderate"
    COMPLEX = "complex"


_SUB_QUERIES = {Complexity.SIMPLE: 1, Complexity.MODERATE: 2, Complexity.COMPLEX: 4}


@dataclass(frozen=True, slots=True)
class ComplexityResult:
    """The complexity of a query, and the reasons for it."""

    level: Complexity
    sub_query_count: int
    """How many sub-queries are worth making: 1, 2 or 4."""
    reasons: tuple[str, ...]
    """The signals that were found, in words."""
    score: int
    """The sum of the points: up to 0 is simple, 1 and 2 are moderate, more is complex."""

    @property
    def reasoning(self) -> str:
        """The score and the reasons as one line of text."""
        return f"Score {self.score}: {', '.join(self.reasons) or 'no signals'}"


class Intent(StrEnum):
    """The kind of answer that a query wants."""

    FACTUAL = "factual"
    CONCEPTUAL = "conceptual"


@dataclass(frozen=True, slots=True)
class IntentResult:
    """The kind of answer that a query wants, and the reasons for it."""

    intent: Intent
    reasons: tuple[str, ...]
    """The signals of an explanation that were found; empty for a fact, which is the default."""


def classify_complexity(query: str, *, language: str | None = None, year: int | None = None) -> ComplexityResult:
    """Classify how much a query asks for, by its words alone, in microseconds.

    Points: -1 for fewer than 10 words, 1 for more than 30 words, 1 for several question marks, 1 for two or more
    conjunctions, 1 for a word of analysis ("in detail", "evaluate"), 1 for current events ("latest", this year), 2 for
    a comparison, 2 more for three or more compared things, 2 for several things to explain, 2 for two numbered
    questions and 4 for more.

    A capitalized word of analysis inside a sentence ("Microsoft Research") is treated as a name and does not count,
    unless most words are capitalized.

    language: ISO 639-1 code of the query ("en", "de"); None detects it. year: the current year; None asks the clock.

    Raises InputError if `query` is not a string.
    """
    found = list(_found(query, signals_for(query, language), date.today().year if year is None else year))
    score = sum(points for points, _ in found)
    level = Complexity.SIMPLE if score <= 0 else Complexity.MODERATE if score <= 2 else Complexity.COMPLEX
    return ComplexityResult(level, _SUB_QUERIES[level], tuple(reason for _, reason in found), score)


def _found(query: str, signals: Signals, year: int) -> Iterator[tuple[int, str]]:
    """Yield (points, reason) of every rule that applies."""
    lower = query.lower()
    words = _count(query)
    conjunctions = len(signals.conjunction.findall(lower))
    if words < _SHORT:
        yield -1, f"very short query ({words} words)"
    elif words > _LONG:
        yield 1, f"long query ({words} words)"
    yield from _questions(query)
    if conjunctions > 1:
        yield 1, f"{conjunctions} conjunctions"
    if match := signals.comparison.search(lower):
        yield 2, f"comparison ({match.group()!r})"
        if (many := _compared(query, lower, signals)) >= _MANY:
            yield 2, f"{many} things compared"
    if name := _analysis(query, lower, signals):
        yield 1, f"analysis ({name!r})"
    years = (match for match in _YEAR.finditer(lower) if abs(int(match.group()) - year) <= 1)
    if match := signals.current.search(lower) or next(years, None):
        yield 1, f"current events ({match.group()!r})"
    if conjunctions and signals.explanation.search(lower) and (aspects := things_to_explain(query, signals)):
        yield 2, f"{len(aspects.things)} things to explain"


def _questions(query: str) -> Iterator[tuple[int, str]]:
    """Yield the points for several questions."""
    marks, numbered = sum(map(query.count, QUESTION_MARKS)), len(numbered_questions(query))
    if marks > 1:
        yield 1, f"{marks} questions"
    if numbered > 1:
        yield 2 if numbered < _MANY else 4, f"{numbered} numbered questions"


def _count(query: str) -> int:
    """Return the number of words, estimated from the characters in scripts without spaces."""
    if not has_unspaced(query):
        return len(query.split())
    return sum(-(-len(word) // _CHARACTERS) if has_unspaced(word) else 1 for word in split_words(query))


def _compared(query: str, lower: str, signals: Signals) -> int:
    """Return how many things are compared."""
    ranked = _RANKED.search(lower)
    aspects = compared_things(query, signals)
    return max(int(ranked[1]) if ranked else 0, len(aspects.things) if aspects else 0)


def _analysis(query: str, lower: str, signals: Signals) -> str | None:
    """Return the first word of analysis that is not a name."""
    is_title = sum(word[:1].isupper() for word in query.split()) > len(query.split()) / 2
    for match in signals.analysis.finditer(lower):
        if match.start() == 0 or is_title or not query[match.start() : match.start() + 1].isupper():
            return match.group()
    return None


def classify_intent(query: str, *, language: str | None = None) -> IntentResult:
    """Classify whether a query asks for a fact or for an explanation, by its words alone, in microseconds.

    Any signal of an explanation makes it "conceptual", otherwise it is "factual".

    language: ISO 639-1 code of the query ("en", "de"); None detects it.

    Raises InputError if `query` is not a string.
    """
    reasons = tuple(_conceptual(query, signals_for(query, language)))
    return IntentResult(Intent.CONCEPTUAL if reasons else Intent.FACTUAL, reasons)


def _conceptual(query: str, signals: Signals) -> Iterator[str]:
    lower = query.lower()
    for name, pattern in (("question", signals.concept), ("guide", signals.guide), ("comparison", signals.comparison)):
        if match := pattern.search(lower):
            yield f"{name} ({match.group()!r})"
    if any(map(query.__contains__, QUESTION_MARKS)):
        yield "question mark"
