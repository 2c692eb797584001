"""What is kept as the final text: which spans are emitted, what is shown around and between them, what that costs."""

from itertools import accumulate, pairwise

from hypothesis import given
from hypothesis import strategies as st
from selections import pages

from ctxcompress.data.documents import documents_as_they_are
from ctxcompress.data.passages import Kind, Segment
from ctxcompress.data.spans import shown
from ctxcompress.data.table import SegmentTable
from ctxcompress.segment.segments import segment
from ctxcompress.select.layout import Layout, SegmentCosts, assemble


def words(text):
    return len(text.split())


def numbered(position, of_passage):
    return f"[{position}] {of_passage.text}"


def layout_of(*texts, **fields):
    return Layout(documents_as_they_are(texts), texts, "\n\n", numbered, words, **fields)


def table_of(texts):
    return SegmentTable.of(documents_as_they_are(texts), [segment(text) for text in texts])


@st.composite
def kept_of_pages(draw):
    """Some pages as a layout and a table, and some of their segments."""
    texts = draw(st.lists(pages, min_size=1, max_size=3))
    table = table_of(texts)
    return layout_of(*texts), table, draw(st.sets(st.integers(0, len(table.segments) - 1)))


# Spans


@given(text=pages, data=st.data())
def test_assembled_spans_hold_the_kept_segments_and_white_space(text, data):
    segments = segment(text)
    kept = sorted(data.draw(st.sets(st.integers(0, len(segments) - 1))))
    spans = assemble(text, segments, kept)
    covered = {position for start, end in spans for position in range(start, end)}
    assert all(start < end for start, end in spans)
    assert all(one.end < other.start for one, other in pairwise(spans))
    for number, (_, start, end, *_) in enumerate(segments):
        visible = {position for position in range(start, end) if not text[position].isspace()}
        assert covered & visible == (visible if number in kept else set())


# The text


@given(kept_of_pages())
def test_what_is_composed_is_what_the_spans_hold(case):
    layout, table, kept = case
    spans = layout.spans(table, kept)
    parts = [shown(layout.passages[number], of_document) for number, of_document in spans.items()]
    assert layout.compose(spans) == "\n\n".join(f"[{n}] {text}" for n, text in enumerate(parts))
    assert list(layout.texts(layout.shown(spans)).values()) == parts


# What it costs


@given(kept_of_pages())
def test_parts_counted_one_by_one_are_not_less_than_all_together(case):
    layout, table, kept = case
    spans = layout.spans(table, kept)
    cost = SegmentCosts(table, layout)
    openings = {len(table.segments) + table.passage[n] for n in kept}
    assert layout.tokens(layout.compose(spans)) <= sum(map(cost, kept | openings))


def test_a_sentence_of_a_later_paragraph_does_not_go_on_in_the_line_of_an_earlier_one():
    parts = ["Directory    Description\n\n", "Some are reserved. ", "They are:\n\n", "next"]
    ends = list(accumulate(map(len, parts), initial=0))
    segments = [Segment(Kind.PARAGRAPH, start, end, 0) for start, end in pairwise(ends)]
    spans = assemble("".join(parts), segments, [0, 2])
    assert shown("".join(parts), spans) == "Directory    Description\n\nThey are:"
