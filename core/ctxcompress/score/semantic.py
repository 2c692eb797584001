"""Closeness in meaning as a few more features.

Where comparing is cheap, all is compared. Otherwise the titles and headings are, which are short, and then, in two
rounds, the segments that words and what was compared before make promising: a fraction of the text. Encoders differ
in what their numbers are like, so that only differences within one retrieval count.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ctxcompress.encoder import Comparer, Encoder, ManyComparer
from ctxcompress.errors import ConfigError, InputError
from ctxcompress.score.bm25 import Floats, Integers
from ctxcompress.score.corpus import Corpus
from ctxcompress.score.features import ranks, table
from ctxcompress.vectors import as_numbers, checked_numbers, unit, without_surrogates

__all__ = ["CLAUSES", "SEMANTIC", "Semantics"]

SEMANTIC = (
    "compared",  # whether the segment was compared with the question
    "similarity",  # in standard deviations from the mean of those compared
    "similarity_gap",  # to the closest one, in standard deviations
    "similarity_rank",  # 1 / rank
    "similarity_of_passage",  # of its passage as a whole, else of the closest segment of the passage
    "similarity_of_label",  # of its title and headings
    "similarity_rank_of_label",
)
"""The rows of `Semantics.features`, in order."""

CLAUSES = (
    "clause_similarity",  # the greatest similarity to the question or a clause of it, each standardized for itself
    "clause_similarity_of_passage",  # of the best segment of the passage
    "clause_similarity_of_label",
)
"""The rows that follow where comparing is cheap. A question of several hops may be close to none of its passages,
while one of its clauses is close to each. Where there are one or two passages they are 0."""

_LEAST_PASSAGES = 3
"""With which clauses are compared: a question of several hops is asked of several passages."""
_SHARE = 0.175
"""Of the cost of comparing everything."""
_TEXT, _CALL = 20.0, 100.0
"""What a text and a call of the encoder cost beside the characters, in characters."""
_LONGEST = 1_000.0
"""Characters of which small models read no more."""
_SHARE_OF_LABELS = 0.5
"""Of that, what titles and headings take at most."""
_ROUNDS = (0.5, 1.0)
"""Of what is left for segments, the share that a round may take."""
_LEAST = 2
"""Segments that a round compares at least."""
_MOST_WITHOUT_WORDS = 1_000
"""Labels, and segments a round, that are compared at most where no word of the question occurs, which leaves all in
doubt."""
_ANOTHER_OF_PASSAGE = 0.6
"""How much less a segment is worth comparing for each better one of its passage, in standard deviations."""

Compare = Callable[[Sequence[str]], Floats]
"""How close each text is to the question and to each of its clauses, shape (1 + clauses, texts)."""


@dataclass(frozen=True, slots=True)
class Semantics:
    """What compares, and what it need not compare."""

    encoder: Encoder | Comparer
    embeddings: Sequence[Sequence[float] | None]
    """Of the passages, where they carry one."""

    @property
    def model(self) -> str:
        """The name of the weights that are for it."""
        return "static" if self._is_cheap else "encoder"

    @property
    def _is_cheap(self) -> bool:
        return not isinstance(self.encoder, Encoder) and self.encoder.cheap

    def features(self, query: str, corpus: Corpus, logits: Floats | None, clauses: Sequence[str] = ()) -> Floats:
        """One row for each of SEMANTIC, and where comparing is cheap of CLAUSES; one column a segment.

        logits: how likely each segment is needed as far as words tell; None where they tell nothing.
        clauses: parts of the question.
        Raises ConfigError if the encoder gives something else than one number or vector for each text.
        """
        asked = [query]
        if self._is_cheap and len(corpus.titles) >= _LEAST_PASSAGES:
            asked += clauses
        closeness, of_passages = np.full((len(asked), len(corpus.texts)), np.nan), np.full(len(corpus.titles), np.nan)
        if isinstance(self.encoder, Encoder):
            vector = unit(checked_numbers(self.encoder.encode_query(without_surrogates([query])[0]), "the question", 1))
            compare = _cosines(self.encoder, vector)
            of_passages = _carried(vector, self.embeddings)
            # A passage that is one segment, and carries its embedding, need not be encoded.
            sizes = np.bincount(corpus.passage, minlength=of_passages.size)
            closeness[0] = np.where(sizes == 1, of_passages, np.nan)[corpus.passage]
        else:
            compare = _comparisons(self.encoder, asked)
        most = None if self._is_cheap else _MOST_WITHOUT_WORDS
        costs = _Costs(corpus, query, everything=self._is_cheap or logits is None, most=most)
        labels, clause_labels = _label_rows(corpus, costs, logits, compare)
        for share in _ROUNDS:
            order = _promising(corpus, logits, labels[0] + _closest_of_group(_group(corpus), closeness[0]))
            chosen = costs.affordable(order[np.isnan(closeness[0, order])], share)
            if chosen.size:
                closeness[:, chosen] = compare([_labelled(corpus, number) for number in chosen.tolist()])
        rows = [_rows(corpus, closeness[0], of_passages), labels]
        return np.vstack([*rows, _clause_rows(corpus, closeness), clause_labels] if self._is_cheap else rows)


class _Costs:
    """How much may be compared. The unit is what a character costs, and comparing all segments, bare, is the whole."""

    __slots__ = ("_costs", "_everything", "_left", "_most")

    def __init__(self, corpus: Corpus, query: str, *, everything: bool, most: int | None) -> None:
        """most: how many labels, and how many segments, if everything may be compared."""
        labels = np.array([len(label) for label in corpus.label_texts], dtype=float)
        texts = np.fromiter(map(len, corpus.texts), float, len(corpus.texts))
        self._costs = _cost(texts + labels[corpus.sections])
        self._left = _SHARE * float(_cost(texts).sum()) - _CALL - len(query)
        self._everything, self._most = everything, most

    def affordable_labels(self, labels: Sequence[str]) -> list[str]:
        """The first of the labels."""
        if self._everything:
            return list(labels[: self._most])
        total = np.cumsum(_cost(np.array([len(label) for label in labels], dtype=float)))
        last = int(np.searchsorted(total, _SHARE_OF_LABELS * self._left - _CALL, side="right"))
        if last < 2:  # one alone is not closer than others
            return []
        self._left -= float(total[last - 1]) + _CALL
        return list(labels[:last])

    def affordable(self, order: Integers, share: float) -> Integers:
        """The first of the segments, for this share of what is left."""
        if self._everything:
            return order[: self._most]
        total = np.cumsum(self._costs[order])
        last = max(int(np.searchsorted(total, share * self._left - _CALL, side="right")), _LEAST)
        if order.size:
            self._left -= float(total[min(last, order.size) - 1]) + _CALL
        return order[:last]


def _cost(lengths: Floats) -> Floats:
    """Of texts of so many characters. Every word looks at every other: long texts cost more than their share."""
    read = np.minimum(lengths, _LONGEST)
    return _TEXT + read + read**2 / _LONGEST


def _label_rows(corpus: Corpus, costs: _Costs, logits: Floats | None, compare: Compare) -> tuple[Floats, Floats]:
    """The last two rows of SEMANTIC and the last of CLAUSES.

    Labels of the best segments are compared first; those that are not count as the farthest.
    """
    rows = np.zeros((3, len(corpus.texts)))
    order = np.arange(len(corpus.texts)) if logits is None else np.argsort(-logits, kind="stable")
    of_segment = [corpus.label_texts[section] for section in corpus.sections]
    distinct = dict.fromkeys(of_segment[number] for number in order.tolist())
    labels = costs.affordable_labels([label for label in distinct if label])
    if len(labels) > 1:
        closeness = compare(labels)
        standard, rank = _standardized(closeness[0]), 1 / (1 + ranks(closeness[0]))
        best = _closest_of_parts(corpus, closeness)
        numbers = {label: number for number, label in enumerate(labels)}
        of = np.array([numbers.get(label, -1) for label in of_segment])
        rows[0] = np.where(of >= 0, standard[of], standard.min())
        rows[1] = np.where(of >= 0, rank[of], 0.0)
        rows[2] = np.where(of >= 0, best[of], best.min())
        rows[:, [not label for label in of_segment]] = 0.0
    return rows[:2], rows[2:]


def _promising(corpus: Corpus, logits: Floats | None, promise: Floats) -> Integers:
    """The segments in the order in which they are worth comparing: by words and by what else promises something, and
    not too many of one passage, whose first ones say what the others are about."""
    if logits is None:
        return np.argsort(-promise, kind="stable")
    worth = _standardized(logits) + promise
    group = _group(corpus)
    by_group = np.lexsort((-worth, group))
    place = np.empty(worth.size)
    place[by_group] = np.arange(worth.size) - np.searchsorted(group[by_group], group[by_group])
    return np.argsort(_ANOTHER_OF_PASSAGE * place - worth, kind="stable")


def _group(corpus: Corpus) -> Integers:
    """Of each segment the passage, or where there is but one, the section."""
    return corpus.passage if len(corpus.titles) > 1 else np.asarray(corpus.sections, dtype=np.intp)


def _closest_of_group(group: Integers, closeness: Floats) -> Floats:
    """Of each segment how close the closest of its group is, in standard deviations; 0 where that is not known."""
    known = np.flatnonzero(~np.isnan(closeness))
    closest = np.full(int(group.max(initial=0)) + 1, -np.inf)
    if known.size > 1:
        np.maximum.at(closest, group[known], _standardized(closeness[known]))
    return np.where(np.isinf(closest), 0.0, closest)[group]


def _labelled(corpus: Corpus, number: int) -> str:
    """A segment with title and headings before it, without which many a sentence says little."""
    label, text = corpus.label_texts[corpus.sections[number]], corpus.texts[number].strip()
    return f"{label}: {text}" if label else text


def _rows(corpus: Corpus, closeness: Floats, of_passages: Floats) -> Floats:
    """All rows but the labels'. closeness: NaN where it is not known."""
    known = np.flatnonzero(~np.isnan(closeness))
    compared, standard, gap, rank = np.zeros((4, closeness.size))
    of_passage = _closest_of_group(corpus.passage, closeness)
    if known.size > 1:  # one alone is not closer than others
        compared[known] = 1
        standard[known] = _standardized(closeness[known])
        gap[known] = standard[known] - standard[known].max()
        rank[known] = 1 / (1 + ranks(closeness[known]))
    carried = ~np.isnan(of_passages)
    if np.count_nonzero(carried) > 1:
        of_carried = np.zeros(carried.size)
        of_carried[carried] = _standardized(of_passages[carried])
        of_passage = np.where(carried[corpus.passage], of_carried[corpus.passage], of_passage)
    return table([compared, standard, gap, rank, of_passage])


