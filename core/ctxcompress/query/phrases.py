"""The phrases that signal comparison, analysis, explanation and the like in a query, which are in phrases.json; and the
parts of a query about several things: what it compares, what it asks to explain, by what it wants the best.

A query is only split if every part makes sense alone, because a search for half of a thing finds less than a search
for the whole query.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from itertools import dropwhile
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from ctxcompress.errors import InputError
from ctxcompress.lazy_regex import lazy_regex
from ctxcompress.query.focus import REFERENCES
from ctxcompress.text.language import STOP_WORDS, detect_language

__all__ = ["Signals", "asks_for_best", "aspects_of_best", "compared_things", "signals_for", "things_to_explain"]

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


_COMMA = lazy_regex(r"[,;\u3001\uff0c\u060c\uff1b]")
_STOP = lazy_regex(r"[:;?!(\uff1a\uff1b\uff1f\uff01\u061f\u3002]|\.(?=\s|\Z)|\s[-\u2013\u2014]\s")
"""The end of a statement."""
_EDGES = ' \t\r\n.,;:!?"()\u3001\u3002\uff0c\uff1b\uff1a\uff01\uff1f\u060c\u061b\u061f\u00bf\u00a1\u0964'
_FIXED = lazy_regex(
    r"(?<!\w)(?:pros\s++and\s++cons|advantages\s++and\s++disadvantages|strengths\s++and\s++weaknesses|"
    r"terms\s++and\s++conditions|research\s++and\s++development|trial\s++and\s++error|supply\s++and\s++demand|"
    r"vor-\s++und\s++nachteile|vorteile\s++und\s++nachteile|ventajas\s++y\s++desventajas|"
    r"avantages\s++et\s++inconv\u00e9nients|pro\s++e\s++contro|\u043f\u043b\u044e\u0441\u044b\s++\u0438\s++\u043c\u0438\u043d\u0443\u0441\u044b)(?!\w)"
)
"""Fixed phrases that contain a conjunction but are one thing."""
_TAIL = lazy_regex(r"(?<!\w)(?:of|von|de|del|di|da|\u00fcber)(?!\w)")
_NUMBER = lazy_regex(r"v?\d[\d.]*+\Z")
_BEST = lazy_regex(
    r"(?<!\w)(?:top|best|leading|besten|f\u00fchrenden|mejores|principales|meilleurs|meilleures|migliori|melhores|principais"
    r"|\u043b\u0443\u0447\u0448\w++|\u0442\u043e\u043f|en\s++iyi)(?P<number>\s++\d{1,3})?(?!\w)"
)
"""A query for the best of many, such as "top 5 cloud providers"."""
_BY = lazy_regex(
    r"(?<!\w)(?:by|in\s++terms\s++of|regarding|based\s++on|considering|nach|hinsichtlich|bez\u00fcglich|seg\u00fan|selon|"
    r"concernant|in\s++termini\s++di|riguardo\s++a|em\s++termos\s++de|quanto\s++a)(?!\w)|:(?=\s)"
)
"""Words before the aspects of a query."""
_ALSO_REFERS = frozenset("each both one two three other".split())
_LONGEST, _MOST_WORDS = 60, 6
"""The most characters and words of a thing's name. Anything longer is a clause."""


class Aspects(NamedTuple):
    """Several things that a query asks about, and the words that apply to all of them."""

    before: str
    things: tuple[str, ...]
    after: str

    def each(self) -> tuple[str, ...]:
        """Return one query for each thing."""
        return tuple(" ".join(filter(None, (self.before, thing, self.after))) for thing in self.things)


def compared_things(query: str, signals: Signals) -> Aspects | None:
    """Return the things that a query compares, or None if it compares none or they cannot be recognized."""
    lower = _lower(query)
    if signals.versus.search(lower):
        return _versus(query, signals)
    match = signals.contrast.search(lower)
    if match is None or _FIXED.search(lower):
        return None
    if " " not in match.group() and signals.is_spaced and not _is_lead(lower, match, signals):
        return None  # "a way to compare two strings"
    after = _things(query[match.end() :], signals)
    return after if after or signals.is_spaced else _things(query[: match.start()], signals)


def things_to_explain(query: str, signals: Signals) -> Aspects | None:
    """Return the things that a query asks to explain, or None unless a conjunction joins several."""
    lower = _lower(query)
    match = signals.explanation.search(lower)
    if match is None or not _is_lead(lower, match, signals):
        return None
    rest = query[match.end() :]
    if _FIXED.search(lower) or signals.concept.match(_lower(rest).lstrip()):
        return None  # a clause follows: "explain how ..."
    if signals.contrast.search(lower) or signals.versus.search(lower):
        return None  # the query asks to explain a difference
    found = _named(_parted(rest, _STOP)[0], signals.conjunction, signals)
    if found is None or all(" " not in thing and thing[:1].isupper() for thing in found.things):
        return None  # "Romeo and Juliet"
    return found._replace(before=query[: match.end()].strip(_EDGES))


