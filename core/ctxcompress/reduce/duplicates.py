"""Exact duplicates, near-duplicates and duplicates in meaning.

Each search goes through the texts from the best to the worst. A text that is similar to the leader of a cluster joins
it, or the best of several; any other text leads a new cluster. So every member is similar to its leader: a chain of
texts, each a little different from the one before, does not become one cluster.
"""

import string
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from ctxcompress.data.passages import Passage
from ctxcompress.data.table import Floats
from ctxcompress.encoders.encoder import Encoder, PassageVectors
from ctxcompress.encoders.vectors import as_numbers, checked_numbers, unit, without_surrogates
from ctxcompress.errors import ConfigError
from ctxcompress.reduce.differences import Particulars
from ctxcompress.text.words import has_unspaced, split_unspaced

__all__ = ["MANY", "DeliveredTexts", "Shingles", "exact_duplicates", "near_duplicates", "same_meaning"]

Hashes = NDArray[np.uint64]
Numbers = NDArray[np.intp]
Leaders = dict[int, int]
"""Number of a duplicate -> number of the text that stands for it."""
_SHORTEST = 12
"""Characters: shorter texts, such as "yes" in a list, are no duplicates."""
_FIRST_WORDS = 8
"""The words at the beginning by which texts are told apart before all of their words are compared."""
MANY = 500
"""For more texts than this, a text is compared with few of those that share a key with it."""
_MOST_CANDIDATES = 8
"""The most leaders per key, and to compare a text with, if there are many texts: comparing with all of them would take
quadratic time."""
_MOST_ALIKE = 32
"""The most leaders with a close vector to compare a text with: some embeddings are all the same."""
_PUNCTUATION = dict.fromkeys(map(ord, string.punctuation))
"""Deleted from texts, so that a missing comma makes no difference."""
_ROUNDING = 1e-6
_CELLS = 2**22
"""The most products of vectors in memory at a time."""


def exact_duplicates(texts: Sequence[str]) -> Leaders:
    """Find the texts that are the same except for white space."""
    beginnings = [tuple(text.split(None, _FIRST_WORDS)[:_FIRST_WORDS]) for text in texts]
    times = Counter(beginnings)  # most texts begin like no other
    first: dict[str, int] = {}
    leaders: Leaders = {}
    for number, text in enumerate(texts):
        words = " ".join(text.split()) if len(text) >= _SHORTEST and times[beginnings[number]] > 1 else ""
        if len(words) >= _SHORTEST and first.setdefault(words, number) != number:
            leaders[number] = first[words]
    return leaders


def near_duplicates(texts: Sequence[str], threshold: float, particulars: Particulars) -> Leaders:
    """Find the texts whose shingles are similar enough and that have the same particulars."""
    shingles = Shingles(texts)
    keys = shingles.keys(threshold)
    most = len(texts) if len(texts) <= MANY else _MOST_CANDIDATES
    leading: dict[int, list[int]] = {}  # key -> the leaders that have it
    leaders: Leaders = {}
    for number in range(len(texts)):
        found = [leader for key in keys[number] for leader in leading.get(key, ())]
        similar = set(found)
        for leader in sorted(similar if len(similar) <= most else (one for one, _ in Counter(found).most_common(most))):
            if shingles.similarity(number, leader) >= threshold and particulars.kept_by(leader, number):
                leaders[number] = leader
                break
        else:
            for key in keys[number]:
                of_key = leading.setdefault(key, [])
                if len(of_key) < most:
                    of_key.append(number)
    return leaders


