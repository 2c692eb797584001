"""Leaving out passages that the retriever itself thought little of."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import inf, isfinite, lgamma, log
from numbers import Real
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from ctxcompress.config.options import ScoreKind
from ctxcompress.data.passages import Passage

__all__ = [
    "above_threshold",
    "are_doubtful",
    "document_key",
    "known_scores",
    "relative_scores",
    "standing",
    "within_limits",
]

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


_TRACKING = frozenset("fbclid gclid dclid gbraid wbraid msclkid yclid igshid mc_cid mc_eid _ga _gl ref_src".split())
_TRACKING_PREFIXES = ("utm_", "pk_", "mtm_", "hsa_")
_PORTS = {"http": ":80", "https": ":443"}


def within_limits(
    passages: Sequence[Passage],
    numbers: Iterable[int],
    kind: ScoreKind,
    *,
    max_chunks_per_doc: int,
    top_n: int | None,
    copies: Mapping[int, Sequence[int]],
) -> dict[int, int]:
    """Which of the passages with these numbers stay, the best ones by score, equal ones in their order; and for each
    the one that stays in its place: itself, or where its document has enough, the first of its copies that is of a
    document which has not.

    A passage that does not say which document it is of counts as a document of its own. max_chunks_per_doc: 0 for all.
    """
    stands = standing(passages, kind)
    of_document: Counter[str] = Counter()
    stay: dict[int, int] = {}
    for number in sorted(numbers, key=lambda number: -stands[number]):
        for candidate in (number, *copies.get(number, ())):
            key = document_key(passages[candidate])
            if not max_chunks_per_doc or key is None or of_document[key] < max_chunks_per_doc:
                of_document[key or ""] += 1
                stay[number] = candidate
                break
        if len(stay) == top_n:
            break
    return stay


def document_key(passage: Passage) -> str | None:
    """What two passages of one document have in common: its id, else its path, else its address without what does
    not say which page it is (fragment, tracking parameters, the slash at the end); None if nothing is known."""
    name = passage.doc_id or passage.file_path
    return _normalized(name) if name else None


def _normalized(path: str) -> str:
    if "://" not in path:
        return path
    try:
        scheme, host, place, query, _ = urlsplit(path.strip())
    except ValueError:  # what looks like an address and is none
        return path
    if scheme not in _PORTS or not host:
        return path
    wanted = [(name, value) for name, value in parse_qsl(query, keep_blank_values=True) if not _is_tracking(name)]
    host = host.lower().removesuffix(_PORTS[scheme]).removeprefix("www.")
    return urlunsplit(("https", host, place.rstrip("/"), urlencode(sorted(wanted), errors="surrogatepass"), ""))


def _is_tracking(name: str) -> bool:
    return name.lower() in _TRACKING or name.lower().startswith(_TRACKING_PREFIXES)
