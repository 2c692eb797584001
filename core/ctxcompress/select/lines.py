"""Lines in the place of passages: a small share of the budget, and as many more as there is room for after all else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ctxcompress.select.layout import Layout, Shown
from ctxcompress.select.qatbe import Selection

__all__ = ["Lines"]

_SHARE = 0.1
"""Of the budget, for lines before anything else: a line is 35 to 50 tokens, so that with less there would be none in
500 tokens."""


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines about passages."""

    texts: Mapping[int, str]
    """By the number of the passage."""
    order: Sequence[int]
    """The passages, the best one first."""

    def reserve(self, layout: Layout, budget: int) -> int:
        """The tokens of the lines that fit into their share of the budget."""
        room = int(_SHARE * (budget - layout.tokens("")))
        return sum(self._fitting(layout, room).values())

    def beside(self, selection: Selection, layout: Layout, budget: int) -> tuple[Selection, Layout]:
        """The selection with the lines that fit into the budget beside what is selected; and how that is laid out."""
        is_first = not (selection.text or layout.before)
        room = budget - selection.tokens + (layout.count(layout.separator) if is_first else 0)
        shown = {passage: self.texts[passage] for passage in self._fitting(layout, room)}
        while shown:
            fuller = replace(layout, lines=shown)
            text = fuller.compose(selection.spans)
            tokens = layout.tokens(text)
            if tokens <= budget:
                return replace(selection, text=text, tokens=tokens), fuller
            shown.popitem()  # together they cost more than one by one
        return selection, layout

    def _fitting(self, layout: Layout, room: int) -> dict[int, int]:
        """Passage -> what its line costs, for the best lines that fit into so many tokens."""
        costs: dict[int, int] = {}
        for passage in self.order:
            cost = layout.cost_of(Shown(passage, self.texts[passage], is_line=True, relevance=0.0))
            if cost <= room:
                room -= cost
                costs[passage] = cost
        return costs
