"""Words of a question are found where a loop over all words finds them."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcompress.score.matches import occurrences, respelled
from ctxcompress.score.occurrences import Concordance
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
