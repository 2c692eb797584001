"""Citations of compressed nodes, in LlamaIndex's form."""

from collections.abc import Mapping, Sequence

from llama_index.core.base.llms.types import CitationBlock, TextBlock
from llama_index.core.schema import NodeWithScore

from ctxcompress import CompressionConfig, Compressor
from llamaindex_ctxcompress.convert import kept_passages

__all__ = ["cite"]


def cite(
    quote: str, nodes: Sequence[NodeWithScore], *, metadata_map: Mapping[str, str] | None = None
) -> list[CitationBlock]:
    """Return where a quote comes from, as blocks for a chat message; no blocks if no node contains it.

    nodes: as CtxCompressPostprocessor returned them; other nodes count as uncut. `source` is the node's id, `title` its
    title or path, and `additional_location_info` has `start_char_idx` and `end_char_idx`, half-open offsets into the
    node's original text. A quote across a gap has one block for each part. White space may differ, and the quote may
    have quotation marks around it and dots ("...") where it skips text. metadata_map: the same as for
    CtxCompressPostprocessor.
    """
    config = CompressionConfig(metadata_map=metadata_map or {})
    return [
        CitationBlock(
            cited_content=TextBlock(text=text),
            source=citation.passage.id,
            title=citation.passage.title or citation.passage.file_path or "",
            additional_location_info={"start_char_idx": span.start, "end_char_idx": span.end},
        )
        for citation in Compressor(config).cite(quote, kept_passages(nodes, config))
        for span, text in zip(citation.spans, citation.texts, strict=True)
    ]
