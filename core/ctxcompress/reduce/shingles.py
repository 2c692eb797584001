"""Passages as sets of shingles, runs of three words, and which of them may be alike.

In scripts without spaces between words a character counts as a word.
"""

import importlib.util
import string
from collections import defaultdict
from collections.abc import Sequence
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from ctxcompress.text.words import has_unspaced, split_unspaced

__all__ = ["MANY", "Shingles"]

MANY = 500
"""Texts beyond which MinHash is used where it is installed: its keys are few however long the passages are."""
_PERMUTATIONS = 128
_MISSED = 0.001
"""Share of the pairs right at the threshold that MinHash may overlook."""

_PUNCTUATION = dict.fromkeys(map(ord, string.punctuation))
"""What is deleted, so that a comma more or less does not matter."""

Integers = NDArray[np.uint64]
Numbers = NDArray[np.intp]


class Shingles:
    """The shingles of several texts, as numbers. Texts of fewer than three words have none."""

    __slots__ = ("_flat", "_known", "_starts")

    def __init__(self, texts: Sequence[str]) -> None:
        self._flat, self._starts = _runs([_words(text) for text in texts])
        self._known: dict[int, frozenset[int]] = {}

    def similarity(self, one: int, other: int) -> float:
        """The Jaccard index of two texts: what they share of all they have, 0 to 1."""
        a, b = self._set(one), self._set(other)
        shared = len(a & b)
        return shared / (len(a) + len(b) - shared) if shared else 0.0

    def keys(self, threshold: float) -> list[list[int]]:
        """Of each text some numbers, of which two texts have one in common if they are that similar.

        Up to a few hundred texts this holds for every pair, beyond for nearly every one. What no other text has is
        left out.
        """
        many = len(self._starts) > MANY + 1 and importlib.util.find_spec("rensa")
        keys, of_text = self._bands(threshold) if many else self._prefixes(threshold)
        _, number, counts = np.unique(keys, return_inverse=True, return_counts=True)
        shared = counts[number] > 1
        starts = np.searchsorted(of_text[shared], np.arange(len(self._starts)))
        found = number[shared]
        return [found[start:end].tolist() for start, end in pairwise(starts.tolist())]

    def _set(self, text: int) -> frozenset[int]:
        if text not in self._known:
            self._known[text] = frozenset(self._flat[self._starts[text] : self._starts[text + 1]].tolist())
        return self._known[text]

    def _prefixes(self, threshold: float) -> tuple[Integers, Numbers]:
        """The rarest shingles of each text: as many as two texts cannot both lack in common and be that similar.

        The prefix filter of Chaudhuri et al., "A primitive operator for similarity joins" (2006).
        """
        _, number, counts = np.unique(self._flat, return_inverse=True, return_counts=True)
        distinct = max(counts.size, 1)
        rarity = np.empty(counts.size, dtype=np.intp)
        rarity[np.argsort(counts, kind="stable")] = np.arange(counts.size)
        of_shingle = np.repeat(np.arange(len(self._starts) - 1), np.diff(self._starts))
        rare = np.sort(of_shingle * distinct + rarity[number])
        rare = rare[np.diff(rare, prepend=-1) > 0]
        of_text, rare = np.divmod(rare, distinct)
        starts = np.searchsorted(of_text, np.arange(len(self._starts)))
        sizes = np.diff(starts)
        prefixes = sizes - np.ceil(threshold * sizes - 1e-9).astype(np.intp) + 1
        chosen = np.arange(rare.size) - starts[of_text] < prefixes[of_text]
        return rare[chosen].astype(np.uint64), of_text[chosen]

    def _bands(self, threshold: float) -> tuple[Integers, Numbers]:
        """MinHash signatures in bands (Leskovec et al., "Mining of massive datasets", chapter 3)."""
        from rensa import RMinHash

        offsets = np.array(self._starts, dtype=np.uint64)
        digests = RMinHash.digest_matrix_from_flat_token_hashes(self._flat, offsets, _PERMUTATIONS, 0)
        signatures = np.array(digests.to_rows(), dtype=np.uint64).reshape(-1, _PERMUTATIONS)
        rows = max(r for r in (1, 2, 4, 8, 16) if r == 1 or (1 - threshold**r) ** (_PERMUTATIONS // r) < _MISSED)
        bands = signatures.reshape(len(signatures), -1, rows)
        keys = np.zeros(bands.shape[:2], dtype=np.uint64) + np.arange(bands.shape[1], dtype=np.uint64)
        for row in range(rows):
            keys = _mixed(keys ^ bands[:, :, row])
        filled = np.flatnonzero(np.diff(self._starts))
        return keys[filled].ravel(), np.repeat(filled, keys.shape[1])


def _words(text: str) -> list[str]:
    if has_unspaced(text):
        return split_unspaced(text.lower())
    return text.lower().translate(_PUNCTUATION).split()


def _runs(words: Sequence[Sequence[str]]) -> tuple[Integers, list[int]]:
    """A number for each run of three words, text after text, and where each text begins among them."""
    vocabulary: defaultdict[str, int] = defaultdict()
    vocabulary.default_factory = vocabulary.__len__
    lengths = np.fromiter(map(len, words), np.intp, len(words))
    flat = map(vocabulary.__getitem__, chain.from_iterable(words))
    numbers = np.fromiter(flat, np.uint64, int(lengths.sum()))
    of_text = np.repeat(np.arange(len(words)), lengths)
    base = np.uint64(max(len(vocabulary), 1))  # beyond 2.6 million words the product wraps, and serves as a hash
    runs = (numbers[:-2] * base + numbers[1:-1]) * base + numbers[2:]
    starts = np.cumsum(np.maximum(lengths - 2, 0))
    return runs[of_text[2:] == of_text[:-2]], [0, *starts.tolist()]


def _mixed(keys: Integers) -> Integers:
    """Every bit of the result depends on all of the input's: the finalizer of SplitMix64."""
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))