def _clause_rows(corpus: Corpus, closeness: Floats) -> Floats:
    """The rows of CLAUSES but the label's. closeness: of the question and its clauses, of all segments."""
    best = _closest_of_parts(corpus, closeness)
    of_passage = np.full(len(corpus.titles), -np.inf)
    np.maximum.at(of_passage, corpus.passage, best)
    return table([best, of_passage[corpus.passage]])


def _closest_of_parts(corpus: Corpus, closeness: Floats) -> Floats:
    """Of each text its similarity to what of the question it is closest to; 0 where clauses are not compared."""
    if len(corpus.titles) < _LEAST_PASSAGES:
        return np.zeros(closeness.shape[1])
    best: Floats = np.array([_standardized(of_part) for of_part in closeness]).max(axis=0)
    return best


def _standardized(values: Floats) -> Floats:
    scaled = values / (np.abs(values).max(initial=0.0) or 1.0)  # no square is too large, or too small
    deviation = scaled.std()
    return (scaled - scaled.mean()) / deviation if deviation > 1e-9 else np.zeros(values.shape)


def _cosines(encoder: Encoder, query: Floats) -> Compare:
    def compare(texts: Sequence[str]) -> Floats:
        vectors = unit(checked_numbers(encoder.encode_document(without_surrogates(texts)), f"{len(texts)} texts", 2))
        if vectors.shape != (len(texts), query.size):
            raise ConfigError(
                f"the encoder gave vectors of shape {vectors.shape} for {len(texts)} texts and one of "
                f"{query.size} numbers for the question; encode_document must return as many, as long"
            )
        cosines: Floats = np.einsum("td,d->t", vectors, query)
        return cosines[np.newaxis]

    return compare


