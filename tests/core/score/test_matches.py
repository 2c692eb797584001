"""Words of a question are found where a loop over all words finds them, and else in another spelling."""

import string
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcompress import compress
from ctxcompress.score.corpus import Concordance
from ctxcompress.score.matches import occurrences, respelled
from ctxcompress.text.words import Terms, split_words

LANGUAGES = "ar de en es hi ja ru th tr zh".split()
WORDS = st.one_of(
    st.sampled_from(
        "lying lie dies timeouts timeout time_out getTimeOut HTTPServer httpserver Zeitüberschreitung Zeit "
        "überschreitung Überschreitungen Versicherungsgesellschaft Gesellschaft "
        " ışık IŞIK кошка кошки وقال قال والمكتب مكتب 超时 超时时间 "
        "時間を 時間 की किताबें किताब ไทย ภาษาไทย 시간 시간은 naïve naive ﬁle file x_ _ 30 30s Versicherungsgeselschaft "
        "timeuots Timeuot".split()
    ),
    st.text(min_size=1, max_size=6),
)


def texts(max_size=6):
    return st.lists(st.lists(WORDS, max_size=12).map(lambda words: split_words(" ".join(words))), max_size=max_size)


def unit_and_term(terms, wanted, asked, units):
    """The unit and the term of each occurrence, as a loop over all words finds them."""
    vocabulary = {word for unit in units for word in unit}
    matching = terms.matching(vocabulary, wanted)
    matching |= respelled(asked, wanted, matching, vocabulary, terms)
    return [(number, term) for number, unit in enumerate(units) for word in unit for term in matching.get(word, ())]


@pytest.mark.parametrize("language", LANGUAGES)
@given(words=texts(), labels=texts(3), own_labels=texts(3), query=st.lists(WORDS, max_size=6))
def test_all_occurrences_are_found(language, words, labels, own_labels, query):
    terms = Terms(language)
    own = terms.of_words(word for text in query for word in split_words(text))
    wanted = {term: 1.0 for of_word in own.values() for term in of_word}
    names = [label[-2:] for label in labels]
    asked = split_words(" ".join(query))
    places = Concordance((*labels, *names, *own_labels, *words))
    scanned = occurrences(places, wanted, terms, asked)
    assert np.array_equal(scanned.keys(), np.unique(scanned.keys()))
    assert scanned.units == sum(map(len, (words, labels, names, own_labels)))
    counts = Counter(unit_and_term(terms, wanted, asked, [*labels, *names, *own_labels, *words]))
    assert (
        dict(zip(zip(scanned.unit.tolist(), scanned.term.tolist(), strict=True), scanned.times.tolist(), strict=True))
        == counts
    )


# Other spellings

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
