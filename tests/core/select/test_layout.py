"""What is kept as the final text: which spans are emitted, and what is shown around and between them."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from ctxcompress.segment.segments import segment
from ctxcompress.select.layout import assemble

markdown = st.lists(
    st.sampled_from(["# A\n\n", "Text. More text.\n\n", "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\n", "- item\n"]),
    min_size=1,
    max_size=6,
).map("".join)


@given(text=markdown, data=st.data())
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


def test_what_is_kept_of_two_blocks_stays_apart():
    text = "One. Two.\n\nThree. Four.\n"
    segments = segment(text)
    kept = [n for n, part in enumerate(segments) if text[part.start : part.end].strip() in ("One.", "Four.")]
    assert "".join(text[start:end] for start, end in assemble(text, segments, kept)) == "One.\n\nFour."


def test_all_segments_are_the_whole_text():
    text = " a.\n\nb. \n"
    segments = segment(text)
    assert assemble(text, segments, range(len(segments))) == ((0, len(text)),)
