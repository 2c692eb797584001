"""The greedy knapsack: what it may pack, how close it comes to the best that could be packed, and exchanges."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ctxcompress.select.knapsack import Knapsack, rank
from ctxcompress.select.novelty import Novelty, Runs

DENSITY = 0.15
"""How much the size of a sentence counts."""
TRIED = 4
"""Items left out that are tried in the place of others, those that gain most."""
LEAST_GAIN = 0.01
"""What an exchange must gain."""


class Costs:
    def __init__(self, sizes):
        self.sizes = sizes

    def __call__(self, item):
        return self.sizes[item]

    def at_least(self, item):
        return float(self.sizes[item])


class AllNew:
    def share(self, items):
        return 1.0

    def take(self, items):
        pass

    def only(self, items):
        return self


def _packed(values, sizes, room, *, density, needs=None, novelty=None, chances=()):
    knapsack = Knapsack(room, Costs(sizes), lambda item, kept: (needs or {}).get(item, ()), novelty or AllNew())
    knapsack.fill(rank(np.array(values, float), np.array(sizes, float), density=density), chances)
    return knapsack


def _best(values, sizes, room):
    best = [0.0] * (room + 1)
    for value, size in zip(values, sizes, strict=True):
        for left in range(room, size - 1, -1):
            best[left] = max(best[left], best[left - size] + value)
    return best[room]


items = st.lists(st.tuples(st.integers(0, 50), st.integers(1, 60)), min_size=1, max_size=14)


@given(items=items, room=st.integers(0, 200), density=st.sampled_from([0.0, DENSITY, 1.0]))
def test_what_is_packed_fits_and_is_counted(items, room, density):
    values, sizes = zip(*items, strict=True)
    knapsack = _packed(values, sizes, room, density=density)
    assert sum(sizes[item] for item in knapsack.kept) == room - knapsack.room <= room


@given(items=items, room=st.integers(1, 200))
def test_nothing_that_still_fits_is_left_out(items, room):
    values, sizes = zip(*items, strict=True)
    knapsack = _packed(values, sizes, room, density=1)
    assert all(sizes[item] > knapsack.room for item in range(len(items)) if item not in knapsack.kept)


@given(items=items, room=st.integers(60, 200))
def test_by_density_it_packs_at_least_half_of_the_best_together_with_the_best_item(items, room):
    values, sizes = zip(*items, strict=True)
    packed = sum(values[item] for item in _packed(values, sizes, room, density=1).kept)
    assert max(packed, *values) * 2 >= _best(values, sizes, room)


@pytest.mark.parametrize(("density", "mean"), [(1.0, 0.95), (DENSITY, 0.95)])
def test_it_comes_close_to_the_exact_optimum(density, mean, record_property):
    random = np.random.default_rng(7)
    shares = []
    for _ in range(300):
        number = int(random.integers(10, 40))
        sizes = random.integers(5, 60, number).tolist()
        values = random.gamma(1.0, 3.0, number).tolist()
        room = int(random.integers(150, 400))
        packed = sum(values[item] for item in _packed(values, sizes, room, density=density).kept)
        shares.append(packed / _best(values, sizes, room))
    record_property("mean", float(np.mean(shares)))
    record_property("least", min(shares))
    print(f"density {density}: mean {np.mean(shares):.4f}, least {min(shares):.4f} of the optimum")
    assert min(shares) >= 0.5
    assert np.mean(shares) >= mean


def test_an_item_whose_companions_do_not_fit_is_left_out():
    assert _packed([9, 1, 0], [4, 4, 9], 8, density=0, needs={0: [2]}).kept == {1}


def _exchanged(values, gains, sizes, room, *, density, needs=None, novelty=None):
    knapsack = _packed(values, sizes, room, density=density, needs=needs, novelty=novelty)
    order = rank(np.array(values, float), np.array(sizes, float), density=density)
    changed = knapsack.exchange(order, gains)
    return knapsack, changed


def _gain(knapsack, gains):
    return sum(gains[item] for item in knapsack.kept)


some_items = st.lists(
    st.tuples(st.integers(0, 50), st.integers(0, 50).map(lambda n: n / 50), st.integers(1, 60)), min_size=1, max_size=14
)


@given(items=some_items, room=st.integers(0, 200), data=st.data())
def test_an_exchange_gains_and_fits_and_leaves_nothing_without_what_it_needs(items, room, data):
    values, gains, sizes = zip(*items, strict=True)
    numbers = st.integers(0, len(items) - 1)
    chains = data.draw(st.dictionaries(numbers, numbers, max_size=4))
    needs = {item: {other, *([chains[other]] if other in chains else [])} for item, other in chains.items()}
    before = _packed(values, sizes, room, density=DENSITY, needs=needs)
    knapsack, changed = _exchanged(values, gains, sizes, room, density=DENSITY, needs=needs)
    assert sum(sizes[item] for item in knapsack.kept) == room - knapsack.room <= room
    assert knapsack.kept == {item for closure in knapsack.chosen.values() for item in closure}
    assert all(needs.get(item, set()) <= knapsack.kept for item in knapsack.chosen)
    if changed:
        assert _gain(knapsack, gains) > _gain(before, gains)
    else:
        assert knapsack.kept == before.kept


@given(items=some_items, room=st.integers(0, 200))
@example(items=[(0, 0.02, 1), *[(0, 0.04, 2)] * 3, (1, 0, 1), (1, 0.02, 2)], room=1)
def test_no_better_item_could_stand_in_the_place_of_one_or_of_the_worst(items, room):
    values, gains, sizes = zip(*items, strict=True)
    knapsack, _ = _exchanged(values, gains, sizes, room, density=DENSITY)
    if not knapsack.is_coarse:
        return
    left_out = sorted((n for n in range(len(items)) if n not in knapsack.kept), key=lambda n: -gains[n])
    if len(left_out) > TRIED:  # of equal ones some are tried
        left_out = [item for item in left_out[:TRIED] if gains[item] > gains[left_out[TRIED]]]
    worst = sorted(knapsack.kept, key=lambda n: gains[n] / sizes[n])
    groups = [[item] for item in worst] + [worst[:n] for n in range(2, len(worst) + 1)]
    for item in left_out:
        for group in groups:
            fits = sizes[item] <= knapsack.room + sum(sizes[other] for other in group)
            assert not fits or gains[item] <= sum(gains[other] for other in group) + LEAST_GAIN + 1e-9


def test_no_exchange_removes_a_fixed_item():
    needs = {1: [0], 2: []}
    costs = type("Costs", (), {"__call__": lambda self, item: 5, "at_least": lambda self, item: 5.0})()
    novelty = Novelty(Runs(["a", "b", "c"]))
    knapsack = Knapsack(5, costs, lambda item, kept: needs.get(item, []), novelty, {0}, fixed=frozenset({0}))
    assert knapsack.fill([1])
    assert knapsack.kept == {0, 1}
    assert knapsack.exchange([1, 2], [0.0, 0.1, 0.9])
    assert knapsack.kept == {0, 2}
    assert knapsack.room == 0