def asks_for_best(query: str) -> bool:
    """Tell whether a query asks for a number of best things, each of which may need a search."""
    match = _BEST.search(_lower(query))
    return match is not None and match["number"] is not None


def aspects_of_best(query: str, signals: Signals) -> Aspects | None:
    """Return the aspects by which a query wants the best of many, such as price and support; None if it names none."""
    lower = _lower(query)
    best = _BEST.search(lower)
    by = _BY.search(lower, best.end()) if best else None
    found = _named(_parted(query[by.end() :], _STOP)[0], signals.conjunction, signals) if by else None
    return found._replace(before=_without_lead(query[: by.end()], signals).rstrip(_EDGES)) if by and found else None


def _is_lead(lower: str, match: re.Match[str], signals: Signals) -> bool:
    """Tell whether hardly anything stands before a match."""
    return all(word in signals.ignored for word in lower[: match.start()].split())


def _without_lead(text: str, signals: Signals) -> str:
    """Return a text without the words that only ask, such as "compare the" or "should I use"."""
    text = text.lstrip(_EDGES)
    lead = signals.contrast.match(_lower(text))
    text = text[lead.end() :] if lead else text
    return (
        " ".join(dropwhile(lambda word: word.lower() in signals.ignored, text.split())) if signals.is_spaced else text
    )


def _versus(query: str, signals: Signals) -> Aspects | None:
    """Return the things on both sides of "vs"."""
    first, *others, last = _split(query, signals.versus)
    ends = [match.end() for pattern in (_COMMA, _STOP) for match in pattern.finditer(first.rstrip(_EDGES))]
    first = first[max(ends, default=0) :]  # "Which is better: A"
    head, tail = _parted(_parted(last, _STOP)[0], signals.purpose, 1)
    return _checked((_without_lead(first, signals), *others, head), tail, signals)


def _things(text: str, signals: Signals) -> Aspects | None:
    """Return the things named in `text`, which is one side of a word of comparison."""
    named, _ = _parted(_parted(text, _STOP)[0], signals.concept, 1)  # without "and when should I use each"
    return _named(named, signals.between, signals)


def _named(text: str, at: re.Pattern[str], signals: Signals) -> Aspects | None:
    """Return the things that the pattern `at` separates in a text, and the words that apply to all of them."""
    whole, purpose = _parted(text, signals.purpose, 1)
    things = _split_all(whole, at)
    if len(things) < 2:
        things, purpose = _split_all(text, at), ""
    if len(things) > 1 and not any(map(_tail_of, things[:-1])) and (tail := _tail_of(things[-1])):
        things = (*things[:-1], things[-1][: -len(tail)])  # "the cost and performance of ..."
        purpose = f"{tail} {purpose}".strip()
    return _checked(things, purpose, signals)


def _checked(things: tuple[str, ...], after: str, signals: Signals) -> Aspects | None:
    """Return the things with the words that they share, if each of them makes sense alone."""
    names = [thing.strip(_EDGES) for thing in things]
    if len(names) < 2 or not all(names):
        return None
    head = names[0].rpartition(" ")[0]
    names = [f"{head} {name}" if head and _NUMBER.match(name) else name for name in names]  # "Python 3.11 to 3.12"
    last = names[-1].split()
    if len(last) == 2 and last[1].islower() and all(name.islower() and " " not in name for name in names[:-1]):
        names = [*(f"{name} {last[1]}" for name in names[:-1]), names[-1]]  # "supervised and unsupervised learning"
    distinct = tuple(dict.fromkeys(names))
    if len(distinct) < 2 or not all(_stands_alone(name, signals) for name in distinct):
        return None
    return Aspects("", distinct, after.strip(_EDGES))


def _stands_alone(name: str, signals: Signals) -> bool:
    words = name.lower().split()
    if len(name) > _LONGEST or (signals.is_spaced and len(words) > _MOST_WORDS) or _NUMBER.match(name):
        return False
    return not signals.ignored.issuperset(words) and (REFERENCES | _ALSO_REFERS).isdisjoint(words)


def _tail_of(thing: str) -> str:
    """Return the rest of `thing` from an "of" on."""
    match = _TAIL.search(_lower(thing))
    return thing[match.start() :] if match and match.start() else ""


def _parted(text: str, before: re.Pattern[str], start: int = 0) -> tuple[str, str]:
    """Return a text up to the first match of a pattern after `start`, and the rest of it."""
    match = before.search(_lower(text), start)
    return (text[: match.start()], text[match.start() :]) if match else (text, "")


def _split_all(text: str, at: re.Pattern[str]) -> tuple[str, ...]:
    names = (name.strip(_EDGES) for part in _split(text, at) for name in _COMMA.split(part))
    return tuple(filter(None, names))


def _split(text: str, at: re.Pattern[str]) -> list[str]:
    parts: list[str] = []
    start = 0
    for match in at.finditer(_lower(text)):
        parts.append(text[start : match.start()])
        start = match.end()
    return [*parts, text[start:]]


def _lower(text: str) -> str:
    """Return `text` in lower case, character by character, so that offsets stay valid."""
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
