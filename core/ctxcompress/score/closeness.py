"""How close in meaning what was retrieved is to the question, as an encoder or a comparer says.

Where comparing is cheap, all is compared. Otherwise a fraction of the text is, with one call for the question and one
for the rest: how each passage begins, titles and headings, and the segments that words make promising.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ctxcompress.encoders.encoder import (
    Comparer,
    Encoder,
    ManyComparer,
    as_numbers,
    checked_numbers,
    unit,
    without_surrogates,
)
from ctxcompress.errors import ConfigError, InputError
from ctxcompress.score.corpus import Corpus
from ctxcompress.score.features import standardized
from ctxcompress.score.matches import Floats, Integers

__all__ = ["Allowance", "Closeness", "closeness_of_all", "closeness_of_some", "lengths", "promising"]

_SHARE = 0.185
"""Of the cost of comparing everything."""
_TEXT, _CALL = 20.0, 350.0
"""What a text and a call of the encoder cost beside the characters, in characters."""
_CALLS = 2
"""One for the question, one for the rest."""
_WORD_VECTORS = 150.0
"""What word vectors beside the encoder cost, in characters."""
_LONGEST = 1_000.0
"""Characters of which small models read no more."""
_MOST_WITHOUT_WORDS = 1_000
"""Texts of a kind that are compared at most where no word of the question occurs, which leaves all in doubt."""


class Allowance:
    """How much may be compared. The unit is what a character costs, and comparing all segments, bare, is the whole."""

    __slots__ = ("_everything", "_left")

    def __init__(self, segments: Sequence[str], query: str, *, everything: bool, word_vectors: bool) -> None:
        """everything: whether as good as everything may be compared. word_vectors: whether some compare, too."""
        spent = _CALLS * _CALL + len(query) + (_WORD_VECTORS if word_vectors else 0.0)
        self._left = _SHARE * float(_cost(lengths(segments)).sum()) - spent
        self._everything = everything

    def spend(self, sizes: Floats, share: float = 1.0, *, least: int = 0) -> int:
        """How many texts of these lengths, from the first on, may be compared for this share of what is left."""
        if self._everything:
            return min(sizes.size, _MOST_WITHOUT_WORDS)
        total = np.cumsum(_cost(sizes))
        number = int(np.searchsorted(total, share * self._left, side="right"))
        number = max(number, min(least, sizes.size))
        if number:
            self._left -= float(total[number - 1])
        return number


def lengths(texts: Sequence[str]) -> Floats:
    """In characters, shape (texts,)."""
    return np.fromiter(map(len, texts), float, len(texts))


def promising(corpus: Corpus, logits: Floats | None, of_passages: Floats) -> Integers:
    """The segments in the order in which they are worth comparing: by words, and by how close their passages are known
    to be.

    of_passages: NaN where it is not known.
    """
    known = np.flatnonzero(~np.isnan(of_passages))
    close = np.zeros(of_passages.size)
    close[known] = standardized(of_passages[known])
    worth = close[corpus.passage] + (0.0 if logits is None else standardized(logits))
    return np.argsort(-worth, kind="stable")


def _cost(sizes: Floats) -> Floats:
    """Of texts of so many characters. Every word looks at every other: long texts cost more than their share."""
    read = np.minimum(sizes, _LONGEST)
    return _TEXT + read + read**2 / _LONGEST


_BEGINNING = 80
"""Characters of a segment that are compared where that costs much: what it is about shows early."""
_SHARE_OF_CLAUSES = 0.5
"""Of what may be spent."""
_SHARE_OF_LABELS = 0.9
"""Of what is left then."""
_LEAST = 4
"""Texts that are compared at least."""

_Read = str | int
"""What is compared: a text, or the embedding of the passage with that number."""


@dataclass(frozen=True, slots=True)
class Closeness:
    """To the question, and to each clause of it: a row each. NaN where nothing was compared."""

    segments: Floats
    """Shape (1 + clauses, segments)."""
    labels: Floats
    """Of what introduces a section, each text once, shape (1 + clauses, labels)."""
    label_of: Integers
    """The number of each section's label, shape (sections,); -1 where it has none."""
    passages: Floats
    """Of the passages as wholes, to the question alone, shape (passages,)."""


