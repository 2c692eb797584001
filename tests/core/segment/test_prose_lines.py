"""Texts that are one line of prose are segmented at once, as they are one by one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from segment_texts import texts

from ctxcompress.segment import formats as module
from ctxcompress.segment.formats import read_each

PIECES = (
    *(
        "Anna", "anna", "Speaker 1", "Dr. Li (chair)", "From", "De", "On", "Tue", "wrote", "commented", "Note",
        "The ship",
    ),
    *(
        ":", ": ", "\uff1a", " [12:30]: ", " (10:05) ", " ", ". ", "? ", "you", " was built in 1912", " said so",
        "12:30:01",
    ),
    *(
        "12:30:01,123 ERROR ", "level=info ", "1712345678 ", "INFO", "-->", '"a": 1', '":', "{", "[", "<b>", "# ",
        "- ", "1. ",
    ),
    *(
        "\n",
        "\r",
        "\ufeff",
        "“",
        '"',
        "'",
        "| ",
        "@@ -1 +1 @@",
        "word " * 130,
    ),
)  # fmt: skip
"""What a text of one line that is no prose begins with, and what looks like it."""
lines = st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map("".join)


def read_one_by_one(many):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "is_prose_line", lambda text: False)
        return read_each(many, [None] * len(many), language="en")


@given(st.lists(st.one_of(lines, texts), max_size=5))
def test_texts_are_read_together_as_they_are_alone(many):
    assert read_each(many, [None] * len(many), language="en") == read_one_by_one(many)
