"""Words of the query that occur nowhere are found in another spelling."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcompress import compress
from ctxcompress.score.matches import respelled
from ctxcompress.text.words import Terms, split_words

LETTERS = string.ascii_lowercase


def found(question, vocabulary, language="en"):
    terms, asked = Terms(language), split_words(question)
    wanted = [term for of_word in terms.of_words(asked).values() for term in of_word]
    return set(respelled(asked, wanted, terms.matching(vocabulary, wanted), vocabulary, terms))


def slips(word):
    """All words that are one letter away, or have two neighbours the other way round, the first letter apart."""
    places = range(1, len(word) + 1)
    return {
        *(word[:at] + word[at + 1 :] for at in places),
        *(word[:at] + letter + word[at:] for at in places for letter in LETTERS),
        *(word[:at] + word[at + 1 : at + 2] + word[at : at + 1] + word[at + 2 :] for at in places),
        *(word[:at] + letter + word[at + 1 :] for at in places for letter in LETTERS if at < len(word)),
    } - {word}


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("malcom", "Malcolm"),
        ("jugantor", "Jugantar"),
        ("Carslbad", "Carlsbad"),
        ("brittish", "British"),
        ("championshipt", "championships"),
        ("scrutinize", "scrutinise"),
        ("tangere", "Tángere"),
        ("Сикорскый", "Сикорский"),
    ],
)
def test_a_slip_is_found(asked, written):
    assert found(f"who is {asked}", [written, "other", "words"], "ru" if asked > "я" else "en") == {written}


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("plane", "place"),  # short words
        ("status", "states"),  # another letter in a word that is not long
        ("handled", "hands"),
        ("version1", "version2"),  # numbers
        ("max_size", "max_sizes"),
        ("peanuts", "deanuts"),  # the first letter
        ("黑死病是什么时候", "黑死病是什么时间"),
    ],
)
def test_another_word_is_another_word(asked, written):
    assert found(asked, [written]) == set()


def test_a_word_that_is_there_is_not_looked_for_in_another_spelling():
    assert found("the capital of Slovenia", ["Slovenia", "Slovania"]) == set()
    assert found("the capital of Slovenai", ["Slovenia", "Slovania", "capital"]) == {"Slovenia"}


@given(st.text(LETTERS, min_size=7, max_size=9), st.data())
def test_all_slips_are_found_and_nothing_else(word, draw):
    near = slips(word)
    others = st.one_of(st.sampled_from(sorted(near)), st.text(LETTERS, min_size=1, max_size=10))
    vocabulary = sorted(set(draw.draw(st.lists(others, max_size=20))) - {word})
    assert found(word, vocabulary, "xx") == near.intersection(vocabulary)


def test_a_question_with_a_slip_is_answered():
    passages = ["The dad is in the middle of the week.", "In the middle there is a dad.", "Malcolm has Hal.", "A dad."]
    result = compress("who plays the dad in malcom in the middle", passages, max_tokens=6)
    assert result.text == "Malcolm has Hal."
