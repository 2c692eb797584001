"""Features of segments from how close they are in meaning to the query.

Encoders differ in the range of their numbers, so these are compared only within one retrieval: in standard deviations
from the mean.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, cast

import numpy as np

from ctxcompress.data.table import Floats, Integers
from ctxcompress.encoders import WORDS, encoder_named
from ctxcompress.encoders.encoder import Comparer, Encoder, knowledge, word_vectors_of
from ctxcompress.encoders.static import WordTable
from ctxcompress.guarded import called_in_time
from ctxcompress.score.closeness import closeness_of_all, closeness_of_best
from ctxcompress.score.corpus import Corpus
from ctxcompress.score.matches import ranks, stacked, standardized
from ctxcompress.score.source_features import is_program

__all__ = ["NO_SEMANTICS", "READ", "SEMANTIC", "Meaning", "Reader", "Semantics"]

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
        if self.has_table:
            return float(covered < _MOST_OF_QUERY)
        return 1.0 if is_alone else called_in_time("encoder", partial(knowledge, self.comparer, corpus.words))

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
        compared = partial(closeness_of_all, self.comparer, query, clauses if several else (), corpus)
        closeness = compared() if self.has_table else called_in_time("encoder", compared)  # the table is no plug-in
        segments, labels = standardized(closeness.segments), standardized(closeness.labels)
        whole, under = segments[0], closeness.label_of
        return stacked(
            [
                whole,
                whole - whole.max(),
                _ranked(closeness.segments[0]),
                _closest_of_passage(corpus, whole),
                _of_labels(labels[0], under),
                _of_labels(_ranked(closeness.labels[0]), under),
                *(_clause_rows(corpus, segments, labels, under) if several else np.zeros((_CLAUSE_ROWS, whole.size))),
            ]
        )


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


def _ranked(closeness: Floats) -> Floats:
    """Return 1 / the rank of each text; 0 for one alone, which cannot be closer than others."""
    return 1 / (1 + ranks(closeness)) if closeness.size > 1 else np.zeros(closeness.size)


def _clause_rows(corpus: Corpus, segments: Floats, labels: Floats, under: Integers) -> list[Floats]:
    """Return the rows from "clause_similarity" on: of the closest part of the query."""
    best = np.maximum.reduce(segments)
    return [best, _closest_of_passage(corpus, best), _of_labels(np.maximum.reduce(labels), under)]


def _closest_of_passage(corpus: Corpus, standard: Floats) -> Floats:
    """Return, for each segment, the value of the closest segment in its passage."""
    closest = np.full(len(corpus.titles), -np.inf)
    np.maximum.at(closest, corpus.table.documents, standard)
    return closest[corpus.table.documents]


def _of_labels(values: Floats, under: Integers) -> Floats:
    """Return, for each segment, the value of its section's label; 0 if there is none. under: the labels."""
    return np.append(values, 0.0)[under]
