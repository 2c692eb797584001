"""What parts of long turns gain from others, and rows from their header and totals."""

import numpy as np

from ctxcompress import compress
from ctxcompress.data.documents import documents_as_they_are
from ctxcompress.data.table import SegmentTable
from ctxcompress.score.adjustments import raise_long_turns, raise_rows
from ctxcompress.segment.segments import segment

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
HEADER, STAFF, PREPAYMENTS, PAYABLES, CASH, TOTAL, BLANK, BELOW = range(8)


def raised(**probability: float) -> list[float]:
    given = np.zeros(8)
    for name, value in probability.items():
        given[globals()[name.upper()]] = value
    table = SegmentTable.of(documents_as_they_are([EXPENSES]), [segment(EXPENSES)])
    before = given.copy()
    found = raise_rows(table, given)
    assert np.array_equal(given, before)
    return np.round(found, 6)[[*range(BLANK), BELOW]].tolist()


def test_the_rows_above_a_total_gain_from_it_up_to_the_total_before() -> None:
    assert raised(payables=0.5) == [0.0, 0.015, 0.015, 0.5, 0.0, 0.0, 0.0]
    assert raised(total=0.5) == [0.0, 0.0, 0.0, 0.0, 0.015, 0.5, 0.0]


OTHERS = [f"Contract {n}: the company is bound to pay expenses of kind {n} when they fall due." for n in range(40)]


def test_the_parts_of_a_total_are_kept_for_the_question_what_it_consists_of() -> None:
    question = "Which component contributes most to total payables?"
    text = compress(question, [EXPENSES, *OTHERS], max_tokens=120).text
    assert "| Prepayments | 47,601 |" in text


def test_the_rows_under_a_column_that_the_question_names_are_kept() -> None:
    table = "| Plan | Shares to be issued on exercise |\n|---|---|\n| 2001 | 68,253 |\n| Total | 19,536,441 |\n"
    text = compress("How many shares are to be issued on exercise?", [table, *OTHERS], max_tokens=90).text
    assert "19,536,441" in text


SPEECH = (
    "The ferry stays in the harbour when waves are higher than two metres, because the ramp was built for less. "
    "We asked three yards for a longer ramp. The cheapest one would need eleven weeks and most of what the town has "
    "put aside for the pier. The council has to agree to that in spring. "
) * 2


def weighed_turns(text: str) -> list[float]:
    segments = segment(text)
    table = SegmentTable.of(documents_as_they_are([text]), [segments])
    given = np.full(len(segments), 0.5)
    found = raise_long_turns(table, given)
    assert given.tolist() == [0.5] * len(segments)
    return found.round(3).tolist()


def test_parts_of_long_turns_gain_where_many_turns_are_long() -> None:
    found = weighed_turns(f"Chair: Thank you. Anna Berg, please.\nAnna Berg: {SPEECH}\nChair: Okay, thank you, Anna.\n")
    assert found == [0.5, *[0.714] * 9, 0.5]
