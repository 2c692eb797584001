"""What retrievers' scores say. They are never guessed: `kind` says what they mean, and what is no finite number is
unknown, which is not zero.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import inf, isfinite, lgamma, log
from numbers import Real

from ctxcompress.config import ScoreKind
from ctxcompress.passages import Passage

__all__ = ["are_doubtful", "known_scores", "relative_scores", "standing"]

_CHANCE = 0.01
"""How likely an order may be by chance that is still taken for the retriever's."""


def known_scores(passages: Sequence[Passage], kind: ScoreKind) -> list[float | None]:
    """The score of each passage; None where it is unknown, or where scores mean nothing."""
    return [None if kind == "none" else _number(passage.score) for passage in passages]


def standing(passages: Sequence[Passage], kind: ScoreKind) -> list[float]:
    """How each passage stands among the others by its score: more is better, unknown is the least."""
    sign = 1.0 if kind == "similarity" else -1.0
    return [-inf if score is None else sign * score for score in known_scores(passages, kind)]


def are_doubtful(standing: Sequence[float]) -> bool:
    """Whether no passage stands worse than the one before it, in a way that chance does not explain.

    A retriever gives its best passage first. So the scores mean the opposite of what was declared, or somebody has
    turned the passages round. standing: of the passages of one retrieval, in their order.
    """
    known = [stands for stands in standing if stands != -inf]
    if any(one > next_one for one, next_one in pairwise(known)):
        return False
    ties = sum(lgamma(1 + times) for times in Counter(known).values())
    return ties - lgamma(1 + len(known)) < log(_CHANCE)  # so many of all orders of them never fall


def relative_scores(scores: Sequence[float | None], kind: ScoreKind) -> list[float | None]:
    """The scores of one retrieval from 0 to 1, the best being 1.0; unknown ones stay unknown.

    A similarity counts as its share of the greatest one, a distance d as (1 + least) / (1 + d), a rank r as
    1 / (1 + r - least), the reciprocal rank. All are unknown if no similarity is above 0 though some are below, or if
    a distance is below 0: then there is nothing that they could be a share of.
    """
    known = [score for score in scores if score is not None]
    if not known:
        return list(scores)
    if kind == "similarity":
        best = max(known)
        if best <= 0:
            all_equal = min(known) == 0
            return [1.0 if all_equal and score is not None else None for score in scores]
        return [None if score is None else max(score / best, 0.0) for score in scores]
    least = min(known)
    if kind == "rank":
        return [None if score is None else 1 / (1 + (score - least)) for score in scores]
    if least < 0:
        return [None] * len(scores)
    return [None if score is None else (1 + least) / (1 + score) for score in scores]


def _number(score: object) -> float | None:
    if isinstance(score, bool) or not isinstance(score, Real):
        return None
    try:
        number = float(score)
    except OverflowError:
        return None
    return number if isfinite(number) else None
