"""What segments and passages cost, in tokens."""

from collections.abc import Callable, Sequence

from ctxcompress.select.candidates import Candidates
from ctxcompress.select.layout import Layout

__all__ = ["SegmentCosts", "tokens_of"]

_MARGIN = 0.6
"""How much less than its length makes expect a segment may cost: what looks too long by more is not counted."""


def tokens_of(text: str, count: Callable[[str], int]) -> int:
    """The tokens of a segment's text: a space after it is a part of the next word's token, a line end is not."""
    return count(text.rstrip(" "))


class SegmentCosts:
    """Tokens of a segment, or of a passage's opening, counted when its turn comes and remembered.

    Most segments of a long text are never counted.
    """

    __slots__ = ("_candidates", "_characters", "_counts", "_known", "_layout", "_tokens")

    def __init__(self, candidates: Candidates, layout: Layout, counts: Sequence[int] | None = None) -> None:
        """counts: what `tokens_of` says of every segment, if that is known."""
        self._candidates, self._layout = candidates, layout
        self._counts = counts
        self._known: dict[int, int] = {}
        self._characters, self._tokens = 0, 0

    def __call__(self, item: int) -> int:
        """The tokens of segment `item`, or of the opening of passage `item` - (number of segments)."""
        known = self._known.get(item)
        if known is None:
            known = self._known[item] = self._counted(item)
        return known

    def at_least(self, item: int) -> float:
        """The tokens that a segment's length makes expect after what was counted so far, with a margin."""
        if item in self._known:
            return self._known[item]
        if not self._characters:
            return 0.0
        return _MARGIN * len(self._candidates.texts[item]) * self._tokens / self._characters

    def _counted(self, item: int) -> int:
        texts = self._candidates.texts
        if item >= len(texts):
            return self._layout.opening(item - len(texts))
        tokens = tokens_of(texts[item], self._layout.count) if self._counts is None else self._counts[item]
        self._characters += len(texts[item])
        self._tokens += tokens
        return tokens
