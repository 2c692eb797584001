"""Rules of `must_keep` that no passage matches."""

import re
import warnings

import pytest

from ctxcompress import compress
from ctxcompress.errors import ConfigError, CtxCompressWarning

TEXTS = ["The default timeout is 30 seconds. " + "Ships came late. " * 40, "Ticket OPS-4711 is open. " * 9]
QUESTION = "what is the default timeout?"


def note_of(result):
    return next((stage.note for stage in result.stages if stage.name == "must_keep"), None)


@pytest.mark.parametrize(
    ("rule", "shown"),
    [
        ("OPS-4712", "nothing matches 'OPS-4712'"),
        (re.compile(r"INV-\d+"), r"nothing matches the pattern 'INV-\\d+'"),
        ({"passage": "9", "spans": [[0, 3]]}, "nothing matches the spans of passage '9'"),
        (lambda _: [], "nothing matches <lambda>"),
    ],
)
def test_a_rule_that_matches_nothing_is_in_the_statistics_and_in_a_warning(rule, shown, warned):
    result = compress(QUESTION, TEXTS, max_tokens=40, must_keep=[rule])
    assert note_of(result) == shown
    assert f"- Must keep ({note_of(result)})" in result.stats.summary()
    assert shown in [stage["note"] for stage in result.stats.to_dict()["stages"]]
    assert warned.messages == [f"must_keep: {note_of(result)}; check how it is written"]
    assert warned.files == [__file__]


@pytest.mark.parametrize(
    "text",
    [r"INV-\d+", ".*timeout", "Total: .+ EUR", "[0-9]{4}", "[^,]+", r"\bOPS-1", "(?i)timeout", "(?:a|b)"],
)
def test_a_text_that_looks_like_a_pattern_and_occurs_nowhere_is_refused(text, warned):
    with pytest.raises(ConfigError, match=r"looks like a regular expression; give .* or re\.compile\(\.\.\.\)"):
        compress(QUESTION, TEXTS, max_tokens=40, must_keep=[text])
    assert note_of(compress(QUESTION, [*TEXTS, f"So {text} is here."], must_keep=[text])) == ""
    compress(QUESTION, TEXTS, max_tokens=40, must_keep=[{"text": text}])
    assert len(warned.messages) == 1


@pytest.mark.parametrize(
    "text",
    [r"C:\data\backup", r"C:\docs", "list[0]", "args[i]+1", "a[0] * b", "[2024-05-17]", "[WARN]", "[^1]", "[draft]?",
     r"\beta", r"\section{A}", "C++", "v1.2.3", "What?", "f(x)", "(a|b)", "$5", "^C", "a*b", "[…]", "[...]", "x{2}"],
)  # fmt: skip
def test_a_text_with_signs_of_its_own_is_a_text(text, warned):
    compress(QUESTION, TEXTS, max_tokens=40, must_keep=[text])
    assert len(warned.messages) == 1


def test_warnings_are_shown_once_for_each_line_that_calls():
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("default")
        for _ in range(3):
            compress(QUESTION, TEXTS, max_tokens=40, must_keep=["OPS-4712"])
        compress(QUESTION, TEXTS, max_tokens=40, must_keep=["OPS-4712"])
    assert [each.category for each in found] == [CtxCompressWarning] * 2
    assert len({each.lineno for each in found}) == 2
