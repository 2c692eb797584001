"""Scores are carried; they are neither read nor changed."""

import pytest

from ctxcompress import Passage, compress

TEXTS = ["The timeout is ninety seconds.", "Gardens like rain. " * 40, "A timeout ends a request."]


@pytest.mark.parametrize("scores", [(None, None, None), (0.9, 0.1, 0.5), (-7.0, 250.0, None), (0.0, 0.0, 0.0)])
def test_scores_are_carried_and_do_not_decide(scores):
    items = [Passage(str(n), text, score=score) for n, (text, score) in enumerate(zip(TEXTS, scores, strict=True))]
    result = compress("timeout", items, max_tokens=20)
    assert result.text == compress("timeout", TEXTS, max_tokens=20).text
    assert [kept.original.score for kept in result.passages] == [scores[kept.index] for kept in result.passages]
    assert all(kept.original is items[kept.index] for kept in result.passages)


def test_an_unknown_score_is_none_not_zero():
    items = [
        {"text": "a"},
        {"text": "b", "score": float("nan")},
        {"text": "c", "score": 0},
        {"text": "d", "score": "9"},
    ]
    assert [kept.original.score for kept in compress("a", items).passages] == [None, None, 0.0, None]
