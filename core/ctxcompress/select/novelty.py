"""How much of a text has not been kept already, in other words or the same."""

from collections.abc import Collection, Sequence
from copy import copy

import numpy as np

__all__ = ["Novelty", "Runs"]

_N = 8
_NONE: frozenset[tuple[str, ...]] = frozenset()
_FACTOR = 6_364_136_223_846_793_005
"""Of a linear congruential generator whose numbers are spread well (Knuth)."""


class Runs:
    """The runs of eight words of each of some texts, found when they are asked for and remembered."""

    __slots__ = ("_known", "_repeating", "_texts")

    def __init__(self, texts: Sequence[str], *, lasting: bool = False) -> None:
        """lasting: whether they will be asked for again and again, so that it pays to look for repeats in all first."""
        self._texts = texts
        self._known: dict[int, frozenset[tuple[str, ...]]] = {}
        self._repeating = _repeating(texts) if lasting else None

    def repeated(self, item: int) -> frozenset[tuple[str, ...]]:
        """Those of a text among which are all that another text has, too: none for most texts, if that is known."""
        return self.of(item) if self._repeating is None or item in self._repeating else _NONE

    def of(self, item: int) -> frozenset[tuple[str, ...]]:
        """Those of a text; none of what is no text, which has a greater number."""
        runs = self._known.get(item)
        if runs is None:
            runs = self._known[item] = _runs(self._texts[item]) if item < len(self._texts) else _NONE
        return runs


class Novelty:
    """Remembers the runs of eight words of what is kept, to tell what would only repeat them.

    Texts shorter than eight words, and scripts without spaces, always count as new.
    """

    __slots__ = ("_before", "_repeated", "_runs", "_seen")

    def __init__(self, runs: Runs, before: str = "") -> None:
        """before: a text that was taken before."""
        self._before = _runs(before)
        self._runs = runs.of
        self._repeated = runs.of if before else runs.repeated
        self._seen = set(self._before)

    def copy(self) -> "Novelty":
        """Return the same, to go on by itself."""
        novelty = copy(self)
        novelty._seen = set(self._seen)
        return novelty

    def only(self, items: Collection[int]) -> "Novelty":
        """Return the same with these items taken, and no others."""
        novelty = copy(self)
        novelty._seen = set(self._before)
        novelty.take(items)
        return novelty

    def share(self, items: Collection[int]) -> float:
        """Share of the runs of the items' texts that are not in what was taken, 0 to 1."""
        if all(map(self._seen.isdisjoint, map(self._repeated, items))):
            return 1.0
        runs: set[tuple[str, ...]] = set().union(*map(self._runs, items))
        return len(runs - self._seen) / len(runs)

    def take(self, items: Collection[int]) -> None:
        """Counts the items' texts as kept from now on."""
        self._seen.update(*map(self._repeated, items))


def _runs(text: str) -> frozenset[tuple[str, ...]]:
    words = text.lower().split()
    if len(words) < _N:
        return _NONE
    return frozenset(zip(*(words[shift:] for shift in range(_N)), strict=False))


def _repeating(texts: Sequence[str]) -> frozenset[int]:
    """The texts that may have a run that another one has. Runs that are the same have the same hash; of others that
    have, nothing is lost but time."""
    numbers: dict[str, int] = {}
    words = [text.lower().split() for text in texts]
    every = [numbers.setdefault(word, len(numbers)) for of_text in words for word in of_text]
    if len(every) < _N:
        return frozenset()
    ids = np.array(every, dtype=np.uint64)
    text_of = np.repeat(np.arange(len(texts)), [len(of_text) for of_text in words])
    runs = len(every) - _N + 1
    hashes = np.zeros(runs, dtype=np.uint64)
    for shift in range(_N):
        hashes = hashes * np.uint64(_FACTOR) + ids[shift : shift + runs]
    within = np.flatnonzero(text_of[:runs] == text_of[_N - 1 :])
    order = within[np.argsort(hashes[within], kind="stable")]
    same = hashes[order[1:]] == hashes[order[:-1]]
    return frozenset(text_of[order[1:][same]].tolist()) | frozenset(text_of[order[:-1][same]].tolist())
