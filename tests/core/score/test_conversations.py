"""Conversations: replies are judged by the turns beside them, most of all by a question right before."""

import pytest

from ctxcompress import Passage, compress

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


@pytest.mark.parametrize("max_tokens", [1, 2, 4])
def test_a_single_message_is_a_conversation(max_tokens):
    assert compress("the pool", ["Ida: see https://a.b/c?d=e for the pool"], max_tokens=max_tokens).tokens <= max_tokens
