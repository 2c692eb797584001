"""Rules of `must_keep` that no passage matches."""

import logging
import re

import pytest

from ctxcompress import CompressionConfig, Compressor, compress
from ctxcompress.cache import MemoryCache

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
def test_a_rule_that_matches_nothing_is_in_the_statistics_and_in_the_log(rule, shown, caplog):
    result = compress(QUESTION, TEXTS, max_tokens=40, must_keep=[rule])
    assert note_of(result) == shown
    assert f"- Must keep ({note_of(result)})" in result.stats.summary()
    assert shown in [stage["note"] for stage in result.stats.to_dict()["stages"]]
    (warning,) = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert warning.getMessage() == f"must_keep: {note_of(result)} in 2 passages; check how it is written"


def test_a_rule_that_matches_nothing_beside_others_is_a_note(caplog):
    result = compress(QUESTION, TEXTS, max_tokens=40, must_keep=["OPS-4711", "OPS-4712", "dates"])
    assert note_of(result) == "nothing matches 'OPS-4712', dates"
    assert [(stage.items_in, stage.items_out) for stage in result.stages if stage.name == "must_keep"] == [(3, 1)]
    assert "OPS-4711" in result.text
    assert not caplog.records


def test_a_kind_of_text_that_does_not_occur_is_no_reason_for_a_warning(caplog):
    assert note_of(compress(QUESTION, TEXTS, max_tokens=40, must_keep=["dates", "urls"])) is not None
    assert not caplog.records


def test_what_matches_is_not_mentioned():
    result = compress(QUESTION, TEXTS, max_tokens=40, must_keep=["OPS-4711"])
    assert note_of(result) == ""
    assert "Must keep" not in result.stats.summary()
    assert note_of(compress(QUESTION, TEXTS, max_tokens=40)) is None


def test_a_stored_result_says_it_too(caplog):
    compressor = Compressor(CompressionConfig(max_tokens=40, must_keep=["OPS-4712"], cache=MemoryCache()))
    first, second = (compressor.compress(QUESTION, TEXTS) for _ in range(2))
    assert second.cache.is_outcome
    assert note_of(first) == note_of(second)
    assert len(caplog.records) == 2


def test_of_many_rules_the_first_few_are_named():
    result = compress(QUESTION, TEXTS, max_tokens=40, must_keep=[f"INV-{n}" for n in range(20)] + ["x" * 500])
    assert note_of(result).endswith("'INV-4', 16 more")
