"""Turns of a chat memory, where only the metadata say who speaks."""

import pytest

from ctxcompress import Passage, compress
from ctxcompress.cache import Cache
from ctxcompress.data.passages import Kind
from ctxcompress.segment.conversation import recorded_speaker
from ctxcompress.segment.formats import segment
from ctxcompress.segment.prose import segments_together

QUESTION = "when do we fit the gearbox?"
TURNS = (
    ("user", "Welcome. First the ferry, then the school roof."),
    ("user", "Which of the dates do we take for the gearbox?"),
    ("assistant", "May, after the holidays."),
    ("user", "The insurance pays for the north side of the roof, but who tells them?"),
    ("assistant", "I can write to them tomorrow, if you like."),
)


def passages(*, key="role", role=True):
    return [
        Passage(f"id {n}", text, metadata={"turn": n} | ({key: speaker} if role else {}))
        for n, (speaker, text) in enumerate(TURNS)
    ]


def kinds(texts, speakers):
    alone = [segment(text) for text in texts]
    together = segments_together(texts, alone, "en", speakers)
    return [{part.kind for part in together.get(n, parts)} for n, parts in enumerate(alone)]


@pytest.mark.parametrize("key", ["role", "speaker", "sender"])
def test_an_answer_is_found_by_the_question_before_it(key):
    assert "May, after the holidays." in compress(QUESTION, passages(key=key), max_tokens=18).text


def test_a_cache_changes_nothing():
    cache = Cache()
    for given in (passages(), passages(role=False), passages()[:3], passages(role=False)[:3], passages()[1:2]):
        cached = [compress(QUESTION, given, max_tokens=12, cache=cache).text for _ in range(2)]
        assert {*cached} == {compress(QUESTION, given, max_tokens=12).text}


def test_what_stays_as_it_is():
    prose = {Kind.PARAGRAPH}
    text = TURNS[0][1]
    assert kinds([text, text], ["user", None]) == [prose, prose]  # one speaker makes no conversation
    document = "# Guide\n\nFit the gearbox in May.\n"
    assert kinds([text, document, text], ["user"] * 3) == [{Kind.TURN}, {Kind.HEADING, Kind.PARAGRAPH}, {Kind.TURN}]
    spoken = "Jon: When do you fit it?\n\nIda: I fit it in May.\n\nJon: Good, thank you.\n"
    assert segments_together([spoken, text], [segment(spoken), segment(text)], "en", ["user", "user"]).keys() == {1}


@pytest.mark.parametrize(
    ("metadata", "speaker"),
    [
        ({"role": "user"}, "user"),
        ({"role": "Assistant"}, "Assistant"),
        ({"role": "tool", "speaker": "Ida"}, None),
        ({"role": "system"}, None),
        ({"role": "editor"}, None),
        ({"role": "user", "speaker": " Ida "}, "Ida"),
        ({"sender": "+49 170 1234567"}, "+49 170 1234567"),
        ({"speaker": ""}, None),
        ({"speaker": 7}, None),
        ({"sender": "x" * 200}, None),
        ({}, None),
    ],
)
def test_who_speaks(metadata, speaker):
    assert recorded_speaker(metadata) == speaker
