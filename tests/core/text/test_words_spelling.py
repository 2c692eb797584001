"""Spellings of one word become one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcompress.text.words import fold


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("plain", "plain"),
        ("straße", "straße"),
        ("cafe\u0301", "café"),
        ("ｔｅｓｔ１", "test1"),
        ("ﬁne", "fine"),
        ("ёлка", "елка"),
        ("\u0435\u0308лка", "елка"),
        ("замо\u0301к", "замок"),
        ("и\u0306од", "йод"),
        ("كِتَابٌ", "كتاب"),
        ("كتــاب", "كتاب"),
        ("ﻛﺘﺎﺏ", "كتاب"),
        ("١٢٣", "123"),
        ("۱۲۳", "123"),
        ("१२३", "123"),
        ("๑๒๓", "123"),
        ("हिन्दी", "हिंदी"),
        ("पाँच", "पांच"),
        ("ज़मीन", "जमीन"),
        ("ـ", ""),
        ("", ""),
        ("\ud800", "\ud800"),
    ],
)
def test_spellings(word, expected):
    assert fold(word) == expected


@given(st.text())
def test_folding_is_done_once(text):
    folded = fold(text)
    assert fold(folded) == folded


@given(st.text(st.characters(max_codepoint=0x2FF)))
def test_western_letters_stay(text):
    assert fold(text) == text
