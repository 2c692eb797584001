"""Citations of compressed documents, in LangChain's form."""

from collections.abc import Iterable, Mapping

from langchain_core.documents import Document
from langchain_core.messages.content import Citation

from ctxcompress import CompressionConfig, Compressor
from langchain_ctxcompress.convert import kept_passages

__all__ = ["cite"]


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
