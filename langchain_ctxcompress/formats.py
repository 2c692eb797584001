"""Documents as the text of a prompt, and citations of them in LangChain's form."""

from collections.abc import Iterable, Mapping
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages.content import Citation

from ctxcompress import CompressionConfig, Compressor
from langchain_ctxcompress.convert import kept_passages

__all__ = ["cite", "format_documents"]


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


def cite(quote: str, documents: Iterable[Document], *, metadata_map: Mapping[str, str] | None = None) -> list[Citation]:
    """Return where a quote comes from, as blocks for a message's content; no blocks if no document contains it.

    documents: as CtxCompressor returned them; other documents count as uncut. `cited_text` is the text of the document.
    `extras` has the `document_id`, its `index` in the retrieval, and the `spans`: half-open character offsets into its
    original text. A quote across a gap has several spans. White space may differ, and the quote may have quotation
    marks around it and dots ("...") where it skips text. metadata_map: the same as for CtxCompressor.
    """
    config = CompressionConfig(metadata_map=metadata_map or {})
    found = Compressor(config).cite(quote, kept_passages(list(documents), config))
    blocks: list[Citation] = []
    for citation in found:
        passage, spans = citation.passage, [list(span) for span in citation.spans]
        extras = {"document_id": passage.id, "index": citation.index, "spans": spans}
        block: Citation = {"type": "citation", "cited_text": citation.text, "extras": extras}
        if passage.title:
            block["title"] = passage.title
        if passage.file_path:
            block["url"] = passage.file_path
        blocks.append(block)
    return blocks
