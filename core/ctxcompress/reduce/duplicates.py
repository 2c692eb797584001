"""Passages that another one stands for: the same text, nearly the same words, the same meaning.

In each stage the passages are gone through from the best to the worst. One that is like a passage that leads a
cluster joins the best such cluster, any other leads a new one. So every member is like its leader itself: a chain of
copies, each a little different from the one before, does not become one cluster. Which is better does not depend on the
order in which passages come: the score decides, then the length, then the text.
"""

import importlib.util
import string
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice, pairwise
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ctxcompress.reduce.differences import Particulars
from ctxcompress.text.words import has_unspaced, split_unspaced

__all__ = ["MANY", "Joins", "Shingles", "copies", "go_through", "near_duplicates", "preference", "same_meaning"]

_ROUNDING = 1e-6
_FEW = 8_192
"""Vectors for which it takes longer to look for such coordinates than to multiply."""
_SAMPLE = 1_024
_SHARES = (1 / 4, 3 / 8, 1 / 2)
"""Of the coordinates, that may be enough."""
_WASTE = 2e-5
"""Of all pairs, how many may look close in these coordinates without being it."""
_ROWS = 512
_CELLS = 2**24
"""Products that are held at a time, at most for so many rows."""
_AT_ONCE = 32

Floats = NDArray[np.float64]
Short = NDArray[np.float32]
Joins = Callable[[int, Iterator[int]], bool]
"""Of the place of a vector, and those of the leaders that it is close to in their order: whether it joins one."""


def go_through(vectors: Floats, threshold: float, joins: Joins) -> None:
    """Goes through vectors in their order: one that has at least this cosine with some that lead is asked whether it
    joins one of them. All that do not join lead themselves.

    vectors: of length 1, or of length 0, which are close to none.
    """
    leading = _Leading(_shortened(vectors, threshold), threshold)
    for start in range(0, len(vectors), leading.rows):
        close, places, leads = leading.beside(start)
        first = len(places) - len(close)
        for row in np.flatnonzero(close.any(axis=1)).tolist():
            others = places[np.flatnonzero(close[row] & leads)]
            leads[first + row] = not joins(start + row, _exactly(vectors, start + row, others, threshold))
        leading.keep(leads)


