"""BM25 ranking of the chunks of many files, in one or several languages."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, islice
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ctxcompress.apps.index.chunks import Analysis, Chunk, Numbers
from ctxcompress.data.passages import Passage
from ctxcompress.data.table import Floats, Integers
from ctxcompress.query.terms import query_terms
from ctxcompress.score.matches import Occurrences, bm25, summed
from ctxcompress.text.words import Terms

__all__ = ["Found", "Hit", "Ranking"]

_MOST_TERMS = 256
"""The most terms of a query that are searched."""
_SATURATION, _LENGTH_SHARE, _RARITY = 0.9, 0.4, 1.5
"""BM25's k1 and b, and the power of the idf. With the usual ones, a word that only frames a question ("what does X
mean?") outweighs its one rare word by being frequent in a short chunk or in a heading."""

_Number = TypeVar("_Number", np.int32, np.intp, np.float64)


class Hit(NamedTuple):
    """A chunk that a search found."""

    chunk: Chunk
    score: float
    """The score relative to the best hit of the search, which has 1."""

    def passage(self) -> Passage:
        """Return the chunk as a passage of its file."""
        name, path, headings, *_ = self.chunk
        return Passage(name, self.chunk.whole, score=self.score, doc_id=path, file_path=path, header_path=headings)


class Found(NamedTuple):
    """What a search found."""

    best: Sequence[Hit]
    """The best chunks first."""
    total: int
    """The number of all chunks that have terms of the query."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """The postings of all chunks, ordered by term. Immutable, so threads can share it."""

    chunks: Sequence[Chunk]
    languages: Sequence[str]
    """The languages of the files."""
    vocabulary: Mapping[str, int]
    """Term -> number."""
    language: Numbers
    """The language of each chunk, as its number in `languages`."""
    lengths: Floats
    """The number of words of each chunk, plus one."""
    starts: Integers
    """Where the postings of each term begin, and where the last ones end."""
    chunk: Numbers
    """The chunk of each posting."""
    times: Floats
    """How often the term occurs in the chunk of each posting."""
    by_id: Mapping[str, Chunk] = field(repr=False)
    """Chunk id -> chunk."""

    @classmethod
    def of(cls, files: Sequence[Analysis], vocabulary: Mapping[str, int]) -> "Ranking":
        """Build the ranking of these files. vocabulary: term -> number, for all terms of the files. It is copied."""
        chunks = [chunk for file in files for chunk in file.chunks]
        languages = sorted({file.language for file in files})
        first = accumulate((len(file.chunks) for file in files), initial=0)
        chunk = _joined([file.chunk + np.int32(before) for file, before in zip(files, first, strict=False)], np.int32)
        term = _joined([file.term for file in files], np.int32)
        order = np.argsort(term, kind="stable")
        return cls(
            chunks=chunks,
            languages=languages,
            vocabulary=dict(vocabulary),
            language=np.repeat(
                np.array([languages.index(file.language) for file in files], np.int32),
                np.array([len(file.chunks) for file in files], np.int64),
            ),
            lengths=_joined([file.lengths for file in files], np.float64) + 1,
            starts=np.searchsorted(term[order], np.arange(len(vocabulary) + 1)),
            chunk=chunk[order],
            times=_joined([file.times for file in files], np.float64)[order],
            by_id={chunk.id: chunk for chunk in chunks},
        )

    def search(self, query: str, most: int) -> Found:
        """Find the chunks that have terms of the query, and return at most `most` of them.

        The best chunks come first. Equal scores keep the order of the files.
        """
        found, idf = self._occurrences(query)
        scores = bm25(found, self.lengths, idf, k1=_SATURATION, b=_LENGTH_SHARE)
        best = np.argsort(-scores, kind="stable")[:most]
        hits = [
            Hit(self.chunks[number], float(scores[number] / scores[best[0]])) for number in best if scores[number] > 0
        ]
        return Found(hits, int(np.count_nonzero(scores)))

    def _occurrences(self, query: str) -> tuple[Occurrences, Floats]:
        """Return the occurrences of the query's terms and their idf. A term counts only in files of its language."""
        asked = [_LanguageQuery.of(query, number, language) for number, language in enumerate(self.languages)]
        weights: dict[str, float] = {}
        for in_language in asked:
            for term, weight in in_language.terms.items():
                weights[term] = max(weight, weights.get(term, 0.0))
        position = {term: number for number, term in enumerate(weights)}
        size = max(len(weights), 1)
        postings = [
            (unit * size + position[term], times)
            for in_language in asked
            for term in in_language.terms
            for unit, times in self._postings(term, in_language)
        ]
        keys, place = np.unique(_joined([key for key, _ in postings], np.intp), return_inverse=True)
        times = summed(_joined([times for _, times in postings], np.float64), place, keys.size)
        found = Occurrences(*np.divmod(keys, size), times, len(self.chunks), size)
        return found, np.array([*weights.values()] or [0.0]) * self._idf(position, found) ** _RARITY

    def _postings(self, term: str, asked: "_LanguageQuery") -> Iterator[tuple[Integers, Floats]]:
        """Yield the chunks in the asked language that have a term or an alternative to it, and how often."""
        for spelled in self._spellings(term, asked.words):
            if (number := self.vocabulary.get(spelled)) is not None:
                here = slice(self.starts[number], self.starts[number + 1])
                of_language = self.language[self.chunk[here]] == asked.language
                yield self.chunk[here][of_language].astype(np.intp), self.times[here][of_language]

    def _spellings(self, term: str, words: Terms) -> Iterable[str]:
        """Return the term, and in a language with compounds also its parts and the terms that contain it."""
        if words.other is None:
            return (term,)
        parts_of = words.other
        longer = (other for other in self.vocabulary if term in other and term in parts_of(other))
        return dict.fromkeys((term, *parts_of(term), *longer))

    def _idf(self, position: Mapping[str, int], found: Occurrences) -> Floats:
        """Return the idf of each term, as in `score.matches`.

        The frequency counts chunks of any language, so that function words of an undetected language are not rare.
        """
        frequency = found.document_frequency()
        for term, number in position.items():
            known = self.vocabulary.get(term)
            if known is not None:
                frequency[number] = max(frequency[number], self.starts[known + 1] - self.starts[known])
        return np.log1p((found.units - frequency + 0.5) / (frequency + 0.5))


class _LanguageQuery(NamedTuple):
    """The terms of a query in one language."""

    language: int
    words: Terms
    terms: Mapping[str, float]

    @classmethod
    def of(cls, query: str, number: int, language: str) -> "_LanguageQuery":
        words = Terms(language)
        terms = query_terms(query, language=language, terms=words)
        return cls(number, words, dict(islice(terms.items(), _MOST_TERMS)))


def _joined(arrays: "Sequence[NDArray[_Number]]", kind: "type[_Number]") -> "NDArray[_Number]":
    return np.concatenate(arrays) if arrays else np.zeros(0, kind)