def closeness_of_all(comparer: Comparer, query: str, clauses: Sequence[str], corpus: Corpus) -> Closeness:
    """Of every segment, its title and headings before it, and of titles and headings alone.

    Raises ConfigError if the comparer gives something else than one number for each text.
    """
    compare = _comparisons(comparer, [query, *clauses])
    label_of, labels = _numbered(corpus.label_texts)
    return Closeness(
        segments=compare([_labelled(corpus, number) for number in range(len(corpus.texts))]),
        labels=compare([str(label) for label in labels]),
        label_of=label_of,
        passages=np.full(len(corpus.titles), np.nan),
    )


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
    """Of how passages begin, of titles and headings, and of promising segments: what costs a fraction of everything.

    logits: how likely each segment is needed as far as words tell; None where they tell nothing.
    embeddings: of the passages, where they carry one, which is used in place of how the passage begins.
    word_vectors: whether some compare, too, which costs a little.
    Raises ConfigError if the encoder gives something else than one number or vector for each text.
    """
    if isinstance(encoder, Encoder):
        reader: _Vectors | _Pairs = _Vectors(encoder, query, embeddings)
    else:
        reader = _Pairs(encoder, query, passages=len(embeddings))
    allowance = Allowance(corpus.texts, query, everything=logits is None, word_vectors=word_vectors)
    asked = clauses[: reader.most_clauses]
    asked = asked[: allowance.spend(lengths(asked), _SHARE_OF_CLAUSES)]
    segments, labels = _read_as(corpus, ~np.isnan(reader.passages))
    order = promising(corpus, logits, reader.passages).tolist()
    texts = _new(labels[corpus.sections[number]] for number in order)
    texts = texts[: allowance.spend(lengths(texts), _SHARE_OF_LABELS)]
    more = _new((segments[number] for number in order), known=texts)
    texts += more[: allowance.spend(lengths(more), least=_LEAST - len(texts))]
    found = _lookup(texts, *reader.closeness(asked, texts))
    label_of, distinct = _numbered(labels)
    return Closeness(segments=found(segments), labels=found(distinct), label_of=label_of, passages=reader.passages)


def _read_as(corpus: Corpus, carried: NDArray[np.bool_]) -> tuple[list[_Read], list[_Read]]:
    """(what of each segment is compared, what of each section is, "" for nothing)

    A section that is a whole passage is introduced by how it begins, others by title and headings.
    """
    segments: list[_Read] = [_labelled(corpus, number, _BEGINNING) for number in range(len(corpus.texts))]
    labels: list[_Read] = list(corpus.label_texts)
    for start, end in pairwise([*np.flatnonzero(corpus.begins).tolist(), len(segments)]):
        passage, section = int(corpus.passage[start]), corpus.sections[start]
        if end - start == 1 and carried[passage]:
            segments[start] = passage
        if section == corpus.sections[end - 1]:
            labels[section] = passage if carried[passage] else segments[start]
    return segments, labels


def _labelled(corpus: Corpus, number: int, most: int | None = None) -> str:
    """A segment, as many characters at most, with title and headings before it, without which many a sentence says
    little."""
    label, text = corpus.label_texts[corpus.sections[number]], corpus.texts[number].strip()[:most]
    return f"{label}: {text}" if label else text


def _new(read: Iterable[_Read], known: Iterable[str] = ()) -> list[str]:
    """The texts, each once, without those that are known."""
    done = {"", *known}
    return [text for text in dict.fromkeys(read) if isinstance(text, str) and text not in done]


def _numbered(labels: Sequence[_Read]) -> tuple[Integers, list[_Read]]:
    """(the number of each label, -1 for an empty one; the labels, each once)"""
    numbers: dict[_Read, int] = {}
    found = [-1 if label == "" else numbers.setdefault(label, len(numbers)) for label in labels]
    return np.array(found, dtype=np.intp), list(numbers)


def _lookup(texts: Sequence[str], of_texts: Floats, of_passages: Floats) -> Callable[[Sequence[_Read]], Floats]:
    """How close each of what is asked for is, NaN where it was not compared, shape (1 + clauses, asked for)."""
    found = np.hstack([of_texts, of_passages, np.full((len(of_texts), 1), np.nan)])
    column: dict[_Read, int] = {text: number for number, text in enumerate(texts)}
    column |= {passage: len(texts) + passage for passage in range(of_passages.shape[1])}
    return lambda asked_for: found[:, [column.get(read, -1) for read in asked_for]]


