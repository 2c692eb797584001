"""When two questions ask the same: paraphrases are recognized, and questions that differ are told apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from question_pairs import DIFFERENT, NEW_DIFFERENT, NEW_SAME, SAME, pairs

from ctxcompress.research.same_question import QuestionForm, ask_the_same


def same(one: str, other: str) -> bool:
    forms = QuestionForm.of(one), QuestionForm.of(other)
    assert ask_the_same(*forms) == ask_the_same(*reversed(forms))
    return ask_the_same(*forms)


@pytest.mark.parametrize(("one", "other"), [*pairs(DIFFERENT), *pairs(NEW_DIFFERENT)])
def test_questions_that_differ_in_what_they_ask_are_told_apart(one, other):
    assert not same(one, other)
    assert not same(one.lower(), other.lower())


@pytest.mark.parametrize("listed", [SAME, NEW_SAME])
def test_most_paraphrases_are_recognized(listed):
    found = [same(one, other) for one, other in pairs(listed)]
    assert sum(found) > 0.6 * len(found)


@pytest.mark.parametrize("question", [one for one, _ in [*pairs(SAME), *pairs(DIFFERENT)]])
def test_case_and_punctuation_make_no_difference(question):
    assert same(question, f" {question.rstrip('?.')} ")
    assert same(question, question.lower()) or question.lower() != question


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("默认超时是多少?", "默认超时是多少", True),
        ("默认超时是多少?", "最大超时是多少?", False),
        ("Wie hoch ist die Grenze?", "wie hoch ist die Grenze", True),
        ("Wie hoch ist die Grenze?", "Was ist die Grenze?", False),
        ("Wann wurde das Haus gebaut?", "Wo wurde das Haus gebaut?", False),
        ("timeout", "timeout", True),
        ("", "", True),
        ("who is it", "what is it", False),
    ],
)
def test_other_languages_and_questions_without_content_need_the_same_words(one, other, expected):
    assert same(one, other) is expected


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_two_texts_can_be_compared(one, other):
    assert same(one, one)
    same(one, other)
