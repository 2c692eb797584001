"""How close the segments, labels and passages are in meaning to the query, as an encoder or a comparer says.

A cheap comparer reads everything. To save time, an expensive one reads only titles, headings, the first 80 characters
of each passage, and the segments that look promising: one call for the query, one for the rest.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctxcompress.data.table import Floats, Integers
from ctxcompress.encoders.encoder import Comparer, Encoder, ManyComparer, WordComparer
from ctxcompress.encoders.vectors import as_numbers, checked_numbers, unit, without_surrogates
from ctxcompress.errors import ConfigError, InputError
from ctxcompress.score.corpus import Corpus
from ctxcompress.score.matches import standardized
from ctxcompress.text.words import split_each

__all__ = ["Closeness", "closeness_of_all", "closeness_of_some"]

_Comparable = str | int
"""A thing to compare: a text, or the number of the passage whose embedding is compared."""
_BEGINNING = 80
"""Characters of a segment that an expensive encoder reads: they show what the segment is about."""
_SHARE_OF_CLAUSES = 0.5
"""The share of the allowance for the clauses of the query."""
_SHARE_OF_LABELS = 0.9
"""The share of the rest for labels."""
_LEAST = 4
"""The least number of texts to compare."""
_SHARE = 0.185
"""The share of the cost of comparing everything that may be spent."""
_COST_OF_TEXT, _COST_OF_CALL = 20.0, 350.0
"""The overhead of a text and of a call of the encoder, in characters."""
_CALLS = 2
"""One for the query, one for the rest."""
_COST_OF_WORD_VECTORS = 150.0
"""The cost of word vectors beside the encoder, in characters."""
_LONGEST = 1_000.0
"""Characters: small models read no more of a text."""
_MOST_WITHOUT_WORDS = 1_000
"""The most texts of one kind to compare where no word of the query occurs, so that any segment may be relevant."""


@dataclass(frozen=True, slots=True)
class Closeness:
    """The closeness to the query and to each clause of it, a row each; NaN where nothing was compared."""

    segments: Floats
    """Of each segment, shape (1 + clauses, segments)."""
    labels: Floats
    """Of each distinct label of a section, shape (1 + clauses, labels)."""
    label_of: Integers
    """The number of each section's label, shape (sections,); -1 for none."""
    passages: Floats
    """Of each whole passage, to the query alone, shape (passages,)."""


def closeness_of_all(comparer: Comparer, query: str, clauses: Sequence[str], corpus: Corpus) -> Closeness:
    """Compare every segment, with its title and headings before it, and every title with its headings alone.

    Raises ConfigError unless the comparer gives one number for each text.
    """
    asked = [query, *clauses]
    label_of, labels = _numbered(corpus.label_texts)
    if isinstance(comparer, WordComparer):
        of_segments, of_labels = _by_words(comparer, asked, corpus, label_of, len(labels))
    else:
        compare = _comparisons(comparer, asked)
        of_segments = compare([_labelled(corpus, number) for number in range(len(corpus.texts))])
        of_labels = compare([str(label) for label in labels])
    return Closeness(of_segments, of_labels, label_of, passages=np.full(len(corpus.titles), np.nan))


def _by_words(
    comparer: WordComparer, asked: Sequence[str], corpus: Corpus, label_of: Integers, labels: int
) -> tuple[Floats, Floats]:
    """Compare the words of every segment with its label, and of every label. labels: the number of distinct ones.

    Return (shape (asked, segments), shape (asked, labels)).
    """
    queries = split_each(asked)
    words: list[Sequence[str]] = [()] * labels
    for number, label in zip(label_of.tolist(), corpus.labels, strict=True):
        if number >= 0:
            words[number] = label
    under = label_of[np.asarray(corpus.sections, dtype=np.intp)]
    of_segments, of_labels = comparer.compare_words(queries, corpus.words, words, under)
    return _checked_table(of_segments, len(asked), len(under)), _checked_table(of_labels, len(asked), labels)


