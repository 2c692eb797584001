"""A short text that occurs again says something else in each place, so it is no duplicate; a long one is."""

import re

import numpy as np
import pytest
from selections import kept_of, structure_of

from ctxcompress import Passage, compress
from ctxcompress.data.documents import documents_as_they_are
from ctxcompress.data.passages import Span
from ctxcompress.select.layout import Layout
from ctxcompress.select.selection import Choices, select_in_order
from ctxcompress.text.tokens import TokenCounter

FILLER = " ".join(f"The hall number {n} was painted in summer and has {n + 3} windows." for n in range(40))
FAQ = (
    "**Can I return shoes?**\n\nYes, within 30 days.\n\n**Can I return underwear?**\n\nNo, for hygienic reasons.\n\n"
    "**Can I return books?**\n\nYes, within 30 days.\n\n"
)
SERVERS = (
    "Server alpha is in Lyon. The default timeout is 30 seconds.\n\nServer beta is in Rome. The default timeout is 60 "
    "seconds.\n\nServer gamma is in Oslo. The default timeout is 30 seconds.\n\n"
)
PORTS = (
    "Alpha:\n- port 80\n- TLS required\n\nBeta:\n- port 443\n- TLS optional\n\nGamma:\n- port 8080\n- TLS required\n\n"
)


@pytest.mark.parametrize(
    ("question", "text", "budget", "item", "answer"),
    [
        ("Can I return books?", FAQ, 60, "**Can I return books?**", "Yes, within 30 days."),
        ("What is the timeout of server gamma?", SERVERS, 100, "Server gamma", "The default timeout is 30 seconds."),
        ("Is TLS required for Gamma?", PORTS, 60, "Gamma:", "TLS required"),
    ],
)
def test_the_answer_stands_below_the_item_that_was_asked_for(question, text, budget, item, answer):
    result = compress(question, [text + FILLER], max_tokens=budget)
    assert answer in result.text.partition(item)[2]
    assert "duplicate" not in {drop.reason.value for drop in result.dropped}


@pytest.mark.parametrize("max_tokens", [40, 60, 100, 200])
@pytest.mark.parametrize(
    "form",
    [
        "{name} is one of our products. The price is {price} euros. The weight is {n}0 kg. It lasts {n} years.",
        "{n}. {name}\n\n{n}.1 The price is {price} euros.\n\n{n}.2 The weight is {n}0 kg.",
        "From: {name} <a{n}@x.example>\nSubject: status\n\nThe price is {price} euros now. Our weight is {n}0 kg.",
    ],
)
def test_no_other_price_stands_below_the_name_that_was_asked_for(form, max_tokens):
    names = "Alder Birch Cedar Dogwood Elm Fir Ginkgo Hazel".split()
    prices = {name: 100 + 7 * n for n, name in enumerate(names)}
    page = "\n\n".join(form.format(n=n, name=name, price=prices[name]) for n, name in enumerate(names, 1))
    for name in names:
        shown = name
        for word in re.findall(r"\w+", compress(f"What is the price of {name}?", [page], max_tokens=max_tokens).text):
            shown = word if word in prices else shown
            assert not word.isdigit() or int(word) not in prices.values() or int(word) == prices[shown]


def test_what_several_documents_say_in_the_same_words_is_kept_of_each():
    terms = {"ACME": 30, "Bolt": 14, "Core": 30}
    common = "The office opens at eight. Coffee is free for all. The lift is repaired each spring. " * 4
    passages = [
        Passage(name, f"Contract of {name}. Payment is due within {days} days. Late fees are 2 %. {common}", title=name)
        for name, days in terms.items()
    ]
    kept = compress("Compare the payment terms and late fees of ACME, Bolt and Core", passages, max_tokens=120).passages
    assert len(kept) == 3
    assert all(f"within {terms[one.id]} days. Late fees are 2 %." in one.text for one in kept)


def test_a_long_text_is_kept_once():
    long = "The default timeout of the client is thirty seconds; it can be set in the file settings.toml, below [net]."
    result = compress(
        "what is the default timeout?", [f"{n} begins. {long} {FILLER}" for n in range(5)], max_tokens=100
    )
    assert result.text.count(long) == 1
    assert "duplicate" in {drop.reason.value for drop in result.dropped}


LONG = "The default timeout of the client is thirty seconds, and it can be set in the file settings.toml, below [net]."


@pytest.mark.parametrize(("worth", "kept"), [(0.9, 0), (0.7, 1)])
@pytest.mark.parametrize("budget", [20, 60])
def test_a_long_text_is_kept_where_it_is_first_if_it_is_worth_nearly_as_much_there(worth, kept, budget):
    text = f"{LONG}\n\n{LONG}"
    assert kept_of([text], structure_of([text]), [worth, 1.0], budget) == [kept]


@pytest.mark.parametrize("length", [98, 99, 100, 101])
def test_a_text_of_a_hundred_characters_is_long(length):
    text = f"{'a word ' * 20}"[: length - 1] + "."
    structure = structure_of([f"{text}\n\n{text}", text])
    assert (structure.copies, [*structure.same]) == (([[0, 1]], []) if length < 100 else ([], [0, 1, 2]))


def test_of_chosen_copies_the_first_one_is_kept_and_the_others_are_duplicates():
    text = f"{LONG}\n\n{LONG}"
    structure, count = structure_of([text]), TokenCounter(str.split)
    layout = Layout(documents_as_they_are([text]), [text], "\n\n", lambda _, of: of.text, count)
    found = select_in_order(Choices(structure, np.ones(2), layout, 60), [1], [0])
    assert (found.text, found.duplicates) == (LONG, {0: (Span(0, len(LONG) + 2),)})
