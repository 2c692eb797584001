"""Lines in the place of passages: as many as there is room for after all else."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from ctxcompress.select.layout import Layout, Shown
from ctxcompress.select.qatbe import Selection

__all__ = ["with_lines"]


def with_lines(
    selection: Selection, layout: Layout, lines: Mapping[int, str], order: Iterable[int], budget: int
) -> tuple[Selection, Layout]:
    """The selection with those of the lines, in this order of their passages, that fit into the budget beside what is
    selected; and how that is laid out."""
    separator = layout.count(layout.separator)
    room = budget - selection.tokens
    shown: dict[int, str] = {}
    for passage in order:
        cost = layout.cost_of(Shown(passage, lines[passage], is_line=True, relevance=0.0))
        if cost <= room + (0 if shown or selection.text or layout.before else separator):
            room -= cost
            shown[passage] = lines[passage]
    while shown:
        fuller = replace(layout, lines=shown)
        text = fuller.compose(selection.spans)
        tokens = layout.tokens(text)
        if tokens <= budget:
            return replace(selection, text=text, tokens=tokens), fuller
        shown.popitem()  # together they cost more than one by one
    return selection, layout
