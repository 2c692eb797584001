"""Close vectors are found exactly, block by block."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcompress.encoders.vectors import unit
from ctxcompress.reduce.duplicates import Particulars, same_meaning

PIECES = (
    "80 8080 80, (80 ms MB kB 5 10 two Two must Must not No isn't before v1.2 v1.3 `x` `y` a_b f(x) -n 'n' Anna "
    "Berlin. Berlin the of house river no\nnot 80\nms\n80. 不 不能 Non-empty 3\u00a0kg kg"
).split(" ")
vectors = st.lists(
    st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.1, 0.9, 1.0]), min_size=3, max_size=3), min_size=1, max_size=40
)


class Equal:
    """Particulars of texts that differ in nothing but for some, which are kept apart from all others."""

    def __init__(self, apart=()):
        self.apart = apart

    def kept_by(self, _, member):
        return member not in self.apart


def expected(vectors, threshold, apart=()):
    """The leaders, by multiplying every two vectors."""
    leads, found = np.ones(len(vectors), dtype=bool), {}
    close = vectors @ vectors.T >= threshold - 1e-6
    for place in range(len(vectors)):
        alike = np.flatnonzero(close[place, :place] & leads[:place])
        if alike.size and place not in apart:
            found[place], leads[place] = int(alike[0]), False
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
def test_each_joins_the_first_leader_that_is_close(given, threshold, apart):
    made = unit(np.array(given))
    assert same_meaning(made, threshold, Equal(apart)) == expected(made, threshold, apart)


@pytest.mark.parametrize(("count", "dimensions", "spread", "clusters"), [(1_500, 8, 1.0, 1), (2_000, 48, 0.3, 800)])
@pytest.mark.parametrize("apart", [(), range(0, 9_000, 3)], ids=["all join", "some lead"])
def test_no_close_pair_is_missed_among_many(count, dimensions, spread, clusters, apart):
    made = directions(count, dimensions, spread=spread, clusters=clusters)
    found = same_meaning(made, 0.85, Equal(apart))
    assert len(found) > 10
    assert found == expected(made, 0.85, apart)


@settings(max_examples=3 * settings().max_examples)
@given(st.lists(st.lists(st.sampled_from(PIECES), min_size=1, max_size=9).map(" ".join), min_size=2, max_size=5))
def test_what_is_told_at_once_is_what_comparing_says(texts):
    known = Particulars(texts)
    for _ in range(2):
        for leader in range(len(texts)):
            for member in range(len(texts)):
                assert known.kept_by(leader, member) == Particulars(texts).kept_by(leader, member)