class _Vectors:
    """Compares by the cosine of vectors."""

    most_clauses = 5
    """Each costs as much as another text."""

    def __init__(self, encoder: Encoder, query: str, embeddings: Sequence[Sequence[float] | None]) -> None:
        self._encoder = encoder
        encoded = encoder.encode_query(without_surrogates([query])[0])
        self._query = unit(checked_numbers(encoded, "the question", 1))
        self._carried = _carried(embeddings, self._query.size)
        self.passages: Floats = np.einsum("pd,d->p", self._carried, self._query)

    def closeness(self, clauses: Sequence[str], texts: Sequence[str]) -> tuple[Floats, Floats]:
        """(of the texts, shape (1 + clauses, texts); of the passages as wholes, shape (1 + clauses, passages))

        Clauses are encoded as texts are, in one call with them.
        """
        vectors = self._encoded([*clauses, *texts])
        asked = np.vstack([self._query, vectors[: len(clauses)]])
        return (
            np.einsum("ad,td->at", asked, vectors[len(clauses) :]),
            np.einsum("ad,pd->ap", asked, self._carried),
        )

    def _encoded(self, texts: Sequence[str]) -> Floats:
        if not texts:
            return np.empty((0, self._query.size))
        vectors = unit(checked_numbers(self._encoder.encode_document(without_surrogates(texts)), _of(texts), 2))
        if vectors.shape != (len(texts), self._query.size):
            raise ConfigError(
                f"the encoder gave vectors of shape {vectors.shape} for {_of(texts)} and one of "
                f"{self._query.size} numbers for the question; encode_document must return as many, as long"
            )
        return vectors


class _Pairs:
    """Compares as a model does that reads the question and a text together."""

    most_clauses = 0
    """Each would cost as much as all texts together."""

    def __init__(self, comparer: Comparer, query: str, *, passages: int) -> None:
        self._comparer, self._query = comparer, query
        self.passages: Floats = np.full(passages, np.nan)

    def closeness(self, clauses: Sequence[str], texts: Sequence[str]) -> tuple[Floats, Floats]:
        """(of the texts; of the passages as wholes, which is not known)"""
        asked = [self._query, *clauses]
        return _comparisons(self._comparer, asked)(texts), np.tile(self.passages, (len(asked), 1))


def _comparisons(comparer: Comparer, asked: Sequence[str]) -> Callable[[Sequence[str]], Floats]:
    """How close each text is to each of what is asked, shape (asked, texts)."""
    queries = without_surrogates(asked)

    def compare(texts: Sequence[str]) -> Floats:
        if not texts:
            return np.empty((len(queries), 0))
        cleaned = without_surrogates(texts)
        if isinstance(comparer, ManyComparer):
            numbers = checked_numbers(comparer.compare_each(queries, cleaned), _of(texts), 2)
            if numbers.shape != (len(queries), len(texts)):
                raise ConfigError(
                    f"the encoder gave an array of shape {numbers.shape} for {len(queries)} questions and "
                    f"{_of(texts)}; give one number for each question and text"
                )
            return numbers
        rows = [checked_numbers(comparer.compare(query, cleaned), _of(texts), 1) for query in queries]
        for row in rows:
            if row.size != len(texts):
                raise ConfigError(f"the encoder gave {row.size} numbers for {_of(texts)}; give one for each")
        return np.vstack(rows)

    return compare


def _of(texts: Sequence[str]) -> str:
    return f"{len(texts)} texts"


def _carried(embeddings: Sequence[Sequence[float] | None], size: int) -> Floats:
    """The embedding of each passage that carries one of this size, of length 1, else NaN, shape (passages, size)."""
    vectors = np.full((len(embeddings), size), np.nan)
    for number, embedding in enumerate(embeddings):
        if embedding is not None:
            vector = as_numbers(embedding)
            if vector is None or vector.ndim != 1:
                raise InputError(
                    f"the embedding of passage {number} is a {type(embedding).__name__} that is no list of numbers; "
                    "give one, or None"
                )
            if vector.size == size and np.isfinite(vector).all():
                vectors[number] = unit(vector)
    return vectors
