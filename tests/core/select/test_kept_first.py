"""What must be kept comes first, with as much around it as the budget holds."""

import re

import numpy as np
import pytest
from selections import structure_of

from ctxcompress import Passage, compress
from ctxcompress.cache import Cache
from ctxcompress.data.documents import documents_as_they_are
from ctxcompress.errors import BudgetTooSmall
from ctxcompress.select.layout import Layout
from ctxcompress.select.selection import select
from ctxcompress.text.tokens import TokenCounter

FILLER = " ".join(f"Ship {n} came into the harbour late." for n in range(40))
TEXT = f"""# Incidents

## Database

The disk was full on 2024-05-17. Nobody noticed. {FILLER}

The ticket is TICKET-123. The default timeout is 30 seconds.

| id | owner |
|---|---|
| INV-77 | Ann |
| ABC | Bob |

```python
def f():
    return "INV-99"
```

{FILLER}"""
RULES = ["TICKET-123", re.compile(r"INV-\d+"), "dates"]


def _text(budget, text=TEXT, rules=RULES, **options):
    return compress("what is the default timeout?", [text], max_tokens=budget, must_keep=rules, **options).text


def test_it_comes_with_its_segment_and_with_what_the_segment_needs():
    text = _text(90)
    assert text.startswith("# Incidents\n\n## Database\n\nThe disk was full on 2024-05-17.")
    assert "The ticket is TICKET-123. The default timeout is 30 seconds." in text
    assert "| id | owner |\n|---|---|\n| INV-77 | Ann |" in text
    assert '```python\ndef f():\n    return "INV-99"\n```' in text


def test_with_less_room_the_words_with_the_matches_are_left_and_then_there_is_an_error():
    with pytest.raises(
        BudgetTooSmall, match=r"4 different texts \('2024-05-17', .*, \.\.\.\), which take (\d+)"
    ) as raised:
        _text(12)
    enough = int(re.search(r"at least (\d+) tokens", str(raised.value))[1])
    kept = [word for word in _text(enough).split() if word != "[…]"]
    assert kept == ["2024-05-17.", "TICKET-123.", "INV-77", '"INV-99"']
    with pytest.raises(BudgetTooSmall):
        _text(enough - 1)


def test_of_many_places_with_the_same_text_the_best_one_is_kept_if_not_all_fit():
    lines = [f"Request {n} of TICKET-123 went to the harbour." for n in range(60)]
    lines[40] = "TICKET-123 has a default timeout of 30 seconds."
    text = _text(40, "\n\n".join(lines), ["TICKET-123"])
    assert "TICKET-123 has a default timeout of 30 seconds." in text


def test_a_preview_shows_the_passages_with_matches_first_and_the_match():
    passages = [Passage(f"p{n}", f"The default timeout is {n} seconds. {FILLER}") for n in range(20)]
    passages[15] = Passage("p15", f"{FILLER} {'word ' * 60} the TICKET-123 is here. {FILLER}")
    options = {"max_tokens": 60, "format": "preview", "must_keep": ["TICKET-123"]}
    result = compress("default timeout", passages, **options)
    (line,) = [line for line in result.text.splitlines() if line.startswith("[p15] (0.00) ")]
    assert "TICKET-123" in line
    assert len(result.passages) > 1
    with pytest.raises(BudgetTooSmall, match=r"1 of 1 passages .* have no room for a preview line in max_tokens=5"):
        compress("default timeout", passages, **options | {"max_tokens": 5})


def test_the_cache_tells_rules_apart_and_keeps_no_result_of_functions():
    cache = Cache()
    results = [
        compress("default timeout", [TEXT], max_tokens=60, cache=cache, must_keep=rules).text
        for rules in (
            ["Ship 9 "],
            ["dates"],
            [],
            ["Ship 9 "],
            [lambda text: [(text.index("Ship 12"), text.index("Ship 13"))]],
            [lambda text: []],
        )
    ]
    assert results[0] == results[3]
    assert len(set(results)) == 4
    assert results[2] == results[5]


PARAGRAPH = (
    "The account of the harbour is INV-77, and it was opened long before the lighthouse was painted white again."
)


@pytest.mark.parametrize("number", [0, 1, 2])
def test_spans_of_a_paragraph_that_other_passages_have_too_are_kept(number):
    passages = [Passage(str(n), f"Note {n}. {FILLER} {n}\n\n{PARAGRAPH}") for n in range(3)]
    start = passages[number].text.index("account of")
    must_keep = [{"passage": str(number), "spans": [[start, start + 7]]}]
    result = compress("when is lunch?", passages, max_tokens=40, must_keep=must_keep)
    assert "The account of the harbour is INV-77" in result.text


