"""Features of segments from how close they are in meaning to the query.

Encoders differ in the range of their numbers, so these are compared only within one retrieval: in standard deviations
from the mean.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypeVar, cast

import numpy as np

from ctxcompress.data.table import Floats
from ctxcompress.encoders import WORDS, encoder_named
from ctxcompress.encoders.encoder import Comparer, Encoder, knowledge, word_vectors_of
from ctxcompress.encoders.static import WordTable
from ctxcompress.guarded import called_in_time
from ctxcompress.score.closeness import Closeness, closeness_of_all, closeness_of_best
from ctxcompress.score.corpus import Corpus
from ctxcompress.score.matches import ranks, stacked, standardized
from ctxcompress.score.source_features import is_program

__all__ = ["NO_SEMANTICS", "READ", "SEMANTIC", "Meaning", "Reader", "Semantics"]

T = TypeVar("T")

SEMANTIC = (
    "similarity",  # in standard deviations from the mean
    "similarity_gap",  # to the closest one, in standard deviations
    "similarity_rank",  # 1 / rank
    "similarity_of_passage",  # of the closest segment of the passage
    "similarity_of_label",  # of its title and headings
    "similarity_rank_of_label",
    "clause_similarity",  # the greatest similarity to the query or a clause of it, each standardized on its own
    "clause_similarity_of_passage",  # of the closest segment of the passage
    "clause_similarity_of_label",
)
"""The rows of `Meaning.features`, in order. A query of several hops may be close to none of its passages, while one
of its clauses is close to each. With one or two passages clauses do not count, and their rows are 0."""

READ = ("judged", "standing_out")
"""The rows of `Reader.features`, in order: the log odds so far, and how far a segment that was read stands out. That is
the square of its standard deviations above the mean, as in the log of the probability that chance brings it so close.
What is farther than the mean has 0, because what answers one of several hops may be far from the query. It counts less
the surer the best segment is."""

_LANGUAGE = "en"
"""In other languages, word vectors make the results of a multilingual encoder worse."""
_CLAUSE_ROWS = 3
"""The last three rows of SEMANTIC."""
_LEAST_PASSAGES = 3
"""With fewer passages clauses are not compared: only a query of several hops needs them."""
_MOST_OF_QUERY = 0.6
"""The share of the query's weight in one segment from which the word table is not asked: words found what they say."""
_LEAST_COMPARED = 2
"""One text alone cannot be closer than others."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """A cheap comparer, which compares everything."""

    comparer: Comparer

    @property
    def has_table(self) -> bool:
        """Whether the comparer is the word table."""
        return isinstance(self.comparer, WordTable)

    def known(self, corpus: Corpus, covered: float, *, is_alone: bool) -> float:
        """Return how well the comparer knows the language of the texts, from 0 to 1; 0 if it is not asked.

        covered: the greatest share of the query's weight in one segment. is_alone: see `model`.
        """
        if self.has_table and covered >= _MOST_OF_QUERY:
            return 0.0
        return 1.0 if is_alone else self._called(partial(knowledge, self.comparer, corpus.words))

    def model(self, *, is_alone: bool) -> str:
        """Return the name of the model that has weights for the features; see evidence.COLUMNS.

        is_alone: whether no word of the query occurs, so that closeness decides.
        """
        return "word_table" if self.has_table and not is_alone else "static"

    def features(self, query: str, corpus: Corpus, clauses: Sequence[str] = ()) -> Floats:
        """Return one row per name in SEMANTIC, and one column per segment.

        clauses: parts of the query.
        Raises ConfigError unless the comparer gives one number for each text.
        """
        several = len(corpus.titles) >= _LEAST_PASSAGES
        closeness = self._called(partial(closeness_of_all, self.comparer, query, clauses if several else (), corpus))
        of_clauses = _clause_rows(corpus, closeness) if several else np.zeros((_CLAUSE_ROWS, len(corpus.texts)))
        return np.vstack([_segment_rows(corpus, closeness), _label_rows(corpus, closeness), of_clauses])

    def _called(self, work: Callable[[], T]) -> T:
        """Do work that asks the comparer. Only the table is no plug-in."""
        return work() if self.has_table else called_in_time("encoder", work)


@dataclass(frozen=True, slots=True)
class Reader:
    """An expensive encoder, which reads what is the best so far."""

    encoder: Encoder | Comparer
    embeddings: Sequence[Sequence[float] | None]
    """Those that the passages carry already, of each passage; None where it carries none."""

    def known(self, corpus: Corpus, *, is_alone: bool) -> float:
        """Return how well the encoder knows the language of the texts, from 0 to 1.

        In source code, names say what closeness does not: a share that is learned from it is a quarter of that of prose
        and loses evidence. is_alone: see `Meaning.model`.
        """
        if is_alone:
            return 1.0
        return 0.0 if is_program(corpus) else called_in_time("encoder", partial(knowledge, self.encoder, corpus.words))

    def features(self, query: str, corpus: Corpus, logits: Floats, *, is_alone: bool) -> Floats:
        """Return one row per name in READ, and one column per segment.

        logits: how likely each segment is needed, so far. is_alone: see `Meaning.model`.
        Raises ConfigError unless the encoder gives one number or vector for each text.
        """
        so_far = None if is_alone else logits
        read = partial(closeness_of_best, self.encoder, query, corpus, so_far, self.embeddings)
        closeness = called_in_time("encoder", read)
        found, standing_out = np.flatnonzero(~np.isnan(closeness)), np.zeros(logits.size)
        doubt = 1 / (1 + np.exp(logits.max()))
        standing_out[found] = doubt * np.maximum(standardized(closeness[found]), 0) ** 2
        return stacked([logits, standing_out])


class Semantics(NamedTuple):
    """What tells how close texts are in meaning."""

    meaning: Meaning | None = None
    reader: Reader | None = None

    @classmethod
    def of(
        cls,
        encoder: Encoder | Comparer | str | None,
        embeddings: Sequence[Sequence[float] | None],
        corpus: Corpus,
        language: str,
    ) -> "Semantics":
        """Build it for the option `encoder`.

        Beside an expensive encoder stand its own word vectors or the word table. The table has English words only, and
        names in source code are none.
        """
        if encoder is None:
            return cls()
        has_table = language == WordTable.language and not is_program(corpus)
        table = Meaning(cast("Comparer", encoder_named(WORDS))) if has_table else None
        if isinstance(encoder, str):
            return cls(table)
        if not isinstance(encoder, Encoder) and encoder.compares_all:
            return cls(Meaning(encoder))
        beside = word_vectors_of(encoder) if language == _LANGUAGE else None
        return cls(Meaning(beside) if beside else table, Reader(encoder, embeddings))


NO_SEMANTICS = Semantics()
"""Nothing tells: words decide alone."""


def _segment_rows(corpus: Corpus, closeness: Closeness) -> Floats:
    of_question = closeness.segments[0]
    if of_question.size < _LEAST_COMPARED:
        return np.zeros((4, of_question.size))
    standard = standardized(of_question)
    of_passage = _closest_of_passage(corpus, standard)
    return stacked([standard, standard - standard.max(), 1 / (1 + ranks(of_question)), of_passage])


def _label_rows(corpus: Corpus, closeness: Closeness) -> Floats:
    of_question = closeness.labels[0]
    standard, rank = np.zeros((2, of_question.size))
    if of_question.size >= _LEAST_COMPARED:
        standard, rank = standardized(of_question), 1 / (1 + ranks(of_question))
    return stacked([_of_sections(corpus, closeness, values) for values in (standard, rank)])


def _clause_rows(corpus: Corpus, closeness: Closeness) -> Floats:
    best, best_labels = _closest_part(closeness.segments), _closest_part(closeness.labels)
    of_passage = _closest_of_passage(corpus, best)
    return stacked([best, of_passage, _of_sections(corpus, closeness, best_labels)])


def _closest_part(closeness: Floats) -> Floats:
    """Return for each text its similarity to the closest part of the query; 0 for one alone."""
    if closeness.shape[1] < _LEAST_COMPARED:
        return np.zeros(closeness.shape[1])
    return np.asarray(np.array([standardized(of_part) for of_part in closeness]).max(axis=0))


def _closest_of_passage(corpus: Corpus, standard: Floats) -> Floats:
    """Return, for each segment, the value of the closest segment in its passage."""
    closest = np.full(len(corpus.titles), -np.inf)
    np.maximum.at(closest, corpus.passage, standard)
    return closest[corpus.passage]


def _of_sections(corpus: Corpus, closeness: Closeness, values: Floats) -> Floats:
    """Return, for each segment, the value of its section's label; 0 if there is none."""
    return np.append(values, 0.0)[closeness.label_of[np.asarray(corpus.sections, dtype=np.intp)]]