def closeness_of_some(
    encoder: Encoder | Comparer,
    query: str,
    clauses: Sequence[str],
    corpus: Corpus,
    logits: Floats | None,
    embeddings: Sequence[Sequence[float] | None],
    *,
    word_vectors: bool = False,
) -> Closeness:
    """Compare titles, headings, the beginnings of passages and promising segments: a fraction of the cost of all.

    logits: how likely each segment is needed, as words say; None if they say nothing.
    embeddings: of the passages that carry one; it is compared instead of the beginning of the passage.
    word_vectors: whether word vectors compare, too, which costs a little.
    Raises ConfigError unless the encoder gives one number or vector for each text.
    """
    if isinstance(encoder, Encoder):
        comparison: _Vectors | _Pairs = _Vectors(encoder, query, embeddings)
    else:
        comparison = _Pairs(encoder, query, passages=len(embeddings))
    spent = _CALLS * _COST_OF_CALL + len(query) + _COST_OF_WORD_VECTORS * word_vectors
    allowance = _Allowance(np.inf if logits is None else _SHARE * float(_cost(corpus.texts).sum()) - spent)
    asked = allowance.afford(clauses[: comparison.most_clauses], _SHARE_OF_CLAUSES)
    segments, labels = _comparables(corpus, ~np.isnan(comparison.passages))
    order = _most_promising(corpus, logits, comparison.passages).tolist()
    of_labels = _distinct(labels[corpus.sections[number]] for number in order)
    texts = [*allowance.afford(of_labels, _SHARE_OF_LABELS)]
    more = _distinct((segments[number] for number in order), known=texts)
    texts += allowance.afford(more, least=_LEAST - len(texts))
    found = _lookup(texts, *comparison.closeness(asked, texts))
    label_of, distinct = _numbered(labels)
    return Closeness(segments=found(segments), labels=found(distinct), label_of=label_of, passages=comparison.passages)


def _comparables(corpus: Corpus, carried: NDArray[np.bool_]) -> tuple[list[_Comparable], list[_Comparable]]:
    """Return what to compare for each segment, and for each section as its label ("" for nothing).

    The label of a section that is a whole passage is the beginning of the passage; others have title and headings.
    """
    segments: list[_Comparable] = [_labelled(corpus, number, _BEGINNING) for number in range(len(corpus.texts))]
    labels: list[_Comparable] = list(corpus.label_texts)
    for start, end in pairwise([*np.flatnonzero(corpus.table.begins).tolist(), len(segments)]):
        passage, section = int(corpus.passage[start]), corpus.sections[start]
        if end - start == 1 and carried[passage]:
            segments[start] = passage
        if section == corpus.sections[end - 1]:
            labels[section] = passage if carried[passage] else segments[start]
    return segments, labels


def _labelled(corpus: Corpus, number: int, most: int | None = None) -> str:
    """Return the first `most` characters of a segment after its title and headings, because many sentences
    say little alone."""
    label, text = corpus.label_texts[corpus.sections[number]], corpus.texts[number].strip()[:most]
    return f"{label}: {text}" if label else text


def _distinct(read: Iterable[_Comparable], known: Iterable[str] = ()) -> list[str]:
    """Return each text once, without the known ones."""
    done = {"", *known}
    return [text for text in dict.fromkeys(read) if isinstance(text, str) and text not in done]


def _numbered(labels: Sequence[_Comparable]) -> tuple[Integers, list[_Comparable]]:
    """Return the number of each label, -1 for an empty one, and the distinct labels."""
    numbers: dict[_Comparable, int] = {}
    found = [-1 if label == "" else numbers.setdefault(label, len(numbers)) for label in labels]
    return np.array(found, dtype=np.intp), list(numbers)


def _lookup(texts: Sequence[str], of_texts: Floats, of_passages: Floats) -> Callable[[Sequence[_Comparable]], Floats]:
    """Return a function that looks up how close things are: shape (1 + clauses, things), NaN if not compared."""
    found = np.hstack([of_texts, of_passages, np.full((len(of_texts), 1), np.nan)])
    column: dict[_Comparable, int] = {text: number for number, text in enumerate(texts)}
    column |= {passage: len(texts) + passage for passage in range(of_passages.shape[1])}
    return lambda asked_for: found[:, [column.get(read, -1) for read in asked_for]]


def _most_promising(corpus: Corpus, logits: Floats | None, of_passages: Floats) -> Integers:
    """Return the numbers of the segments, the most promising first.

    logits: what words say about each segment, if anything. of_passages: the closeness of each passage; NaN if unknown.
    """
    known = np.flatnonzero(~np.isnan(of_passages))
    close = np.zeros(of_passages.size)
    close[known] = standardized(of_passages[known])
    worth = close[corpus.passage] + (0.0 if logits is None else standardized(logits))
    return np.argsort(-worth, kind="stable")


class _Allowance:
    """The cost that may still be spent on comparing texts, in characters."""

    __slots__ = ("_left",)

    def __init__(self, cost: float) -> None:
        """cost: infinite if nearly everything may be compared."""
        self._left = cost

    def afford(self, texts: Sequence[str], share: float = 1.0, *, least: int = 0) -> Sequence[str]:
        """Return the first texts for which `share` of what is left pays, and spend it."""
        if np.isinf(self._left):
            return texts[:_MOST_WITHOUT_WORDS]
        total = np.cumsum(_cost(texts))
        number = max(int(np.searchsorted(total, share * self._left, side="right")), min(least, len(texts)))
        self._left -= float(total[:number].max(initial=0.0))
        return texts[:number]


