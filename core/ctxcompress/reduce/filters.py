"""What filters of whole passages go by: the retriever's score, and the document; and a shortlist of very many."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import inf, lgamma, log
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import numpy as np

from ctxcompress.config.options import ScoreKind
from ctxcompress.data.metadata import as_number
from ctxcompress.data.passages import Passage, places
from ctxcompress.data.table import Floats

__all__ = [
    "above_threshold",
    "are_doubtful",
    "document_key",
    "group_of",
    "known_scores",
    "relative_scores",
    "shortlist",
    "standing",
]

_ENDING = 2
"""The letters at the end of a term that may differ in a text."""
_LEAST_LETTERS = 4
"""The least letters that are left of a term; a shorter one is looked for as it is."""
_FROM_NEIGHBOURS = {1: 0.5, 2: 0.25, 3: 0.125, -1: 0.25}
"""How many passages before it a neighbour stands -> the part of what it is worth that a passage is worth, too."""
_BETWEEN = "\n"


def shortlist(texts: Sequence[str], terms: Mapping[str, float], most: int) -> list[int]:
    """Return the numbers of at most so many texts, in order: those that are worth most by the terms that they have.

    Of texts that are worth the same, the first are on the list. terms: term of the query -> its weight.
    """
    lowered = [text.lower() for text in texts]
    joined = _BETWEEN.join(lowered)
    begins = np.cumsum([0, *(len(text) + len(_BETWEEN) for text in lowered)])[:-1]
    worth = np.zeros(len(texts))
    for piece, weight in _pieces(terms).items():
        found = np.fromiter(places(piece, joined), np.intp)
        has = np.unique(begins.searchsorted(found, side="right") - 1)
        worth[has] += weight * np.log(1 + (len(texts) - has.size + 0.5) / (has.size + 0.5))
    best = np.argsort(-_with_neighbours(worth), kind="stable")[:most]
    return sorted(best.tolist())


def _pieces(terms: Mapping[str, float]) -> dict[str, float]:
    """Return what is searched for -> its weight."""
    found: dict[str, float] = {}
    for term, weight in terms.items():
        piece = term.lower()[: max(_LEAST_LETTERS, len(term) - _ENDING)]
        found[piece] = max(weight, found.get(piece, 0.0))
    return found


def _with_neighbours(worth: Floats) -> Floats:
    most = max(_FROM_NEIGHBOURS)
    around = np.pad(worth, most)
    parts = (part * around[most - before : most - before + worth.size] for before, part in _FROM_NEIGHBOURS.items())
    found: Floats = worth + sum(parts)
    return found


_CHANCE = 0.01
"""An order less likely by chance than this is no coincidence."""
_ROUNDING = 1e-9
"""The tolerance below a threshold: 0.3 * 0.9 is not quite 0.27."""
_TRACKING = frozenset("fbclid gclid dclid gbraid wbraid msclkid yclid igshid mc_cid mc_eid _ga _gl ref_src".split())
_TRACKING_PREFIXES = ("utm_", "pk_", "mtm_", "hsa_")
_PORTS = {"http": ":80", "https": ":443"}


def above_threshold(passages: Sequence[Passage], min_score: float, kind: ScoreKind) -> list[int] | None:
    """Return the numbers of the passages at least this good or with an unknown score; None if all are unknown.

    Absolute scores are compared as they are, others relative to the best, see `relative_scores`.
    """
    scores = known_scores(passages, kind)
    if kind != "absolute":
        scores = relative_scores(scores, kind)
    if all(score is None for score in scores):
        return None
    slack = _ROUNDING * max(1.0, abs(min_score))
    return [number for number, score in enumerate(scores) if score is None or score >= min_score - slack]


def relative_scores(scores: Sequence[float | None], kind: ScoreKind) -> list[float | None]:
    """Normalize the scores of one retrieval to 0 to 1, with 1.0 for the best. Unknown scores stay unknown.

    A similarity becomes its share of the greatest one, a distance d becomes (1 + least) / (1 + d), and a rank r becomes
    1 / (1 + r - least), the reciprocal rank. All become unknown if no similarity is positive and some are negative, or
    if a distance is negative: then a share means nothing.
    """
    known = [score for score in scores if score is not None]
    if not known:
        return list(scores)
    if kind in ("similarity", "absolute"):
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


def known_scores(passages: Sequence[Passage], kind: ScoreKind) -> list[float | None]:
    """Return the score of each passage; None if it is unknown or if scores mean nothing."""
    return [None if kind == "none" else as_number(passage.score) for passage in passages]


def standing(passages: Sequence[Passage], kind: ScoreKind) -> list[float]:
    """Return numbers by which passages can be compared: more is better, an unknown score is -inf."""
    sign = -1.0 if kind in ("distance", "rank") else 1.0
    return [-inf if score is None else sign * score for score in known_scores(passages, kind)]


def are_doubtful(standing: Sequence[float]) -> bool:
    """Tell whether scores never get worse from the first passage to the last, and this is no coincidence.

    A retriever gives its best passage first. So the scores mean the opposite of what was declared, or the passages were
    reversed. standing: of the passages of one retrieval, in their order.
    """
    known = [stands for stands in standing if stands != -inf]
    if any(one > next_one for one, next_one in pairwise(known)):
        return False
    ties = sum(lgamma(1 + times) for times in Counter(known).values())
    return ties - lgamma(1 + len(known)) < log(_CHANCE)  # the share of all orders that never fall


def document_key(passage: Passage) -> str | None:
    """Return a key that is the same for all passages of one document; None if the document is unknown.

    It is the id, else the path or address. An address loses its fragment, tracking parameters and final slash.
    """
    name = passage.doc_id or passage.file_path
    return _normalized(name) if name else None


def group_of(passage: Passage) -> tuple[object, ...] | None:
    """Return a key that is the same for chunks that may be pieces of one text; None if nothing is known."""
    key = document_key(passage) or passage.title
    return (key, passage.header_path) if key else None


def _normalized(path: str) -> str:
    if "://" not in path:
        return path
    try:
        scheme, host, place, query, _ = urlsplit(path.strip())
    except ValueError:  # not a valid address
        return path
    if scheme not in _PORTS or not host:
        return path
    wanted = [(name, value) for name, value in parse_qsl(query, keep_blank_values=True) if not _is_tracking(name)]
    host = host.lower().removesuffix(_PORTS[scheme]).removeprefix("www.")
    return urlunsplit(("https", host, place.rstrip("/"), urlencode(sorted(wanted), errors="surrogatepass"), ""))


def _is_tracking(name: str) -> bool:
    return name.lower() in _TRACKING or name.lower().startswith(_TRACKING_PREFIXES)
