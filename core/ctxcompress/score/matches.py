"""Where the terms of a query occur: in segments, in their labels, in sections, in titles and in headings. Also the
search for misspelled words."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import islice

import numpy as np

from ctxcompress.data.table import Floats, Integers
from ctxcompress.score.occurrences import Occurrences, bm25, contained, counted, inverse_frequency, merged, summed
from ctxcompress.text.words import Lexicon, Terms, has_unspaced

__all__ = [
    "Level",
    "Matches",
    "Postings",
    "RepeatedSearch",
    "Scan",
    "find_matches",
    "respelled",
]

Units = Sequence[Sequence[str]]
"""The words of segments, of labels or of headings."""
_SHORTEST = 6
"""Letters of a word whose misspellings are searched for: too many shorter words differ in one letter."""
_SHORTEST_REPLACED = 7
"""The same where one letter is another: "status" is not "states"."""
_LABEL_TIMES = 3.0
"""An occurrence in a heading or a title counts as this many in the text."""
_SCANNED = 8
"""Queries about the same texts that are answered without an index."""
_MOST_RESPELLED = 16
"""The most words of a query whose misspellings are searched for: each one means a scan of the vocabulary."""


class Level(IntEnum):
    """What the units are: segments, labels of sections, innermost headings, or labels of segments."""

    BODY = 0
    LABEL = 1
    NAME = 2
    OWN = 3


class Scan:
    """A search that reads every word: for a few queries."""

    __slots__ = ("_levels", "_terms", "_vocabulary")

    def __init__(self, words: Units, labels: Units, names: Units, own: Units, terms: Terms) -> None:
        self._levels, self._terms = (words, labels, names, own), terms
        self._vocabulary = set[str]().union(*words, *labels, *own)

    def occurrences(self, query: Mapping[str, float], asked: Sequence[str] = ()) -> tuple[Occurrences, ...]:
        """Find the terms of the query on each Level.

        asked: the words of the query; those that occur nowhere are also searched for in other spellings.
        """
        matching = self._terms.matching(self._vocabulary, query)
        matching |= respelled(asked, query, matching, self._vocabulary, self._terms)
        return tuple(_scanned(units, matching, len(query)) for units in self._levels)


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
    return counted(counts, len(units), terms)


class Postings:
    """An index of where each word occurs: built once, for many queries. It finds exactly what `Scan` finds."""

    __slots__ = ("_levels", "_lexicon", "_sizes", "_terms", "_vocabulary")

    def __init__(self, words: Units, labels: Units, names: Units, own: Units, terms: Terms) -> None:
        self._levels = tuple(map(_inverted, (words, labels, names, own)))
        self._sizes = tuple(map(len, (words, labels, names, own)))
        self._vocabulary = set[str]().union(*self._levels)
        self._lexicon = Lexicon(terms, self._vocabulary)
        self._terms = terms

    def occurrences(self, query: Mapping[str, float], asked: Sequence[str] = ()) -> tuple[Occurrences, ...]:
        """Find the terms of the query on each Level, as `Scan.occurrences` does."""
        matching = self._lexicon.matching(query)
        matching |= respelled(asked, query, matching, self._vocabulary, self._terms)
        pairs = zip(self._levels, self._sizes, strict=True)
        return tuple(_looked_up(level, matching, size, len(query)) for level, size in pairs)


class RepeatedSearch:
    """A search for texts that several queries ask about. It scans at first, and makes an index once so many queries
    have come that more can be expected: making one costs as much as it saves on several queries. Threads can share it.
    """

    __slots__ = ("_found", "_queries", "_units")

    def __init__(self, words: Units, labels: Units, names: Units, own: Units, terms: Terms) -> None:
        self._units = words, labels, names, own, terms
        self._found: Scan | Postings | None = None
        self._queries = 0

    def occurrences(self, query: Mapping[str, float], asked: Sequence[str] = ()) -> tuple[Occurrences, ...]:
        """Find the terms of the query on each Level, as `Scan.occurrences` does."""
        self._queries += 1  # of several threads one may be missed, which only delays the index
        found = self._found
        if self._queries > _SCANNED and not isinstance(found, Postings):
            found = self._found = Postings(*self._units)
        elif found is None:
            found = self._found = Scan(*self._units)
        return found.occurrences(query, asked)


def _inverted(units: Units) -> dict[str, list[int]]:
    """Return word -> the units that it occurs in, each as often as it occurs there."""
    places: dict[str, list[int]] = {}
    for unit, words in enumerate(units):
        for word in words:
            if word in places:
                places[word].append(unit)
            else:
                places[word] = [unit]
    return places


def _looked_up(
    places: Mapping[str, Iterable[int]], matching: Mapping[str, Sequence[int]], units: int, terms: int
) -> Occurrences:
    counts: dict[int, int] = {}
    for word, hits in matching.items():
        for unit in places.get(word, ()):
            for term in hits:
                key = unit * terms + term
                counts[key] = counts.get(key, 0) + 1
    return counted(counts, units, terms)


@dataclass(frozen=True, slots=True)
class Matches:
    """The occurrences of query terms on each level, and the weights of the terms."""

    body: Occurrences
    """In the segments."""
    label: Occurrences
    """In the headings and the title of each section."""
    section: Occurrences
    """In the segments and the label of each section together."""
    name: Occurrences
    """In the innermost heading of each section."""
    own: Occurrences
    """In the label of each segment; no units if no segment has one."""
    section_of: Integers
    """The number of each segment's section."""
    lengths: Floats
    """The number of words of each segment, plus 1."""
    idf: Floats
    """The weight of each term among the segments."""
    section_idf: Floats
    """The weight of each term among the sections, or among the segments if there are at most two sections."""

    @property
    def any(self) -> bool:
        """Whether any term occurs."""
        return bool(self.section.unit.size)

    @property
    def has_only_labels(self) -> bool:
        """Whether all terms that occur are in labels of segments, such as the names of speakers."""
        own = np.unique(self.own.term)
        return bool(own.size) and bool(np.isin(self.section.term, own).all())

    def alone(self) -> Floats:
        """Return the BM25 score of each segment, shape (segments,)."""
        return bm25(self.body, self.lengths, self.idf)

    def together(self) -> Floats:
        """Return the BM25 score of each section with its title and headings, shape (sections,)."""
        return bm25(self.section, summed(self.lengths, self.section_of, self.label.units), self.section_idf)

    def coverage(self) -> tuple[Floats, Floats]:
        """Sum up the idf of the terms in each segment, and of those that only its title and headings have, shape
        (segments,)."""
        body, labels = self.body, self.label
        in_body = summed(self.idf[body.term], body.unit, body.units)
        in_label = summed(self.idf[labels.term], labels.unit, labels.units)[self.section_of]
        label_keys = labels.unit * labels.terms + labels.term
        body_keys = self.section_of[body.unit] * body.terms + body.term
        in_both = summed(self.idf[body.term] * contained(body_keys, label_keys), body.unit, body.units)
        return in_body, in_label - in_both


