"""The part of a message that asks, without greetings, thanks and wishes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcompress import compress
from ctxcompress.query.focus import question_in, questions_in, without_courtesy

GREETING = "Hi there! I am new here and I have been reading all morning, but my boss wants an answer today. "


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        (GREETING + "How do I set the timeout of the pool?", "How do I set the timeout of the pool?"),
        (GREETING + "how do I set the timeout of the pool", "how do I set the timeout of the pool"),
        ("How do I set the timeout? Please answer briefly. Thank you!", "How do I set the timeout?"),
        ("You are a helpful assistant. Cite sources. Question: set the timeout", "Question: set the timeout"),
        ("Hello. Return the sum of all numbers. Thanks!", "Return the sum of all numbers."),
        ("Hello, how do I set the timeout?", "how do I set the timeout?"),
        ("How long is a key? what is its default", "How long is a key? what is its default"),
        ("Dear team, could you kindly tell me how do I set the timeout? Regards", "how do I set the timeout?"),
        ("um so like yeah what i wanted to ask is how do I set the timeout", "how do I set the timeout"),
        ("Is the pool shared? How many connections has a pool?", None),
        ("what is the default timeout?", None),
        ("", None),
    ],
)
def test_greetings_thanks_and_wishes_ask_nothing(query, asked):
    assert question_in(query) == (query if asked is None else asked)


def test_a_greeting_does_not_cost_the_answer():
    passages = [
        "My boss wants all answers in the morning. I am new in the office, and stuck with reading. Today it rains.",
        "The pool has ten connections. A connection is closed after the timeout of 30 seconds. Threads share it.",
    ]
    result = compress(GREETING + "After how long is a connection closed?", passages, max_tokens=15)
    assert "30 seconds" in result.text
    assert result.confidence > 0.5


@given(st.text(alphabet="ab.?!\n \"')(。？¿Hi", max_size=200))
def test_what_asks_is_in_the_query(query):
    for sentence in question_in(query).split(" "):
        assert sentence in query


@pytest.mark.parametrize("part", ["?", "!", '."', "? ", "\n", " ", ".)", "Please ", "question: ", "hi ", ", ", "hi, "])
def test_long_queries_take_linear_time(part):
    text = part * (1_000 * settings().max_examples) + "x"  # more where there is more time
    question_in(text)
    without_courtesy(text)


@pytest.mark.parametrize(
    ("query", "questions"),
    [
        (
            "What is the default port? And how do I set a timeout? Also who owns the pool?",
            ("What is the default port?", "And how do I set a timeout?", "Also who owns the pool?"),
        ),
        (
            "I use the pool. Which port is open? My team grows. Is there a way to share a connection? Thanks!",
            ("I use the pool. Which port is open?", "My team grows. Is there a way to share a connection? Thanks!"),
        ),
        (
            "what is the port of a node\nwhere are the logs kept",
            ("what is the port of a node", "where are the logs kept"),
        ),
        (
            "Who founded the city? And when did she die? How large is the harbour?",
            ("Who founded the city? And when did she die?", "How large is the harbour?"),
        ),
        ("Where was the singer born? And when?", None),
        (
            "About the pool: 1) Which port is open? 2) Who owns the node",
            ("About the pool: Which port is open?", "About the pool: Who owns the node"),
        ),
        ("متى بني الجسر القديم؟ من صمم البرج الكبير؟", ("متى بني الجسر القديم؟", "من صمم البرج الكبير؟")),
        ("塔有多高？", None),
        ("Why does it fail?\nTraceback (most recent call last):\n  File", None),
        ("", None),
    ],
)
def test_questions_that_stand_alone_are_told_apart(query, questions):
    assert questions_in(query) == (questions or (query,))


@pytest.mark.parametrize("form", ["Where is the town number {}?", "{0}) Where is the town number {0}?"])
def test_of_very_many_questions_the_last_ones_stay_together(form):
    found = questions_in(" ".join(map(form.format, range(1, 40))))
    assert len(found) == 8
    assert found[-1].endswith("Where is the town number 39?")


@given(st.text(alphabet="ab ?.\n"))
def test_no_word_of_the_query_is_lost_in_its_questions(query):
    assert " ".join(questions_in(query)).split() == query.split()