class _Leading:
    """The vectors that lead so far, one after the other in memory, and where they stand among all."""

    __slots__ = ("_at_least", "_close", "_count", "_places", "_products", "_short", "_vectors", "rows")

    def __init__(self, short: Short, threshold: float) -> None:
        self.rows = max(1, min(_ROWS, len(short), _CELLS // max(len(short), 1)))
        """Of a block, which is compared at a time."""
        rounding = (short.shape[1] + 2) * np.finfo(np.float32).eps  # the most that a sum of products can be wrong by
        self._at_least = np.float32(threshold - _ROUNDING - rounding)
        self._short, self._vectors = short, np.empty_like(short)
        self._places, self._count = np.empty(len(short), dtype=np.intp), 0
        # New ones for each block would take longer than multiplying.
        self._products = np.empty((self.rows, len(short)), dtype=np.float32)
        self._close = np.empty((self.rows, len(short)), dtype=bool)

    def beside(self, start: int) -> tuple[NDArray[np.bool_], NDArray[np.intp], NDArray[np.bool_]]:
        """(of each vector of the block that starts there, which leaders and which before it in the block may be close;
        the places of these; whether they lead, which is for the caller to say of the block)."""
        block = self._short[start : start + self.rows]
        stop = self._count + len(block)
        self._vectors[self._count : stop], self._places[self._count : stop] = block, range(start, start + len(block))
        products, close = self._products[: len(block), :stop], self._close[: len(block), :stop]
        np.matmul(block, self._vectors[:stop].T, out=products)
        np.greater_equal(products, self._at_least, out=close)
        close[:, self._count :] &= np.tri(len(block), k=-1, dtype=bool)
        return close, self._places[:stop], np.ones(stop, dtype=bool)

    def keep(self, leads: NDArray[np.bool_]) -> None:
        """Those of the block that lead."""
        new = np.flatnonzero(leads[self._count :]) + self._count
        stop = self._count + len(new)
        self._vectors[self._count : stop], self._places[self._count : stop] = self._vectors[new], self._places[new]
        self._count = stop


def _exactly(vectors: Floats, place: int, others: NDArray[np.intp], threshold: float) -> Iterator[int]:
    """Those of the others that are that close."""
    for start in range(0, len(others), _AT_ONCE):
        some = others[start : start + _AT_ONCE]
        yield from some[vectors[some] @ vectors[place] >= threshold - _ROUNDING].tolist()


def _shortened(vectors: Floats, threshold: float) -> Short:
    """Vectors of fewer coordinates whose products are at least those of the vectors; these, where fewer do not do."""
    if len(vectors) < _FEW:
        return vectors.astype(np.float32)
    sample = vectors[:: len(vectors) // _SAMPLE]
    far = sample @ sample.T < threshold
    largest = np.argsort(-(sample**2).sum(axis=0), kind="stable")
    for share in _SHARES:
        axes = largest[: int(share * len(largest))]
        short = _with_rest(sample, axes)
        if np.count_nonzero(far & (short @ short.T >= threshold)) <= _WASTE * far.size:
            return _with_rest(vectors, axes)
    return vectors.astype(np.float32)


def _with_rest(vectors: Floats, axes: NDArray[np.intp]) -> Short:
    """The coordinates of these axes, and the length of what is left."""
    along = vectors[:, axes]
    rest = np.maximum((vectors**2).sum(axis=1) - (along**2).sum(axis=1), 0.0)
    return np.column_stack((along, np.sqrt(rest))).astype(np.float32)


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


_SHORTEST_COPY = 12
"""Characters: a list may say "yes" more often."""
_MOST_CANDIDATES = 8
"""Leaders that a passage is compared with, and that are looked up by one key, where there are many passages: all would
be the square of their number."""
_MOST_ALIKE = 32
"""Leaders with a close vector that a passage is compared with: there are embeddings that are all the same."""

_NONE: Mapping[int, int] = MappingProxyType({})

Leaders = dict[int, int]
"""Number of a passage -> number of the one that stands for it."""


def preference(
    texts: Sequence[str], standing: Sequence[float], ids: Sequence[str], neighbours: Mapping[int, int] = _NONE
) -> list[int]:
    """The numbers of passages from the best to the worst, whatever the order they came in.

    neighbours: of passages that have the same text, how many stand beside them that they overlap with. It decides
    which of them stays in its place.
    """
    return sorted(
        range(len(texts)),
        key=lambda n: (-standing[n], -len(texts[n]), texts[n], -neighbours.get(n, 0), len(ids[n]), ids[n]),
    )


def copies(texts: Sequence[str], order: Sequence[int]) -> Leaders:
    """Those with the same text but for white space."""
    first: dict[str, int] = {}
    leaders: Leaders = {}
    for number in order:
        if len(texts[number]) < _SHORTEST_COPY:
            continue
        folded = " ".join(texts[number].split())
        leader = first.setdefault(folded, number)
        if leader != number and len(folded) >= _SHORTEST_COPY:
            leaders[number] = leader
    return leaders


def near_duplicates(texts: Sequence[str], order: Sequence[int], threshold: float) -> Leaders:
    """Those whose shingles are as similar as the threshold says and that have the same particulars."""
    shingles, particulars = Shingles(texts), Particulars(texts)
    keys = shingles.keys(threshold)
    most = len(texts) if len(texts) <= MANY else _MOST_CANDIDATES
    leading: dict[int, list[int]] = {}  # a key -> the places in the order of the leaders that have it
    leaders: Leaders = {}
    for place, number in enumerate(order):
        found = [leader for key in keys[number] for leader in leading.get(key, ())]
        alike = set(found)
        for other in sorted(alike if len(alike) <= most else (one for one, _ in Counter(found).most_common(most))):
            leader = order[other]
            if shingles.similarity(number, leader) >= threshold and particulars.kept_by(leader, number):
                leaders[number] = leader
                break
        else:
            for key in keys[number]:
                places = leading.setdefault(key, [])
                if len(places) < most:
                    places.append(place)
    return leaders


def same_meaning(texts: Sequence[str], order: Sequence[int], vectors: NDArray[np.float64], threshold: float) -> Leaders:
    """Those whose vectors have at least this cosine and that have the same particulars.

    vectors: of length 1, shape (passages, dimensions).
    """
    particulars = Particulars(texts)
    leaders: Leaders = {}

    def joins(place: int, alike: Iterator[int]) -> bool:
        number = order[place]
        for leader in (order[other] for other in islice(alike, _MOST_ALIKE)):
            if particulars.kept_by(leader, number):
                leaders[number] = leader
                return True
        return False

    go_through(vectors[np.array(order, dtype=np.intp)], threshold, joins)
    return leaders
