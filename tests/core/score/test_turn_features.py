"""The turns of a conversation are judged by the turns beside them, most of all by a question right before."""

import numpy as np
import pytest

from ctxcompress import Passage, compress
from ctxcompress.data.documents import documents_as_they_are
from ctxcompress.data.table import SegmentTable
from ctxcompress.score.corpus import Corpus
from ctxcompress.score.neighbours import TURNS, is_conversation, turn_features
from ctxcompress.segment.segments import segment

TALK = (
    "Ida: The pump is leaking again.\nJon: Who is to mend it?\nIda: Mara, on Thursday.\nJon: Fine.\n"
    "Ida: And the roof?\nJon: Later.\n"
)


def corpus_of(*texts):
    segments = [segment(text) for text in texts]
    passages = [Passage(str(number), text, title=f"Talk {number}") for number, text in enumerate(texts)]
    return Corpus.of(passages, SegmentTable.of(documents_as_they_are(texts), segments))


def rows(probability, *texts):
    return dict(zip(TURNS, turn_features(corpus_of(*texts), np.array(probability)).tolist(), strict=True))


def test_what_stands_beside_a_turn():
    found = rows([0.04, 0.64, 0.01, 0.16, 0.0, 0.09], TALK)
    assert found["turn_before"] == pytest.approx([0, 0.2, 0.8, 0.1, 0.4, 0])
    assert found["turn_before_that"] == pytest.approx([0, 0, 0.2, 0.8, 0.1, 0.4])
    assert found["turn_after"] == pytest.approx([0.8, 0.1, 0.4, 0, 0.3, 0])
    assert found["asks"] == [0, 1, 0, 0, 1, 0]
    assert found["answers"] == pytest.approx([0, 0, 0.8, 0, 0, 0])
    assert found["judged"][1] == pytest.approx(np.log(0.64 / 0.36))


def test_only_conversations_are_scored_again():
    assert is_conversation(corpus_of(TALK))
    assert not is_conversation(corpus_of("The pump was mended by Mara. Who else could have done it?"))
    assert not is_conversation(corpus_of(TALK, *["The pump was mended. It had leaked. " * 3] * 3))


@pytest.mark.parametrize("passages", [[TALK + "Jon: See you.\n"], TALK.splitlines()])
def test_the_answer_to_a_question_that_matches_is_kept(passages):
    text = compress("who is to mend the pump?", passages, max_tokens=28).text
    assert "Mara, on Thursday." in text
