"""Graphemes, in any script, and the longest beginning of a text that fits."""

import regex
from hypothesis import given
from hypothesis import strategies as st

from ctxcompress.text.lines import ends_of_graphemes, is_between_graphemes, longest_prefix, whole_graphemes

CHARACTERS = (
    "a \n\r\u0301\u200c\u200d\ufe0f\u0600\uff9e\u0e33\U000e0061字กำ각\u1100\u1161\u11a8😀👩🏽🇩🇪🇫क्षित्री।ক্ষகി\ud800"
)
texts = st.text(alphabet=CHARACTERS, max_size=40)


@given(texts)
def test_graphemes_end_where_unicode_says(text):
    ends = [match.end() for match in regex.finditer(r"\X", text)]
    assert list(ends_of_graphemes(text)) == ends
    assert [end for end in range(1, len(text) + 1) if is_between_graphemes(text, end)] == ends


@given(texts, st.integers(0, 40))
def test_as_many_whole_graphemes_as_fit_are_counted(text, most):
    ends = [0, *ends_of_graphemes(text)]
    assert whole_graphemes(text, most) == max(end for end in ends if end <= most)


def test_long_rows_of_flags_and_of_marks_take_linear_time():
    assert sum(1 for _ in ends_of_graphemes("🇩" * 300_000)) == 150_000
    assert whole_graphemes("e" + "\u0301" * 1_000_000, 10) == 0
    assert not is_between_graphemes("😀" + "\u200d😀" * 500_000, 400_000)


# The longest beginning

beginnings = st.text(alphabet="ab \n\t字é👍\u0301", min_size=1, max_size=80)


def _within(limit):
    return lambda length: length <= limit


@given(text=beginnings, limit=st.integers(0, 80), lines=st.booleans())
def test_the_beginning_fits_and_is_not_blank(text, limit, lines):
    length = longest_prefix(text, fits=_within(limit), lines=lines)
    assert 0 <= length <= min(limit, len(text))
    assert length == 0 or text[:length].strip()


@given(text=beginnings, limit=st.integers(0, 80))
def test_no_longer_beginning_between_words_fits(text, limit):
    length = longest_prefix(text, fits=_within(limit), lines=False)
    ends = [
        i for i in range(1, min(limit, len(text)) + 1) if i == len(text) or (text[i].isspace() > text[i - 1].isspace())
    ]
    ends = [end for end in ends if text[:end].strip()]
    assert length >= max(ends, default=0)
