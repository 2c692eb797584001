"""What completes a segment, and what that gains: the same as a slow search over all pairs says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcompress import Passage, compress
from ctxcompress.data.documents import documents_as_they_are
from ctxcompress.data.table import SegmentTable
from ctxcompress.score.completions import Completions, completions_in
from ctxcompress.segment.formats import segment

FILLER = [f"The office of site {n} painted its north hall before the fair of that year." for n in range(12)]


def shared(texts: list[str], **chances: float) -> dict[str, float]:
    """Return what each segment gains; a segment is named by its first word. chances: of some segments."""
    table = SegmentTable.of(documents_as_they_are(texts), [segment(text) for text in texts])
    names = [text.split()[0].strip(':{"') for text in table.texts]
    before = np.array([chances.get(name, 0.0) for name in names])
    after = completions_in(table).shared(before)
    return {name: float(gain) for name, gain in zip(names, (after - before).round(6), strict=True) if gain}


def test_sentences_of_a_paragraph_complete_each_other() -> None:
    texts = ["Old crates pile up. Cranes lift them. Two people help.\n\nGulls nest here."]
    assert shared(texts, Cranes=0.5) == {"Old": 0.075, "Two": 0.15}
    assert shared(texts, Two=0.5) == {"Cranes": 0.075}


@pytest.mark.parametrize("title", ["Height of the crane", "## Height of the crane", "The height of the crane is"])
def test_what_has_no_sentence_end_is_completed_by_what_follows_even_in_the_next_passage(title: str) -> None:
    name = title.split()[0]
    assert shared([title, "Forty metres. Gulls nest here."], **{name: 0.5}) == {"Forty": 0.15}
    assert shared([f"{title}.", "Forty metres. Gulls nest here."], **{name: 0.5}) == {}


LONG = "Lifts crates from ships that are too old to have one of their own. Gulls nest here."


@pytest.mark.parametrize(
    ("text", "gains"),
    [
        (f":crane: n.\n\n{LONG}", {"Lifts": 0.5}),
        (":crane: n.\n\nLifts crates.", {}),
        (f"Gulls nest here. A crane.\n\n{LONG}", {}),
        (f":crane: n.\n:derrick: n.\n\n{LONG}", {}),
    ],
    ids=["a name", "no longer text", "the end of a paragraph", "two lines"],
)
def test_a_short_line_above_longer_text_names_it_and_gives_it_all_its_probability(
    text: str, gains: dict[str, float]
) -> None:
    gained = shared([text], crane=0.5, A=0.5)
    assert {name: gain for name, gain in gained.items() if name == "Lifts"} == gains


def test_the_text_right_below_a_name_is_kept_before_later_text_that_does_not_say_it() -> None:
    entry = (
        "   :dock rat: n.\n\n   Somebody who loads ships at night, for whoever pays for it. The police of the port "
        "counted ninety in that year. A dock rat is called so by those who load by day, and never by himself."
    )
    assert "loads ships" in compress("What is a dock rat?", [entry], max_tokens=42).text


@pytest.mark.parametrize(("rest", "gains"), [("forty metres high.", 0.15), ("40 metres high.", 0.15), ("Forty.", 0)])
def test_a_sentence_at_the_end_of_a_passage_goes_on_in_the_next_one(rest: str, gains: float) -> None:
    gained = shared(["Gulls nest here.\n\nCranes are", f"{rest} Ships come."], Cranes=0.5)
    assert gained == ({rest.split()[0]: gains} if gains else {})


def test_the_fields_of_a_record_complete_each_other() -> None:
    texts = ['[{"name": "crane", "height": 40, "site": "north"}, {"name": "winch", "height": 2, "site": "south"}]']
    table = SegmentTable.of(documents_as_they_are(texts), [segment(texts[0])])
    before = np.array([0.5 * ("crane" in text) for text in table.texts])
    after = completions_in(table).shared(before)
    gained = [text for text, gain in zip(table.texts, after - before, strict=True) if gain]
    assert not any("winch" in text or "south" in text for text in gained)


def test_a_branch_of_a_tree_belongs_together() -> None:
    tree = "- page\n  - item\n    - link Case\n    - price 19\n  - other\n    - rope Rope\n    - cost 5\n"
    table = SegmentTable.of(documents_as_they_are([tree]), [segment(tree)])
    before = np.array([0.4 * ("Case" in text) for text in table.texts])
    after = completions_in(table).shared(before).round(6).tolist()
    assert after == [0.06, 0.12, 0.4, 0.12, 0.06, 0.06, 0.06]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.data())
def test_shares_are_those_of_a_search_over_all_pairs(chances: list[float], data: st.DataObject) -> None:
    size = len(chances)
    before = sorted(data.draw(st.sets(st.integers(0, size - 2))) if size > 1 else ())
    mutual = data.draw(st.lists(st.booleans(), min_size=len(before), max_size=len(before)))
    records = data.draw(st.lists(st.integers(-1, 3), min_size=size, max_size=size))
    probability = np.array(chances)
    first = np.array(before, np.intp)
    shares = data.draw(st.lists(st.sampled_from((0.3, 1.0)), min_size=len(before), max_size=len(before)))
    found = Completions(first, np.array(shares), np.array(mutual, bool), np.array(records)).shared(probability)
    for number in range(size):
        given_by = [share * chances[other] for other, share in zip(before, shares, strict=True) if other + 1 == number]
        given_by += [
            0.15 * chances[other + 1] for other, both in zip(before, mutual, strict=True) if both and other == number
        ]
        given_by += [
            0.3 * chances[other] for other in range(size) if records[number] >= 0 and records[other] == records[number]
        ]
        assert found[number] == pytest.approx(max([chances[number], *given_by]))


@pytest.mark.parametrize(
    ("query", "passages", "answer"),
    [
        ("What is the blood group?", ["Name", "M. Falk", "Blood group", "B negative", "Ward", "4 East"], "B negative"),
        ("What does winter storage ask for?", ["Safety", "Wear gloves.", "Winter storage", "Drain it."], "Drain it."),
    ],
    ids=["label and value", "title and text"],
)
def test_the_rest_of_what_answers_comes_before_other_text(query: str, passages: list[str], answer: str) -> None:
    given = [Passage(str(n), text) for n, text in enumerate([*FILLER[:6], *passages, *FILLER[6:]])]
    assert answer in compress(query, given, max_tokens=30).text
