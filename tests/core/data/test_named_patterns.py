"""Named patterns find what they are named after, in linear time."""

from itertools import product

import pytest

from ctxcompress.data.named_patterns import NamedPattern, dates_in, find_named, is_same_date


def _found(name, text):
    return [text[start:end] for start, end in find_named(NamedPattern(name), text)]


IDS = (
    "TICKET-123|INV_0042|#4711|8f14e45f-ceea-4f6b-9c3b-2b1f0c6d7e8a|9f86d081884c7d65|ctx-3f2a|user-10293|CVE-2024-3094|"
    "E11000|1234567|sk_live_4eC39HqLyjWDarjtT1zdp7dc"
)
NO_IDS = "2024|base64|utf-8|top-100|H2O|12,345|2024-05-17|deadbeef|a-b"
ALL_DATES = (
    "2024-05-17|2024-05-17T08:30:00.123Z|2024-05|2024-05-17 08:30|17.05.2024|5/17/24|2024/05/17|17 May 2024|"
    "May 17, 2024|Jan. 5|May 2024|17. Mai 2024|1er mars 2023|3 de mayo de 2020|17 мая 2024|17 Mayıs 2024|"
    "2024年5月17日|2024년 5월 17일"
)
NO_DATES = "1.2.3|10.0.0.1|1/2|may be 3|maybe 2024|3 apples|2024|marches 5|0800-12|1914-18"


@pytest.mark.parametrize(
    ("name", "texts", "are"),
    [("ids", IDS, True), ("ids", NO_IDS, False), ("dates", ALL_DATES, True), ("dates", NO_DATES, False)],
)
def test_identifiers_and_dates(name, texts, are):
    for text in texts.split("|"):
        assert _found(name, f"since {text}, or (“{text}”).") == [text, text] * are
        assert _found(name, f"since {text} it says") == [text] * are


SAME = (
    "December 2015|Dec. 5, 2015|5. Dezember 2015|décembre 2015|5 de diciembre de 2015|dicembre 2015|dezembro 2015|"
    "декабре 2015|5 Aralık 2015|2015年12月|2015-12|2015-12-05|2015/12/05|05.12.2015|12/5/15"
).split("|")
OTHER = "2015-11-05|2016-12-05|06.12.2015|12/4/15|December|2015|12:05".split("|")


def test_the_same_date_is_the_same_in_any_notation_and_other_dates_are_others():
    assert [pair for pair in product(SAME, SAME) if not _are_same(*pair)] == []
    assert [other for other in OTHER if _are_same("5 December 2015", other)] == []


def _are_same(date, other):
    pairs = ((one, two) for _, ones in dates_in(date) for _, twos in dates_in(other) for one in ones for two in twos)
    return any(is_same_date(one, two) for one, two in pairs)


def test_addresses_end_before_the_punctuation_of_the_sentence():
    text = "See https://a.example/x?y=z. (http://b.example/A_(b)) [c](https://c.example/), www.d.example! s3://e/f"
    assert _found("urls", text) == [
        "https://a.example/x?y=z",
        "http://b.example/A_(b)",
        "https://c.example/",
        "www.d.example",
        "s3://e/f",
    ]


def test_code_is_fenced_blocks_and_spans_between_backticks():
    text = "Call `f` or ``g``:\n\n```py\nx = `1`\n```\n\nthen `h`.\n\n~~~\nopen"
    assert _found("code", text) == ["`f`", "``g``", "```py\nx = `1`\n```", "`h`", "~~~\nopen"]
    assert _found("code", "```\na\n```py\nb\n```\nend") == ["```\na\n```py\nb\n```"]


@pytest.mark.parametrize("name", NamedPattern)
@pytest.mark.parametrize(
    "unit", ["a", "1", "A-", "1-", "1.", "#", "`", "`a", "```\n", "http://", "May ", "1 ", "> ", "("]
)
def test_hostile_repetition_ends(name, unit):
    assert len(_found(name, unit * 20_000)) <= 20_000
