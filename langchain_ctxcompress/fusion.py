"""The results of several searches as one."""

from collections.abc import Hashable, Sequence

from langchain_core.documents import Document

__all__ = ["fused"]

_RANKS = 60
"""How much ranks far down still count; the constant of the publication."""


def fused(rankings: Sequence[Sequence[Document]]) -> list[Document]:
    """The documents of all rankings, each once, from the best to the worst by reciprocal rank fusion: a document's
    ranks count 1 / (60 + rank) each, the first being 1 (Cormack, Clarke and Buettcher, SIGIR 2009).

    The same id, text and strings in the metadata are the same document; it is returned as its best rank has it, and
    counts once in each ranking. Of equal ones the one found earlier comes first. No scores are compared: those of
    different searches say nothing of each other.
    """
    points: dict[Hashable, float] = {}
    best: dict[Hashable, tuple[int, Document]] = {}
    for ranking in rankings:
        seen: set[Hashable] = set()
        for rank, document in enumerate(ranking, 1):
            key = _key(document)
            if key in seen:
                continue
            seen.add(key)
            points[key] = points.get(key, 0.0) + 1 / (_RANKS + rank)
            if key not in best or rank < best[key][0]:
                best[key] = (rank, document)
    return [best[key][1] for key in sorted(points, key=lambda key: -points[key])]


def _key(document: Document) -> Hashable:
    """What makes a document the same: numbers in the metadata may be what one search thought of it."""
    said = sorted((key, value) for key, value in document.metadata.items() if isinstance(value, str))
    return document.id, document.page_content, tuple(said)
