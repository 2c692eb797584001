"""The features of neighbours are what plain loops over the units find."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcompress import Passage, compress
from ctxcompress.score.neighbours import NEIGHBOURS, Units, neighbour_rows
from ctxcompress.score.occurrences import Occurrences

TERMS = 4


@st.composite
def drawn(draw):
    """Units of several texts, and the terms of each."""
    sizes = draw(st.lists(st.integers(1, 9), min_size=1, max_size=4))
    continues = np.array([place > 0 for size in sizes for place in range(size)])
    terms = [draw(st.sets(st.integers(0, TERMS - 1))) for _ in continues]
    return Units(np.arange(continues.size), continues, np.ones(continues.size, bool)), terms


def occurrences(terms):
    pairs = [(unit, term) for unit, found in enumerate(terms) for term in sorted(found)]
    unit, term = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    return Occurrences(unit, term, np.ones(unit.size), len(terms), TERMS)


def texts_of(units):
    return np.cumsum(~units.continues)


@given(drawn())
def test_the_terms_around_count_once(case):
    units, terms = case
    idf = np.array([1.0, 2.0, 4.0, 8.0])
    rows = neighbour_rows(units, occurrences(terms), np.ones(len(terms)), idf)
    columns = dict(zip(NEIGHBOURS, rows, strict=True))
    text = texts_of(units)
    for unit in range(len(terms)):
        near = [other for other in range(max(unit - 3, 0), min(unit + 4, len(terms))) if text[other] == text[unit]]
        around = set().union(*(terms[other] for other in near))
        assert columns["covered_around"][unit] == pytest.approx(idf[sorted(around)].sum() / 15)
        before = terms[unit - 1] if units.continues[unit] else set()
        assert columns["unit_covered_with_before"][unit] == pytest.approx(idf[sorted(terms[unit] | before)].sum() / 15)


@given(drawn(), st.data())
def test_what_is_around_counts_less_the_further_away_it_is(case, draw):
    units, terms = case
    values = np.array([draw.draw(st.integers(0, 9)) for _ in terms], dtype=float)
    text = texts_of(units)
    places = np.arange(values.size)
    expected = [
        sum(values[other] * 0.5 ** (abs(other - unit) / 4) for other in places if text[other] == text[unit])
        for unit in places
    ]
    assert units.around(values) == pytest.approx(expected)


def test_the_answer_after_the_question_is_kept():
    lines = [
        "Anna: Did you water the tomatoes?",
        "Bob: Of course, twice.",
        "Anna: Where did you put the spare key of the greenhouse?",
        "Bob: Under the blue pot.",
        "Anna: Fine.",
        "Bob: Shall we have lunch now?",
        "Anna: In ten minutes, I am still reading.",
    ]
    passages = [Passage(str(number), line, title="Chat") for number, line in enumerate(lines)]
    assert "Under the blue pot." in compress("Where is the spare key of the greenhouse?", passages, max_tokens=40).text
