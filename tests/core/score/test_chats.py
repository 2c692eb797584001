"""Chats full of small talk, in the shapes in which people export them: what answers is found."""

import pytest

from ctxcompress import CompressionConfig, Compressor

NAMES = ["Ana", "Bo", "Cy", "Bo", "Dee", "Bo", "Mia"]
IDLE = ["ok", "thanks!", "lol", "good morning", "haha", "np", "great", "see you", "brb"]
SAID = [
    "The parcel for the neighbours is in the hall.",
    "My bike has a flat tyre again, so I walk.",
    "Somebody parked a trailer in front of the gate.",
    "We watched the match at the pub and it rained.",
    "The printer on the second floor smells of smoke.",
]
SHAPES = {
    "whatsapp": "{day:02}/05/24, 09:{minute:02} - {name}: {text}",
    "brackets": "[{day:02}/05/2024, 09:{minute:02}:11] {name}: {text}",
    "slack": "{name}  9:{minute:02} AM\n{text}\n",
    "names": "{name}: {text}",
    "irc": "[09:{minute:02}] <{name}> {text}",
}


THINGS = "ladder kettle curtain shovel blanket mirror basket candle bucket carpet pillow teapot".split()
DEEDS = "painted borrowed repaired lost found sold washed dropped hid broke measured moved".split()
DIVERSE = [f"I {deed} the {thing} of the caretaker last year" for deed in DEEDS for thing in THINGS]


def diverse(turns):
    """Return a chat in which hardly two turns are alike."""
    every = [(NAMES[n % 7], text) for n, text in enumerate(DIVERSE)]
    every[70:70] = turns
    return "\n".join(f"{name}: {text}" for name, text in every)


def chat(shape, answer, *, idle=4):
    turns = [
        (NAMES[n % 7], SAID[n // 5 % len(SAID)] if n % 5 == idle else IDLE[n * 7 // 5 % len(IDLE)]) for n in range(140)
    ]
    turns[60:60] = answer
    lines = (
        SHAPES[shape].format(day=1 + n // 60, minute=n % 60, name=name, text=text)
        for n, (name, text) in enumerate(turns)
    )
    return "\n".join(lines)


def compressed(query, text, **options):
    return Compressor(CompressionConfig(**{"max_tokens": 60, **options})).compress(query, [text]).text


@pytest.mark.parametrize("shape", SHAPES)
def test_small_talk_of_a_speaker_does_not_fill_the_budget_before_the_answer(shape):
    answer = ("Bo", "I have leave until the 14th, Cy covers for me")
    assert answer[1] in compressed("until when is Bo off?", chat(shape, [answer]))


def test_adaptive_keeps_the_reply_right_after_its_question():
    turns = [("Ana", "Who drives to the lake on Sunday?"), ("Mia", "Dee can, her car is bigger")]
    text = compressed("Who drives to the lake on Sunday?", diverse(turns), max_tokens=1_000, adaptive=True)
    assert "Dee can, her car is bigger" in text


def test_a_short_reply_of_a_speaker_in_the_question_is_kept_with_the_question():
    turns = [("Ana", "Did you sign the contract?"), ("Bo", "yes")]
    text = compressed("Did Bo sign the contract?", chat("names", turns))
    assert "contract?\nBo: yes" in text
