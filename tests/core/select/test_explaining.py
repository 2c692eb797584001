"""What is kept comes with what explains it, if that is cheap: its heading, and what "it" or "this" stands for."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selections import structure_of

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


@pytest.mark.parametrize(
    ("text", "antecedent"),
    [
        ("Am Markt gibt es viel zu sehen.\n\nDas Amt liegt am Fluss. Es schloss 1987.", [-1, -1, 1]),
        (
            "El mercado abre a las siete.\n\nLa torre es alta.\n\nLo mejor es el faro.",
            [-1, -1, -1],
        ),
        ("The light stands on the cape. It has a lamp. It was lit in 1987.", [-1, 0, 0]),
    ],
)
def test_a_pronoun_refers_to_what_was_named_and_an_article_to_nothing(text, antecedent):
    assert structure_of([text]).antecedent == antecedent


@given(room=st.integers(14, 60))
def test_it_never_costs_the_answer_its_place(room):
    long = f"The Merten light, {'which is known to all sailors of this coast, ' * 4}stands on the cape."
    page = f"{NOISE}\n\n{long} It was switched off in 1987.\n\n{NOISE}"
    assert "switched off in 1987" in compress("When was it switched off?", [page], max_tokens=room).text


@pytest.mark.parametrize("max_tokens", [60, 90, 120])
def test_what_fills_up_the_room_comes_with_what_it_leans_on(max_tokens):
    towns = ["Arden", "Bexley", "Corby", "Durham", "Epsom", "Frome"]
    named = [
        f"{town} is a town by the river that has been known for its market and its two old mills." for town in towns
    ]
    leaning = [f"It was of the opinion that {2 + number} baths are enough." for number in range(len(towns))]
    page = "\n\n".join(f"{first} {second}" for first, second in zip(named, leaning, strict=True))
    page = f"The quota of the frobnicator is seven.\n\n{page}"
    text = compress("what is the quota of the frobnicator?", [page], max_tokens=max_tokens).text
    assert all(first in text for first, second in zip(named, leaning, strict=True) if second in text)


PLANS = "Alder Birch Cedar Dogwood Elm Fir Ginkgo Hazel".split()
TOPICS = [
    "the price of storage",
    "limits of requests",
    "keys of the team",
    "the region of the data",
    "invoices by mail",
]


@pytest.mark.parametrize("max_tokens", [120, 200, 280, 300, 340, 360])
def test_no_text_stands_below_the_heading_of_another_section(max_tokens):
    page = "\n\n".join(_section(number, name) for number, name in enumerate(PLANS))
    (kept,) = compress("price of storage for Cedar", [page], max_tokens=max_tokens).passages
    for shown in filter(None, re.split(r"^(?=## )", kept.text, flags=re.MULTILINE)):
        title, _, text = shown.partition("\n\n")
        section = next(part for part in page.split("\n\n## ") if part.removeprefix("## ").startswith(title[3:]))
        assert all(line.replace(" […]", "").strip("[…] ") in section for line in text.split("\n\n"))


def _section(number: int, name: str) -> str:
    lines = [
        f"About {topic}: {'most people ask for this first, and ' * (1 + (number + place) % 3)}it depends on the "
        f"month, {number * 7 + place}."
        for place, topic in enumerate(TOPICS)
    ]
    first = f"This plan is for teams of {number + 2} people who work on {TOPICS[number % 5]}."
    return "\n\n".join((f"## {name}", first, *lines))


def test_a_short_answer_never_stands_below_the_heading_of_another_question() -> None:
    things = ("refund", "discount", "trial", "manual", "phone", "shop", "garden", "boat")
    answers = {thing: ("No.", "Yes.")[number % 2] for number, thing in enumerate(things)}
    page = "# Questions\n\n" + "".join(f"### Is there a {thing}?\n\n{said}\n\n" for thing, said in answers.items())
    for budget in range(10, 90):
        text = compress("is there a refund?", [page], max_tokens=budget).text
        for part in text.split("### ")[1:]:
            assert part.replace("[…]", "").split() == [
                *f"Is there a {part.split()[3]} {answers[part.split()[3][:-1]]}".split()
            ]


def test_a_short_answer_without_room_for_its_question_is_dropped_for_the_budget() -> None:
    page = "# Questions\n\n### Is there a refund?\n\nNo.\n\n### Is there a discount for those who come twice?\n\nYes.\n"
    result = compress("is there a refund, is there a discount?", [page], max_tokens=14)
    [dropped] = {decision.reason.value for decision in result.dropped if "Yes." in decision.text}
    assert ("Yes." in result.text, dropped) == (False, "budget")


def test_a_sentence_that_goes_on_after_the_foot_of_a_page_leans_on_its_beginning():
    text = "The tower is old.\n\nThe lamp was lit each night by\nthe\n\n<!-- page 4 -->\n\nkeeper of the tower."
    assert structure_of([text]).antecedent == [-1, -1, -1, 1]
