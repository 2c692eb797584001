"""Leaving out passages that the retriever itself thought little of."""

from collections.abc import Sequence

from ctxcompress.config import ScoreKind
from ctxcompress.passages import Passage
from ctxcompress.reduce.scores import known_scores, relative_scores

__all__ = ["above_threshold"]

_ROUNDING = 1e-9
"""How far below a threshold is still on it: 0.3 of 0.9 is not quite 0.27."""


def above_threshold(
    passages: Sequence[Passage], min_score: float, kind: ScoreKind, *, normalize: bool
) -> list[int] | None:
    """Numbers of the passages that are at least that good, and of those whose score is unknown; None if all are.

    normalize: compares the scores relative to the best, as `relative_scores` says. Otherwise they are compared as they
    are, and `min_score` is the greatest distance or rank.
    """
    scores = known_scores(passages, kind)
    if normalize:
        scores = relative_scores(scores, kind)
    if all(score is None for score in scores):
        return None
    slack = _ROUNDING * max(1.0, abs(min_score))
    if kind == "similarity" or normalize:
        return [number for number, score in enumerate(scores) if score is None or score >= min_score - slack]
    return [number for number, score in enumerate(scores) if score is None or score <= min_score + slack]
