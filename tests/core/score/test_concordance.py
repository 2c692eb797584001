"""Words are found where a loop over all texts finds them."""

from hypothesis import given
from hypothesis import strategies as st

from ctxcompress.score.occurrences import Concordance

words = st.sampled_from("abcdefgh")
texts = st.lists(st.lists(words, max_size=6), max_size=8)


@given(texts=texts, draw=st.data())
def test_all_places_are_found(texts, draw):
    concordance = Concordance(texts)
    vocabulary = {word for text in texts for word in text}
    assert set(concordance.vocabulary) == vocabulary
    assert concordance.texts == len(texts)
    wanted = draw.draw(st.lists(st.sampled_from(sorted(vocabulary)), unique=True)) if vocabulary else []
    first = draw.draw(st.integers(0, len(texts)))
    expected = [
        (number, place, wanted.index(word))
        for number, text in enumerate(texts[first:])
        for place, word in enumerate(text)
        if word in wanted
    ]
    found = concordance.find(wanted, first)
    assert [*zip(*(each.tolist() for each in found), strict=True)] == expected
