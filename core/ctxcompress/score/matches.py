"""Where the terms of a query occur: in segments, in sections and in titles and headings. Also BM25 over these, and the
search for misspelled words."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import islice
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ctxcompress.data.table import Floats, Integers
from ctxcompress.text.words import Lexicon, Terms, has_unspaced

__all__ = [
    "Level",
    "Matches",
    "Occurrences",
    "Postings",
    "Scan",
    "bm25",
    "find_matches",
    "respelled",
    "summed",
]

Units = Sequence[Sequence[str]]
"""The words of segments, of labels or of headings."""
_SHORTEST = 6
"""Letters of a word whose misspellings are searched for: too many shorter words differ in one letter."""
_SHORTEST_REPLACED = 7
"""The same where one letter is another: "status" is not "states"."""
_MOST_RESPELLED = 16
"""The most words of a query whose misspellings are searched for: each one means a scan of the vocabulary."""
_LABEL_TIMES = 3.0
"""An occurrence in a heading or a title counts as this many in the text."""
_NO_NUMBERS: Integers = np.zeros(0, np.intp)
_NO_TIMES: Floats = np.zeros(0)
_FIRST_IS_NEW = np.ones(1, dtype=bool)


class Level(IntEnum):
    """What the units are: segments, labels of sections, or innermost headings."""

    BODY = 0
    LABEL = 1
    NAME = 2


class Occurrences(NamedTuple):
    """Where query terms occur: parallel arrays, each (unit, term) pair at most once."""

    unit: Integers
    """The number of the segment, section or passage, 0 to `units` - 1."""
    term: Integers
    """The number of the query term, 0 to `terms` - 1."""
    times: Floats
    """How often the term occurs in the unit."""
    units: int
    terms: int

    def document_frequency(self) -> Integers:
        """Count the units that each term occurs in, shape (terms,)."""
        return np.bincount(self.term, minlength=self.terms)


class Scan:
    """A search that reads every word once: for a single query."""

    __slots__ = ("_levels", "_terms")

    def __init__(self, words: Units, labels: Units, names: Units, terms: Terms) -> None:
        self._levels, self._terms = (words, labels, names), terms

    def occurrences(self, query: Mapping[str, float], asked: Sequence[str] = ()) -> tuple[Occurrences, ...]:
        """Find the terms of the query on each Level.

        asked: the words of the query; those that occur nowhere are also searched for in other spellings.
        """
        words, labels, _ = self._levels
        vocabulary = set[str]().union(*words, *labels)
        matching = self._terms.matching(vocabulary, query)
        matching |= respelled(asked, query, matching, vocabulary, self._terms)
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
    return _occurrences(counts, len(units), terms)


class Postings:
    """An index of where each word occurs: built once, for many queries. It finds exactly what `Scan` finds."""

    __slots__ = ("_levels", "_lexicon", "_sizes", "_terms", "_vocabulary")

    def __init__(self, words: Units, labels: Units, names: Units, terms: Terms) -> None:
        self._levels = tuple(map(_inverted, (words, labels, names)))
        self._sizes = tuple(map(len, (words, labels, names)))
        self._vocabulary = self._levels[Level.BODY].keys() | self._levels[Level.LABEL].keys()
        self._lexicon = Lexicon(terms, self._vocabulary)
        self._terms = terms

    def occurrences(self, query: Mapping[str, float], asked: Sequence[str] = ()) -> tuple[Occurrences, ...]:
        """Find the terms of the query on each Level, as `Scan.occurrences` does."""
        matching = self._lexicon.matching(query)
        matching |= respelled(asked, query, matching, self._vocabulary, self._terms)
        pairs = zip(self._levels, self._sizes, strict=True)
        return tuple(_looked_up(level, matching, size, len(query)) for level, size in pairs)


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
    return _occurrences(counts, units, terms)


def _occurrences(counts: Mapping[int, int], units: int, terms: int) -> Occurrences:
    """Sort the counts, so that sums do not depend on the order in which words were found."""
    if not counts:
        return Occurrences(_NO_NUMBERS, _NO_NUMBERS, _NO_TIMES, units, terms)
    keys = np.fromiter(counts.keys(), np.intp, len(counts))
    times = np.fromiter(counts.values(), float, len(counts))
    order = keys.argsort()
    unit, term = np.divmod(keys[order], terms)
    return Occurrences(unit, term, times[order], units, terms)


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
        in_both = summed(self.idf[body.term] * _contained(body_keys, label_keys), body.unit, body.units)
        return in_body, in_label - in_both


def find_matches(
    words: Sequence[Sequence[str]],
    sections: Sequence[int],
    labels: Sequence[Sequence[str]],
    query: Mapping[str, float],
    terms: Terms,
    names: Sequence[Sequence[str]] = (),
    asked: Sequence[str] = (),
    postings: Postings | None = None,
) -> Matches:
    """Find the terms of the query in segments, labels and headings.

    words: of each segment. sections: the number of each segment's section, ascending from 0. labels: the words of each
    section's title and headings. names: the words of its innermost heading, if needed. query: term -> weight. asked:
    the words of the query; those that occur nowhere are also searched for in other spellings. postings: the index of
    all these words, if there is one.
    """
    found = (postings or Scan(words, labels, names, terms)).occurrences(query, asked)
    weights = np.fromiter(query.values(), float, len(query))
    body, label = found[Level.BODY], found[Level.LABEL]
    section_of = np.asarray(sections, dtype=np.intp)
    section = _merged(body._replace(unit=section_of[body.unit], units=len(labels)), label)
    idf = weights * _idf(body)
    return Matches(
        body=body,
        label=label,
        section=section,
        name=found[Level.NAME],
        section_of=section_of,
        lengths=np.fromiter(map(len, words), float, len(words)) + 1,
        idf=idf,
        section_idf=weights * _idf(section) if len(labels) > 2 else idf,
    )


def _contained(keys: Integers, others: Integers) -> NDArray[np.bool_]:
    """Tell which of the keys are among the others, as np.isin does, with a tenth of its overhead for short arrays."""
    if not others.size:
        return np.zeros(keys.shape, dtype=bool)
    ordered = np.sort(others)
    nearest = ordered[np.minimum(np.searchsorted(ordered, keys), ordered.size - 1)]
    return np.equal(nearest, keys)


def _merged(body: Occurrences, label: Occurrences) -> Occurrences:
    """Merge the occurrences in the text and in the labels of sections."""
    keys = np.concatenate((body.unit, label.unit)) * body.terms + np.concatenate((body.term, label.term))
    times = np.concatenate((body.times, np.full(label.times.shape, _LABEL_TIMES)))
    order = keys.argsort(kind="stable")
    ordered = keys[order]
    starts = np.flatnonzero(np.concatenate((_FIRST_IS_NEW[: keys.size], ordered[1:] != ordered[:-1])))
    unit, term = np.divmod(ordered[starts], body.terms)
    # These are whole numbers, so their sum does not depend on the order.
    return Occurrences(unit, term, np.add.reduceat(times[order], starts), body.units, body.terms)


def _idf(found: Occurrences) -> Floats:
    """Return log(1 + (N - df + 0.5) / (df + 0.5)). Unlike Okapi's idf it is never negative: a term that nearly every
    passage has still counts a little."""
    frequency = found.document_frequency()
    return np.log1p((found.units - frequency + 0.5) / (frequency + 0.5))


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


def bm25(found: Occurrences, lengths: Floats, idf: Floats, *, k1: float = 1.5, b: float = 0.75) -> Floats:
    """Return the BM25 score of every unit, shape (units,).

    lengths: words of each unit, shape (units,). idf: weight of each term, shape (terms,).
    """
    if not found.unit.size:
        return np.zeros(found.units)
    norm = k1 * (1 - b + b * lengths / lengths.mean())
    gain = idf[found.term] * found.times * (k1 + 1) / (found.times + norm[found.unit])
    return summed(gain, found.unit, found.units)


def summed(values: Floats, by: Integers, size: int) -> Floats:
    """Sum up the values that have the same number in `by`, shape (size,)."""
    return cast(Floats, np.bincount(by, weights=values, minlength=size))
