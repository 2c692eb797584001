"""An index of the words finds exactly what a search through all words finds."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ctxcompress.score.matches import Postings, RepeatedSearch, Scan, levels, respelled
from ctxcompress.text.words import Lexicon, Terms, split_words

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
def test_postings_find_what_scans_find(language, words, labels, own_labels, query):
    terms = Terms(language)
    own = terms.of_words(word for text in query for word in split_words(text))
    wanted = {term: 1.0 for of_word in own.values() for term in of_word}
    names = [label[-2:] for label in labels]
    asked = split_words(" ".join(query))
    places = levels(words, labels, names, own_labels)
    found = Postings(places, terms).occurrences(wanted, asked)
    scanned = Scan(places, terms).occurrences(wanted, asked)
    repeated = RepeatedSearch(places, terms)
    again = [repeated.occurrences(wanted, asked) for _ in range(10)]  # the last with an index
    assert isinstance(repeated._found, Postings)
    for one in (found, again[0], again[-1]):
        assert all(np.array_equal(a, b) for a, b in zip(one, scanned, strict=True))
        assert np.array_equal(one.keys(), np.unique(one.keys()))
    assert scanned.units == sum(map(len, (words, labels, names, own_labels)))
    counts = Counter(unit_and_term(terms, wanted, asked, [*labels, *names, *own_labels, *words]))
    assert (
        dict(zip(zip(scanned.unit.tolist(), scanned.term.tolist(), strict=True), scanned.times.tolist(), strict=True))
        == counts
    )


@given(words=st.lists(WORDS), query=st.lists(WORDS))
@example(words=["lying"], query=["\n"])
def test_a_lexicon_matches_as_the_words_do(words, query):
    terms = Terms("de")
    assert Lexicon(terms, words).matching(query) == terms.matching(list(dict.fromkeys(words)), query)
