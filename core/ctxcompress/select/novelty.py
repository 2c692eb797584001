"""The runs of eight words of texts, by which text that mostly repeats kept text is told from new text.

Most texts repeat nothing, and a few parts of runs show that. Of every four places in a kept text, the five words that
begin at the first one are remembered. Each run has such five words: they begin at its fourth word at the latest. So a
text without any of them shares no run, and runs are only made where that does not hold.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["DeliveredRuns", "Novelty", "Runs"]

_RUN = 8
"""The words of a run."""
_NONE: frozenset[tuple[str, ...]] = frozenset()
_FACTOR = 6_364_136_223_846_793_005
"""The factor of a linear congruential generator with a good spread (Knuth)."""


class Runs:
    """The words of each text and their runs of eight, computed on demand and cached."""

    __slots__ = ("_known", "_repeating", "_texts", "_words")

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._known: dict[int, frozenset[tuple[str, ...]]] = {}
        self._words: dict[int, Sequence[str]] = {}
        self._repeating: frozenset[int] | None = None

    def find_repeating(self) -> None:
        """Find the texts that share a run with another, unless they are known. This pays if there are several queries.
        Threads can share the runs meanwhile: they find the same, at most more slowly."""
        if self._repeating is None:
            self._repeating, self._words = _repeating(self._texts), {}

    def words(self, item: int) -> Sequence[str]:
        """Return the words of a text that other texts may share a run with; none if it has no run, or if it is known
        that no other text has one of its runs."""
        words = self._words.get(item)
        if words is None:
            may = item < len(self._texts) and (self._repeating is None or item in self._repeating)
            found = _words(self._texts[item]) if may else ()
            words = self._words[item] = found if len(found) >= _RUN else ()
        return words

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

    __slots__ = ("_before", "_late", "_parts", "_runs", "_seen")

    def __init__(self, runs: Runs, before: Collection[int] = ()) -> None:
        """before: the hashes of the runs of text that was kept before."""
        self._before = before
        self._runs = runs
        self._parts: set[tuple[str, ...]] = set()
        """Of the runs of the taken texts: five words from every fourth one on."""
        self._seen: set[tuple[str, ...]] = set()
        """The runs of the taken texts, without those of the late ones."""
        self._late: list[int] = []
        """Taken items whose runs nobody asked for yet."""

    def copy(self) -> "Novelty":
        """Return an independent copy."""
        novelty = Novelty(self._runs, self._before)
        novelty._parts, novelty._seen, novelty._late = set(self._parts), set(self._seen), [*self._late]
        return novelty

    def only(self, items: Collection[int]) -> "Novelty":
        """Return a novelty in which only these items are taken."""
        novelty = Novelty(self._runs, self._before)
        novelty.take(items)
        return novelty

    def share(self, items: Collection[int]) -> float:
        """Return the share of the runs in the items' texts that no taken text has, 0 to 1."""
        if not self._before and not any(map(self._may_repeat, items)):
            return 1.0
        self._seen.update(*map(self._runs.of, self._late))
        self._late.clear()
        runs: set[tuple[str, ...]] = set().union(*map(self._runs.of, items))
        new = [run for run in runs - self._seen if hash(run) not in self._before]
        return len(new) / len(runs) if runs else 1.0

    def take(self, items: Collection[int]) -> None:
        """Add the runs of the items' texts."""
        for item in items:
            if words := self._runs.words(item):
                self._late.append(item)
                self._parts.update(zip(words[::4], words[1::4], words[2::4], words[3::4], words[4::4], strict=False))

    def _may_repeat(self, item: int) -> bool:
        """Tell whether a text has a part of a run of the taken texts."""
        words = self._runs.words(item)
        parts = zip(words, words[1:], words[2:], words[3:], words[4:], strict=False) if words else ()
        return not self._parts.isdisjoint(parts)


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


def _repeating(texts: Sequence[str]) -> frozenset[int]:
    """Return the texts that may share a run with another text. Equal runs have equal hashes; a collision only costs
    time."""
    numbers: dict[str, int] = {}
    words = list(map(_words, texts))
    every = [numbers.setdefault(word, len(numbers)) for of_text in words for word in of_text]
    if len(every) < _RUN:
        return frozenset()
    ids = np.array(every, dtype=np.uint64)
    text_of = np.repeat(np.arange(len(texts)), [len(of_text) for of_text in words])
    runs = len(every) - _RUN + 1
    hashes = np.zeros(runs, dtype=np.uint64)
    for shift in range(_RUN):
        hashes = hashes * np.uint64(_FACTOR) + ids[shift : shift + runs]
    within = np.flatnonzero(text_of[:runs] == text_of[_RUN - 1 :])
    order = within[np.argsort(hashes[within], kind="stable")]
    same = hashes[order[1:]] == hashes[order[:-1]]
    return frozenset(text_of[order[1:][same]].tolist()) | frozenset(text_of[order[:-1][same]].tolist())
