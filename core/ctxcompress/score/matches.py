"""Where the terms of a query occur in segments, in their sections and in the labels of those."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctxcompress.score.bm25 import Floats, Integers, Occurrences, bm25, summed
from ctxcompress.score.postings import Level, Postings, Scan
from ctxcompress.text.words import Terms

__all__ = ["Matches", "find_matches"]

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
