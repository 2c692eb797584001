"""The rules of `must_keep`: how they are written, what they find, and how long they may take."""

import re
from threading import Event

import pytest
import regex

from ctxcompress import CompressionConfig, Passage, compress
from ctxcompress.data.must_keep import Finds, Rule, read_rules, written
from ctxcompress.errors import ConfigError, PatternTimeout

WAYS = [
    "TICKET-123",
    re.compile(r"inv-\d+", re.IGNORECASE),
    "dates",
    {"text": "dates"},
    {"passage": "b", "spans": [[0, 5]]},
]


def _found(*items, text="TICKET-123 and INV-7 on 2024-05-17 with dates"):
    passages = {3: Passage("a", text), 5: Passage("b", "Hello there")}
    found = Finds.of(read_rules("must_keep", list(items)), passages).spans
    return {number: [passages[number].text[a:b] for a, b in spans] for number, spans in found.items()}


@pytest.mark.parametrize(
    ("item", "found"),
    [
        ("TICKET-123", {3: ["TICKET-123"]}),
        ("dates", {3: ["2024-05-17"]}),
        ({"text": "dates"}, {3: ["dates"]}),
        (re.compile(r"inv-\d", re.IGNORECASE), {3: ["INV-7"]}),
        (regex.compile(r"\b\p{Lu}{3}-\d"), {3: ["INV-7"]}),
        ({"regex": r"(?i)inv-\d"}, {3: ["INV-7"]}),
        ({"passage": "b", "spans": [[0, 5], [6, 99]]}, {5: ["Hello", "there"]}),
        ({"passage": "nowhere", "spans": [[0, 5]]}, {}),
        (lambda text: [(0, 3)], {3: ["TIC"], 5: ["Hel"]}),
        (re.compile("and|(?<=n)d I|x*"), {3: ["and"]}),
        ("absent", {}),
    ],
)
def test_what_each_way_finds(item, found):
    assert _found(item) == found


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("TICKET", "must_keep is 'TICKET'; give a list"),
        ([""], "at least one visible character"),
        ([5], "has the item 5; give a text"),
        ([str], "has the item <class 'str'>"),
        ([re.compile(b"a")], "of bytes; write it as a string"),
        ([{"regex": "("}], r"the regular expression '\(', which is wrong"),
        ([{"regx": "a"}], r'give {"text": ...}'),
        ([{"passage": "a", "spans": [[3, 1]]}], r"\[3, 1\] in the spans of 'a' is no span"),
    ],
)
def test_a_wrong_value_is_refused_with_the_remedy(value, message):
    with pytest.raises(ConfigError, match=message):
        CompressionConfig(must_keep=value)


def test_a_function_that_returns_no_spans_is_named():
    with pytest.raises(ConfigError, match="lambda> returned 5; return a list"):
        compress("q", ["text"], must_keep=[lambda text: 5])
    with pytest.raises(ConfigError, match=r"'abc' in what .* returned is no span"):
        compress("q", ["text"], must_keep=[lambda text: ["abc"]])


def test_rules_can_be_written_and_read_back():
    rules = read_rules("must_keep", WAYS)
    assert written(rules) == [
        "TICKET-123",
        {"regex": r"(?i)inv-\d+"},
        "dates",
        {"text": "dates"},
        {"passage": "b", "spans": [[0, 5]]},
    ]
    assert read_rules("must_keep", written(rules)) == rules == read_rules("must_keep", rules)
    assert written([*rules, len]) is None


def test_time_in_which_the_machine_stands_still_is_not_the_patterns():
    found = Rule("regex", "[a-z]+").find(Passage("a", "one two three"), 0.02)
    assert next(found) == (0, 3)
    Event().wait(0.04)
    assert list(found) == [(4, 7), (8, 13)]


def test_a_regular_expression_that_takes_too_long_is_an_error_that_names_it(monkeypatch):
    monkeypatch.setattr("ctxcompress.data.must_keep._SECONDS", 0.1)
    with pytest.raises(
        PatternTimeout, match=r"the regular expression '\(a\|aa\)\+\$' takes more than its time of 0\.1"
    ):
        compress("q", ["a" * 60 + "b"], must_keep=[re.compile("(a|aa)+$")])
