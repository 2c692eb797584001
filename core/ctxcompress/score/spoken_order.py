"""The order in which the turns of conversations were spoken, where metadata or ids tell it.

A store of chat memory returns one turn in each passage, the best first. Which turn answers which is then told by a
number or a time in the metadata, or by ids such as "D1:3".
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple

from ctxcompress.data.metadata import as_number
from ctxcompress.data.passages import Passage
from ctxcompress.lazy_regex import lazy_regex

__all__ = ["SpokenOrder", "spoken_order"]

_NUMBERS = ("turn", "turn_id", "turn_index", "message_index", "index", "position", "seq", "sequence", "order")
_TIMES = ("timestamp", "created_at", "sent_at", "datetime", "date", "time", "ts")
_DIGITS = lazy_regex(r"\d{1,15}")
_NEAR = 2.0
"""How much greater the number of a turn may be that follows another: one between them may not have been retrieved."""
_PAUSE = 3_600.0
"""Seconds: after a longer pause, a turn does not follow the one before."""
_EPOCH = 1e11
"""Greater numbers are milliseconds since 1970."""

_Key = tuple[float, ...]


class SpokenOrder(NamedTuple):
    """The order of documents, some of which are turns."""

    documents: Sequence[int]
    """Their numbers, in the order in which they were spoken. What is no turn keeps its place."""
    follows: Sequence[bool]
    """For each place in that order, whether the document may follow the one before."""

    @classmethod
    def as_they_are(cls, documents: int) -> "SpokenOrder":
        """Return the order in which the documents are given. documents: their number."""
        return cls(range(documents), [True] * documents)


def spoken_order(passages: Sequence[Passage], turns: Sequence[int]) -> SpokenOrder | None:
    """Return the order of the passages; None if nothing tells it.

    turns: the numbers of the passages that are turns. Those with the same title belong to one conversation.
    """
    conversations: dict[str | None, list[int]] = {}
    for number in turns:
        conversations.setdefault(passages[number].title, []).append(number)
    documents, follows = list(range(len(passages))), [True] * len(passages)
    is_told = False
    for places in conversations.values():
        keys, reach = _keys([passages[place] for place in places]) if len(places) > 1 else ({}, 0.0)
        if keys:
            is_told = True
            spoken = sorted(keys)
            for place, key in zip(places, spoken, strict=True):
                documents[place] = places[keys[key]]
            for place, (one, other) in zip(places[1:], pairwise(spoken), strict=True):
                follows[place] = one[:-1] == other[:-1] and other[-1] - one[-1] <= reach
    return SpokenOrder(documents, follows) if is_told else None


def _keys(passages: Sequence[Passage]) -> tuple[Mapping[_Key, int], float]:
    """Return key -> position of the passage, and how far apart the keys of neighbours may be; no keys if nothing
    orders all of the passages."""
    for names, reach in ((_NUMBERS, _NEAR), (_TIMES, _PAUSE)):
        for name in filter(passages[0].metadata.__contains__, names):
            numbers = [_number(passage.metadata.get(name)) for passage in passages]
            if None not in numbers and len(set(numbers)) == len(numbers):
                return {(number,): place for place, number in enumerate(numbers) if number is not None}, reach
    ids = [str(passage.id) for passage in passages]
    keys = {tuple(map(float, _DIGITS.findall(name))): place for place, name in enumerate(ids)}
    are_alike = len({_DIGITS.sub("#", name) for name in ids}) == 1
    return (keys, _NEAR) if are_alike and len(keys) == len(passages) else ({}, 0.0)


def _number(value: object) -> float | None:
    """Return a number or a time as a number, times in seconds."""
    number = as_number(value)
    if isinstance(value, str) and _DIGITS.fullmatch(value.strip()):
        number = float(value)
    elif isinstance(value, str | datetime):
        return _seconds(value)
    return number / 1_000 if number is not None and number > _EPOCH else number


def _seconds(value: str | datetime) -> float | None:
    """Return a time in seconds since 1970, or None if it is none or too far away."""
    try:
        return (datetime.fromisoformat(value.strip()) if isinstance(value, str) else value).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
