"""Static word vectors: the table of this package, and an encoder with those of wordllama; neither needs torch."""

import importlib
import logging
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, pairwise, repeat
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ctxcompress.encoders import WORDS, encoder_named
from ctxcompress.encoders.vectors import BLOCK, Bags, Floats, Integers, closeness_of_bags, ranges, unit_rows
from ctxcompress.errors import MissingExtra

__all__ = ["StaticVectors", "WordTable"]

_DIMENSIONS = 128
"""The number of dimensions that are compared with a query. The first ones say nearly as much as all 256."""
_WORDS = re.compile(r"\w+").findall
_BEGIN = "▁"
"""Tokens that begin a word begin with this sign."""
_REMEMBERED, _LONGEST = 50_000, 40
"""Words whose tokens are remembered at once, about 10 MB, and their letters: links and data hardly come back."""


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
        sizes = len(queries), len(labels), len(texts)
        return closeness_of_bags(tokens, text_of, sizes, label_of, self._compared.__getitem__)

    def pieces(self, words: Sequence[str], /) -> tuple[int, int]:
        """Return the number of tokens of these words, and 0: characters without a token are cut into bytes."""
        return self._tokens.of_words(list(words))[0].size, 0

    def encode_passages(self, texts: Sequence[str], /) -> Floats:
        """Return vectors of length 1 for passages, shape (texts, 256), and zeros for a text without tokens.

        A token counts once, however often it occurs. Measured on 12,000 pairs of English passages of eight kinds, a
        threshold on the cosine of these vectors agrees best with the same threshold for all-MiniLM-L6-v2, from 0.7 to
        0.95 (at 0.85: precision .92, recall .82).
        """
        vectors = np.zeros((len(texts), self._vectors.shape[1]))
        for start in range(0, len(texts), BLOCK):
            tokens, text_of = self._tokens.of(list(map(_WORDS, texts[start : start + BLOCK])))
            text_of, tokens = np.divmod(np.unique(text_of * len(self._vectors) + tokens), len(self._vectors))
            size = min(BLOCK, len(texts) - start)
            vectors[start : start + size] = unit_rows(Bags(tokens, text_of, size).sums(self._vectors))
        return vectors

    def __reduce__(self) -> tuple[type["StaticVectors"], tuple[()]]:
        # The vectors are loaded from the package, not pickled.
        return StaticVectors, ()


class WordTable:
    """A comparer with a vector for each of 36,000 English words. A word without a vector says nothing.

    benchmarks/word_table.py made the table of the vectors of wordllama. `words.LICENSE.txt` has the licences of its
    sources. Reading it takes about 15 ms and 10 MB, once, when English texts are first scored. It is thread-safe.
    """

    compares_all = True
    language = "en"

    def __init__(self) -> None:
        with np.load(Path(__file__).with_name("words.npz")) as table:
            words = table["words"].tobytes().decode().split("\n")
            self._vectors: NDArray[np.int8] = table["vectors"]
            self._scales: NDArray[np.float32] = table["scales"].astype(np.float32)
        self._numbers = dict(zip(words, range(len(words)), strict=True))

    def compare(self, query: str, texts: Sequence[str], /) -> Floats:
        """Return the cosine of each text with the query, shape (texts,), and 0 for a text without known words."""
        split = [_WORDS(text.lower()) for text in (query, *texts)]
        closeness: Floats = self.compare_words(split[:1], split[1:], (), np.full(len(texts), -1))[0][0]
        return closeness

    def compare_words(
        self,
        queries: Sequence[Sequence[str]],
        texts: Sequence[Sequence[str]],
        labels: Sequence[Sequence[str]],
        label_of: Integers,
        /,
    ) -> tuple[Floats, Floats]:
        """Return how close texts are with their labels before them, and how close labels are: see `closeness_of_bags`.

        All are given as words in lower case.
        """
        bags = [*queries, *labels, *texts]
        lengths = np.fromiter(map(len, bags), np.int64, len(bags))
        words = chain.from_iterable(bags)
        numbers = np.fromiter(map(self._numbers.get, words, repeat(-1)), np.int32, int(lengths.sum()))
        text_of = np.repeat(np.arange(len(bags), dtype=np.int32), lengths)
        known = numbers >= 0
        sizes = len(queries), len(labels), len(texts)
        return closeness_of_bags(numbers[known], text_of[known], sizes, label_of, self._rows)

    def __reduce__(self) -> tuple[Callable[[str], object], tuple[str]]:
        return encoder_named, (WORDS,)  # each process reads the table of its own

    def _rows(self, numbers: Integers) -> NDArray[np.float32]:
        rows: NDArray[np.float32] = self._vectors[numbers] * self._scales[numbers, np.newaxis]
        return rows


class _Tokens:
    """The tokenizer of the word vectors, which remembers the tokens of words. It is thread-safe."""

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
        place, times = ranges((np.cumsum(size) - size)[word], size[word])
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
        for start in range(0, len(words), BLOCK):
            joined = " ".join(words[start : start + BLOCK])
            ids = self._tokenizer.encode(joined, add_special_tokens=False).ids
            for first, last in pairwise([*np.flatnonzero(self._begins[ids]).tolist(), len(ids)]):
                yield tuple(ids[first:last])


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
