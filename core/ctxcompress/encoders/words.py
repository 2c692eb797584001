"""The word table of this package: vectors of the commonest English words, for closeness in meaning without a model.

benchmarks/word_table.py made it of the vectors of wordllama. `words.LICENSE.txt` has the licences of its sources.
"""

import re
from collections.abc import Callable, Sequence
from itertools import chain, repeat
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ctxcompress.encoders import WORDS, encoder_named
from ctxcompress.encoders.vectors import Floats, Integers, closeness_of_bags

__all__ = ["WordTable"]

_WORDS = re.compile(r"\w+").findall


class WordTable:
    """A comparer with a vector for each of 36,000 English words. A word without a vector says nothing.

    Reading it takes about 15 ms and 10 MB, once, when English texts are first scored. It is thread-safe.
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
        words = list(chain.from_iterable(bags))
        numbers = np.fromiter(map(self._numbers.get, words, repeat(-1)), np.int64, len(words))
        text_of = np.repeat(np.arange(len(bags)), np.fromiter(map(len, bags), np.int64, len(bags)))
        known = numbers >= 0
        sizes = len(queries), len(labels), len(texts)
        return closeness_of_bags(numbers[known], text_of[known], sizes, label_of, self._rows)

    def __reduce__(self) -> tuple[Callable[[str], object], tuple[str]]:
        return encoder_named, (WORDS,)  # each process reads the table of its own

    def _rows(self, numbers: Integers) -> NDArray[np.float32]:
        rows: NDArray[np.float32] = self._vectors[numbers] * self._scales[numbers, np.newaxis]
        return rows
