"""How close the segments, labels and passages are in meaning to the query, as an encoder or a comparer says.

A cheap comparer reads everything. An expensive one reads the segments that are the best by words, in their context:
one call for the query, one for the rest.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ctxcompress.data.passages import Kind
from ctxcompress.data.table import Floats, Integers
from ctxcompress.encoders.encoder import Comparer, Encoder, WordComparer
from ctxcompress.encoders.static import WordTable
from ctxcompress.encoders.vectors import as_numbers, checked_numbers, unit, without_surrogates
from ctxcompress.errors import ConfigError, InputError
from ctxcompress.score.corpus import Corpus
from ctxcompress.score.matches import standardized
from ctxcompress.text.words import split_each

__all__ = ["Closeness", "closeness_of_all", "closeness_of_best"]

_MOST = 40
"""The most segments that an expensive encoder reads. With 30, marked cases gain half as much."""
_MOST_WITHOUT_WORDS = 1_000
"""The same where no word of the query occurs, so that any segment may be relevant."""
_LONGEST, _LONGEST_BESIDE = 220, 100
"""Characters that it reads of a segment, and of its headings and of the sentence before it each."""


@dataclass(frozen=True, slots=True)
class Closeness:
    """The closeness to the query and to each clause of it, a row each."""

    segments: Floats
    """Of each segment, shape (1 + clauses, segments)."""
    labels: Floats
    """Of each distinct label of a section, shape (1 + clauses, labels)."""
    label_of: Integers
    """The number of each segment's label, that of its section, shape (segments,); -1 for none."""


def closeness_of_all(comparer: Comparer, query: str, clauses: Sequence[str], corpus: Corpus) -> Closeness:
    """Compare every segment, with its title and headings before it, and every title with its headings alone.

    Raises ConfigError unless the comparer gives one number for each text.
    """
    asked = [query, *clauses]
    numbers: dict[str, int] = {}
    found = [-1 if label == "" else numbers.setdefault(label, len(numbers)) for label in corpus.label_texts]
    label_of, labels = np.array([found[section] for section in corpus.table.sections], dtype=np.intp), list(numbers)
    if isinstance(comparer, WordTable | WordComparer):  # to ask for a protocol takes time
        words = dict(zip(corpus.label_texts, corpus.labels, strict=True))
        of_segments, of_labels = _by_words(comparer, asked, corpus, [words[label] for label in labels], label_of)
    else:
        of_segments = _compared(comparer, asked, [_labelled(corpus, number) for number in range(len(corpus.words))])
        of_labels = _compared(comparer, asked, labels)
    return Closeness(of_segments, of_labels, label_of)


def _by_words(
    comparer: WordComparer, asked: Sequence[str], corpus: Corpus, labels: Sequence[Sequence[str]], label_of: Integers
) -> tuple[Floats, Floats]:
    """Compare the words of every segment with its label, and of every label. labels: the words of each.

    Return (shape (asked, segments), shape (asked, labels)).
    """
    of_segments, of_labels = comparer.compare_words(split_each(asked), corpus.words, labels, label_of)
    segments = _checked_table(of_segments, len(asked), len(corpus.words))
    return segments, _checked_table(of_labels, len(asked), len(labels))


def closeness_of_best(
    encoder: Encoder | Comparer,
    query: str,
    corpus: Corpus,
    logits: Floats | None,
    embeddings: Sequence[Sequence[float] | None],
) -> Floats:
    """Compare the segments that are the best so far. Return how close each segment is, NaN if it was not compared.

    logits: how likely each segment is needed; None if words say nothing. embeddings: of the passages that carry one.
    It tells what to read in a passage of several segments, and all of a passage of one.
    Raises ConfigError unless the encoder gives one number or vector for each text.
    """
    of_passages, asked = np.full(len(embeddings), np.nan), np.zeros(0)
    if isinstance(encoder, Encoder):
        asked = unit(checked_numbers(encoder.encode_query(without_surrogates([query])[0]), "the question", 1))
        of_passages = np.einsum("pd,d->p", _carried(embeddings, asked.size), asked)
    best = _most_promising(corpus, logits, of_passages)[: _MOST_WITHOUT_WORDS if logits is None else _MOST]
    found = np.full(len(corpus.table.texts), np.nan)
    lone = best[[corpus.table.is_lone(number) for number in best.tolist()]]
    found[lone] = of_passages[corpus.table.documents[lone]]
    read = best[np.isnan(found[best])]
    if read.size:
        # Where closeness decides alone, the sentence after an answer would be as close as the answer.
        shown = _labelled if logits is None else _in_context
        texts = [shown(corpus, number) for number in read.tolist()]
        if isinstance(encoder, Encoder):
            found[read] = _cosines(encoder, asked, texts)
        else:
            found[read] = _compared(encoder, [query], texts)[0]
    return found


def _in_context(corpus: Corpus, number: int) -> str:
    """Return a segment after its title and headings and the sentence before it, because many say little alone."""
    text, label = corpus.table.texts[number].strip()[:_LONGEST], corpus.label_texts[corpus.table.sections[number]]
    if not corpus.table.begins[number] and corpus.table.kind[number - 1] is not Kind.HEADING:
        text = f"{corpus.table.texts[number - 1].strip()[-_LONGEST_BESIDE:]} {text}"
    return f"{label[-_LONGEST_BESIDE:]}: {text}" if label else text


def _labelled(corpus: Corpus, number: int) -> str:
    """Return a segment after its title and headings, because many sentences say little alone."""
    label, text = corpus.label_texts[corpus.table.sections[number]], corpus.table.texts[number].strip()
    return f"{label}: {text}" if label else text


def _most_promising(corpus: Corpus, logits: Floats | None, of_passages: Floats) -> Integers:
    """Return the numbers of the segments, the most promising first.

    logits: what words say about each segment, if anything. of_passages: the closeness of each passage; NaN if unknown.
    """
    carried = np.flatnonzero(~np.isnan(of_passages))
    close = np.zeros(of_passages.size)
    close[carried] = standardized(of_passages[carried])
    worth = close[corpus.table.documents] + (0.0 if logits is None else standardized(logits))
    return np.argsort(-worth, kind="stable")


def _cosines(encoder: Encoder, asked: Floats, texts: Sequence[str]) -> Floats:
    """Return how close the vectors of texts are to that of the query, shape (texts,)."""
    vectors = unit(checked_numbers(encoder.encode_document(without_surrogates(texts)), _counted(texts), 2))
    if vectors.shape != (len(texts), asked.size):
        raise ConfigError(
            f"the encoder gave vectors of shape {vectors.shape} for {_counted(texts)} and one of {asked.size} numbers "
            "for the question; encode_document must give one such vector for each text"
        )
    return np.asarray(np.einsum("td,d->t", vectors, asked))


def _carried(embeddings: Sequence[Sequence[float] | None], size: int) -> Floats:
    """Return the normalized embedding of each passage, shape (passages, size); NaN where none has this size."""
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


def _compared(comparer: Comparer, asked: Sequence[str], texts: Sequence[str]) -> Floats:
    """Compare texts with each query, shape (asked, texts)."""
    if not texts:
        return np.empty((len(asked), 0))
    cleaned = without_surrogates(texts)
    asking = (comparer.compare(query, cleaned) for query in without_surrogates(asked))
    rows = [checked_numbers(found, _counted(texts), 1) for found in asking]
    for row in rows:
        if row.size != len(texts):
            raise ConfigError(f"the encoder gave {row.size} numbers for {_counted(texts)}; give one for each")
    return np.vstack(rows)


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
