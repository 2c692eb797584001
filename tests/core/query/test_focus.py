"""The part of a message that asks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcompress import compress
from ctxcompress.query.focus import _END, _MAY_END, question_in
from ctxcompress.query.terms import query_terms
from ctxcompress.text.words import Terms

GREETING = "Hi there! I am new here and I have been reading all morning, but my boss wants an answer today. "


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        (GREETING + "How do I set the timeout of the pool?", "How do I set the timeout of the pool?"),
        (GREETING + "how do I set the timeout of the pool", "how do I set the timeout of the pool"),
        ("How do I set the timeout? Please answer briefly. Thank you!", "How do I set the timeout?"),
        ("how do I set the timeout Please answer briefly", "how do I set the timeout"),
        ("You are a helpful assistant. Cite sources. Question: set the timeout", "Question: set the timeout"),
        ("Hallo! Ich bin neu hier. Wie setzt man die Wartezeit?", "Wie setzt man die Wartezeit?"),
        ("Hello. Return the sum of all numbers. Thanks!", "Return the sum of all numbers."),
        ("Hello, how do I set the timeout?", "how do I set the timeout?"),
        ("Dear team, could you kindly tell me how do I set the timeout? Regards", "how do I set the timeout?"),
        ("um so like yeah what i wanted to ask is how do I set the timeout", "how do I set the timeout"),
        ("quick one: how do I set the timeout", "how do I set the timeout"),
        ("Is the pool shared? How many connections has a pool?", None),
        ("who is the no. 1 ranked tennis player in the world", None),
        ("what is the default timeout?", None),
        ("", None),
    ],
)
def test_greetings_thanks_and_wishes_ask_nothing(query, asked):
    assert question_in(query) == (query if asked is None else asked)


@pytest.mark.parametrize(
    "query",
    [
        "I have mapped an outer join, and no objects are returned. Why not?",
        "Homer's Odyssey is the third episode of the season. Which character first appears in this episode?",
        "The job fails at night. Why is that so?",
    ],
)
def test_a_question_that_needs_the_sentences_before_it_is_the_whole_query(query):
    assert question_in(query) == query


def test_words_beside_the_question_count_for_little():
    weights = query_terms(GREETING + "How do I set the timeout of the pool?", language="en", terms=Terms("en"))
    assert weights["timeout"] == weights["pool"] == 1.0
    assert all(weight < 0.2 for term, weight in weights.items() if term not in ("timeout", "pool", "set"))


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


@pytest.mark.parametrize("part", ["?", "!", '."', "? ", "\n", " ", ".)", "Please ", "question: ", "hi "])
def test_long_queries_take_linear_time(part):
    question_in(part * 100_000 + "x")


PARTS = [
    *'Who what . ! ? … 。 ？ : , ) " ” ’ ( ¿ question query Frage Please Thanks Thank Danke Bitte Merci'.split(),
    *("Gracias", "Por", "favor", "a", "Is", "3.5", "e.g.", "\n", "\t", " "),
]


@given(st.lists(st.sampled_from(PARTS), max_size=12), st.sampled_from(["", " "]))
def test_a_query_with_an_end_of_a_sentence_is_told_from_one_without(words, between):
    query = between.join(words)
    assert bool(_MAY_END.search(query)) or not _END.search(query)