def _comparisons(comparer: Comparer, asked: Sequence[str]) -> Compare:
    queries = without_surrogates(asked)

    def compare(texts: Sequence[str]) -> Floats:
        cleaned, of = without_surrogates(texts), f"{len(texts)} texts"
        if isinstance(comparer, ManyComparer):
            numbers = checked_numbers(comparer.compare_each(queries, cleaned), of, 2)
            if numbers.shape != (len(queries), len(texts)):
                raise ConfigError(
                    f"the encoder gave an array of shape {numbers.shape} for {len(queries)} questions and {of}; "
                    "give one number for each question and text"
                )
            return numbers
        rows = [checked_numbers(comparer.compare(query, cleaned), of, 1) for query in queries]
        for row in rows:
            if row.size != len(texts):
                raise ConfigError(f"the encoder gave {row.size} numbers for {of}; give one for each")
        return np.vstack(rows)

    return compare


def _carried(query: Floats, embeddings: Sequence[Sequence[float] | None]) -> Floats:
    """The closeness of each passage that carries an embedding as long as the question's vector, else NaN."""
    closeness = np.full(len(embeddings), np.nan)
    for number, embedding in enumerate(embeddings):
        if embedding is not None:
            vector = as_numbers(embedding)
            if vector is None or vector.ndim != 1:
                raise InputError(
                    f"the embedding of passage {number} is a {type(embedding).__name__} that is no list of numbers; "
                    "give one, or None"
                )
            if vector.size == query.size and np.isfinite(vector).all():
                closeness[number] = np.einsum("d,d->", unit(vector), query)
    return closeness
