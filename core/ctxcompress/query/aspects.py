"""What a question is about, where it is about several things: its sentences, what it compares, what it joins."""

import re
from typing import NamedTuple

from ctxcompress.query.phrases import Signals

__all__ = ["Aspects", "compared", "joined", "questions"]

_QUESTION_END = re.compile(r"(?<=[?\uff1f\u061f])\s*+")
_COMMA = re.compile(r"[,;\u3001\uff0c\u060c\uff1b]")
_EDGES = ' \t\r\n.,;:!?"\u3001\u3002\uff0c\uff1b\uff1a\uff01\uff1f\u060c\u061b\u061f\u00bf\u00a1\u0964'
_LONGEST = 60
"""Characters of a name of something; what is longer is a clause."""


class Aspects(NamedTuple):
    """Several things, and what is said of all of them."""

    before: str
    things: tuple[str, ...]
    after: str

    def each(self) -> tuple[str, ...]:
        """A question about each of the things."""
        return tuple(" ".join(filter(None, (self.before, thing, self.after))) for thing in self.things)


def questions(query: str) -> tuple[str, ...]:
    """The sentences of a query up to their question marks, if there is more than one."""
    found = tuple(part.strip() for part in _QUESTION_END.split(query) if part.strip(_EDGES))
    return found if len(found) > 1 else ()


def compared(query: str, signals: Signals) -> Aspects | None:
    """The things that a question sets against one another, if it does and they can be told."""
    lower = _lower(query)
    match = signals.comparison.search(lower)
    if match is None:
        return None
    is_between = signals.between.fullmatch(match.group())  # "A vs B"
    sides: tuple[str, ...] = (query,) if is_between else (query[match.end() :], query[: match.start()])
    found = (_things(side, signals) for side in sides)
    return next((aspects for aspects in found if len(aspects.things) > 1), None)


def joined(query: str, signals: Signals) -> Aspects | None:
    """The things that a question asks to explain, where a conjunction joins several."""
    match = signals.explanation.search(_lower(query))
    before = query[: match.end()].strip(_EDGES) if match else ""
    things = _split(query[match.end() :] if match else query, signals.conjunction)
    return Aspects(before, things, "") if len(things) > 1 else None


def _things(text: str, signals: Signals) -> Aspects:
    """What is on one side of a comparing word."""
    purpose = signals.purpose.search(_lower(text), 1)
    end = purpose.start() if purpose else len(text)
    things = _split(text[:end], signals.between)
    if len(things) < 2 and purpose:
        things, end = _split(text, signals.between), len(text)
    return Aspects("", things if all(len(thing) <= _LONGEST for thing in things) else (), text[end:].strip(_EDGES))


def _split(text: str, at: re.Pattern[str]) -> tuple[str, ...]:
    parts: list[str] = []
    start = 0
    for match in at.finditer(_lower(text)):
        parts.append(text[start : match.start()])
        start = match.end()
    names = (name.strip(_EDGES) for part in (*parts, text[start:]) for name in _COMMA.split(part))
    return tuple(dict.fromkeys(filter(None, names)))


def _lower(text: str) -> str:
    """Lower case, character by character, so that offsets stay."""
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
