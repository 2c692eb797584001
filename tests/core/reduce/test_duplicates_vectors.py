"""Close vectors are found exactly, with a fraction of the comparisons."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcompress.encoders.vectors import unit
from ctxcompress.reduce.differences import Particulars
from ctxcompress.reduce.duplicates import go_through

"""Of processor time, for what takes a tenth of that; where every two texts were compared, it would take far longer."""
PIECES = (
    "80 8080 80, (80 ms MB kB 5 10 two Two must Must not No isn't before v1.2 v1.3 `x` `y` a_b f(x) -n 'n' Anna "
    "Berlin. Berlin the of house river no\nnot 80\nms\n80. 不 不能 Non-empty 3\u00a0kg kg"
).split(" ")
vectors = st.lists(
    st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.1, 0.9, 1.0]), min_size=3, max_size=3), min_size=1, max_size=40
)


def asked(vectors, threshold, joining=()):
    """Place of a vector -> the leaders that it was asked about, where those in `joining` join the first of them."""
    found = {}

    def joins(place, alike):
        found[place] = list(alike)
        return bool(found[place]) and place in joining

    go_through(vectors, threshold, joins)
    return {place: alike for place, alike in found.items() if alike}


def expected(vectors, threshold, joining=()):
    """The same, by multiplying every two of them."""
    leads, found = np.zeros(len(vectors), dtype=bool), {}
    close = vectors @ vectors.T >= threshold - 1e-6
    for place in range(len(vectors)):
        alike = np.flatnonzero(close[place] & leads).tolist()
        if alike:
            found[place] = alike
        leads[place] = not alike or place not in joining
    return found


def directions(count, dimensions, seed=1, spread=1.0, clusters=1):
    """Around so many directions, with zeros and copies among them."""
    rng = np.random.default_rng(seed)
    around = rng.standard_normal((clusters, dimensions))[rng.integers(0, clusters, count)]
    made = around * (clusters > 1) + spread * rng.standard_normal((count, dimensions))
    made[5::97] = made[::97][: len(made[5::97])]
    made[7::211] = 0.0
    return unit(made)


@given(vectors, st.sampled_from([0.3, 0.85, 1.0]), st.sets(st.integers(0, 40)))
def test_each_is_asked_about_all_leaders_before_it_that_are_close(given, threshold, joining):
    made = unit(np.array(given))
    assert asked(made, threshold, joining) == expected(made, threshold, joining)


@pytest.mark.parametrize(
    ("count", "dimensions", "spread", "clusters"),
    [
        (1_500, 8, 1.0, 1),
        (1_500, 64, 0.4, 20),
        pytest.param(9_000, 48, 0.3, 4_000, marks=pytest.mark.slow(reason="every two of 9,000 are multiplied")),
    ],
)
@pytest.mark.parametrize("joining", [(), range(0, 9_000, 3)], ids=["all lead", "some join"])
def test_no_close_pair_is_missed_among_many(count, dimensions, spread, clusters, joining):
    made = directions(count, dimensions, spread=spread, clusters=clusters)
    found = asked(made, 0.85, joining)
    assert len(found) > 10
    assert found == expected(made, 0.85, joining)


@settings(max_examples=4 * settings().max_examples)
@given(st.lists(st.lists(st.sampled_from(PIECES), min_size=1, max_size=9).map(" ".join), min_size=2, max_size=5))
def test_what_is_told_at_once_is_what_comparing_says(texts):
    known = Particulars(texts)
    for _ in range(2):
        for leader in range(len(texts)):
            for member in range(len(texts)):
                assert known.kept_by(leader, member) == Particulars(texts).kept_by(leader, member)