def same_meaning(vectors: Floats, threshold: float, particulars: Particulars) -> Leaders:
    """Find the texts whose vectors have at least this cosine and that have the same particulars.

    vectors: of length 1, or of length 0, which are close to none; shape (texts, dimensions).
    """
    count = len(vectors)
    leads = np.ones(count, dtype=bool)
    leaders: Leaders = {}
    rows = max(1, _CELLS // max(count, 1))
    for start in range(0, count, rows):
        close = vectors[start : start + rows] @ vectors[: start + rows].T >= threshold - _ROUNDING
        for number, similar in enumerate(close, start):
            others = np.flatnonzero(similar[:number] & leads[:number])[:_MOST_ALIKE].tolist()
            leader = next((other for other in others if particulars.kept_by(other, number)), None)
            if leader is not None:
                leaders[number], leads[number] = leader, False
    return leaders


class Shingles:
    """The shingles (runs of three words) of several texts, as numbers. Texts of fewer than three words have none."""

    __slots__ = ("_flat", "_known", "_starts")

    def __init__(self, texts: Sequence[str]) -> None:
        self._flat, self._starts = _numbered_shingles([_words(text) for text in texts])
        self._known: dict[int, frozenset[int]] = {}

    def similarity(self, one: int, other: int) -> float:
        """Return the Jaccard index of the shingles of two texts, 0 to 1."""
        a, b = self._set(one), self._set(other)
        shared = len(a & b)
        return shared / (len(a) + len(b) - shared) if shared else 0.0

    def keys(self, threshold: float) -> list[list[int]]:
        """Return keys for each text: two texts at least this similar have a key in common.

        Keys of a single text are not returned.
        """
        keys, of_text = self._prefixes(threshold)
        _, number, counts = np.unique(keys, return_inverse=True, return_counts=True)
        shared = counts[number] > 1
        starts = np.searchsorted(of_text[shared], np.arange(len(self._starts)))
        found = number[shared]
        return [found[start:end].tolist() for start, end in pairwise(starts.tolist())]

    def _set(self, text: int) -> frozenset[int]:
        if text not in self._known:
            self._known[text] = frozenset(self._flat[self._starts[text] : self._starts[text + 1]].tolist())
        return self._known[text]

    def _prefixes(self, threshold: float) -> tuple[Hashes, Numbers]:
        """Return the rarest shingles of each text: so many that two similar texts must have one of them in common.

        This is the prefix filter of Chaudhuri et al., "A primitive operator for similarity joins" (2006).
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


def _words(text: str) -> list[str]:
    if has_unspaced(text):
        return split_unspaced(text.lower())
    return text.lower().translate(_PUNCTUATION).split()


def _numbered_shingles(words: Sequence[Sequence[str]]) -> tuple[Hashes, list[int]]:
    """Return a number for each run of three words, text after text, and the place where each text begins."""
    vocabulary: defaultdict[str, int] = defaultdict()
    vocabulary.default_factory = vocabulary.__len__
    lengths = np.fromiter(map(len, words), np.intp, len(words))
    flat = map(vocabulary.__getitem__, chain.from_iterable(words))
    numbers = np.fromiter(flat, np.uint64, int(lengths.sum()))
    of_text = np.repeat(np.arange(len(words)), lengths)
    base = np.uint64(max(len(vocabulary), 1))  # beyond 2.6 million words the product wraps and serves as a hash
    runs = (numbers[:-2] * base + numbers[1:-1]) * base + numbers[2:]
    starts = np.cumsum(np.maximum(lengths - 2, 0))
    return runs[of_text[2:] == of_text[:-2]], [0, *starts.tolist()]


@dataclass(frozen=True, slots=True)
class DeliveredTexts:
    """The passages that were delivered before, which stand for their duplicates."""

    count: int = 0
    vectors: dict[str, Floats] = field(default_factory=dict)
    """Text -> the vector that an encoder made of it, for later additions too: making vectors may cost money."""

    def extended(self, passages: Sequence[Passage]) -> "DeliveredTexts":
        """Return the texts with these passages after the others."""
        return DeliveredTexts(self.count + len(passages), self.vectors)

    def vectors_of(self, passages: Sequence[Passage], encoder: object) -> Floats | None:
        """Return a normalized vector for each passage; None if there is none.

        These are the embeddings of the passages if all of them carry one, else vectors from the encoder, which makes
        one for each text.
        """
        carried = [as_numbers(passage.embedding) for passage in passages if passage.embedding is not None]
        found = [vector for vector in carried if vector is not None and vector.ndim == 1 and np.isfinite(vector).all()]
        if len(found) == len(passages) and len({vector.size for vector in found}) == 1:
            return unit(np.array(found))
        if not isinstance(encoder, Encoder | PassageVectors):
            return None
        texts = without_surrogates([passage.text for passage in passages])
        missing = [text for text in dict.fromkeys(texts) if text not in self.vectors]
        if missing:
            self.vectors.update(zip(missing, _made(missing, encoder), strict=True))
        return np.array([self.vectors[text] for text in texts])


def _made(texts: Sequence[str], encoder: Encoder | PassageVectors) -> Floats:
    """Return the normalized vectors that the encoder makes of the texts."""
    made = encoder.encode_document(texts) if isinstance(encoder, Encoder) else encoder.encode_passages(texts)
    vectors = checked_numbers(made, f"{len(texts)} passages", 2)
    if len(vectors) != len(texts):
        raise ConfigError(f"the encoder gave {len(vectors)} vectors for {len(texts)} passages; give one for each")
    return unit(vectors)
