"""The turns of a conversation are judged by the turns beside them, most of all by a question right before."""

import pytest

from ctxcompress import compress

TALK = (
    "Ida: The pump is leaking again.\nJon: Who is to mend it?\nIda: Mara, on Thursday.\nJon: Fine.\n"
    "Ida: And the roof?\nJon: Later.\n"
)


@pytest.mark.parametrize("passages", [[TALK + "Jon: See you.\n"], TALK.splitlines()])
def test_the_answer_to_a_question_that_matches_is_kept(passages):
    text = compress("who is to mend the pump?", passages, max_tokens=28).text
    assert "Mara, on Thursday." in text
