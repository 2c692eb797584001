"""Closeness in meaning as a few more features.

Encoders differ in what their numbers are like, so that only differences within one retrieval count.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ctxcompress.encoders.encoder import Comparer, Encoder, word_vectors_of
from ctxcompress.score.closeness import Closeness, closeness_of_all, closeness_of_some
from ctxcompress.score.corpus import Corpus
from ctxcompress.score.features import ranks, standardized, table
from ctxcompress.score.matches import Floats, Integers

__all__ = ["SEMANTIC", "WORD_VECTORS", "Semantics"]

SEMANTIC = (
    "compared",  # whether the segment was compared with the question
    "similarity",  # in standard deviations from the mean of those compared
    "similarity_gap",  # to the closest one, in standard deviations
    "similarity_rank",  # 1 / rank
    "similarity_of_passage",  # of its passage as a whole, else of the closest segment of the passage
    "similarity_of_label",  # of what introduces it: title and headings, or how its passage begins
    "similarity_rank_of_label",
    "clause_similarity",  # the greatest similarity to the question or a clause of it, each standardized for itself
    "clause_similarity_of_passage",  # of the closest segment of the passage
    "clause_similarity_of_label",
)
"""The rows of `Semantics.features`, in order. A question of several hops may be close to none of its passages, while
one of its clauses is close to each. Where there are one or two passages clauses do not count, and their rows are 0."""

WORD_VECTORS = tuple(f"word_vectors_{name}" for name in SEMANTIC)
"""The rows that follow where cheap word vectors stand beside the encoder: the same of those, divided by 1 + the number
of the question's clauses. The words of a long question add up to less."""

_OF_WORD_VECTORS = "en"
"""In other languages word vectors beside an encoder that knows them lose evidence."""
_CLAUSE_ROWS = 3
"""The last of them."""
_LEAST_PASSAGES = 3
"""With which clauses are compared: a question of several hops is asked of several passages."""


@dataclass(frozen=True, slots=True)
class Semantics:
    """What compares, and what it need not compare."""

    encoder: Encoder | Comparer
    embeddings: Sequence[Sequence[float] | None]
    """Of the passages, where they carry one."""
    word_vectors: Comparer | None = None
    """Cheap ones, beside an encoder that is not."""

    @classmethod
    def of(
        cls, encoder: Encoder | Comparer, embeddings: Sequence[Sequence[float] | None], language: str
    ) -> "Semantics":
        """With the word vectors that stand beside the encoder, if they are in their language."""
        beside = word_vectors_of(encoder) if language == _OF_WORD_VECTORS else None
        return cls(encoder, embeddings, beside)

    def alone(self) -> "Semantics":
        """Without word vectors, as where no word of the question occurs: there the encoder compares everything."""
        return Semantics(self.encoder, self.embeddings)

    @property
    def model(self) -> str:
        """The name of the weights that are for it."""
        if self.word_vectors is not None:
            return "encoder_and_static"
        return "encoder" if isinstance(self.encoder, Encoder) or not self.encoder.compares_all else "static"

    def features(self, query: str, corpus: Corpus, logits: Floats | None, clauses: Sequence[str] = ()) -> Floats:
        """One row for each of SEMANTIC, with word vectors beside the encoder of WORD_VECTORS too; one column a segment.

        logits: how likely each segment is needed as far as words tell; None where they tell nothing.
        clauses: parts of the question.
        Raises ConfigError if the encoder gives something else than one number or vector for each text.
        """
        rows = [self._rows(query, corpus, logits, clauses)]
        if self.word_vectors is not None:
            of_words = Semantics(self.word_vectors, ())._rows(query, corpus, logits, clauses)
            rows.append(of_words / (1 + len(clauses)))
        return np.vstack(rows)

    def _rows(self, query: str, corpus: Corpus, logits: Floats | None, clauses: Sequence[str]) -> Floats:
        """Those of SEMANTIC."""
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
    known = _known(of_question)
    compared, standard, gap, rank, of_passage = np.zeros((5, of_question.size))
    if known.size > 1:  # one alone is not closer than others
        compared[known] = 1
        standard[known] = standardized(of_question[known])
        gap[known] = standard[known] - standard[known].max()
        rank[known] = 1 / (1 + ranks(of_question[known]))
        of_passage = _closest_of_passage(corpus, standard, known)
    carried = _known(closeness.passages)
    if carried.size > 1:
        of_carried = np.full(len(corpus.titles), np.nan)
        of_carried[carried] = standardized(closeness.passages[carried])
        of_passage = np.where(np.isnan(of_carried[corpus.passage]), of_passage, of_carried[corpus.passage])
    return table([compared, standard, gap, rank, of_passage])


def _label_rows(corpus: Corpus, closeness: Closeness) -> Floats:
    """Labels that were not compared count as the farthest."""
    of_question = closeness.labels[0]
    known = _known(of_question)
    standard, rank = np.zeros((2, of_question.size))
    if known.size > 1:
        standard[known] = standardized(of_question[known])
        standard[np.isnan(of_question)] = standard[known].min()
        rank[known] = 1 / (1 + ranks(of_question[known]))
    return table([_of_sections(corpus, closeness, values) for values in (standard, rank)])


def _clause_rows(corpus: Corpus, closeness: Closeness) -> Floats:
    known, best = _closest_part(closeness.segments)
    labels, best_labels = _closest_part(closeness.labels)
    best_labels[np.isnan(closeness.labels[0])] = best_labels[labels].min() if labels.size else 0.0
    return table([best, _closest_of_passage(corpus, best, known), _of_sections(corpus, closeness, best_labels)])


def _known(values: Floats) -> Integers:
    return np.flatnonzero(~np.isnan(values))


def _closest_part(closeness: Floats) -> tuple[Integers, Floats]:
    """(what was compared; of each text its similarity to what of the question it is closest to, else 0)"""
    known = _known(closeness[0])
    best = np.zeros(closeness.shape[1])
    if known.size > 1:
        best[known] = np.array([standardized(of_part) for of_part in closeness[:, known]]).max(axis=0)
    return known, best


def _closest_of_passage(corpus: Corpus, standard: Floats, known: Integers) -> Floats:
    """Of each segment how close the closest of its passage is; 0 where that is not known."""
    closest = np.full(len(corpus.titles), -np.inf)
    np.maximum.at(closest, corpus.passage[known], standard[known])
    return np.where(np.isinf(closest), 0.0, closest)[corpus.passage]


def _of_sections(corpus: Corpus, closeness: Closeness, values: Floats) -> Floats:
    """Of each segment the value of its section's label; 0 where there is none."""
    with_none = np.append(values, 0.0)
    of_segments: Floats = with_none[closeness.label_of[np.asarray(corpus.sections, dtype=np.intp)]]
    return of_segments
