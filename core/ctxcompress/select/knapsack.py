"""A greedy knapsack over items that may need one another.

Taking items in the order of value and density is Dantzig's heuristic, in O(n log n). It comes close to the optimum if
items are small compared with the room.
"""

from collections.abc import Callable, Collection, Container, Iterator, Sequence, Set
from copy import copy
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["LIKELY", "PATIENCE", "Costs", "DeliveredRuns", "Knapsack", "Novelty", "Runs", "rank"]

_RUN = 8
"""The words of a run."""
_NONE: frozenset[tuple[str, ...]] = frozenset()


class Runs:
    """The runs of eight words of each text, computed on demand and cached."""

    __slots__ = ("_known", "_texts")

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._known: dict[int, frozenset[tuple[str, ...]]] = {}

    def of(self, item: int) -> frozenset[tuple[str, ...]]:
        """Return the runs of a text; none for items beyond the texts."""
        runs = self._known.get(item)
        if runs is None:
            runs = self._known[item] = _runs(self._texts[item]) if item < len(self._texts) else _NONE
        return runs


class Novelty:
    """The runs of eight words of the kept texts, to tell what would only repeat them.

    Texts shorter than eight words, and scripts without spaces, always count as new.
    """

    __slots__ = ("_before", "_runs", "_seen")

    def __init__(self, runs: Runs, before: Collection[int] = ()) -> None:
        """before: the hashes of the runs of text that was kept before."""
        self._before = before
        self._runs = runs.of
        self._seen: set[tuple[str, ...]] = set()

    def copy(self) -> "Novelty":
        """Return an independent copy."""
        novelty = copy(self)
        novelty._seen = set(self._seen)
        return novelty

    def share(self, items: Collection[int]) -> float:
        """Return the share of the runs in the items' texts that no taken text has, 0 to 1."""
        if not self._before and all(map(self._seen.isdisjoint, map(self._runs, items))):
            return 1.0
        runs: set[tuple[str, ...]] = set().union(*map(self._runs, items))
        new = [run for run in runs - self._seen if hash(run) not in self._before]
        return len(new) / len(runs) if runs else 1.0

    def take(self, items: Collection[int]) -> None:
        """Add the runs of the items' texts."""
        self._seen.update(*map(self._runs, items))


@dataclass(frozen=True, slots=True)
class DeliveredRuns:
    """The runs of words of a text that grows at its end."""

    text: str = ""
    hashes: Collection[int] = frozenset()
    """Of the runs: numbers take much less memory than tuples of words."""
    last_words: tuple[str, ...] = ()
    """The words with which the next run may begin."""

    def extended(self, text: str) -> "DeliveredRuns":
        """Return the runs of `text`, of which only what follows the known text is read where that is possible."""
        if text == self.text:
            return self
        more = text[len(self.text) :]
        joins_word = not (more[:1].isspace() or self.text[-1:].isspace())
        if not text.startswith(self.text) or joins_word or ("|" in more and "|" not in self.text):
            return self._of(text, (), (), _words_in(text, has_bars="|" in text))
        return self._of(text, self.last_words, self.hashes, _words_in(more, has_bars="|" in text))

    @staticmethod
    def _of(text: str, last: tuple[str, ...], hashes: Collection[int], words: list[str]) -> "DeliveredRuns":
        every = [*last, *words]
        return DeliveredRuns(text, {*hashes, *map(hash, _runs_in(every))}, tuple(every[1 - _RUN :]))


def _runs(text: str) -> frozenset[tuple[str, ...]]:
    words = _words(text)
    return frozenset(_runs_in(words)) if len(words) >= _RUN else _NONE


