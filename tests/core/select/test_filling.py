"""The budget is filled: nothing that fits is left out, even where text costs more or less together than alone."""

import re
import sysconfig
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from selections import kept_of, structure_of

from ctxcompress import Passage, compress
from ctxcompress.data.documents import documents_as_they_are
from ctxcompress.data.results import Reason
from ctxcompress.select.layout import Layout
from ctxcompress.select.selection import select
from ctxcompress.text.tokens import TokenCounter

LENGTHS = [9, 4, 17, 6, 30, 5, 12, 8, 21, 4, 14, 7] * 3
TEXT = "\n\n".join(" ".join(f"w{n}x{i}yyyyyyyy" for i in range(length)) + "." for n, length in enumerate(LENGTHS))
"""Of words so long that each piece can stand alone."""
VALUES = [((n * 7) % 11) / 11 for n in range(len(LENGTHS))]


def dear_gaps(number, spans, is_lone):
    """Five words where something is dropped: text costs more than it does alone, or less if it closes a gap."""
    return [(end, " and some text is dropped") for _, end in spans]


def words(text):
    return len(text.split())


def layout_of(elide):
    return Layout(
        documents_as_they_are([TEXT]), [TEXT], "\n\n", lambda _, of: of.text, TokenCounter(words), elide=elide
    )


def assert_full(structure, selection, layout, budget):
    """Nothing that is left out fits, by its words alone and in its place, unless hardly any room is left."""
    room = budget - selection.tokens
    assert room >= 0
    kept = {n for n in range(len(LENGTHS)) if re.search(rf"\bw{n}x0y", selection.text)}
    for number in set(range(len(LENGTHS))) - kept:
        more = layout.tokens(layout.compose(layout.spans(structure.table, {*kept, number})).text)
        cost = max(more - selection.tokens, LENGTHS[number])
        assert cost > room or room < 6 + budget // 100, (number, cost, room)


@pytest.mark.parametrize("budget", range(20, 400, 31))
@pytest.mark.parametrize("elide", [dear_gaps, lambda *_: ()])
def test_no_room_is_left_for_a_segment(elide, budget):
    structure, layout = structure_of([TEXT]), layout_of(elide)
    assert_full(structure, select(structure, np.array(VALUES), layout, budget), layout, budget)


@pytest.mark.parametrize("budget", [450, 1000])
@pytest.mark.parametrize("name", ["textwrap", "heapq", "queue", "configparser"])
def test_chunks_of_source_fill_the_budget(name, budget):
    text = (Path(sysconfig.get_path("stdlib")) / f"{name}.py").read_text(encoding="utf-8")
    result = compress("how is text wrapped?", [Passage(name, text)], max_tokens=budget)
    assert 0.95 * budget <= result.tokens <= budget


SHORT = 40
"""Characters: a reader cannot tell what a shorter piece belongs to."""
sizes = st.lists(st.lists(st.integers(1, 14), min_size=2, max_size=6), max_size=12)


def _passages(sizes):
    """A passage for each list, with a paragraph of so many words for each number."""
    return [
        "\n\n".join(" ".join(f"p{n}b{m}w{i}" for i in range(size)) + "." for m, size in enumerate(blocks))
        for n, blocks in enumerate(sizes)
    ]


@given(sizes=sizes, budget=st.integers(30, 300), data=st.data())
def test_no_short_unlikely_block_is_kept_without_its_neighbour(sizes, budget, data):
    texts = ["The timeout of the server is thirty seconds by default.", *_passages(sizes), "Tea is at four."]
    structure = structure_of(texts)
    table = structure.table
    unlikely = data.draw(st.lists(st.floats(0.05, 0.3), min_size=len(table.texts) - 1, max_size=len(table.texts) - 1))
    kept = set(kept_of(texts, structure, [1.0, *unlikely], budget))
    assert 0 in kept
    for number in kept - {0, len(table.texts) - 1}:
        beside = {n for n in (number - 1, number + 1) if table.document[n] == table.document[number]}
        assert len(table.texts[number].strip()) >= SHORT or beside & kept, table.texts[number]
    room = budget - sum(len(table.texts[number].split()) for number in kept)
    assert len(table.texts) - 1 in kept or room < 6 + budget // 100  # a short passage is kept whole


def test_what_would_fit_but_stands_alone_is_dropped_as_unlikely():
    texts = ["The default timeout of the server is thirty seconds.", *(f"Boats {n}.\n\nTea {n}." for n in range(99))]
    result = compress("what is the default timeout of the server?", texts, max_tokens=500)
    assert {decision.reason for decision in result.dropped} == {Reason.UNLIKELY}


def test_of_many_sentences_that_are_nearly_alike_no_more_are_read_than_a_thousand():
    alike = [
        f"Record {number} says the same as all the others do, and goes on to say it again." for number in range(3_000)
    ]
    texts = [" ".join([*alike, "The answer stands in this sentence and in no other one that is here."])]
    structure = structure_of(texts)
    values = np.linspace(0.5, 0.4, len(structure.table.segments))
    kept = kept_of(texts, structure, values, 60)
    assert len(kept) == 3  # what repeats fills the room
    assert len(structure.runs._known) < 1_100


@pytest.mark.parametrize(("worth", "kept"), [(1.0, [0, 1]), (0.9, [0, 1]), (0.6, [0, 2])])
def test_what_repeats_in_part_comes_before_what_is_clearly_less_likely(worth, kept):
    must = "A member must wear the glasses from the box at the door of the large hall."
    must_not = "A guest must not wear the glasses from the box at the door of the large hall."
    texts = [f"{must} {must_not} The hall has no windows at all and is lit by lamps that stand beside the wall."]
    assert kept_of(texts, structure_of(texts), [1.1, worth, 0.5], 38) == kept


def test_the_first_text_has_no_separator_to_pay_for():
    texts = ["The lamp is red.", "Te.", "Boats of all kinds came into the harbour."]
    assert compress("lamp", texts, max_tokens=21, encoding=len).text == "The lamp is red.\n\nTe."
