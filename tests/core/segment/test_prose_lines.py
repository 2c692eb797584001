"""Texts that are one line of prose are segmented at once, as they are one by one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from segment_texts import texts

from ctxcompress.segment import segments as module
from ctxcompress.segment.segments import read_each
from ctxcompress.segment.sentences import is_prose_line

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


@pytest.mark.parametrize(
    "text",
    [
        "The ship was built in 1912. It sank.",
        "The crew had three parts: the deck, the engine and the kitchen.",
        "“Nobody knew,” he said: all of them were asleep.",
        "1912 was the year. It sank.",
    ],
)
def test_a_line_of_prose_is_known(text):
    assert is_prose_line(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Anna: To the lake.",
        "安娜：去湖边。",
        "1. The ship",
        "12:30 Anna: To the lake.",
        "# The ship",
        "The ship\nsank.",
        'The "ship": 12',
        "<b>The ship</b>",
        "Jan 12 12:30:01 host sshd[12]: Accepted",
    ],
)
def test_what_may_be_something_else_is_no_line_of_prose(text):
    assert not is_prose_line(text)