def _runs_in(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Return the runs of these words, one after the other."""
    return zip(*(words[shift:] for shift in range(_RUN)), strict=False)


def _words(text: str) -> list[str]:
    return _words_in(text, has_bars="|" in text)


def _words_in(text: str, *, has_bars: bool) -> list[str]:
    """Return the words in lower case.

    has_bars: whether to leave out the marks between the cells of a table, of which all tables are full.
    """
    words = text.lower().split()
    return [word for word in words if word.strip("|-:")] if has_bars else words


PATIENCE = 48
"""After this number of items in a row that do not fit, the knapsack counts as full."""
_FRESH, _PARTLY_NEW = 0.85, 0.3
"""An item with a smaller share of new text is packed after all others, with a third of it new, before unlikely ones."""
LIKELY = 0.012
"""The least probability of an item that is packed for its own sake; others fill up what is left. Sources, contracts and
encyclopedias keep as much or more with 0.008 to 0.025. It is what `adaptive=True` means, too."""
_NOTHING: Set[int] = frozenset()


def rank(values: NDArray[np.float64], sizes: NDArray[np.float64], *, density: float | NDArray[np.float64]) -> list[int]:
    """Return the item numbers from the best to the worst by ``value / size**density``; equal ones keep their order.

    density: 0 ranks by value alone, 1 by value per token; one for all items, or one for each.
    """
    order: list[int] = np.argsort(-values / np.maximum(sizes, 1.0) ** density, kind="stable").tolist()
    return order


class Costs(Protocol):
    """The costs of items. Exact costs may be expensive to compute, so they are asked for late."""

    def __call__(self, item: int) -> int:
        """Return the exact cost of an item."""

    def at_least(self, item: int) -> float:
        """Return a cheap estimate that the cost of an item is rarely below."""


@dataclass(slots=True)
class Knapsack:
    """The items that are packed so far, and the room that is left."""

    room: int
    cost: Costs
    companions: Callable[[int, Container[int]], Collection[int] | None]
    """(item, kept items) -> all that must be kept with the item, directly or not; None if it cannot be packed."""
    novelty: Novelty
    is_orphan: Callable[[Collection[int], Container[int]], bool] = lambda _, __: False
    """(items that would be packed together, kept items) -> whether a reader could not tell what they belong to."""
    kept: set[int] = field(default_factory=set)
    chosen: set[int] = field(default_factory=set)
    """The kept items that are no companions of others."""
    orphans: set[int] = field(default_factory=set)
    """The items that would have fitted, and were orphans at their turn."""

    def fill(self, order: Sequence[int], chances: Sequence[float] = ()) -> bool:
        """Pack the items that fit, in this order, and tell whether any were packed.

        The order is one of worth for each token, so a short item may come before one that is needed more likely. Those
        that repeat packed ones come after all others. If a third of one is new and likely needed, it comes before
        the first item that is not. An orphan that is not likely needed stays out: the room stays empty.

        chances: the probability that each item is needed, if known.
        """
        before = len(self.kept)
        repeats: list[int] = []
        likely = [*takewhile(lambda item: not chances or chances[item] >= LIKELY, order)]
        self._fill(likely, repeats)
        news = {n: self.novelty.share((n,)) for n in repeats if chances}
        self._fill([n for n, share in news.items() if share >= _PARTLY_NEW and share * chances[n] >= LIKELY], None)
        self._fill(order[len(likely) :], repeats, no_orphans=True)
        self._fill(repeats, None, no_orphans=True)
        return len(self.kept) > before

    def copy(self, room: int) -> "Knapsack":
        """Return an independent knapsack with the same items and this room left."""
        novelty, kept, chosen = self.novelty.copy(), set(self.kept), set(self.chosen)
        return Knapsack(room, self.cost, self.companions, novelty, self.is_orphan, kept, chosen, set(self.orphans))

    def _fill(self, order: Sequence[int], repeats: list[int] | None, *, no_orphans: bool = False) -> None:
        kept, at_least, misses = self.kept, self.cost.at_least, 0
        for item in order:
            if item in kept:
                continue
            if self.room <= 0 or misses > PATIENCE:
                return
            # The estimate is too much for most items once the budget is nearly full.
            companions = self.companions(item, kept) if at_least(item) <= self.room else None
            wanted = {item, *companions} - kept if companions is not None else _NOTHING
            cost = sum(map(self.cost, wanted))
            if companions is None or cost > self.room:
                misses += 1
            elif no_orphans and kept and self.is_orphan(wanted, kept):
                self.orphans.add(item)
            elif repeats is not None and self.novelty.share(wanted) < _FRESH:
                repeats.append(item)
            else:
                misses = 0
                self.room -= cost
                self.novelty.take(wanted)
                kept |= wanted
                self.chosen.add(item)
