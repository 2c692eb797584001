"""Documents as the text of a prompt."""

from collections.abc import Iterable, Mapping
from typing import Any

from langchain_core.documents import Document

from ctxcompress import CompressionConfig, Compressor
from langchain_ctxcompress.convert import kept_passages

__all__ = ["format_documents"]


def format_documents(
    documents: Iterable[Document],
    *,
    format: str = "compact",
    query: str = "",
    metadata_map: Mapping[str, str] | None = None,
) -> str:
    """Return the documents as one text for a prompt, each with a number and its source.

        chain = {"context": retriever | format_documents, "question": RunnablePassthrough()} | prompt | model

    The text has at most N tokens for all documents that `CtxCompressor(max_tokens=N, format=...)` returned, in their
    order, if `format`, and where they are used `metadata_map` and `query`, are the same. Other documents are shown
    whole, however long they are. No document's text or metadata can imitate the beginning of another document. The
    format "preview" writes one line for each document that `CtxCompressor(format="preview")` returned:
    `[id] (relevance) title › headings: sentence`.

    query: the query that "json" shows. metadata_map: the same as for CtxCompressor.

    Raises TypeError for anything but Documents, ConfigError (a ValueError) for an unknown format, and RuntimeError
    where "json" cannot count tokens.
    """
    options: Any = {"format": format, "metadata_map": metadata_map or {}}
    config = CompressionConfig(**options)
    return Compressor(config).formatted(kept_passages(list(documents), config), query=query)
