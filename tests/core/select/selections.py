"""Selections from Markdown at given values, counted in words, so that costs add up exactly."""

import numpy as np
from hypothesis import strategies as st

from ctxcompress.data.documents import documents_as_they_are
from ctxcompress.data.passages import Span
from ctxcompress.data.table import SegmentTable
from ctxcompress.segment.formats import segment
from ctxcompress.select.layout import Layout
from ctxcompress.select.selection import select
from ctxcompress.select.structure import Structure
from ctxcompress.text.tokens import TokenCounter

blocks = st.sampled_from(
    [
        "# One\n\n",
        "## Two\n\n",
        "### Three things\n\n",
        "Some text. More of it.\n\n",
        "It goes on for a while here.\n\n",
        "Results follow here:\n\n",
        "First this. Then do the following:\n\n",
        "- apples\n- pears and plums\n\n",
        "- all of these:\n  - salt\n  - pepper\n- nothing\n\n",
        "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\n",
        "```\nrun it\n```\n\n",
        "> what he said\n\n",
    ]
)
pages = st.lists(blocks, min_size=2, max_size=12).map("".join)


def structure_of(texts):
    documents = documents_as_they_are(texts)
    return Structure(SegmentTable.of(documents, [segment(text) for text in texts]))


def kept_of(texts, structure, values, budget):
    """The numbers of the segments that are kept."""
    table = structure.table
    layout = Layout(documents_as_they_are(texts), texts, "\n\n", lambda _, of: of.text, TokenCounter(str.split))
    selection = select(structure, np.array(values, float), layout, budget)
    assert selection.tokens <= budget

    def is_kept(number):
        found = table.segments[number]
        end = found.start + len(table.texts[number].rstrip())
        spans = selection.spans.get(table.document[number], ())
        return any(Span(found.start, end) == Span(max(found.start, s), min(end, e)) for s, e in spans if s < e)

    return [number for number in range(len(table.segments)) if is_kept(number)]
