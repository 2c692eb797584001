"""Terms above what explains them are headings, and no text stands below another one's term."""

import pytest

from ctxcompress import compress
from ctxcompress.data.passages import Kind
from ctxcompress.segment.formats import segment

FUNCTIONS = """HALVE
Returns the half of a number.

Usage

HALVE(Number)
The result is rounded to the next whole number below it.

TREBLE
Returns three times a number.

Usage

TREBLE(Number)
An overflow results if Number is greater than 900.
"""

SETTINGS = """   lamp_delay (seconds)

          Sets how long the lamp waits before it lights up.

          It defaults to 4 and can only be set at the start.

   lamp_power (watts) [ low | high | ! ]
   lamp_watts
          Sets how bright the lamp is at night.

          It defaults to 60 if the house has a meter.
"""

PARAMETERS = """lamp_color
(default: white)

Which colour the lamp has. The colours of the box are known by name.

lamp_shade
(default: none)

Which shade the lamp has, from the catalogue of the maker.
"""

BASKETS = """Reading the orders of today...
The following fruit will be delivered:
  apples pears plums
  quinces
Fruit to try:
  medlars
The following fruit will be taken back:
  bananas lemons
3 baskets, 2 to be taken back.
"""


def headings(text: str) -> list[tuple[str, ...]]:
    """Return the path of each heading of a text."""
    return [part.heading for part in segment(text) if part.kind is Kind.HEADING]


def test_a_line_above_a_sentence_is_a_heading_and_a_title_that_occurs_again_is_below_it():
    assert headings(FUNCTIONS) == [("HALVE",), ("HALVE", "Usage"), ("TREBLE",), ("TREBLE", "Usage")]


def test_a_label_above_lines_that_are_indented_deeper_is_a_heading_whatever_these_begin_with():
    assert headings(BASKETS) == [
        ("The following fruit will be delivered:",),
        ("Fruit to try:",),
        ("The following fruit will be taken back:",),
    ]


def test_lines_in_capitals_are_headings_whatever_the_text_below_begins_with():
    text = "NAME\n    lamp - light the house\n\nOPTIONS\n    -d     Wait before it lights.\n\nSEE ALSO\n    bulb(1)\n"
    assert headings(text) == [("NAME",), ("OPTIONS",), ("SEE ALSO",)]


def test_terms_are_below_the_marked_headings_above_them():
    settings = "--delay=<n>::\n\tSets how long it waits.\n\n--power=<n>::\n\tSets how bright it is.\n"
    text = f"# Lamps\n\n{settings}\n(more)=\n# More\n"
    assert headings(text) == [("Lamps",), ("Lamps", "--delay=<n>::"), ("Lamps", "--power=<n>::"), ("More",)]


@pytest.mark.parametrize("tokens", range(8, 60, 4))
def test_a_list_does_not_stand_below_the_label_of_another(tokens):
    kept = compress("Will medlars be taken back?", [BASKETS], max_tokens=tokens).text
    assert "medlars" not in kept or "Fruit to try:\n  medlars" in kept or "\n" not in kept.strip()


def test_lines_above_text_that_is_indented_deeper_are_one_heading():
    assert headings(SETTINGS) == [("lamp_delay (seconds)",), ("lamp_power (watts) [ low | high | ! ] lamp_watts",)]


def test_names_above_lines_that_begin_alike_are_headings():
    assert headings(PARAMETERS) == [("lamp_color",), ("lamp_shade",)]


@pytest.mark.parametrize("budget", range(15, 80, 5))
@pytest.mark.parametrize(
    ("text", "query", "told", "name"),
    [
        (FUNCTIONS, "When does HALVE give an overflow?", "An overflow results", "TREBLE"),
        (SETTINGS, "What does lamp_delay default to?", "defaults to 60", "lamp_power"),
    ],
)
def test_no_text_stands_below_the_name_of_another_entry(text, query, told, name, budget):
    kept = compress(query, [text], max_tokens=budget).text

    assert told not in kept or name in kept or "\n" not in kept.strip()


@pytest.mark.parametrize(
    "text",
    [
        "Two small birds upon a wall\nOne flew away at the end of fall,\n\nThree brown hens that would not lay\n"
        "Clucked in the barn all through the day,\n",
        "Anna Berg\n12 Mill Street\n8001 Zurich\n\nNord AG\nIndustrial Road 45\n4052 Basel\n",
        "Anna\nI think that we should leave on Friday.\n\nBen\nNo, the boat is not ready yet.\n\n"
        "Anna\nThen we leave on Monday, if nobody objects.\n\nBen\nThat is fine with me and the others.\n",
        "Tools\nHammer\nScrewdriver\n\nFood\nBread\nMilk from the farm\n",
        "You can tell the lamp how long it waits before it lights, with a number of\nseconds:\n    lamp.delay = 4\n\n"
        "or how bright it will be at night, if the house has a meter, with a number of\nwatts:\n    lamp.power = 60\n",
        "The council of the town met on Monday evening in\nThe Old Inn. It spoke about the new bridge.\n\n"
        "Nobody was of the opinion that the bridge over\nThe Sill should stay as narrow as it is.\n",
    ],
    ids=["poem", "addresses", "speakers", "lists", "ends of sentences", "wrapped lines"],
)
def test_other_short_lines_are_no_headings(text):
    assert not headings(text)
