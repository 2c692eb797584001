"""How relevant each segment is: BM25 on two levels.

A sentence that answers a question often shares few words with it, because its title, its heading
or the sentence before said them. So a segment's score adds up three views, each relative to the
best in this retrieval: BM25 of the segment alone, BM25 of its section with title and headings
among the section's words, and the share of the question's weight that segment, headings and title
cover together.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from ctxcompress.score.bm25 import Floats, Integers, Occurrences, bm25, summed
from ctxcompress.text.words import Terms

__all__ = ["relevance"]

_SECTION_WEIGHT = 2.5
_COVERAGE_WEIGHT = 1.0
_HEADING_COUNT = 3.0
"""How many occurrences in the text one in the headings or in the title is worth."""


def relevance(
    words: Sequence[Sequence[str]],
    sections: Sequence[int],
    labels: Sequence[Sequence[str]],
    query: Mapping[str, float],
    terms: Terms,
) -> Floats:
    """The score of every segment, shape (segments,), at least 0; all 0 if nothing matches.

    words: of each segment. sections: the number of each segment's section, ascending from 0. labels: the
    words of the headings and the title of each section. query: term -> weight.
    """
    if not words or not query:
        return np.zeros(len(words))
    matching = terms.matching(set().union(*words, *labels), query)
    weights = np.fromiter(query.values(), float, len(query))
    body = _occurrences(words, matching, len(query))
    label = _occurrences(labels, matching, len(query))
    section_of = np.asarray(sections, dtype=np.intp)
    lengths = np.fromiter(map(len, words), float, len(words)) + 1
    idf = weights * _idf(body)

    alone = bm25(body, lengths, idf)
    together = _merged(body._replace(unit=section_of[body.unit], units=len(labels)), label)
    section_lengths = summed(lengths, section_of, len(labels))
    section_idf = weights * _idf(together) if len(labels) > 2 else idf
    section = bm25(together, section_lengths, section_idf)[section_of]
    covered = _coverage(body, label, section_of, idf)
    return _relative(alone) + _SECTION_WEIGHT * _relative(section) + _COVERAGE_WEIGHT * _relative(covered)


def _occurrences(units: Sequence[Sequence[str]], matching: Mapping[str, list[int]], terms: int) -> Occurrences:
    vocabulary = matching.keys()
    counts = Counter(
        unit * terms + term
        for unit, words in enumerate(units)
        if not vocabulary.isdisjoint(words)
        for word in words
        if word in matching
        for term in matching[word]
    )
    keys = np.fromiter(counts.keys(), np.intp, len(counts))
    values = np.fromiter(counts.values(), float, len(counts))
    return Occurrences(keys // terms, keys % terms, values, len(units), terms)


def _merged(body: Occurrences, label: Occurrences) -> Occurrences:
    """Occurrences in the sections' text and in their labels, as one."""
    keys = np.concatenate((body.unit, label.unit)) * body.terms + np.concatenate((body.term, label.term))
    counts = np.concatenate((body.times, np.full(label.times.shape, _HEADING_COUNT)))
    distinct, place = np.unique(keys, return_inverse=True)
    return Occurrences(
        distinct // body.terms, distinct % body.terms, summed(counts, place, distinct.size), body.units, body.terms
    )


def _idf(found: Occurrences) -> Floats:
    """log(1 + (N - df + 0.5) / (df + 0.5)): never negative, unlike Okapi's, so that in a retrieval where nearly
    every passage has a term of the question, having it still counts a little."""
    frequency = found.document_frequency()
    return np.log1p((found.units - frequency + 0.5) / (frequency + 0.5))


def _coverage(body: Occurrences, label: Occurrences, section_of: Integers, idf: Floats) -> Floats:
    """Summed idf of the terms in a segment itself, and half of it for terms in its labels alone."""
    in_body = summed(idf[body.term], body.unit, body.units)
    in_label = summed(idf[label.term], label.unit, label.units)[section_of]
    label_keys = label.unit * label.terms + label.term
    body_keys = section_of[body.unit] * body.terms + body.term
    in_both = summed(idf[body.term] * np.isin(body_keys, label_keys), body.unit, body.units)
    return in_body + 0.5 * (in_label - in_both)


def _relative(scores: Floats) -> Floats:
    best = scores.max()
    return scores / best if best > 0 else scores
