"""Where the terms of a query occur: in segments, in their labels, in sections, in titles and in headings. Also the
search for misspelled words, and what is computed from arrays of occurrences, such as BM25."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice, pairwise, zip_longest
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ctxcompress.data.passages import Kind
from ctxcompress.data.table import Floats, Integers
from ctxcompress.score.corpus import Concordance, Corpus, of_kinds
from ctxcompress.text.words import Terms, has_unspaced

__all__ = [
    "Matches",
    "Occurrences",
    "bm25",
    "contained",
    "counted",
    "deviation",
    "find_matches",
    "log_odds",
    "occurrences",
    "ranks",
    "relative",
    "stacked",
    "standardized",
    "summed",
]

_NO_UNITS: Integers = np.zeros(0, np.intp)
_SHORTEST, _SHORTEST_REPLACED = 6, 7
"""Letters of a word that may lack one or have one more, and have another one: "status" is not "states"."""
_LABEL_TIMES, _PART_TIMES = 3.0, 0.5
"""As how many an occurrence counts in a heading or a title, and as a part of an identifier if the word is a key."""
_MOST_RESPELLED = 16
"""The most words of a query whose misspellings are searched for: each one means a scan of the vocabulary."""

_KEYED = frozenset((Kind.CODE, Kind.RECORD, Kind.TABLE))
_FIRST_IS_NEW = np.ones(1, dtype=bool)


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

    def keys(self, unit: Integers | None = None) -> Integers:
        """Return one number for each (unit, term) pair. unit: other units than these, if it is given."""
        return (self.unit if unit is None else unit) * self.terms + self.term

    def document_frequency(self) -> Integers:
        """Count the units that each term occurs in, shape (terms,)."""
        return np.bincount(self.term, minlength=self.terms)


def counted(keys: Integers, units: int, terms: int, times: Floats | None = None) -> Occurrences:
    """Return the occurrences of terms in units, each (unit, term) pair once.

    keys: unit * `terms` + term of each, in any order, equal ones again. times: how often each key counts, once if it is
    not given.
    """
    order = keys.argsort()
    ordered = keys[order]
    is_new = np.concatenate((_FIRST_IS_NEW[: ordered.size], ordered[1:] != ordered[:-1]))
    # These are whole numbers and halves, so their sum does not depend on the order.
    total = np.bincount(is_new.cumsum() - 1, None if times is None else times[order]).astype(float)
    unit, term = np.divmod(ordered[is_new], max(terms, 1))
    return Occurrences(unit, term, total, units, terms)


def contained(keys: Integers, others: Integers) -> NDArray[np.bool_]:
    """Tell which of the keys are among the others, as np.isin does, with a tenth of its overhead for short arrays.

    others: in ascending order.
    """
    if not others.size:
        return np.zeros(keys.shape, dtype=bool)
    return np.equal(others[np.minimum(others.searchsorted(keys), others.size - 1)], keys)


def inverse_frequency(found: Occurrences) -> Floats:
    """Return log(1 + (N - df + 0.5) / (df + 0.5)). Unlike Okapi's idf it is never negative: a term that nearly every
    passage has still counts a little."""
    frequency = found.document_frequency()
    return np.log1p((found.units - frequency + 0.5) / (frequency + 0.5))


def bm25(found: Occurrences, lengths: Floats, idf: Floats, *, k1: float = 1.5, b: float = 0.75) -> Floats:
    """Return the BM25 score of every unit, shape (units,).

    lengths: words of each unit, shape (units,). idf: weight of each term, shape (terms,).
    """
    if not found.unit.size:
        return np.zeros(found.units)
    needed = k1 * (1 - b + b * lengths / (lengths.sum() / lengths.size))
    gain = idf[found.term] * found.times * (k1 + 1) / (found.times + needed[found.unit])
    return summed(gain, found.unit, found.units)


def occurrences(
    texts: Concordance, query: Mapping[str, float], terms: Terms, asked: Sequence[str] = (), keyed: Integers = _NO_UNITS
) -> Occurrences:
    """Find the terms of the query. texts: see `Corpus.concordance`.

    A part of an identifier counts less than the word as a whole if one of the texts begins with that, as a key does:
    who asks for "dependencies" does not mean "devDependencies".

    asked: the words of the query; those that occur nowhere are also searched for in other spellings. keyed: the
    numbers of the texts that may begin with a key.
    """
    matching = terms.matching(texts.vocabulary, query)
    matching |= respelled(asked, query, matching, texts.vocabulary, terms)
    unit, place, word = texts.find([*matching])
    # A word may have several terms.
    columns = [np.array(found, np.intp)[word] for found in zip_longest(*matching.values(), fillvalue=-1)]
    keys = np.concatenate([_NO_UNITS, *((unit * len(query) + term)[term >= 0] for term in columns)])
    if not (keyed.size and keys.size):
        return counted(keys, texts.texts, len(query))
    are_parts = [np.array(found)[word] for found in zip_longest(*_parts(matching, query, terms), fillvalue=True)]
    begins = (place == 0) & np.isin(unit, keyed)
    names = np.concatenate([term[begins & ~is_part] for term, is_part in zip(columns, are_parts, strict=True)])
    is_part = np.concatenate([is_part[term >= 0] for term, is_part in zip(columns, are_parts, strict=True)])
    times = np.where(is_part & np.isin(keys % len(query), names), _PART_TIMES, 1.0)
    return counted(keys, texts.texts, len(query), times)


def _parts(matching: Mapping[str, Sequence[int]], query: Iterable[str], terms: Terms) -> list[list[bool]]:
    """Return for each word and each of its terms whether only a part of the word, which is an identifier, has it."""
    number = {term: index for index, term in enumerate(query)}
    of_words = zip(terms.of_words(matching).values(), matching.values(), strict=True)
    return [[len(found) > 1 and hit != number.get(found[0]) for hit in hits] for found, hits in of_words]


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
    def weight(self) -> float:
        """The weight of the whole query among the segments, 1 if it has none."""
        return float(self.idf.sum()) or 1.0

    def alone(self) -> Floats:
        """Return the BM25 score of each segment, shape (segments,)."""
        return bm25(self.body, self.lengths, self.idf)

    def together(self) -> Floats:
        """Return the BM25 score of each section with its title and headings, shape (sections,)."""
        return bm25(self.section, summed(self.lengths, self.section_of, self.label.units), self.section_idf)

    def coverage(self) -> tuple[Floats, Floats]:
        """Return the summed idf of the terms in each segment, and of those that only its title and headings have."""
        body, weights = self.body, self._weights(self.body)
        in_body = summed(weights, body.unit, body.units)
        is_in_label = contained(body.keys(self.section_of[body.unit]), self.label.keys())
        in_both = summed(weights * is_in_label, body.unit, body.units)
        return in_body, self.covered(self.label)[self.section_of] - in_both

    def covered(self, found: Occurrences) -> Floats:
        """Sum up the idf of the terms in each unit of a level, shape (units,). found: the terms on that level."""
        return summed(self._weights(found), found.unit, found.units)

    def _weights(self, found: Occurrences) -> Floats:
        return self.idf[found.term] * np.minimum(found.times, 1.0)


def _levels(found: Occurrences, sizes: Iterable[int]) -> Iterator[Occurrences]:
    """Yield the occurrences on each level, whose units are then numbered from 0. sizes: the units of each level."""
    firsts = list(accumulate(sizes, initial=0))
    bounds = found.unit.searchsorted(firsts).tolist()
    for (first, end), some in zip(pairwise(firsts), map(slice, bounds, bounds[1:]), strict=True):
        yield Occurrences(found.unit[some] - first, found.term[some], found.times[some], end - first, found.terms)


def _with_labels(body: Occurrences, section_of: Integers, label: Occurrences) -> Occurrences:
    """Return the occurrences in sections: in their segments and in their labels."""
    keys = np.concatenate((body.keys(section_of[body.unit]), label.keys()))
    times = np.concatenate((body.times, np.full(label.times.size, _LABEL_TIMES)))
    return counted(keys, label.units, label.terms, times)


def find_matches(
    corpus: Corpus, query: Mapping[str, float], terms: Terms, asked: Sequence[str] = (), dated: Integers = _NO_UNITS
) -> Matches:
    """Find the terms of the query in segments, labels and headings.

    query: term -> weight. asked: the words of the query; those that occur nowhere are also searched for in other
    spellings. dated: keys of more occurrences, see `Occurrences.keys`.
    """
    words, labels = corpus.words, corpus.labels
    keyed = corpus.concordance.texts - len(words) + of_kinds(corpus.table, _KEYED).nonzero()[0]
    found = occurrences(corpus.concordance, query, terms, asked, keyed)
    if dated.size:
        more = dated[~contained(dated, found.keys())]
        times = np.concatenate((found.times, np.ones(more.size)))
        found = counted(np.concatenate((found.keys(), more)), found.units, found.terms, times)
    label, name, of_segment, body = _levels(found, map(len, (labels, corpus.names, corpus.own, words)))
    section_of = np.asarray(corpus.table.sections, dtype=np.intp)
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


def summed(values: Floats, by: Integers, size: int) -> Floats:
    """Sum up the values that have the same number in `by`, shape (size,)."""
    return cast(Floats, np.bincount(by, weights=values, minlength=size))


def relative(values: Floats) -> Floats:
    """Divide the values by the greatest one, if that is positive."""
    best = np.maximum.reduce(values, initial=0.0)
    return values / best if best > 0 else values


def ranks(values: Floats) -> Floats:
    """Return for each value how many are greater: 0 for the greatest, the same for equal ones."""
    return (values.size - np.sort(values).searchsorted(values, side="right")).astype(float)


def stacked(rows: Sequence[NDArray[Any]]) -> Floats:
    """Stack the rows into one array, as np.stack does, with a fifth of its overhead for short rows."""
    return np.concatenate(rows, dtype=float).reshape(len(rows), -1)


def deviation(values: Floats) -> float:
    """Return the standard deviation, as np.std does, with less overhead for short arrays."""
    mean = np.add.reduce(values) / values.size
    apart = values - mean
    return float(np.sqrt(np.add.reduce(apart * apart) / values.size))


def standardized(values: Floats) -> Floats:
    """Return the values in standard deviations from the mean of their row, the last dimension; 0 where all are equal.

    They are scaled by the greatest one first, so that no square overflows or underflows.
    """
    if not values.size:
        return values
    greatest = np.maximum.reduce(np.abs(values), axis=-1, keepdims=True)
    scaled = values / np.where(greatest > 0, greatest, 1.0)
    apart = scaled - np.add.reduce(scaled, axis=-1, keepdims=True) / values.shape[-1]
    spread = np.sqrt(np.add.reduce(apart * apart, axis=-1, keepdims=True) / values.shape[-1])
    return np.asarray(np.divide(apart, spread, out=np.zeros(values.shape), where=spread > 1e-9))


def log_odds(probability: Floats) -> Floats:
    """Return the logarithm of the odds of probabilities, which may be 0 or 1."""
    clipped = np.clip(probability, 1e-9, 1 - 1e-9)
    return np.asarray(np.log(clipped / (1 - clipped)))
