"""Graphemes: what readers take for one character, as Unicode defines it, in any script."""

from itertools import pairwise

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from ctxcompress.text.lines import ends_of_graphemes, is_between_graphemes, whole_graphemes

CHARACTERS = (
    "a \n\r\u0301\u200c\u200d\ufe0f\u0600\uff9e\u0e33\U000e0061字กำ각\u1100\u1161\u11a8😀👩🏽🇩🇪🇫क्षित्री।ক্ষகി\ud800"
)
texts = st.text(alphabet=CHARACTERS, max_size=40)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("क्षत्रिय", ["क्ष", "त्रि", "य"]),
        ("स्त्री", ["स्त्री"]),
        ("क्\u200dष", ["क्\u200dष"]),
        ("ক্ষ", ["ক্ষ"]),
        ("a \u200db", ["a", " \u200d", "b"]),
        ("👩\u200d👩\u200d👧x", ["👩\u200d👩\u200d👧", "x"]),
        ("👍🏽👍", ["👍🏽", "👍"]),
        ("🇩🇪🇫🇷🇮", ["🇩🇪", "🇫🇷", "🇮"]),
        ("\u1112\u1161\u11ab각", ["\u1112\u1161\u11ab", "각"]),
        ("e\u0301\r\nกำ", ["e\u0301", "\r\n", "กำ"]),
        ("🏴\U000e0067\U000e0062\U000e007f!", ["🏴\U000e0067\U000e0062\U000e007f", "!"]),
    ],
)
def test_graphemes(text, expected):
    ends = [0, *ends_of_graphemes(text)]
    assert [text[start:end] for start, end in pairwise(ends)] == expected


@given(texts)
def test_graphemes_end_where_unicode_says(text):
    ends = [match.end() for match in regex.finditer(r"\X", text)]
    assert list(ends_of_graphemes(text)) == ends
    assert [end for end in range(1, len(text) + 1) if is_between_graphemes(text, end)] == ends


@given(texts, st.integers(0, 40))
def test_as_many_whole_graphemes_as_fit_are_counted(text, most):
    ends = [0, *ends_of_graphemes(text)]
    assert whole_graphemes(text, most) == max(end for end in ends if end <= most)


def test_a_grapheme_that_does_not_fit_is_not_cut():
    assert whole_graphemes("👩\u200d👩\u200d👧x", 4) == 0


def test_long_rows_of_flags_and_of_marks_take_linear_time():
    assert sum(1 for _ in ends_of_graphemes("🇩" * 300_000)) == 150_000
    assert whole_graphemes("e" + "\u0301" * 1_000_000, 10) == 0
    assert not is_between_graphemes("😀" + "\u200d😀" * 500_000, 400_000)
