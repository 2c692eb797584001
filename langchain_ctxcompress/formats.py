"""Documents as the text of a prompt."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from langchain_core.documents import Document

from ctxcompress import CompressionConfig, Compressor
from langchain_ctxcompress.convert import kept_passages

__all__ = ["format_documents"]


def format_documents(
    documents: Iterable[Document],
    *,
    format: Literal["plain", "compact", "verbose", "json", "xml"] = "compact",
    query: str = "",
    metadata_map: Mapping[str, str] | None = None,
) -> str:
    """The documents as one text, each with a number and where it is from: the step before the prompt.

        chain = {"context": retriever | format_documents, "question": RunnablePassthrough()} | prompt | model

    For what `CtxCompressor(max_tokens=N, format=...)` returned, all of it in its order, the text has at most N tokens
    if `format`, and where they are used `metadata_map` and `query`, are the same. Any other documents are shown whole,
    however long they are. No document's text or metadata can look like the beginning of another one.

    query: what "json" says was asked. metadata_map: as of CtxCompressor.

    Raises TypeError if something among them is not a Document, ConfigError (a ValueError) for another format, and
    RuntimeError where "json" cannot count tokens.
    """
    options: Any = {"format": format, "metadata_map": metadata_map or {}}
    config = CompressionConfig(**options)
    return Compressor(config).formatted(kept_passages(list(documents), config), query=query)
