"""A sentence that begins with "it" or "this" comes with the sentence that says what this is, if that is cheap."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcompress import compress

NOISE = (
    "Visitors come in spring for the market. The road along the river was paved by the county. "
    "Most shops close at noon on Saturdays. A ferry crosses twice a day in summer. "
)


@pytest.mark.parametrize(
    ("named", "between", "answer", "question"),
    [
        (
            "The Merten light stands on the northern cape.",
            "It has a red lamp on a round tower that can be seen from all villages of the bay.",
            "It was switched off in 1987.",
            "When was it switched off?",
        ),
        (
            "Das Amt liegt am Rand der Altstadt.",
            "Es hat zwei Eingänge und einen Hof mit Bäumen, in dem die Leute im Sommer warten.",
            "Es wurde 1987 geschlossen.",
            "Wann wurde es geschlossen?",
        ),
    ],
)
@pytest.mark.parametrize("break_", [" ", "\n\n"])
def test_of_several_sentences_about_it_the_one_with_the_name_comes_along(named, between, answer, question, break_):
    page = f"{NOISE * 4}\n\n{named}{break_}{between}{break_}{answer}\n\n{NOISE * 4}"
    text = compress(question, [page], max_tokens=64).text
    assert named in text
    assert answer in text


@given(room=st.integers(14, 60))
def test_it_never_costs_the_answer_its_place(room):
    long = f"The Merten light, {'which is known to all sailors of this coast, ' * 4}stands on the cape."
    page = f"{NOISE}\n\n{long} It was switched off in 1987.\n\n{NOISE}"
    assert "switched off in 1987" in compress("When was it switched off?", [page], max_tokens=room).text
