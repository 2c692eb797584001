"""Clauses: the parts of a question that may be asked one by one."""

import pytest

from ctxcompress.query.terms import clauses
from ctxcompress.text.language import STOP_WORDS

ENGLISH = STOP_WORDS["en"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (
            "What is the birthplace of the director of Silver Dunes?",
            ["Silver Dunes", "birthplace of the director", "director of Silver Dunes"],
        ),
        ("Where is Anna Berg's house?", ["Anna Berg", "Anna Berg's house"]),
        ("Which came first, Silver Dunes or Red Lake?", ["came first", "Silver Dunes", "Red Lake"]),
        ("Where is it?", []),
        ("director?", []),
        ("Silver Dunes", []),
        ("", []),
        ("谁写了这本书？", []),
    ],
)
def test_clauses_are_runs_of_content_words_and_neighbouring_ones_together(query, expected):
    found = clauses(query, ENGLISH)
    assert [clause for clause in found if clause in expected] == expected
    assert bool(found) == bool(expected)


def test_a_long_question_has_no_more_clauses_than_others():
    assert len(clauses(" of the ".join(f"silver dune {n}" for n in range(500)), ENGLISH)) == 8
