"""The longest beginning that fits, and candidates with one segment split."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcompress.data.documents import documents_as_they_are
from ctxcompress.data.table import SegmentTable
from ctxcompress.segment.segments import segment
from ctxcompress.select.layout import assemble
from ctxcompress.text.lines import longest_prefix

texts = st.text(alphabet="ab \n\t字é👍\u0301", min_size=1, max_size=80)
markdown = st.lists(
    st.sampled_from(["# A\n\n", "Text. More text.\n\n", "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\n", "- item\n"]),
    min_size=1,
    max_size=6,
).map("".join)


def _within(limit):
    return lambda length: length <= limit


@given(text=texts, limit=st.integers(0, 80), lines=st.booleans())
def test_the_beginning_fits_and_is_not_blank(text, limit, lines):
    length = longest_prefix(text, fits=_within(limit), lines=lines)
    assert 0 <= length <= min(limit, len(text))
    assert length == 0 or text[:length].strip()


@given(text=texts, limit=st.integers(0, 80))
def test_no_longer_beginning_between_words_fits(text, limit):
    length = longest_prefix(text, fits=_within(limit), lines=False)
    ends = [
        i for i in range(1, min(limit, len(text)) + 1) if i == len(text) or (text[i].isspace() > text[i - 1].isspace())
    ]
    ends = [end for end in ends if text[:end].strip()]
    assert length >= max(ends, default=0)


@given(text=texts, limit=st.integers(0, 79), lines=st.booleans())
def test_more_room_never_gives_less_of_the_same_kind(text, limit, lines):
    fitting = [longest_prefix(text, fits=_within(room), lines=lines) for room in range(limit, 81)]
    words = [length for length in fitting if length == len(text) or text[length : length + 1].isspace()]
    assert words == sorted(words)
    assert fitting[-1] == (len(text) if text.strip() else 0)


@pytest.mark.parametrize(
    ("text", "limit", "lines", "skip", "expected"),
    [
        ("one two three", 9, False, 0, "one two"),
        ("giant", 3, False, 0, "gia"),
        ("a = 1\nb = 2\nc", 12, True, 0, "a = 1\nb = 2\n"),
        ("\nabcdef", 3, True, 0, ""),
        ("   abc", 2, False, 0, ""),
        ("```\nabcdef", 5, True, 4, "```\na"),
        ("```\nabcdef", 4, True, 4, ""),
        ("👩\u200d👩\u200d👧x", 4, False, 0, ""),
        ("e\u0301e\u0301", 3, False, 0, "e\u0301"),
        ("🇩🇪🇫🇷", 3, False, 0, "🇩🇪"),
        ("क्षक्ष", 5, False, 0, "क्ष"),
        ("स्त्री", 5, False, 0, ""),
        ("विद्यार्थी है", 12, False, 0, "विद्यार्थी"),
        ("重启服务器", 3, False, 0, "重启服"),
        ("timeout是三十秒", 8, False, 0, "timeout是"),
        ("서버를 다시", 4, False, 0, "서버를"),
        ("http://a.b/timeouts", 15, False, 0, "http://a.b/"),
        ("see also\n3. this", 12, False, 0, "see also\n"),
        ("> 3. this one", 4, False, 0, ""),
        ("## Title here", 8, False, 0, "## Title"),
    ],
)
def test_where_it_ends(text, limit, lines, skip, expected):
    assert text[: longest_prefix(text, fits=_within(limit), lines=lines, skip=skip)] == expected


@pytest.mark.parametrize("text", ["giant", "http://a.b/c", "- giant", "# giant one"])
def test_no_word_is_cut_where_it_must_be_whole(text):
    assert longest_prefix(text, fits=_within(4), lines=False, whole_words=True) == 0


def test_it_asks_few_times():
    asked = []
    longest_prefix("word " * 100_000, fits=lambda length: asked.append(length) or length <= 250_000, lines=False)
    assert len(asked) < 50


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
