"""Features of segments from how close they are in meaning to the query.

Encoders differ in the range of their numbers, so these are compared only within one retrieval.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ctxcompress.data.table import Floats, Integers
from ctxcompress.encoders.encoder import Comparer, Encoder, word_vectors_of
from ctxcompress.encoders.knowledge import knowledge
from ctxcompress.encoders.words import WordTable
from ctxcompress.score.closeness import Closeness, closeness_of_all, closeness_of_some
from ctxcompress.score.corpus import Corpus
from ctxcompress.score.matches import ranks, stacked, standardized

__all__ = ["SEMANTIC", "WORD_VECTORS", "Semantics"]

SEMANTIC = (
    "compared",  # whether the segment was compared with the query
    "similarity",  # in standard deviations from the mean of those compared
    "similarity_gap",  # to the closest one, in standard deviations
    "similarity_rank",  # 1 / rank
    "similarity_of_passage",  # of its whole passage, else of the closest segment of the passage
    "similarity_of_label",  # of its title and headings, or of the beginning of its passage
    "similarity_rank_of_label",
    "clause_similarity",  # the greatest similarity to the query or a clause of it, each standardized on its own
    "clause_similarity_of_passage",  # of the closest segment of the passage
    "clause_similarity_of_label",
)
"""The rows of `Semantics.features`, in order. A query of several hops may be close to none of its passages, while one
of its clauses is close to each. With one or two passages clauses do not count, and their rows are 0."""

WORD_VECTORS = tuple(f"word_vectors_{name}" for name in SEMANTIC)
"""The rows that follow if cheap word vectors support the encoder: the same features from the word vectors, divided by
1 + the number of clauses, because the word vectors of a long query say less."""

_LANGUAGE = "en"
"""In other languages, word vectors make the results of a multilingual encoder worse."""
_CLAUSE_ROWS = 3
"""The last three rows of SEMANTIC."""
_LEAST_PASSAGES = 3
"""With fewer passages clauses are not compared: only a query of several hops needs them."""


@dataclass(frozen=True, slots=True)
class Semantics:
    """An encoder, with the embeddings that the passages carry already."""

    encoder: Encoder | Comparer
    embeddings: Sequence[Sequence[float] | None]
    """Of each passage; None where it carries none."""
    word_vectors: Comparer | None = None
    """Cheap word vectors that support an expensive encoder."""
    is_alone: bool = False
    """Whether no word of the query occurs, so that closeness decides."""

    @classmethod
    def of(
        cls, encoder: Encoder | Comparer, embeddings: Sequence[Sequence[float] | None], language: str
    ) -> "Semantics":
        """Build it with the word vectors that support this encoder, if there are any for the language."""
        beside = word_vectors_of(encoder) if language == _LANGUAGE else None
        return cls(encoder, embeddings, beside)

    def alone(self) -> "Semantics":
        """Return it without word vectors. Where no word of the query occurs, the encoder compares everything."""
        return Semantics(self.encoder, self.embeddings, is_alone=True)

    @property
    def is_table(self) -> bool:
        """Whether the encoder is the word table."""
        return isinstance(self.encoder, WordTable)

    @property
    def model(self) -> str:
        """The name of the model that has weights for these features; see evidence.COLUMNS."""
        if self.word_vectors is not None:
            return "encoder_and_static"
        if self.is_table and not self.is_alone:
            return "word_table"
        return "encoder" if isinstance(self.encoder, Encoder) or not self.encoder.compares_all else "static"

    def knowledge(self, corpus: Corpus) -> float:
        """Return how well the encoder knows the language of the texts, from 0 (not at all) to 1."""
        return knowledge(self.encoder, corpus.words)

    def features(self, query: str, corpus: Corpus, logits: Floats | None, clauses: Sequence[str] = ()) -> Floats:
        """Return one row per name in SEMANTIC, and in WORD_VECTORS if there are some, and one column per segment.

        logits: how likely each segment is needed, as words say; None if they say nothing.
        clauses: parts of the query.
        Raises ConfigError unless the encoder gives one number or vector for each text.
        """
        rows = [self._rows(query, corpus, logits, clauses)]
        if self.word_vectors is not None:
            of_words = Semantics(self.word_vectors, ())._rows(query, corpus, logits, clauses)
            rows.append(of_words / (1 + len(clauses)))
        return np.vstack(rows)

    def _rows(self, query: str, corpus: Corpus, logits: Floats | None, clauses: Sequence[str]) -> Floats:
        several = len(corpus.titles) >= _LEAST_PASSAGES
        closeness = self._closeness(query, clauses if several else (), corpus, logits)
        of_clauses = _clause_rows(corpus, closeness) if several else np.zeros((_CLAUSE_ROWS, len(corpus.texts)))
        return np.vstack([_segment_rows(corpus, closeness), _label_rows(corpus, closeness), of_clauses])

    def _closeness(self, query: str, clauses: Sequence[str], corpus: Corpus, logits: Floats | None) -> Closeness:
        if isinstance(self.encoder, Encoder) or not self.encoder.compares_all:
            beside = self.word_vectors is not None
            return closeness_of_some(self.encoder, query, clauses, corpus, logits, self.embeddings, word_vectors=beside)
        return closeness_of_all(self.encoder, query, clauses, corpus)


def _segment_rows(corpus: Corpus, closeness: Closeness) -> Floats:
    of_question = closeness.segments[0]
    known = _compared_numbers(of_question)
    compared, standard, gap, rank, of_passage = np.zeros((5, of_question.size))
    if known.size > 1:  # a single one cannot be closer than others
        compared[known] = 1
        standard[known] = standardized(of_question[known])
        gap[known] = standard[known] - standard[known].max()
        rank[known] = 1 / (1 + ranks(of_question[known]))
        of_passage = _closest_of_passage(corpus, standard, known)
    carried = _compared_numbers(closeness.passages)
    if carried.size > 1:
        of_carried = np.full(len(corpus.titles), np.nan)
        of_carried[carried] = standardized(closeness.passages[carried])
        of_passage = np.where(np.isnan(of_carried[corpus.passage]), of_passage, of_carried[corpus.passage])
    return stacked([compared, standard, gap, rank, of_passage])


def _label_rows(corpus: Corpus, closeness: Closeness) -> Floats:
    """Return the rows of labels. Labels that were not compared count as the farthest."""
    of_question = closeness.labels[0]
    known = _compared_numbers(of_question)
    standard, rank = np.zeros((2, of_question.size))
    if known.size > 1:
        standard[known] = standardized(of_question[known])
        standard[np.isnan(of_question)] = standard[known].min()
        rank[known] = 1 / (1 + ranks(of_question[known]))
    return stacked([_of_sections(corpus, closeness, values) for values in (standard, rank)])


def _clause_rows(corpus: Corpus, closeness: Closeness) -> Floats:
    known, best = _closest_part(closeness.segments)
    labels, best_labels = _closest_part(closeness.labels)
    best_labels[np.isnan(closeness.labels[0])] = best_labels[labels].min() if labels.size else 0.0
    return stacked([best, _closest_of_passage(corpus, best, known), _of_sections(corpus, closeness, best_labels)])


def _compared_numbers(values: Floats) -> Integers:
    return np.flatnonzero(~np.isnan(values))


def _closest_part(closeness: Floats) -> tuple[Integers, Floats]:
    """Return the numbers of the texts that were compared, and for each text its similarity to the closest part of the
    query, else 0."""
    known = _compared_numbers(closeness[0])
    best = np.zeros(closeness.shape[1])
    if known.size > 1:
        best[known] = np.array([standardized(of_part) for of_part in closeness[:, known]]).max(axis=0)
    return known, best


def _closest_of_passage(corpus: Corpus, standard: Floats, known: Integers) -> Floats:
    """Return, for each segment, the value of the closest segment in its passage; 0 if unknown."""
    closest = np.full(len(corpus.titles), -np.inf)
    np.maximum.at(closest, corpus.passage[known], standard[known])
    return np.where(np.isinf(closest), 0.0, closest)[corpus.passage]


def _of_sections(corpus: Corpus, closeness: Closeness, values: Floats) -> Floats:
    """Return, for each segment, the value of its section's label; 0 if there is none."""
    with_none = np.append(values, 0.0)
    of_segments: Floats = with_none[closeness.label_of[np.asarray(corpus.sections, dtype=np.intp)]]
    return of_segments
