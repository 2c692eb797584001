"""Exact duplicates, near-duplicates and duplicates in meaning.

Each search goes through the passages from the best to the worst. A passage that is similar to the leader of a cluster
joins it, or the best of several; any other passage leads a new cluster. So every member is similar to its leader: a
chain of passages, each a little different from the one before, does not become one cluster. The order of the input
does not matter: the score decides which passage is better, then the length, then the text.
"""

import string
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice, pairwise
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ctxcompress.data.table import Floats
from ctxcompress.reduce.differences import Particulars
from ctxcompress.text.words import has_unspaced, split_unspaced

__all__ = [
    "MANY",
    "Joins",
    "Shingles",
    "exact_duplicates",
    "folded",
    "go_through",
    "near_duplicates",
    "preference",
    "same_meaning",
]

Hashes = NDArray[np.uint64]
Numbers = NDArray[np.intp]
Leaders = dict[int, int]
"""Number of a duplicate -> number of the passage that stands for it."""
Joins = Callable[[int, Iterator[int]], bool]
"""(place of a vector, places of the leaders close to it, in their order) -> whether it joins one of them."""
_KNOWN: Mapping[str, int] = MappingProxyType({})
_SHORTEST = 12
"""Characters: shorter texts, such as "yes" in a list, are no duplicates."""
_OPENING = 6
"""Words at the beginning of a text that tell it from most others."""
MANY = 500
"""For more texts than this, a passage is compared with few of those that share a key with it."""
_MOST_CANDIDATES = 8
"""The most leaders per key, and to compare a passage with, if there are many passages: comparing with all of them would
take quadratic time."""
_MOST_ALIKE = 32
"""The most leaders with a close vector to compare a passage with: some embeddings are all the same."""
_PUNCTUATION = dict.fromkeys(map(ord, string.punctuation))
"""Deleted from texts, so that a missing comma makes no difference."""
_ROUNDING = 1e-6
_ROWS = 512
"""The most vectors of one block."""
_CELLS = 2**24
"""The most products in memory at a time."""
_AT_ONCE = 32
"""Leaders whose exact cosines are computed at a time."""


def preference(texts: Sequence[str], standing: Sequence[float], ids: Sequence[str]) -> list[int]:
    """Return the numbers of the passages from the best to the worst, whatever their order in the input."""
    return sorted(range(len(texts)), key=lambda n: (-standing[n], -len(texts[n]), texts[n], len(ids[n]), ids[n]))


def folded(text: str) -> str:
    """Return a text that is the same for texts that differ in white space only; "" for one too short to compare."""
    if len(text) < _SHORTEST:
        return ""
    words = " ".join(text.split())
    return words if len(words) >= _SHORTEST else ""


def exact_duplicates(
    texts: Sequence[str] | Mapping[int, str], order: Sequence[int], known: Mapping[str, int] = _KNOWN
) -> Leaders:
    """Find the passages whose text is the same except for white space.

    known: folded text -> the number of a passage that has it, for passages that are not in `order`.
    """
    first: dict[str, int] = {}
    leaders: Leaders = {}
    for number in order if known else _opening_alike(texts, order):
        if text := folded(texts[number]):
            leader = known[text] if text in known else first.setdefault(text, number)
            if leader != number:
                leaders[number] = leader
    return leaders


def _opening_alike(texts: Sequence[str] | Mapping[int, str], order: Sequence[int]) -> list[int]:
    """Return the passages that begin with the same words as another one: no others need to be compared whole."""
    openings = {n: tuple(texts[n].split(None, _OPENING)[:_OPENING]) for n in order if len(texts[n]) >= _SHORTEST}
    times = Counter(openings.values())
    return [number for number, opening in openings.items() if times[opening] > 1]


def near_duplicates(
    texts: Sequence[str], order: Sequence[int], threshold: float, particulars: Particulars | None = None
) -> Leaders:
    """Find the passages whose shingles are similar enough and that have the same particulars."""
    shingles, particulars = Shingles(texts), particulars or Particulars(texts)
    keys = shingles.keys(threshold)
    most = len(texts) if len(texts) <= MANY else _MOST_CANDIDATES
    leading: dict[int, list[int]] = {}  # key -> places in `order` of the leaders that have it
    leaders: Leaders = {}
    for place, number in enumerate(order):
        found = [leader for key in keys[number] for leader in leading.get(key, ())]
        similar = set(found)
        for other in sorted(similar if len(similar) <= most else (one for one, _ in Counter(found).most_common(most))):
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


def same_meaning(
    texts: Sequence[str], order: Sequence[int], vectors: Floats, threshold: float, known: Particulars | None = None
) -> Leaders:
    """Find the passages whose vectors have at least this cosine and that have the same particulars.

    vectors: of length 1, shape (passages, dimensions).
    """
    particulars = known or Particulars(texts)
    leaders: Leaders = {}

    def joins(place: int, similar: Iterator[int]) -> bool:
        number = order[place]
        for leader in (order[other] for other in islice(similar, _MOST_ALIKE)):
            if particulars.kept_by(leader, number):
                leaders[number] = leader
                return True
        return False

    go_through(vectors[np.array(order, dtype=np.intp)], threshold, joins)
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


def go_through(vectors: Floats, threshold: float, joins: Joins) -> None:
    """Go through the vectors in order and ask whether each one joins one of the leaders with at least this cosine.

    A vector that does not join becomes a leader. vectors: of length 1, or of length 0, which are close to none.
    """
    short = vectors.astype(np.float32)  # multiplied in half the time
    rounding = (short.shape[1] + 2) * np.finfo(np.float32).eps  # the greatest error of a sum of products
    at_least = np.float32(threshold - _ROUNDING - rounding)
    rows = max(1, min(_ROWS, _CELLS // max(len(short), 1)))
    leaders: Numbers = np.zeros(0, np.intp)
    for start in range(0, len(short), rows):
        places = np.append(leaders, np.arange(start, min(start + rows, len(short))))
        close = short[places[leaders.size :]] @ short[places].T >= at_least
        close[:, leaders.size :] &= np.tri(len(close), k=-1, dtype=bool)
        leads = np.ones(places.size, dtype=bool)
        for row in np.flatnonzero(close.any(axis=1)).tolist():
            others = places[close[row] & leads]
            leads[leaders.size + row] = not joins(start + row, _truly_close(vectors, start + row, others, threshold))
        leaders = places[leads]


def _truly_close(vectors: Floats, place: int, others: NDArray[np.intp], threshold: float) -> Iterator[int]:
    """Yield the places of the others that have at least this cosine with a vector."""
    for start in range(0, len(others), _AT_ONCE):
        some = others[start : start + _AT_ONCE]
        yield from some[vectors[some] @ vectors[place] >= threshold - _ROUNDING].tolist()
