"""The results of several searches as one."""

from collections.abc import Hashable, Sequence

from langchain_core.documents import Document

from ctxcompress.adapters import retrieval

__all__ = ["fused"]


def fused(rankings: Sequence[Sequence[Document]]) -> list[Document]:
    """Return the documents of all rankings, each once, the best first: see `ctxcompress.adapters.retrieval.fused`.

    Documents with the same id, text and strings in the metadata are the same.
    """
    return retrieval.fused(rankings, _identity)


def _identity(document: Document) -> Hashable:
    """Return what identifies a document. Numbers in the metadata may be scores of one search."""
    said = sorted((key, value) for key, value in document.metadata.items() if isinstance(value, str))
    return document.id, document.page_content, tuple(said)