def _with_labels(body: Occurrences, label: Occurrences) -> Occurrences:
    """Merge the occurrences in the text and in the labels of sections."""
    return merged(
        Occurrences(
            unit=np.concatenate((body.unit, label.unit)),
            term=np.concatenate((body.term, label.term)),
            times=np.concatenate((body.times, np.full(label.times.shape, _LABEL_TIMES))),
            units=body.units,
            terms=body.terms,
        )
    )


def find_matches(
    words: Sequence[Sequence[str]],
    sections: Sequence[int],
    labels: Sequence[Sequence[str]],
    query: Mapping[str, float],
    terms: Terms,
    names: Sequence[Sequence[str]] = (),
    asked: Sequence[str] = (),
    own: Sequence[Sequence[str]] = (),
    search: RepeatedSearch | None = None,
) -> Matches:
    """Find the terms of the query in segments, labels and headings.

    words: of each segment. sections: the number of each segment's section, ascending from 0. labels: the words of each
    section's title and headings. names: the words of its innermost heading, if needed. query: term -> weight. asked:
    the words of the query; those that occur nowhere are also searched for in other spellings. own: the words of each
    segment's label, or nothing if no segment has one. search: in all these words, if more queries come.
    """
    found = (search or Scan(words, labels, names, own, terms)).occurrences(query, asked)
    weights = np.fromiter(query.values(), float, len(query))
    body, label = found[Level.BODY], found[Level.LABEL]
    section_of = np.asarray(sections, dtype=np.intp)
    section = _with_labels(body._replace(unit=section_of[body.unit], units=len(labels)), label)
    idf = weights * inverse_frequency(body)
    return Matches(
        body=body,
        label=label,
        section=section,
        name=found[Level.NAME],
        own=found[Level.OWN],
        section_of=section_of,
        lengths=np.fromiter(map(len, words), float, len(words)) + 1,
        idf=idf,
        section_idf=weights * inverse_frequency(section) if len(labels) > 2 else idf,
    )


def respelled(
    asked: Sequence[str],
    wanted: Iterable[str],
    matching: Mapping[str, Sequence[int]],
    vocabulary: Collection[str],
    terms: Terms,
) -> dict[str, list[int]]:
    """Match the wanted terms that no word of the vocabulary has with misspelled words; see `Terms.matching`.

    A misspelled word lacks one letter, has one too many, has another one, or two neighbours have changed places. The
    first letter is the same. asked: the words of the query. matching: what `Terms.matching` found in the vocabulary.
    """
    found = {number for hits in matching.values() for number in hits}
    absent = {term: number for number, term in enumerate(wanted) if number not in found}
    if not absent or not asked:
        return {}
    searched = {
        word.lower(): hits
        for word, of_word in terms.of_words(filter(_is_long, asked)).items()
        if (hits := [absent[term] for term in of_word if term in absent])
    }
    spelled: dict[str, list[int]] = {}
    for word, hits in islice(searched.items(), _MOST_RESPELLED):
        for other in _misspellings(word, vocabulary):
            if other not in matching:  # another word of the query matches it
                spelled.setdefault(other, []).extend(hits)
    return spelled


def _is_long(word: str) -> bool:
    return len(word) >= _SHORTEST and word.isalpha() and not has_unspaced(word)


def _misspellings(word: str, vocabulary: Iterable[str]) -> list[str]:
    begins = (word[0], word[0].upper())
    sizes = range(len(word) - 1, len(word) + 2)
    return [
        other
        for other in vocabulary
        if other[0] in begins and len(other) in sizes and other.isalpha() and _is_misspelling(word, other.lower())
    ]


def _is_misspelling(word: str, other: str) -> bool:
    """Tell whether two words differ in one letter, or in two neighbours that have changed places."""
    at = next((number for number, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), len(word))
    if len(word) > len(other):
        return word[at + 1 :] == other[at:]
    if len(word) < len(other):
        return word[at:] == other[at + 1 :]
    if word[at + 1 :] == other[at + 1 :]:
        return len(word) >= _SHORTEST_REPLACED
    return word[at : at + 2] == other[at : at + 2][::-1] and word[at + 2 :] == other[at + 2 :]
