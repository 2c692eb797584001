"""The phrases that signal comparison, analysis, explanation and the like in a query. They are in phrases.json."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Generic, TypeVar

from ctxcompress.errors import InputError
from ctxcompress.text.language import STOP_WORDS, detect_language

__all__ = ["Phrases", "Signals", "signals_for"]

_UNSPACED = frozenset(("zh", "ja", "th"))
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Phrases(Generic[_T]):
    """What signals what in one language: phrases in lower case separated by "|", or the pattern of all of them.

    "*" at the end of a phrase matches the rest of a word, " " matches any white space.
    """

    comparison: _T
    """Signals of a comparison."""
    contrast: _T
    """Phrases that come before the compared things, or after them in some languages."""
    versus: _T
    """Words between two things that make it a comparison."""
    between: _T
    """Words between the things of a comparison that another phrase signals."""
    purpose: _T
    """Words that begin the end of a comparison or an explanation: what it is for, and when."""
    analysis: _T
    """Signals that a thorough answer is wanted."""
    current: _T
    """Signals that the query asks for news or the current state."""
    explanation: _T
    """Signals that something is to be explained."""
    conjunction: _T
    """Conjunctions."""
    concept: _T
    """Question words and comparisons that ask for an understanding."""
    guide: _T
    """Names of introductory texts."""


@dataclass(frozen=True, slots=True)
class Signals(Phrases[re.Pattern[str]]):
    """The patterns for the language of a query, to be matched against lower-case text."""

    ignored: frozenset[str]
    """Function words, in lower case."""
    is_spaced: bool
    """True if the language has spaces between words."""


def signals_for(query: str, language: str | None = None) -> Signals:
    """Return the patterns for the language of `query`, and for English, because people mix in English words.

    language: ISO 639-1 code; None detects it. Raises InputError if `query` is not a string.
    """
    if not isinstance(query, str):
        raise InputError(f"query is a {type(query).__name__}; give a string")
    return _signals(language or detect_language(query))


@cache
def _phrases() -> Mapping[str, Phrases[str]]:
    """Return the phrases by the ISO 639-1 code of their language."""
    data = json.loads(Path(__file__).with_name("phrases.json").read_text(encoding="utf-8"))
    return {code: Phrases(**phrases) for code, phrases in data.items()}


@cache
def _signals(language: str) -> Signals:
    known = _phrases()
    sources = [(code, known[code]) for code in dict.fromkeys((language, "en")) if code in known]
    names = [entry.name for entry in fields(Phrases)]
    patterns = {
        name: re.compile("|".join(_pattern(getattr(phrases, name), code) for code, phrases in sources))
        for name in names
    }
    ignored = STOP_WORDS["en"] | STOP_WORDS.get(language, frozenset())
    return Signals(**patterns, ignored=ignored, is_spaced=language not in _UNSPACED)


def _pattern(phrases: str, language: str) -> str:
    """Return a pattern of whole words, the longest first. In a language without spaces it matches anywhere."""
    longest = sorted(phrases.split("|"), key=len, reverse=True)
    parts = (
        re.escape(phrase.rstrip("*")).replace("\\ ", r"\s++") + r"\w*+" * phrase.endswith("*") for phrase in longest
    )
    found = "|".join(parts)
    return f"(?:{found})" if language in _UNSPACED else rf"(?<!\w)(?:{found})(?!\w)"
