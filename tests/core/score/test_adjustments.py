"""What sentences gain from their paragraph, parts of long turns from others, and rows from their header and totals."""

import numpy as np
import pytest
from corpora import table_of

from ctxcompress import compress
from ctxcompress.score.adjustments import raise_long_turns, raise_rows

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


CHAIR = "Chair: Thank you. Anna Berg, please.\n"
SPEECH = "The ferry stays in the harbour when waves are higher than two metres, as the ramp was built for less. " * 8


@pytest.mark.parametrize(
    ("raise_", "text", "given", "expected"),
    [
        (raise_rows, EXPENSES, [0, 0, 0, 0.5, 0, 0, 0], [0, 0.015, 0.015, 0.5, 0, 0, 0]),
        (raise_rows, EXPENSES, [0, 0, 0, 0, 0, 0.5, 0], [0, 0, 0, 0, 0.015, 0.5, 0]),
        (raise_long_turns, f"{CHAIR}Anna Berg: {SPEECH}\n{CHAIR}", [0.5] * 11, [0.5, *[0.714] * 9, 0.5]),
        (raise_long_turns, f"{CHAIR}Anna Berg: {SPEECH}\n{CHAIR * 30}", [0.5] * 40, [0.5] * 40),
    ],
)
def test_what_segments_gain_from_others(raise_, text, given, expected):
    before = np.array(given, float)
    assert raise_(table_of(text), before).round(3).tolist() == expected
    assert before.tolist() == given


def test_the_answer_with_yes_is_kept_in_a_budget():
    page = (
        "Set `interval` to the seconds between two runs. A run that takes longer delays the next one, and no run is "
        "lost.\n\nYes. The runner registers with the init system on its own.\n\nEach run has a folder for its output. "
        "The service removes folders after a week, and says so in the log of the system."
    )
    assert "Yes. The runner registers" in compress("Can I use it as a service?", [page], max_tokens=18).text
