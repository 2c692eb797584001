"""Evidence from answers: which kept text an answer quotes or cites."""

import pytest
from calls import ANSWER, TEXTS, compressed
from hypothesis import given
from hypothesis import strategies as st

from ctxcompress import compress
from ctxcompress.apps.feedback import Used
from ctxcompress.apps.feedback.answer_quotes import used_by_answer
from ctxcompress.data.passages import Span


def used(answer: str, **given) -> list[str]:
    found = used_by_answer(answer, compressed(max_tokens=500).passages, **given)
    return [
        f"passage {item.passage}" if item.spans is None else "".join(TEXTS[item.passage][a:b] for a, b in item.spans)
        for item in found
    ]


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (ANSWER, [ANSWER]),
        ('The page says that "the garden is open" and no more.', []),  # the case differs
        ('The page says: "The garden is open from nine".', ["The garden is open from nine"]),
        ("\u201cRefunds take five working days\u201d, they write.", ["Refunds take five working days"]),
        ("I think Refunds take five working days to arrive on the account.", []),
        ("Sadly, Invoices are settled by bank transfer", ["Invoices are settled by bank transfer"]),
        ("Thirty seconds.", []),
        ('"a week"', []),
    ],
)
def test_what_an_answer_quotes_is_found(answer, found):
    assert used(answer) == found


FACTS = ["The tower has 1,420 steps and 42 rooms. Rooms cost 42.5 a night.", "Paris is older. Rome is not 42."]


@pytest.mark.parametrize(
    ("answer", "span"),
    [
        ("42", (0, (30, 32))),
        ("**42** [1]", (0, (30, 32))),
        ('"Paris"', (1, (0, 5))),
        ("Paris", (1, (0, 5))),
        ("Par", None),
        ("paris", None),
        ("is", None),
        ("No.", None),
    ],
)
def test_a_whole_answer_of_a_word_or_two_is_found(answer, span):
    parts = compress("how many rooms has the tower?", FACTS, max_tokens=100).passages
    assert used_by_answer(answer, parts) == ([] if span is None else [Used(span[0], (Span(*span[1]),))])


@given(st.text(alphabet='[]1,. "\u201c\u201dab\n', max_size=200))
def test_any_answer_gives_evidence_of_the_kept_passages(answer):
    parts = compressed(max_tokens=500).passages
    for item in used_by_answer(answer, parts, numbered=True):
        assert isinstance(item, Used)
        assert item.passage in {part.index for part in parts}
