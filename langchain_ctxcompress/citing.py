"""Citations of compressed documents, in LangChain's form."""

from collections.abc import Iterable, Mapping

from langchain_core.documents import Document
from langchain_core.messages.content import Citation

from ctxcompress import CompressionConfig, Compressor
from langchain_ctxcompress.convert import kept_passages

__all__ = ["cite"]


def cite(quote: str, documents: Iterable[Document], *, metadata_map: Mapping[str, str] | None = None) -> list[Citation]:
    """Where a quote comes from, as blocks that go into a message's content; none if no document has it.

    documents: as CtxCompressor returned them; any others count as whole. `cited_text` is what stands in the document.
    `extras` has the `document_id`, its `index` in the retrieval, and the `spans`: half-open character offsets into its
    original text, of which a quote over something that was left out has several. White space may differ, and the quote
    may have marks around it and dots ("...") for what it leaves out. metadata_map: as of CtxCompressor.
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