def _cost(texts: Sequence[str]) -> Floats:
    """Return the cost of comparing each text. Every word attends to every other, so long texts cost more than their
    share."""
    read = np.minimum(np.fromiter(map(len, texts), float, len(texts)), _LONGEST)
    cost: Floats = _COST_OF_TEXT + read + read**2 / _LONGEST
    return cost


class _Vectors:
    """A comparison by the cosine of vectors."""

    most_clauses = 5
    """Each clause costs as much as one more text."""

    def __init__(self, encoder: Encoder, query: str, embeddings: Sequence[Sequence[float] | None]) -> None:
        self._encoder = encoder
        encoded = encoder.encode_query(without_surrogates([query])[0])
        self._query = unit(checked_numbers(encoded, "the question", 1))
        self._carried = _carried(embeddings, self._query.size)
        self.passages: Floats = np.einsum("pd,d->p", self._carried, self._query)

    def closeness(self, clauses: Sequence[str], texts: Sequence[str]) -> tuple[Floats, Floats]:
        """Return the closeness of the texts, shape (1 + clauses, texts), and of the whole passages, shape
        (1 + clauses, passages). Clauses are encoded in the same call as the texts."""
        vectors = self._encoded([*clauses, *texts])
        asked = np.vstack([self._query, vectors[: len(clauses)]])
        return (
            np.einsum("ad,td->at", asked, vectors[len(clauses) :]),
            np.einsum("ad,pd->ap", asked, self._carried),
        )

    def _encoded(self, texts: Sequence[str]) -> Floats:
        if not texts:
            return np.empty((0, self._query.size))
        vectors = unit(checked_numbers(self._encoder.encode_document(without_surrogates(texts)), _counted(texts), 2))
        if vectors.shape != (len(texts), self._query.size):
            raise ConfigError(
                f"the encoder gave vectors of shape {vectors.shape} for {_counted(texts)} and one of "
                f"{self._query.size} numbers for the question; encode_document must give one such vector for each text"
            )
        return vectors


def _carried(embeddings: Sequence[Sequence[float] | None], size: int) -> Floats:
    """Return the normalized embedding of each passage, shape (passages, size); NaN where it carries none of this
    size."""
    vectors = np.full((len(embeddings), size), np.nan)
    for number, embedding in enumerate(embeddings):
        if embedding is not None:
            vector = as_numbers(embedding)
            if vector is None or vector.ndim != 1:
                raise InputError(
                    f"the embedding of passage {number} is a {type(embedding).__name__}, not a list of numbers; "
                    "give a list of numbers, or None"
                )
            if vector.size == size and np.isfinite(vector).all():
                vectors[number] = unit(vector)
    return vectors


class _Pairs:
    """A comparison that scores pairs of a query and a text, as a cross-encoder does."""

    most_clauses = 0
    """Each clause would cost as much as all texts together."""

    def __init__(self, comparer: Comparer, query: str, *, passages: int) -> None:
        self._comparer, self._query = comparer, query
        self.passages: Floats = np.full(passages, np.nan)

    def closeness(self, clauses: Sequence[str], texts: Sequence[str]) -> tuple[Floats, Floats]:
        """Return the closeness of the texts, and of the whole passages, which is unknown."""
        asked = [self._query, *clauses]
        return _comparisons(self._comparer, asked)(texts), np.tile(self.passages, (len(asked), 1))


def _comparisons(comparer: Comparer, asked: Sequence[str]) -> Callable[[Sequence[str]], Floats]:
    """Return a function that compares texts with each query, shape (asked, texts)."""
    queries = without_surrogates(asked)

    def compare(texts: Sequence[str]) -> Floats:
        if not texts:
            return np.empty((len(queries), 0))
        cleaned = without_surrogates(texts)
        if isinstance(comparer, ManyComparer):
            return _checked_table(comparer.compare_each(queries, cleaned), len(queries), len(texts))
        rows = [checked_numbers(comparer.compare(query, cleaned), _counted(texts), 1) for query in queries]
        for row in rows:
            if row.size != len(texts):
                raise ConfigError(f"the encoder gave {row.size} numbers for {_counted(texts)}; give one for each")
        return np.vstack(rows)

    return compare


def _checked_table(found: ArrayLike, queries: int, texts: int) -> Floats:
    numbers = checked_numbers(found, f"{texts} texts", 2)
    if numbers.shape != (queries, texts):
        raise ConfigError(
            f"the encoder gave an array of shape {numbers.shape} for {queries} questions and {texts} texts; "
            "give one number for each question and text"
        )
    return numbers


def _counted(texts: Sequence[str]) -> str:
    return f"{len(texts)} texts"
