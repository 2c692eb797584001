"""Turns that come by relevance are put into the order in which they were spoken, if metadata or ids tell it."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcompress import Passage, compress
from ctxcompress.score.neighbours import spoken_order

TURNS = (
    "Ida: The pump of the north well is leaking again, and it stands under water.",
    "Jon: Who is to mend it?",
    "Ida: Mara does, on Thursday.",
    "Jon: Then I order the seals today, they take two days to come.",
    "Ida: And who waters the young pears in the meantime?",
    "Jon: Nobody needs to, rain is coming.",
)
BEGIN = datetime(2024, 3, 1, 9, 0, tzinfo=UTC)
QUESTION = "Who is to mend the pump of the well?"


def counted(name):
    return lambda place: {"metadata": {name: place + 40}}


STAMPS = {
    "a number": counted("turn"),
    "a number as text": lambda place: {"metadata": {"message_index": str(place)}},
    "seconds": lambda place: {"metadata": {"timestamp": BEGIN.timestamp() + 60 * place}},
    "milliseconds": lambda place: {"metadata": {"ts": int(1000 * BEGIN.timestamp()) + 60_000 * place}},
    "a time as text": lambda place: {"metadata": {"created_at": (BEGIN + timedelta(minutes=place)).isoformat()}},
    "a datetime": lambda place: {"metadata": {"date": BEGIN + timedelta(minutes=place)}},
    "an id": lambda place: {"id": f"D3:{place + 7}"},
}


def passages(order, stamp, **others):
    made = [Passage(f"passage {place}", text, **others) for place, text in enumerate(TURNS)]
    return [replaced(made[place], stamp(place)) for place in order]


def replaced(passage, given):
    return Passage(
        given.get("id", "x" if "metadata" in given else passage.id),
        passage.text,
        metadata=given.get("metadata", {}),
        title=passage.title,
    )


@pytest.mark.parametrize("kind", STAMPS)
@given(order=st.permutations(range(len(TURNS))))
def test_the_order_of_the_retriever_does_not_matter(kind, order):
    def relevance(order):
        kept = compress(QUESTION, passages(order, STAMPS[kind]), max_tokens=45, order="source").passages
        return {part.original.text: pytest.approx(part.relevance) for part in kept}

    assert relevance(order) == relevance(range(len(TURNS)))


def test_an_answer_is_found_by_the_question_before_it_wherever_the_retriever_puts_it():
    text = compress(QUESTION, passages([0, 5, 3, 1, 4, 2], counted("turn")), max_tokens=42).text
    assert "Mara does, on Thursday." in text


def order_of(*found):
    return spoken_order(
        [Passage(name, "A: b.", metadata=metadata, title=title) for name, metadata, title in found], range(len(found))
    )


@pytest.mark.parametrize(
    "found",
    [
        [("a", {}, None), ("b", {}, None)],
        [("a", {"turn": 1}, None), ("b", {}, None)],
        [("a", {"turn": 1}, None), ("b", {"turn": 1}, None)],
        [("a", {"turn": True}, None), ("b", {"turn": "soon"}, None)],
        [("a", {"time": "yesterday"}, None), ("b", {"time": float("nan")}, None)],
        [("0f3c-11", {}, None), ("77ab-x2", {}, None)],
        [("a", {"time": datetime.max}, None), ("b", {"time": datetime.min}, None)],
        [("a", {"turn": "9" * 400}, None), ("b", {"turn": 10**400}, None)],
    ],
)
def test_nothing_is_told_where_the_metadata_does_not_order_all(found):
    assert order_of(*found) is None
