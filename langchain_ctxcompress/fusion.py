"""The results of several searches as one."""

from collections.abc import Hashable, Sequence

from langchain_core.documents import Document

__all__ = ["fused"]

_RANKS = 60
"""The constant of the publication; the greater it is, the more low ranks count."""


def fused(rankings: Sequence[Sequence[Document]]) -> list[Document]:
    """Return the documents of all rankings, each once, the best first, by reciprocal rank fusion.

    Each rank of a document adds 1 / (60 + rank), where the first rank is 1 (Cormack, Clarke and Buettcher, SIGIR 2009).
    Documents with the same id, text and strings in the metadata are the same; the one with the best rank is returned,
    and counts once in each ranking. Of equal documents the one found earlier comes first. Scores are not used, because
    scores of different searches do not compare.
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
    """Return what identifies a document. Numbers in the metadata may be scores of one search."""
    said = sorted((key, value) for key, value in document.metadata.items() if isinstance(value, str))
    return document.id, document.page_content, tuple(said)
