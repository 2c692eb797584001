"""Where the terms of a question occur: looked for in all words, or where that is known beforehand, looked up."""

from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum

import numpy as np

from ctxcompress.score.bm25 import Floats, Integers, Occurrences
from ctxcompress.score.spelling import respelled
from ctxcompress.text.words import Lexicon, Terms

__all__ = ["Level", "Postings", "Scan"]

Units = Sequence[Sequence[str]]
"""The words of segments, of labels or of headings."""


_NO_NUMBERS: Integers = np.zeros(0, np.intp)
_NO_TIMES: Floats = np.zeros(0)


class Level(IntEnum):
    """What the units are whose words are looked at."""

    BODY = 0
    LABEL = 1
    NAME = 2


class Scan:
    """Looks at every word once: for a single question."""

    __slots__ = ("_levels", "_terms")

    def __init__(self, words: Units, labels: Units, names: Units, terms: Terms) -> None:
        self._levels, self._terms = (words, labels, names), terms

    def occurrences(self, query: Mapping[str, float], asked: Sequence[str] = ()) -> tuple[Occurrences, ...]:
        """Of the query's terms, on each Level. asked: the question's words, if those that are nowhere may be there in
        another spelling."""
        words, labels, _ = self._levels
        vocabulary = set[str]().union(*words, *labels)
        matching = self._terms.matching(vocabulary, query)
        matching |= respelled(asked, query, matching, vocabulary, self._terms)
        return tuple(_scanned(units, matching, len(query)) for units in self._levels)


class Postings:
    """Knows of every word where it is: made once, for many questions. It finds exactly what `Scan` does."""

    __slots__ = ("_levels", "_lexicon", "_sizes", "_terms", "_vocabulary")

    def __init__(self, words: Units, labels: Units, names: Units, terms: Terms) -> None:
        self._levels = tuple(map(_inverted, (words, labels, names)))
        self._sizes = tuple(map(len, (words, labels, names)))
        self._vocabulary = self._levels[Level.BODY].keys() | self._levels[Level.LABEL].keys()
        self._lexicon = Lexicon(terms, self._vocabulary)
        self._terms = terms

    def occurrences(self, query: Mapping[str, float], asked: Sequence[str] = ()) -> tuple[Occurrences, ...]:
        """As of a Scan."""
        matching = self._lexicon.matching(query)
        matching |= respelled(asked, query, matching, self._vocabulary, self._terms)
        pairs = zip(self._levels, self._sizes, strict=True)
        return tuple(_looked_up(level, matching, size, len(query)) for level, size in pairs)


def _inverted(units: Units) -> dict[str, list[int]]:
    """word -> the units that it is in, as often as it is."""
    places: dict[str, list[int]] = {}
    for unit, words in enumerate(units):
        for word in words:
            if word in places:
                places[word].append(unit)
            else:
                places[word] = [unit]
    return places


def _scanned(units: Units, matching: Mapping[str, Sequence[int]], terms: int) -> Occurrences:
    matches, vocabulary = matching.__contains__, matching.keys()
    counts: dict[int, int] = {}
    for unit, words in enumerate(units):
        if vocabulary.isdisjoint(words):
            continue
        for word in filter(matches, words):
            for term in matching[word]:
                key = unit * terms + term
                counts[key] = counts.get(key, 0) + 1
    return _occurrences(counts, len(units), terms)


def _looked_up(
    places: Mapping[str, Iterable[int]], matching: Mapping[str, Sequence[int]], units: int, terms: int
) -> Occurrences:
    counts: dict[int, int] = {}
    for word, hits in matching.items():
        for unit in places.get(word, ()):
            for term in hits:
                key = unit * terms + term
                counts[key] = counts.get(key, 0) + 1
    return _occurrences(counts, units, terms)


def _occurrences(counts: Mapping[int, int], units: int, terms: int) -> Occurrences:
    """In order, so that sums do not depend on how the words were found."""
    if not counts:
        return Occurrences(_NO_NUMBERS, _NO_NUMBERS, _NO_TIMES, units, terms)
    keys = np.fromiter(counts.keys(), np.intp, len(counts))
    times = np.fromiter(counts.values(), float, len(counts))
    order = keys.argsort()
    unit, term = np.divmod(keys[order], terms)
    return Occurrences(unit, term, times[order], units, terms)
