"""What kind of answer a question wants: a fact to look up, or an explanation.

The signals and their priority are those of the seed of the preset "docs": question words, introductions, comparisons
and question marks ask for an explanation, and win; identifiers, code, versions and commands ask for a fact; what shows
neither is a lookup, too.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from ctxcompress.query.phrases import Signals, signals_of

__all__ = ["Intent", "IntentResult", "classify_intent"]

_QUESTION_MARK = re.compile(r"[?\uff1f\u061f]")
_CODE = {
    "identifier": re.compile(r"(?<![A-Za-z0-9_])(?:[a-z]++[0-9]*+[A-Z][A-Za-z0-9]*+|[A-Za-z0-9]++_[A-Za-z0-9_]++)"),
    "code": re.compile(r"`[^`\n]++`"),
    "version": re.compile(r"(?<![\w.])v?\d++(?:\.\d++)++(?![\w])"),
    "option": re.compile(r"(?<![\w-])--[a-z][\w-]*+"),
}


class Intent(StrEnum):
    """What kind of answer a question wants."""

    FACTUAL = "factual"
    CONCEPTUAL = "conceptual"


@dataclass(frozen=True, slots=True)
class IntentResult:
    """What kind of answer a question wants, and why."""

    intent: Intent
    reasons: tuple[str, ...]
    """The signals of this kind that were found; none where it is the default."""


def classify_intent(query: str, *, language: str | None = None) -> IntentResult:
    """Whether a question asks for a fact or for an explanation, from its words alone, in microseconds.

    Any sign of an explanation makes it "conceptual"; otherwise it is "factual". language: ISO 639-1 code of the
    question ("en", "de"); None detects it. Raises InputError if `query` is no string.
    """
    signals = signals_of(query, language)
    conceptual = tuple(_conceptual(query, signals))
    if conceptual:
        return IntentResult(Intent.CONCEPTUAL, conceptual)
    return IntentResult(Intent.FACTUAL, tuple(_factual(query, signals)))


def _conceptual(query: str, signals: Signals) -> Iterator[str]:
    lower = query.lower()
    for name, pattern in (("question", signals.concept), ("guide", signals.guide), ("comparison", signals.comparison)):
        if match := pattern.search(lower):
            yield f"{name} ({match.group()!r})"
    if _QUESTION_MARK.search(query):
        yield "question mark"


def _factual(query: str, signals: Signals) -> Iterator[str]:
    for name, pattern in _CODE.items():
        if match := pattern.search(query):
            yield f"{name} ({match.group()!r})"
    if match := signals.command.search(query.lower()):
        yield f"command ({match.group()!r})"
