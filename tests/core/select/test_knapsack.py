"""The greedy knapsack: what it may pack, how close it comes to the best that could be packed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from selections import structure_of

from ctxcompress.select.knapsack import Coherence, Knapsack, rank
from ctxcompress.select.repetition import Novelty, Runs

DENSITY = 0.15
"""How much the size of a sentence counts."""


class Costs:
    def __init__(self, sizes):
        self.sizes = sizes

    def __call__(self, item):
        return self.sizes[item]

    def at_least(self, item):
        return float(self.sizes[item])


class Needs:
    def __init__(self, needs, explaining=()):
        self.needs, self.explained = needs, explaining

    def companions(self, item, kept):
        return self.needs.get(item, ())

    def explaining(self, item, kept):
        return self.explained

    def is_orphan(self, items, kept):
        return False

    def is_headless(self, items, kept):
        return False


class Anywhere:
    def misplaces(self, items):
        return False

    def take(self, items):
        pass


class AllNew:
    def share(self, items):
        return 1.0

    def take(self, items):
        pass


def _packed(values, sizes, room, *, density, needs=None, novelty=None, chances=()):
    knapsack = Knapsack(room, Costs(sizes), Needs(needs or {}), novelty or AllNew(), Anywhere())
    knapsack.fill(rank(np.array(values, float), np.array(sizes, float), density=density), chances)
    return knapsack


def _best(values, sizes, room):
    best = [0.0] * (room + 1)
    for value, size in zip(values, sizes, strict=True):
        for left in range(room, size - 1, -1):
            best[left] = max(best[left], best[left - size] + value)
    return best[room]


items = st.lists(st.tuples(st.integers(0, 50), st.integers(1, 60)), min_size=1, max_size=14)


@given(items=items, room=st.integers(1, 200), density=st.sampled_from([0.0, DENSITY, 1.0]))
def test_what_is_packed_fits_and_nothing_that_still_fits_is_left_out(items, room, density):
    values, sizes = zip(*items, strict=True)
    knapsack = _packed(values, sizes, room, density=density)
    assert sum(sizes[item] for item in knapsack.kept) == room - knapsack.room <= room
    assert all(sizes[item] > knapsack.room for item in range(len(items)) if item not in knapsack.kept)


@given(items=items, room=st.integers(60, 200))
def test_by_density_it_packs_at_least_half_of_the_best_together_with_the_best_item(items, room):
    values, sizes = zip(*items, strict=True)
    packed = sum(values[item] for item in _packed(values, sizes, room, density=1).kept)
    assert max(packed, *values) * 2 >= _best(values, sizes, room)


def _best_closed(values, sizes, room, needs):
    """Return the greatest value of the sets that fit and have all that their items need, by trying each set."""
    sets = np.arange(1 << len(values))
    has = (sets[:, None] >> np.arange(len(values))) & 1 == 1
    fits = has @ np.array(sizes) <= room
    for item, others in needs.items():
        for other in others:
            fits &= ~has[:, item] | has[:, other]
    return float((has @ np.array(values))[fits].max())


def test_with_what_items_need_it_comes_close_to_the_exact_optimum():
    random = np.random.default_rng(11)
    shares = []
    for _ in range(200):
        number = int(random.integers(8, 13))
        sizes = random.integers(5, 40, number).tolist()
        values = random.gamma(1.0, 3.0, number).tolist()
        # A heading or a header comes before what needs it, and may need one itself.
        parents = [int(random.integers(-1, item)) if item else -1 for item in range(number)]
        needs = {}
        for item, parent in enumerate(parents):
            needs[item] = [parent, *needs[parent]] if parent >= 0 else []
        room = int(random.integers(60, 160))
        kept = _packed(values, sizes, room, density=1.0, needs=needs).kept
        assert all(kept.issuperset(needs[item]) for item in kept)
        assert sum(sizes[item] for item in kept) <= room
        shares.append(sum(values[item] for item in kept) / _best_closed(values, sizes, room, needs))
    assert np.mean(shares) >= 0.95


def test_an_item_that_cannot_be_packed_or_whose_companions_do_not_fit_is_left_out():
    assert _packed([9, 1], [4, 4], 8, density=0, needs={0: None}).kept == {1}
    assert _packed([9, 1, 0], [4, 4, 9], 8, density=0, needs={0: [2]}).kept == {1}


def test_what_repeats_waits_until_all_else_had_its_turn():
    same = "one two three four five six seven eight nine ten"
    texts = [same, f"{same} eleven", "some thing quite other than that and more words"]
    knapsack = _packed([9, 8, 1], [10, 10, 10], 20, density=0, novelty=Novelty(Runs(texts)))
    assert knapsack.kept == {0, 2}
    assert _packed([9, 8, 1], [10, 10, 10], 30, density=0, novelty=Novelty(Runs(texts))).kept == {0, 1, 2}


@pytest.mark.parametrize(
    ("chances", "kept"),
    [
        ([0.9, 0.5, 0.001], {0, 1}),  # what is new in the repetition is more likely needed than the filler
        ([0.9, 0.5, 0.02], {0, 1}),  # the same if the filler may be needed
        ([0.9, 0.5, 0.1], {0, 2}),  # the filler is needed as likely as the new part
        ([0.9, 0.02, 0.001], {0, 2}),  # hardly anything is new in what repeats
    ],
)
def test_what_repeats_comes_before_what_is_hardly_needed_if_its_new_part_is(chances, kept):
    same = "one two three four five six seven eight nine ten"
    texts = [same, f"{same} eleven twelve", "some thing quite other than that and more words"]
    knapsack = _packed([9, 8, 1], [10, 10, 10], 20, density=0, novelty=Novelty(Runs(texts)), chances=chances)
    assert knapsack.kept == kept


def test_the_marks_of_tables_are_no_repetition():
    ruler = "| --- | --- | --- | --- | --- | --- | --- | --- |"
    headers = [f"| Sales in {place} |  |  | 2019 | 2018 | 2017 | 2016 |\n{ruler}" for place in ("Asia", "Europe")]
    novelty = Novelty(Runs(headers))
    novelty.take([0])
    assert novelty.share([1]) == 1.0


@pytest.mark.parametrize(("room", "kept"), [(25, {0}), (26, {0, 1}), (29, {0, 1}), (30, {0, 1, 2})])
def test_what_explains_an_item_takes_a_quarter_of_the_room_that_is_left(room, kept):
    knapsack = Knapsack(room, Costs([10, 4, 4]), Needs({}, [[1], [2]]), AllNew(), Anywhere())
    knapsack.fill([0])
    assert knapsack.kept == kept


@pytest.mark.parametrize(("between", "is_orphan"), [(" ", False), ("\n", False), ("\n\n", True), ("\n \n", True)])
def test_a_short_piece_belongs_to_what_stands_right_before_it_but_not_to_what_a_blank_line_parts(between, is_orphan):
    structure = structure_of([f"The lamp of the harbour is red and can be seen from all ships.{between}It is lit."])
    assert Coherence(structure, [0, 1]).is_orphan([1], {0}) == is_orphan


def test_a_record_that_repeats_others_in_part_comes_after_all_that_is_likely():
    same = "one two three four five six seven eight nine ten"
    texts = [same, f"{same} eleven twelve", "some thing quite other than that and more words"]
    novelty = Novelty(Runs(texts), by_form={0, 1})
    packed = _packed([9, 8, 1], [10, 10, 10], 20, density=0, novelty=novelty, chances=[0.9, 0.5, 0.02])
    assert packed.kept == {0, 2}
