"""A line that announces a block is not kept without some of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selections import kept_of, pages, structure_of

from ctxcompress import compress

NOISE = "The harbour has two piers. Ferries leave at noon. The ticket office is closed on Sundays. " * 3


def announced_in(text):
    structure = structure_of([text])
    texts = [part.strip() for part in structure.table.texts]
    return {texts[number]: [texts[n] for n in block] for number, block in structure.announced.items()}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It says:\n\n- a\n- b\n\nEnd.", {"It says:": ["- a", "- b"]}),
        ("One. It says:\n\n| a |\n|---|\n| 1 |\n", {"It says:": ["| a |\n|---|", "| 1 |"]}),
        ("**It says:**\n\n```\nrun\n```\n\nEnd.", {"**It says:**": ["```\nrun\n```"]}),
        ("It says:\n\nOne. Two.\n\nThree.", {"It says:": ["One.", "Two."]}),
        ("It says:\n\n> One.\n\nThree.", {"It says:": ["> One."]}),
        ("说明：\n\n- 一\n", {"说明：": ["- 一"]}),
        ("- all:\n  - a\n  - b\n- c\n", {"- all:": ["- a", "- b"]}),
        ("- all:\n- a\n", {}),
        ("It says:\n\n# Heading\n\nText.", {}),
        ("It says:", {}),
        ("# It says:\n\nText.", {}),
        ("It says: this. And more.", {}),
    ],
)
def test_what_is_announced(text, found):
    assert announced_in(text) == found


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
