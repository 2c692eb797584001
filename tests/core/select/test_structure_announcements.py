"""A line that announces a block is not kept without some of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selections import kept_of, pages, structure_of

from ctxcompress import compress

NOISE = "The harbour has two piers. Ferries leave at noon. The ticket office is closed on Sundays. " * 3


@pytest.mark.parametrize(
    "block",
    [
        "- " + "a long point about nothing much " * 12,
        "Other paragraph of words without an end " * 9 + ".",
        f"| n |\n|---|\n| {'seven ' * 60}|",
    ],
)
def test_an_announcement_goes_where_its_block_does_not_fit(block):
    text = compress("where do the results follow?", [f"Results follow here:\n\n{block}\n\n{NOISE}"], max_tokens=40).text
    assert "Results follow here:" not in text
    assert text


@pytest.mark.parametrize("block", ["- seven of ten\n- all of them", "Seven of ten were late.", "| n |\n|---|\n| 7 |"])
def test_an_announcement_comes_with_some_of_its_block(block):
    text = compress("where do the results follow?", [f"Results follow here:\n\n{block}\n\n{NOISE}"], max_tokens=40).text
    assert f"Results follow here:\n\n{block[:7]}" in text


@given(page=pages, other=pages, data=st.data())
def test_right_after_a_kept_announcement_comes_what_it_announces(page, other, data):
    structure = structure_of([page, other])
    count = len(structure.table.segments)
    values = data.draw(st.lists(st.integers(0, 30).map(lambda n: n / 10), min_size=count, max_size=count))
    kept = kept_of([page, other], structure, values, data.draw(st.integers(12, 90)))
    for number, block in structure.announced.items():
        if number in kept and kept != [number]:
            assert min((n for n in kept if n > number), default=-1) in block
