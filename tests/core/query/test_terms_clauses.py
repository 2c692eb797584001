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


def test_every_clause_stands_in_the_question_once_and_is_not_all_of_it():
    query = "Who is the mayor of the town where the mayor of the town was born?"
    found = clauses(query, ENGLISH)
    assert len(found) == len(set(found)) > 0
    assert all(clause in query and clause != query and len(clause.split()) > 1 for clause in found)


def test_a_mark_parts_what_stands_beside_it():
    assert "Paris London" not in clauses("Silver Paris, London Bridge", frozenset())
    assert clauses("Silver Paris, London Bridge", frozenset())[:2] == ["Silver Paris", "London Bridge"]


def test_a_long_question_has_no_more_clauses_than_others():
    assert len(clauses(" of the ".join(f"silver dune {n}" for n in range(500)), ENGLISH)) == 8
