"""What segments and passages cost, in tokens."""

from ctxcompress.select.candidates import Candidates
from ctxcompress.select.layout import Layout

__all__ = ["SegmentCosts"]

_MARGIN = 0.6
"""How much less than its length makes expect a segment may cost: what looks too long by more is not counted."""


class SegmentCosts:
    """Tokens of a segment, or of a passage's opening, counted when its turn comes and remembered.

    Most segments of a long text are never counted.
    """

    __slots__ = ("_candidates", "_characters", "_known", "_layout", "_tokens")

    def __init__(self, candidates: Candidates, layout: Layout) -> None:
        self._candidates, self._layout = candidates, layout
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
        # A space after it is a part of the next word's token, a line end is not.
        tokens = self._layout.count(texts[item].rstrip(" "))
        self._characters += len(texts[item])
        self._tokens += tokens
        return tokens
