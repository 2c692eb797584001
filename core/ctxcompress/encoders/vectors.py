"""Numbers and vectors of encoders: checks of what they return, and the closeness of sums of vectors of tokens.

A token weighs the more the rarer it is among the compared texts, as in Arora et al., "A simple but tough-to-beat
baseline for sentence embeddings" (2017).
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ctxcompress.errors import ConfigError

__all__ = [
    "BLOCK",
    "Bags",
    "Floats",
    "Integers",
    "as_numbers",
    "checked_numbers",
    "closeness_of_bags",
    "ranges",
    "unit",
    "unit_rows",
    "without_surrogates",
]

Floats = NDArray[np.float64]
Integers = NDArray[np.signedinteger]


def without_surrogates(texts: Sequence[str]) -> list[str]:
    """Return the texts without lone surrogates, which tokenizers reject."""
    return [text.encode("utf-8", "replace").decode("utf-8") for text in texts]


def as_numbers(values: object) -> Floats | None:
    """Return the values as an array, or None if they are not numbers."""
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError, OverflowError, RuntimeError):  # torch raises the last for tensors with a gradient
        return None


def checked_numbers(values: ArrayLike, of: str, dimensions: int) -> Floats:
    """Return the result of an encoder as an array of finite numbers.

    of: what the encoder was asked about, for the message. dimensions: the number of dimensions that it must have.

    Raises ConfigError if the result is anything else.
    """
    array = as_numbers(values)
    if array is None:
        raise ConfigError(f"the encoder gave a {type(values).__name__} for {of}; give an array of numbers")
    if array.ndim != dimensions:
        raise ConfigError(f"the encoder gave an array of shape {array.shape} for {of}; give {dimensions} dimensions")
    if not np.isfinite(array).all():
        raise ConfigError(f"the encoder gave NaN or infinity for {of}; give finite numbers")
    return array


def unit(vectors: Floats) -> Floats:
    """Return the vectors scaled to length 1. Zero vectors stay zero."""
    # Scaled by the largest value first, so that no square overflows.
    scaled = vectors / np.maximum(np.abs(vectors).max(axis=-1, keepdims=True, initial=0.0), 1e-300)
    result: Floats = scaled / np.maximum(np.linalg.norm(scaled, axis=-1, keepdims=True), 1e-12)
    return result


BLOCK = 500
"""Number of texts that are summed at a time, so that memory does not grow with the number of texts."""
_MANY, _TOGETHER = 2_000, 500
"""Tokens of a text that repeats most of them; and, with padding, those whose vectors are summed in one step."""


def closeness_of_bags(
    tokens: Integers,
    text_of: Integers,
    sizes: tuple[int, int, int],
    label_of: Integers,
    vectors_of: Callable[[Integers], NDArray[np.float32]],
) -> tuple[Floats, Floats]:
    """Return the cosines of texts with their labels before them, shape (queries, texts), and of labels alone, shape
    (queries, labels), with queries; 0 for a text without tokens.

    tokens: of all queries, then labels, then texts, and text_of the number of each token's text, ascending. sizes: how
    many queries, labels and texts there are. label_of: the number of each text's label, -1 for none. vectors_of: the
    vectors of tokens, a row each, which it may be asked for once.
    """
    queries, labels, texts = sizes
    first = queries + labels
    distinct, place = _numbered(tokens)
    bags = Bags(place, text_of, first + texts)
    frequency = _frequency(bags, queries, first, label_of, distinct.size)
    weighted = vectors_of(distinct)
    weighted *= np.log1p((texts + 0.5 - frequency) / (frequency + 0.5)).astype(np.float32)[:, np.newaxis]
    sums = bags.sums(weighted, 0, first)
    directions, label_sums = unit_rows(sums[:queries]), sums[queries:]
    padded = np.vstack([label_sums, np.zeros_like(weighted, shape=(1, weighted.shape[1]))])  # the last is no label's
    closeness = np.zeros((queries, texts))
    for start in range(0, texts, BLOCK):
        block = slice(start, start + BLOCK)
        sums = bags.sums(weighted, first + start, first + start + BLOCK)
        if labels:
            sums += padded[label_of[block]]
        closeness[:, block] = np.einsum("td,qd->qt", unit_rows(sums), directions)
    return closeness, np.einsum("ld,qd->ql", unit_rows(label_sums), directions).astype(float)


def _numbered(tokens: Integers) -> tuple[Integers, Integers]:
    """Return the distinct tokens and the number of each token among them, as np.unique does, but sooner."""
    occurs = np.zeros(int(tokens.max(initial=-1)) + 1, dtype=bool)
    occurs[tokens] = True
    distinct = occurs.nonzero()[0]
    numbers = np.empty(occurs.size, dtype=np.int64)  # only those of the distinct tokens are ever touched
    numbers[distinct] = np.arange(distinct.size)
    return distinct, numbers[tokens]


class Bags:
    """The tokens of texts, one text after the other."""

    def __init__(self, tokens: Integers, text_of: Integers, texts: int) -> None:
        """text_of: the number of each token's text, ascending."""
        self.tokens, self.text_of = tokens, text_of
        self.starts: list[int] = np.searchsorted(text_of, np.arange(texts + 1)).tolist()

    def sums(self, vectors: NDArray[np.float32], start: int = 0, end: int | None = None) -> NDArray[np.float32]:
        """Return the sum of the vectors of each text's tokens, shape (texts, dimensions).

        vectors: one row per token. start, end: the first text, and the one after the last.
        """
        bounds = np.array(self.starts[start : None if end is None else end + 1])
        sizes = bounds[1:] - bounds[:-1]
        sums = np.zeros((sizes.size, vectors.shape[1]), dtype=np.float32)
        order, done = (-sizes).argsort(kind="stable"), 0  # texts that are about as long need little padding
        while done < order.size and (longest := sizes[order[done]]):
            some = order[done : done + max(1, _TOGETHER // longest)]
            sums[some] = self._together(vectors, bounds[some], sizes[some])
            done += some.size
        return sums

    def _together(self, vectors: NDArray[np.float32], starts: Integers, sizes: Integers) -> NDArray[np.float32]:
        """Return the sums of some texts, the longest first, in one step: much faster than `reduceat`."""
        if sizes[0] >= _MANY:  # it is alone; without a copy of a vector for every token of a book
            distinct, times = np.unique(self.tokens[starts[0] : starts[0] + sizes[0]], return_counts=True)
            return np.asarray(np.einsum("td,t->d", vectors[distinct], times.astype(np.float32)))
        place = np.arange(sizes[0])
        within = place < sizes[:, np.newaxis]
        rows = vectors[self.tokens[np.where(within, starts[:, np.newaxis] + place, 0)]]
        rows[~within] = 0.0
        return np.asarray(np.add.reduce(rows, axis=1))


def _frequency(bags: Bags, queries: int, first: int, label_of: Integers, tokens: int) -> Integers:
    """Return for each token in how many texts it occurs, or in their labels, shape (tokens,).

    queries, first: the number of the first label and of the first text.
    """
    begin = bags.starts[first]
    keys = (bags.text_of[begin:] - first) * np.int64(tokens) + bags.tokens[begin:]
    if bags.starts[queries] < begin:
        keys = np.concatenate([keys, _under_labels(bags, queries, label_of, tokens)])
    keys.sort()
    distinct = keys[np.concatenate([keys[:1] >= 0, keys[1:] != keys[:-1]])]
    return np.bincount(np.remainder(distinct, max(tokens, 1), out=distinct), minlength=tokens)


def _under_labels(bags: Bags, queries: int, label_of: Integers, tokens: int) -> Integers:
    """Return a key (text * tokens + token) for each text and each token of its label."""
    texts = (label_of >= 0).nonzero()[0]
    starts, labels = np.array(bags.starts), queries + label_of[texts]
    place, lengths = ranges(starts[labels], starts[labels + 1] - starts[labels])
    return texts.repeat(lengths) * tokens + bags.tokens[place]


def ranges(starts: Integers, lengths: Integers) -> tuple[Integers, Integers]:
    """Return (all numbers of these ranges, one range after the other, the lengths)."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if ends.size else 0
    return np.arange(total) + np.repeat(starts + lengths - ends, lengths), lengths


def unit_rows(sums: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the vectors scaled to length 1. Zero vectors stay zero."""
    squares = np.einsum("td,td->t", sums, sums)
    unit: NDArray[np.float32] = sums / np.maximum(np.sqrt(squares), np.float32(1e-12))[:, np.newaxis]
    return unit
