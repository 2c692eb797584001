"""What sentences gain from their paragraph, parts of long turns from others, and rows from their header and totals."""

import numpy as np
import pytest
from corpora import table_of

from ctxcompress import compress
from ctxcompress.score.adjustments import raise_yes_no_answers

EXPENSES = """\
| Expense | 2019 |
|---|---|
| Staff | 45,318 |
| Prepayments | 47,601 |
| Total payables | 149,843 |
| Cash | 12 |
| Total | 149,855 |

A sentence below the table.
"""
OTHERS = [f"Contract {n}: the company is bound to pay expenses of kind {n} when they fall due." for n in range(40)]


def test_the_parts_of_a_total_are_kept_for_the_question_what_it_consists_of():
    question = "Which component contributes most to total payables?"
    text = compress(question, [EXPENSES, *OTHERS], max_tokens=120).text
    assert "| Prepayments | 47,601 |" in text


def test_the_rows_under_a_column_that_the_question_names_are_kept():
    table = "| Plan | Shares to be issued on exercise |\n|---|---|\n| 2001 | 68,253 |\n| Total | 19,536,441 |\n"
    text = compress("How many shares are to be issued on exercise?", [table, *OTHERS], max_tokens=90).text
    assert "19,536,441" in text


YES_OR_NO = {
    "Can I run it as a service?": "Yes, but only on Linux.",
    "But is that safe?": "**Answer**: Not really. Locks are advisory.",
    "Kann ich das ändern?": "Ja, in den Einstellungen.",
    "Puis-je le modifier ?": "Oui, dans les réglages.",
    "¿Puedo cambiarlo?": "Sí, en los ajustes.",
    "How do I run it as a service?": None,
    "Candles and isles": None,
}


@pytest.mark.parametrize(("query", "answer"), YES_OR_NO.items())
def test_a_question_for_yes_or_no_is_answered_by_the_paragraph_that_begins_so(query, answer):
    text = f"Units are started at boot.\n\n{answer or 'Yes.'}\n\nThe order is by name."
    table = table_of(text)
    found = raise_yes_no_answers(query, table, np.full(len(table.segments), 0.1))
    raised = [part for part, value in zip(table.texts, found, strict=True) if value > 0.1]
    assert bool(raised) == bool(answer)
    assert all(part.strip() in str(answer) for part in raised)
