"""The shortlist of many texts, with a search text by text as its oracle."""

from collections.abc import Mapping, Sequence
from math import log

from hypothesis import given
from hypothesis import strategies as st

from ctxcompress.reduce.filters import shortlist

_WORDS = st.sampled_from(["Harbour", "harbours", "timeout", "time", "tide", "İzmir", "Straße", "the", "港口", "\n"])
_TEXTS = st.lists(st.lists(_WORDS, max_size=6).map(" ".join), min_size=1, max_size=30)
_TERMS = st.dictionaries(
    st.sampled_from(["harbour", "timeout", "tide", "izmir", "港口", "none"]), st.just(1.0), max_size=4
)


def one_by_one(texts: Sequence[str], terms: Mapping[str, float], most: int) -> list[int]:
    worth = [0.0] * len(texts)
    for piece in {term[: max(4, len(term) - 2)] for term in terms}:
        has = [number for number, text in enumerate(texts) if piece in text.lower()]
        for number in has:
            worth[number] += log(1 + (len(texts) - len(has) + 0.5) / (len(has) + 0.5))
    around = [0.0, 0.0, 0.0, *worth, 0.0]
    shared = [
        own + around[at + 2] / 2 + around[at + 1] / 4 + around[at] / 8 + around[at + 4] / 4
        for at, own in enumerate(worth)
    ]
    order = sorted(range(len(texts)), key=lambda number: (-round(shared[number], 9), number))
    return sorted(order[:most])


@given(_TEXTS, _TERMS, st.integers(1, 12))
def test_the_shortlist_is_that_of_a_search_text_by_text(texts, terms, most):
    found, expected = shortlist(texts, terms, most), one_by_one(texts, terms, most)
    assert found == sorted(set(found))
    assert len(found) == min(most, len(texts))
    assert found == expected


def test_the_answer_some_messages_after_the_question_is_on_the_list():
    texts = ["Noise."] * 50 + ["When does the ferry leave?", "Hm.", "Good question.", "At nine."] + ["Noise."] * 50
    assert {50, 51, 52, 53} <= {*shortlist(texts, {"ferry": 1.0}, 5)}
