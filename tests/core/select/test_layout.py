"""What is kept as the final text: which spans are emitted, what is shown around and between them, what that costs."""

from itertools import accumulate, pairwise

from hypothesis import given
from hypothesis import strategies as st
from selections import pages

from ctxcompress.data.passages import Kind, Segment, shown
from ctxcompress.segment.segments import segment
from ctxcompress.select.layout import assemble


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


def test_a_sentence_of_a_later_paragraph_does_not_go_on_in_the_line_of_an_earlier_one():
    parts = ["Directory    Description\n\n", "Some are reserved. ", "They are:\n\n", "next"]
    ends = list(accumulate(map(len, parts), initial=0))
    segments = [Segment(Kind.PARAGRAPH, start, end, 0) for start, end in pairwise(ends)]
    spans = assemble("".join(parts), segments, [0, 2])
    assert shown("".join(parts), spans) == "Directory    Description\n\nThey are:"
