"""Static word vectors: a fast encoder that needs no torch and a few milliseconds for all segments."""

import importlib
import logging
import re
import threading
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise, repeat
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ctxcompress.errors import MissingExtra

__all__ = ["StaticVectors"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_DIMENSIONS = 128
"""The number of dimensions that are compared with a query. The first ones say nearly as much as all 256."""
_BLOCK = 500
"""Number of texts that are summed at a time, so that memory does not grow with the number of texts."""
_WORDS = re.compile(r"\w+").findall
_BEGIN = "▁"
"""Tokens that begin a word begin with this sign."""
_REMEMBERED = 50_000
"""The number of words whose tokens are remembered before new ones are forgotten: about 10 MB."""
_MANY = 2_000
"""A text with this many tokens repeats most of them."""
_LONGEST = 40
"""Longer words are not remembered: they are links, data, or texts without spaces, which hardly come back."""


class StaticVectors:
    """An encoder with the word vectors of the wordllama package (English, 256 dimensions). Nothing is downloaded.

    For comparison with a query, the vector of a text is the sum of its tokens' vectors, weighted by how rare each token
    is among the compared texts, as in Arora et al., "A simple but tough-to-beat baseline for sentence embeddings"
    (2017). For finding duplicates, the vector of a passage is the sum of the vectors of its distinct tokens.

    Loading takes about 0.1 s and 35 MB, so make one object and share it. It is thread-safe.

    Raises MissingExtra without the extra `static`.
    """

    compares_all = True
    language = "en"

    def __init__(self) -> None:
        wordllama = _wordllama()
        # The weights are in the folder of the package. No other place is searched.
        model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
        self._tokens = _Tokens(model.tokenizer)
        self._vectors: NDArray[np.float32] = np.asarray(model.embedding, dtype=np.float32)
        self._compared = np.ascontiguousarray(self._vectors[:, :_DIMENSIONS])

    def compare(self, query: str, texts: Sequence[str], /) -> Floats:
        """Return the cosine of each text with the query, shape (texts,), and 0 for a text without tokens."""
        closeness: Floats = self.compare_each([query], texts)[0]
        return closeness

    def compare_each(self, queries: Sequence[str], texts: Sequence[str], /) -> Floats:
        """Return `compare` for each query, shape (queries, texts), while encoding the texts only once."""
        asked, compared = list(map(_WORDS, queries)), list(map(_WORDS, texts))
        of_texts, _ = self.compare_words(asked, compared, (), np.full(len(texts), -1))
        return of_texts

    def compare_words(
        self,
        queries: Sequence[Sequence[str]],
        texts: Sequence[Sequence[str]],
        labels: Sequence[Sequence[str]],
        label_of: Integers,
        /,
    ) -> tuple[Floats, Floats]:
        """Return how close texts are with their labels before them, as `compare_each` does, and how close labels are.

        The texts are given as words, and every label is read once. Tokens weigh the same in labels and texts.
        label_of: the number of each text's label, -1 for none.
        """
        tokens, text_of = self._tokens.of([*queries, *labels, *texts])
        distinct, place = self._numbered(tokens)
        asked, of_labels, of_texts = _divided(place, text_of, len(queries), len(labels), len(texts))
        frequency = _frequency(of_texts, of_labels, label_of, distinct.size)
        weighted = self._compared[distinct]
        weighted *= np.log1p((len(texts) + 0.5 - frequency) / (frequency + 0.5)).astype(np.float32)[:, np.newaxis]
        directions = _unit(asked.sums(weighted))
        label_sums = of_labels.sums(weighted)
        padded = np.vstack([label_sums, np.zeros_like(weighted[:1])])  # the last one stands for no label
        closeness = np.zeros((len(queries), len(texts)))
        for start in range(0, len(texts), _BLOCK):
            block = slice(start, start + _BLOCK)
            sums = of_texts.sums(weighted, start, start + _BLOCK)
            if labels:
                sums += padded[label_of[block]]
            closeness[:, block] = np.einsum("td,qd->qt", _unit(sums), directions)
        return closeness, np.einsum("ld,qd->ql", _unit(label_sums), directions).astype(float)

    def pieces(self, words: Sequence[str], /) -> tuple[int, int]:
        """Return the number of tokens of these words, and 0: characters without a token are cut into bytes."""
        return self._tokens.of_words(list(words))[0].size, 0

    def _numbered(self, tokens: Integers) -> tuple[Integers, Integers]:
        """Return the distinct tokens and the number of each token among them, as np.unique does, but sooner."""
        numbers = np.zeros(len(self._vectors), dtype=np.int64)
        numbers[tokens] = 1
        distinct = np.flatnonzero(numbers)
        numbers[distinct] = np.arange(distinct.size)
        return distinct, numbers[tokens]

    def encode_passages(self, texts: Sequence[str], /) -> Floats:
        """Return vectors of length 1 for passages, shape (texts, 256), and zeros for a text without tokens.

        A token counts once, however often it occurs. Measured on 12,000 pairs of English passages of eight kinds, a
        threshold on the cosine of these vectors agrees best with the same threshold for all-MiniLM-L6-v2, from 0.7 to
        0.95 (at 0.85: precision .92, recall .82).
        """
        vectors = np.zeros((len(texts), self._vectors.shape[1]))
        for start in range(0, len(texts), _BLOCK):
            tokens, text_of = self._tokens.of(list(map(_WORDS, texts[start : start + _BLOCK])))
            text_of, tokens = np.divmod(np.unique(text_of * len(self._vectors) + tokens), len(self._vectors))
            size = min(_BLOCK, len(texts) - start)
            vectors[start : start + size] = _unit(_Bags(tokens, text_of, size).sums(self._vectors))
        return vectors

    def __reduce__(self) -> tuple[type["StaticVectors"], tuple[()]]:
        # The vectors are loaded from the package, not pickled.
        return StaticVectors, ()


class _Tokens:
    """The tokenizer of the word vectors, which remembers the tokens of words. It is thread-safe."""

    __slots__ = ("_begins", "_known", "_lock", "_several", "_tokenizer")

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._tokenizer.no_padding()  # padding would count as words
        vocabulary: dict[str, int] = tokenizer.get_vocab()
        self._lock = threading.Lock()
        # A word that is in the vocabulary is one token.
        self._known = {token[1:]: number for token, number in vocabulary.items() if token[0] == _BEGIN}
        self._begins = np.zeros(len(vocabulary), dtype=np.bool_)
        self._begins[list(self._known.values())] = True
        self._several: dict[str, tuple[int, ...]] = {}

    def of(self, texts: Sequence[Sequence[str]]) -> tuple[Integers, Integers]:
        """Return the tokens of the words of all texts in order, and for each token the number of its text."""
        words = list(chain.from_iterable(texts))
        distinct = dict.fromkeys(words)
        numbers = dict(zip(distinct, range(len(distinct)), strict=True))
        flat, size = self.of_words(list(distinct))
        length = np.fromiter(map(len, texts), np.int64, len(texts))
        word = np.fromiter(map(numbers.__getitem__, words), np.int64, len(words))
        text_of = np.repeat(np.arange(len(texts)), length)
        if flat.size == size.size:
            return flat[word], text_of
        place, times = _ranges((np.cumsum(size) - size)[word], size[word])
        return flat[place], np.repeat(text_of, times)

    def of_words(self, words: list[str]) -> tuple[Integers, Integers]:
        """Return the tokens of these words, one word after the other, and how many each word has."""
        tokens = np.fromiter(map(self._known.get, words, repeat(-1)), np.int64, len(words))
        size = np.ones(len(words), np.int64)
        others = np.flatnonzero(tokens < 0)
        if not others.size:
            return tokens, size
        pieces = self._of_several([words[number] for number in others.tolist()])
        size[others] = np.fromiter(map(len, pieces), np.int64, len(pieces))
        flat = np.repeat(tokens, size)
        flat[flat < 0] = np.fromiter(chain.from_iterable(pieces), np.int64, int(size[others].sum()))
        return flat, size

    def _of_several(self, words: list[str]) -> list[tuple[int, ...]]:
        """Return the tokens of each of these words, which are not in the vocabulary."""
        with self._lock:
            found = list(map(self._several.get, words))
            new = [word for word, pieces in zip(words, found, strict=True) if pieces is None]
            if not new:
                return cast("list[tuple[int, ...]]", found)
            fresh = dict(zip(new, self._tokenized(new), strict=True))
            if len(self._several) > _REMEMBERED:
                self._several.clear()
            self._several.update((word, pieces) for word, pieces in fresh.items() if len(word) <= _LONGEST)
        return [fresh[word] if pieces is None else pieces for word, pieces in zip(words, found, strict=True)]

    def _tokenized(self, words: list[str]) -> Iterator[tuple[int, ...]]:
        """Yield the tokens of each word. A call for many words costs half as much as a call for each."""
        for start in range(0, len(words), _BLOCK):
            joined = " ".join(words[start : start + _BLOCK])
            ids = self._tokenizer.encode(joined, add_special_tokens=False).ids
            for first, last in pairwise([*np.flatnonzero(self._begins[ids]).tolist(), len(ids)]):
                yield tuple(ids[first:last])


class _Bags:
    """The tokens of texts, one text after the other."""

    __slots__ = ("starts", "text_of", "tokens")

    def __init__(self, tokens: Integers, text_of: Integers, texts: int) -> None:
        """text_of: the number of each token's text, ascending."""
        self.tokens, self.text_of = tokens, text_of
        self.starts: list[int] = np.searchsorted(text_of, np.arange(texts + 1)).tolist()

    def sums(self, vectors: NDArray[np.float32], start: int = 0, end: int | None = None) -> NDArray[np.float32]:
        """Return the sum of the vectors of each text's tokens, shape (texts, dimensions).

        vectors: one row per token. start, end: the first text, and the one after the last.
        """
        starts = self.starts[start : None if end is None else end + 1]
        sums = np.zeros((len(starts) - 1, vectors.shape[1]), dtype=np.float32)
        for number, (first, last) in enumerate(pairwise(starts)):
            tokens = self.tokens[first:last]
            if tokens.size < _MANY:
                np.add.reduce(vectors[tokens], axis=0, out=sums[number])  # much faster than one `reduceat`
            else:  # without a copy of a vector for every token of a book
                distinct, times = np.unique(tokens, return_counts=True)
                np.einsum("td,t->d", vectors[distinct], times.astype(np.float32), out=sums[number])
        return sums


def _divided(tokens: Integers, text_of: Integers, *sizes: int) -> Iterator[_Bags]:
    """Yield the texts in groups of these sizes."""
    ends = np.cumsum(sizes)
    bounds = [0, *np.searchsorted(text_of, ends).tolist()]
    for (first, last), size, end in zip(pairwise(bounds), sizes, ends.tolist(), strict=True):
        yield _Bags(tokens[first:last], text_of[first:last] - (end - size), size)


def _frequency(texts: _Bags, labels: _Bags, label_of: Integers, tokens: int) -> Integers:
    """Return for each token in how many texts it occurs, or in their labels, shape (tokens,)."""
    keys = texts.text_of * tokens + texts.tokens
    if labels.tokens.size:
        keys = np.concatenate([keys, _under_labels(labels, label_of, tokens)])
    keys.sort()
    distinct = keys[np.diff(keys, prepend=-1) > 0]
    return np.bincount(distinct % max(tokens, 1), minlength=tokens)


def _under_labels(labels: _Bags, label_of: Integers, tokens: int) -> Integers:
    """Return a key (text * tokens + token) for each text and each token of its label."""
    texts = np.flatnonzero(label_of >= 0)
    starts = np.array(labels.starts)
    first = starts[label_of[texts]]
    place, lengths = _ranges(first, starts[label_of[texts] + 1] - first)
    return np.repeat(texts, lengths) * tokens + labels.tokens[place]


def _ranges(starts: Integers, lengths: Integers) -> tuple[Integers, Integers]:
    """Return (all numbers of these ranges, one range after the other, the lengths)."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if ends.size else 0
    return np.arange(total) + np.repeat(starts + lengths - ends, lengths), lengths


def _unit(sums: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the vectors scaled to length 1. Zero vectors stay zero."""
    squares = np.einsum("td,td->t", sums, sums)
    unit: NDArray[np.float32] = sums / np.maximum(np.sqrt(squares), np.float32(1e-12))[:, np.newaxis]
    return unit


def _wordllama() -> Any:
    """Import wordllama and undo its changes to the root logger, which belongs to the program."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        return importlib.import_module("wordllama")
    except ImportError as error:
        raise MissingExtra("StaticVectors needs wordllama; pip install 'ctxcompress[static]'") from error
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
