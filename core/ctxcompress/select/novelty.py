"""How much of a text has not been kept already, in other words or the same."""

from collections.abc import Collection, Sequence

__all__ = ["Novelty"]

_N = 8


class Novelty:
    """Remembers the runs of eight words of what is kept, to tell what would only repeat them.

    Texts shorter than eight words, and scripts without spaces, always count as new.
    """

    __slots__ = ("_known", "_seen", "_texts")

    def __init__(self, texts: Sequence[str], before: str = "") -> None:
        """before: a text that was taken before."""
        self._texts = texts
        self._known: dict[int, set[tuple[str, ...]]] = {}
        self._seen = _runs(before)

    def share(self, items: Collection[int]) -> float:
        """Share of the runs of the items' texts that are not in what was taken, 0 to 1."""
        runs = self._runs(items)
        return len(runs - self._seen) / len(runs) if runs and not self._seen.isdisjoint(runs) else 1.0

    def take(self, items: Collection[int]) -> None:
        """Counts the items' texts as kept from now on."""
        self._seen |= self._runs(items)

    def _runs(self, items: Collection[int]) -> set[tuple[str, ...]]:
        return set().union(*(self._runs_of(item) for item in items if item < len(self._texts)))

    def _runs_of(self, item: int) -> set[tuple[str, ...]]:
        runs = self._known.get(item)
        if runs is None:
            runs = self._known[item] = _runs(self._texts[item])
        return runs


def _runs(text: str) -> set[tuple[str, ...]]:
    words = text.lower().split()
    return set(zip(*(words[shift:] for shift in range(_N)), strict=False))
