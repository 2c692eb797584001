"""Where the terms of a query occur: in segments, in their labels, in sections, in titles and in headings. Also the
search for misspelled words."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, islice, pairwise

import numpy as np

from ctxcompress.data.table import Floats, Integers
from ctxcompress.score.corpus import Corpus
from ctxcompress.score.occurrences import (
    Concordance,
    Occurrences,
    bm25,
    contained,
    counted,
    inverse_frequency,
    merged,
    summed,
)
from ctxcompress.text.words import Terms, has_unspaced

__all__ = [
    "Matches",
    "find_matches",
    "occurrences",
    "respelled",
]

_NO_UNITS: Integers = np.zeros(0, np.intp)
_SHORTEST = 6
"""Letters of a word whose misspellings are searched for: too many shorter words differ in one letter."""
_SHORTEST_REPLACED = 7
"""The same where one letter is another: "status" is not "states"."""
_LABEL_TIMES = 3.0
"""An occurrence in a heading or a title counts as this many in the text."""
_MOST_RESPELLED = 16
"""The most words of a query whose misspellings are searched for: each one means a scan of the vocabulary."""


def occurrences(texts: Concordance, query: Mapping[str, float], terms: Terms, asked: Sequence[str] = ()) -> Occurrences:
    """Find the terms of the query. texts: see `Corpus.concordance`.

    asked: the words of the query; those that occur nowhere are also searched for in other spellings.
    """
    matching = terms.matching(texts.vocabulary, query)
    matching |= respelled(asked, query, matching, texts.vocabulary, terms)
    unit, _, word = texts.find([*matching])
    return _counted(unit, word, [*matching.values()], texts.texts, len(query))


def _counted(unit: Integers, word: Integers, matching: Sequence[Sequence[int]], units: int, terms: int) -> Occurrences:
    """Return the occurrences of terms. unit, word: of each occurrence of a word. matching: the terms of each word."""
    term = np.array([*chain.from_iterable(matching)], np.intp)
    if term.size > len(matching):  # a word with several terms is an occurrence of each
        sizes = np.fromiter(map(len, matching), np.intp, len(matching))
        times = sizes[word]
        offset = _sums_before(sizes)[word] - _sums_before(times)
        unit, word = np.repeat(unit, times), np.repeat(offset, times) + np.arange(times.sum(), dtype=np.intp)
    return counted(unit * terms + term[word], units, terms)


def _sums_before(sizes: Integers) -> Integers:
    return sizes.cumsum(dtype=np.intp) - sizes


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

    def alone(self) -> Floats:
        """Return the BM25 score of each segment, shape (segments,)."""
        return bm25(self.body, self.lengths, self.idf)

    def together(self) -> Floats:
        """Return the BM25 score of each section with its title and headings, shape (sections,)."""
        return bm25(self.section, summed(self.lengths, self.section_of, self.label.units), self.section_idf)

    def coverage(self) -> tuple[Floats, Floats]:
        """Sum up the idf of the terms in each segment, and of those that only its title and headings have, shape
        (segments,)."""
        body, weights = self.body, self.idf[self.body.term]
        in_body = summed(weights, body.unit, body.units)
        if not self.label.unit.size:
            return in_body, np.zeros(body.units)
        is_in_label = contained(body.keys(self.section_of[body.unit]), self.label.keys())
        in_both = summed(weights * is_in_label, body.unit, body.units)
        return in_body, self.covered(self.label)[self.section_of] - in_both

    def covered(self, found: Occurrences) -> Floats:
        """Sum up the idf of the terms in each unit of a level, shape (units,). found: the terms on that level."""
        return summed(self.idf[found.term], found.unit, found.units)


def _part(found: Occurrences, first: int, end: int) -> Occurrences:
    """Return the occurrences in some units, which are then numbered from 0. first, end: these units."""
    begin, stop = found.unit.searchsorted((first, end)).tolist()
    return Occurrences(
        found.unit[begin:stop] - first, found.term[begin:stop], found.times[begin:stop], end - first, found.terms
    )


def _with_labels(body: Occurrences, section_of: Integers, label: Occurrences) -> Occurrences:
    """Return the occurrences in sections: in their segments and in their labels."""
    keys = np.concatenate((body.keys(section_of[body.unit]), label.keys()))
    times = np.concatenate((body.times, np.full(label.times.size, _LABEL_TIMES)))
    return merged(keys, times, label.units, label.terms)


def find_matches(
    corpus: Corpus,
    query: Mapping[str, float],
    terms: Terms,
    asked: Sequence[str] = (),
    dated: Integers = _NO_UNITS,
) -> Matches:
    """Find the terms of the query in segments, labels and headings.

    query: term -> weight. asked: the words of the query; those that occur nowhere are also searched for in other
    spellings. dated: keys of more occurrences, see `Occurrences.keys`.
    """
    words, labels = corpus.words, corpus.labels
    found = occurrences(corpus.concordance, query, terms, asked)
    more = dated[~contained(dated, found.keys())]
    if more.size:
        times = np.concatenate((found.times, np.ones(more.size)))
        found = merged(np.concatenate((found.keys(), more)), times, found.units, found.terms)
    ends = accumulate(map(len, (labels, corpus.names, corpus.own, words)), initial=0)
    label, name, of_segment, body = [_part(found, first, end) for first, end in pairwise(ends)]
    section_of = np.asarray(corpus.sections, dtype=np.intp)
    section = _with_labels(body, section_of, label)
    weights = np.fromiter(query.values(), float, len(query))
    idf = weights * inverse_frequency(body)
    return Matches(
        body=body,
        label=label,
        section=section,
        name=name,
        own=of_segment,
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
