"""Conversations: replies are judged by the turns beside them, most of all by a question right before."""

import numpy as np
import pytest

from ctxcompress import Compressor, Passage, compress
from ctxcompress.data.documents import documents_as_they_are
from ctxcompress.data.table import SegmentTable
from ctxcompress.score.adjustments import raise_yes_no_answers
from ctxcompress.segment.segments import segment

NAMES = ["Ana", "Bo", "Cy", "Bo", "Dee", "Bo", "Mia"]
IDLE = ["ok", "thanks!", "lol", "good morning", "haha", "np", "great", "see you", "brb"]
SAID = [
    "The parcel for the neighbours is in the hall.",
    "My bike has a flat tyre again, so I walk.",
    "Somebody parked a trailer in front of the gate.",
    "We watched the match at the pub and it rained.",
    "The printer on the second floor smells of smoke.",
]
THINGS = "ladder kettle curtain shovel blanket mirror basket candle bucket carpet pillow teapot".split()
DEEDS = "painted borrowed repaired lost found sold washed dropped hid broke measured moved".split()
TALK = (
    "Ida: The pump is leaking again.\nJon: Who is to mend it?\nIda: Mara, on Thursday.\nJon: Fine.\n"
    "Ida: And the roof?\nJon: Later.\n"
)


def diverse(turns):
    """Return a chat in which hardly two turns are alike."""
    every = [f"I {deed} the {thing} of the caretaker last year" for deed in DEEDS for thing in THINGS]
    every = [(NAMES[n % 7], text) for n, text in enumerate(every)]
    every[70:70] = turns
    return "\n".join(f"{name}: {text}" for name, text in every)


def small_talk(turns):
    """Return a chat of which most turns are a word or two."""
    every = [(NAMES[n % 7], SAID[n // 5 % 5] if n % 5 == 4 else IDLE[n * 7 // 5 % len(IDLE)]) for n in range(140)]
    every[60:60] = turns
    return "\n".join(f"{name}: {text}" for name, text in every)


def test_the_name_of_a_speaker_takes_nothing_from_the_confidence_that_another_turn_answers():
    text = diverse([("Mia", "green car, can't miss it")])
    named, unnamed, unknown = (
        Compressor().compress(f"What colour is the car{whose}?", [text]).confidence
        for whose in (" of Bo", "", " of Nell")
    )
    assert named >= unnamed > unknown


def test_adaptive_keeps_the_reply_right_after_its_question():
    turns = [("Ana", "Who drives to the lake on Sunday?"), ("Mia", "Dee can, her car is bigger")]
    text = compress("Who drives to the lake on Sunday?", [diverse(turns)], max_tokens=1_000, adaptive=True).text
    assert "Dee can, her car is bigger" in text


def test_a_short_reply_of_a_speaker_in_the_question_is_kept_with_the_question():
    turns = [("Ana", "Did you sign the contract?"), ("Bo", "yes")]
    assert "contract?\nBo: yes" in compress("Did Bo sign the contract?", [small_talk(turns)], max_tokens=60).text


@pytest.mark.parametrize("passages", [[TALK + "Jon: See you.\n"], TALK.splitlines()])
def test_the_answer_to_a_question_that_matches_is_kept(passages):
    passages = [Passage(str(number), text, title="Chat") for number, text in enumerate(passages)]
    assert "Mara, on Thursday." in compress("who is to mend the pump?", passages, max_tokens=28).text


YES_OR_NO = {
    "Can I run it as a service?": "Yes, but only on Linux.",
    "But is that safe?": "**Answer**: Not really. Locks are advisory.",
    "Kann ich das ändern?": "Ja, in den Einstellungen.",
    "Puis-je le modifier ?": "Oui, dans les réglages.",
    "¿Puedo cambiarlo?": "Sí, en los ajustes.",
    "How do I run it as a service?": None,
    "Candles and isles": None,
}


@pytest.mark.parametrize(("query", "answer"), YES_OR_NO.items())
def test_a_question_for_yes_or_no_is_answered_by_the_paragraph_that_begins_so(query, answer):
    text = f"Units are started at boot.\n\n{answer or 'Yes.'}\n\nThe order is by name."
    table = SegmentTable.of(documents_as_they_are([text]), [segment(text)])
    found = raise_yes_no_answers(query, table, np.full(len(table.segments), 0.1))
    raised = [part for part, value in zip(table.texts, found, strict=True) if value > 0.1]
    assert bool(raised) == bool(answer)
    assert all(part.strip() in str(answer) for part in raised)


def test_the_answer_with_yes_is_kept_in_a_budget():
    page = (
        "Set `interval` to the seconds between two runs. A run that takes longer delays the next one, and no run is "
        "lost.\n\nYes. The runner registers with the init system on its own.\n\nEach run has a folder for its output. "
        "The service removes folders after a week, and says so in the log of the system."
    )
    assert "Yes. The runner registers" in compress("Can I use it as a service?", [page], max_tokens=18).text