TICKETS = [
    "The ticket is TICKET-1 of the old registry, which nobody reads any more since it moved to a house by the river.",
    "Its twin, as the clerk says, is TICKET-2.",
    " ".join(f"The default timeout of port {n} is {n} seconds." for n in range(6)),
]


@pytest.mark.parametrize(("max_tokens", "kept"), [(16, TICKETS[1]), (26, TICKETS[0])])
def test_the_text_around_the_words_that_hold_matches_comes_before_other_text(max_tokens, kept):
    options = {"max_tokens": max_tokens, "must_keep": [re.compile(r"TICKET-\d")]}
    text = compress("what is the default timeout?", TICKETS, encoding=lambda text: len(text.split()), **options).text
    assert kept in text
    assert text.count("TICKET-") == 2
    assert "default timeout" not in text


def test_a_match_within_a_character_of_several_parts_is_kept_with_all_of_it():
    text = compress("when?", ["👨‍👩‍👧" * 60], max_tokens=20, must_keep=[re.compile("👩")]).text
    assert text.strip(" […]") == "👨‍👩‍👧"


def test_a_match_within_a_character_of_a_long_word_is_kept_with_all_of_the_character():
    text = f"{'a' * 99}👨‍👩‍👧{'b' * 99}"
    assert compress("when?", [text], max_tokens=9, encoding=len, must_keep=[re.compile("👩")]).text == "👨‍👩‍👧"


def test_an_error_shows_the_beginning_of_a_long_text():
    with pytest.raises(BudgetTooSmall, match=rf"1 different texts \('{'a' * 29}…'\)"):
        _text(2, "a" * 99, ["a" * 60])


def test_a_long_paragraph_that_must_be_kept_is_kept_once():
    text = _text(60, f"{PARAGRAPH}\n\n{FILLER}\n\n{PARAGRAPH}", ["INV-77"])
    assert text.count(PARAGRAPH) == 1


def test_the_best_of_many_places_comes_with_its_announcement():
    page = "The zoo has these, which nobody has counted:\n\n- TICKET-123 has a default timeout of 30 seconds.\n\n"
    page += "\n\n".join(f"{name} saw TICKET-123 in the year {n}." for n, name in enumerate(FILLER.split()))
    assert _text(30, page, ["TICKET-123"]).startswith("The zoo has these, which nobody has counted:\n\n- TICKET-123")


def test_what_was_delivered_is_not_kept_again_beside_a_part_of_a_long_listing():
    line = "and lamp and lamp and lamp and lamp and lamp and lamp\n"
    texts = [f"```\n{line * 5}```", "Tea is at four.", "Boats came."]
    structure = structure_of(texts)
    layout = Layout(
        documents_as_they_are(texts), texts, "\n\n", lambda _, of: of.text, TokenCounter(lambda text: len(text.split()))
    )
    found = select(structure, np.array([1.0, 0.3, 0.2]), layout, 20, known=[1])
    assert found.text == f"```\n{line}```\n\nBoats came."


TIMEOUTS = " ".join(f"The default timeout of port {n} is {n} seconds." for n in range(9))
OPEN = "TICKET-1 is open since May."
REGISTRY = f"# {'The registry of the harbour ' * 4}\n\n"
LIST = "The clerk of the harbour keeps a list of them:\n\n"


@pytest.mark.parametrize(
    ("page", "max_tokens", "kept"),
    [
        (f"{REGISTRY}{OPEN}\n\n# Ports\n\n{TIMEOUTS}", 29, f"{REGISTRY}{OPEN}"),
        (f"{REGISTRY}{OPEN}\n\nAnn saw TICKET-1 by the river.\n\n# Ports\n\n{TIMEOUTS}", 18, f"{OPEN}\n\nAnn saw"),
        (
            f"{LIST}- The default one is TICKET-1.\n\n{TIMEOUTS}\n\n"
            + "\n\n".join(f"Ann saw TICKET-1 in {n}." for n in range(9)),
            18,
            f"{LIST}- The default one is TICKET-1.",
        ),
    ],
)
def test_what_belongs_to_a_match_comes_before_what_is_asked_for(page, max_tokens, kept):
    words = {"max_tokens": max_tokens, "encoding": lambda text: len(text.split())}
    assert kept in compress("what is the default timeout?", [page], must_keep=["TICKET-1"], **words).text
