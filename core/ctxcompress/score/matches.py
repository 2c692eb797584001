"""Where the terms of a query occur in segments, in their sections and in the labels of those."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import islice
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ctxcompress.text.words import Lexicon, Terms, has_unspaced

__all__ = [
    "Floats",
    "Integers",
    "Level",
    "Matches",
    "Occurrences",
    "Postings",
    "Scan",
    "bm25",
    "find_matches",
    "okapi_idf",
    "respelled",
    "summed",
]

_SHORTEST = 6
"""Letters of a word that is looked for in another spelling: of short ones too many differ in one letter."""
_SHORTEST_CHANGED = 7
"""The same where a letter is another one: "status" is not "states"."""
_MOST = 16
"""Words of a question that are looked for so, since all texts are looked through for each."""


def respelled(
    asked: Sequence[str],
    wanted: Iterable[str],
    matching: Mapping[str, Sequence[int]],
    vocabulary: Collection[str],
    terms: Terms,
) -> dict[str, list[int]]:
    """As `Terms.matching`, for the wanted terms that no word has: the words that are one of the question's but for one
    letter, which is missing, too many, another one, or has changed places with the next. The first letter is right.

    asked: the words of the question. matching: what `Terms.matching` found in the vocabulary.
    """
    found = {number for hits in matching.values() for number in hits}
    absent = {term: number for number, term in enumerate(wanted) if number not in found}
    if not absent or not asked:
        return {}
    mistyped = {
        word.lower(): hits
        for word, of_word in terms.of_words(filter(_is_long, asked)).items()
        if (hits := [absent[term] for term in of_word if term in absent])
    }
    spelled: dict[str, list[int]] = {}
    for word, hits in islice(mistyped.items(), _MOST):
        for other in _near(word, vocabulary):
            if other not in matching:  # which is another word of the question
                spelled.setdefault(other, []).extend(hits)
    return spelled


def _is_long(word: str) -> bool:
    return len(word) >= _SHORTEST and word.isalpha() and not has_unspaced(word)


def _near(word: str, vocabulary: Iterable[str]) -> list[str]:
    begins = (word[0], word[0].upper())
    sizes = range(len(word) - 1, len(word) + 2)
    return [
        other
        for other in vocabulary
        if other[0] in begins and len(other) in sizes and other.isalpha() and _is_slip(word, other.lower())
    ]


def _is_slip(word: str, other: str) -> bool:
    """Whether two words differ in one letter, or in two neighbours that have changed places."""
    at = next((number for number, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), len(word))
    if len(word) > len(other):
        return word[at + 1 :] == other[at:]
    if len(word) < len(other):
        return word[at:] == other[at + 1 :]
    if word[at + 1 :] == other[at + 1 :]:
        return len(word) >= _SHORTEST_CHANGED
    return word[at : at + 2] == other[at : at + 2][::-1] and word[at + 2 :] == other[at + 2 :]


Floats = NDArray[np.float64]
Integers = NDArray[np.intp]


class Occurrences(NamedTuple):
    """Where query terms occur: parallel arrays, each (unit, term) pair at most once."""

    unit: Integers
    """Which segment or passage, 0 to `units` - 1."""
    term: Integers
    """Which query term, 0 to `terms` - 1."""
    times: Floats
    """How often."""
    units: int
    terms: int

    def document_frequency(self) -> Integers:
        """In how many units each term occurs, shape (terms,)."""
        return np.bincount(self.term, minlength=self.terms)


def okapi_idf(document_frequency: Integers, documents: int, *, floor: float) -> Floats:
    """log((N - df + 0.5) / (df + 0.5)), and `floor` where that is negative: terms in over half of the units."""
    idf = np.log((documents - document_frequency + 0.5) / (document_frequency + 0.5))
    return np.where(idf < 0, floor, idf)


def bm25(found: Occurrences, lengths: Floats, idf: Floats, *, k1: float = 1.5, b: float = 0.75) -> Floats:
    """The score of every unit, shape (units,).

    lengths: words of each unit, shape (units,). idf: weight of each term, shape (terms,).
    """
    if not found.unit.size:
        return np.zeros(found.units)
    norm = k1 * (1 - b + b * lengths / lengths.mean())
    gain = idf[found.term] * found.times * (k1 + 1) / (found.times + norm[found.unit])
    return summed(gain, found.unit, found.units)


def summed(values: Floats, by: Integers, size: int) -> Floats:
    """The sums of the values that have the same number in `by`, shape (size,)."""
    return cast(Floats, np.bincount(by, weights=values, minlength=size))


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


_ALWAYS = np.ones(1, dtype=bool)
_LABEL_TIMES = 3.0
"""How many occurrences in the text one in the headings or in the title is worth."""


@dataclass(frozen=True, slots=True)
class Matches:
    """Occurrences of query terms on each level, and what the terms are worth."""

    body: Occurrences
    """In the segments."""
    label: Occurrences
    """In the headings and the title of each section."""
    section: Occurrences
    """In each section's segments and label together."""
    name: Occurrences
    """In the innermost heading of each section."""
    section_of: Integers
    """The section of each segment."""
    lengths: Floats
    """Words of each segment, and one."""
    idf: Floats
    """Weight of each term among the segments."""
    section_idf: Floats
    """Weight of each term among the sections; as among the segments, if there are hardly any sections."""

    @property
    def any(self) -> bool:
        """Whether anything matches."""
        return bool(self.section.unit.size)

    def alone(self) -> Floats:
        """BM25 of each segment, shape (segments,)."""
        return bm25(self.body, self.lengths, self.idf)

    def together(self) -> Floats:
        """BM25 of each section, title and headings included, shape (sections,)."""
        return bm25(self.section, summed(self.lengths, self.section_of, self.label.units), self.section_idf)

    def coverage(self) -> tuple[Floats, Floats]:
        """Summed idf of the terms in each segment, and of those in its title and headings alone, shape (segments,)."""
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
    """Looks the terms of the query up in everything, once.

    words: of each segment. sections: the number of each segment's section, ascending from 0. labels: the
    words of the headings and the title of each section. names: the words of its innermost heading, if that is
    asked for. query: term -> weight. asked: the question's words, if those that are nowhere may be there in another
    spelling. postings: where all these words occur, if that is known.
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
    """Which of the keys are among the others: np.isin, at a tenth of its overhead for short arrays."""
    if not others.size:
        return np.zeros(keys.shape, dtype=bool)
    ordered = np.sort(others)
    nearest = ordered[np.minimum(np.searchsorted(ordered, keys), ordered.size - 1)]
    return np.equal(nearest, keys)


def _merged(body: Occurrences, label: Occurrences) -> Occurrences:
    """Occurrences in the sections' text and in their labels, as one."""
    keys = np.concatenate((body.unit, label.unit)) * body.terms + np.concatenate((body.term, label.term))
    times = np.concatenate((body.times, np.full(label.times.shape, _LABEL_TIMES)))
    order = keys.argsort(kind="stable")
    ordered = keys[order]
    starts = np.flatnonzero(np.concatenate((_ALWAYS[: keys.size], ordered[1:] != ordered[:-1])))
    unit, term = np.divmod(ordered[starts], body.terms)
    # Whole numbers, whose sum does not depend on their order.
    return Occurrences(unit, term, np.add.reduceat(times[order], starts), body.units, body.terms)


def _idf(found: Occurrences) -> Floats:
    """log(1 + (N - df + 0.5) / (df + 0.5)): never negative, unlike Okapi's, so that in a retrieval where nearly
    every passage has a term of the question, having it still counts a little."""
    frequency = found.document_frequency()
    return np.log1p((found.units - frequency + 0.5) / (frequency + 0.5))
