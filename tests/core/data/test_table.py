"""Splitting a segment in the segment table."""

from hypothesis import given
from hypothesis import strategies as st

from ctxcompress.data.documents import documents_as_they_are
from ctxcompress.data.table import SegmentTable
from ctxcompress.segment.segments import segment

markdown = st.lists(
    st.sampled_from(["# A\n\n", "Text. More text.\n\n", "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\n", "- item\n"]),
    min_size=1,
    max_size=6,
).map("".join)


@given(given_=st.lists(markdown, min_size=1, max_size=3), data=st.data())
def test_splitting_keeps_the_partition_and_what_segments_need(given_, data):
    before = SegmentTable.of(documents_as_they_are(given_), [segment(text) for text in given_])
    number = data.draw(st.integers(0, len(before.segments) - 1))
    start, end = before.segments[number].start, before.segments[number].end
    cut = data.draw(st.integers(start, end))
    tail = data.draw(st.integers(cut, end))
    after = before.split(number, cut, tail)
    added = len(after.segments) - len(before.segments)
    assert added == (2 if tail < end else 1)
    closing = [number + 2] if added == 2 else []
    assert after.needs(number)[len(before.needs(number)) :] == closing
    assert after.needs(number + 1)[len(before.needs(number)) :] == [number, *closing]
    assert after.first[-1] == len(after.segments) == len(after.texts) == len(after.passage)
    for index, text in enumerate(given_):
        own = range(after.first[index], after.first[index + 1])
        assert "".join(text[after.segments[n].start : after.segments[n].end] for n in own) == text
        assert "".join(after.texts[n] for n in own) == text
        assert all(after.passage[n] == index for n in own)
        assert all(other in own for n in own for other in after.needs(n))
    moved = [n + added if n > number else n for n in range(len(before.segments))]
    for n in set(range(len(before.segments))) - {number}:
        assert after.needs(moved[n]) == [moved[other] for other in before.needs(n)]
