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
    """Where a quote comes from, as blocks that go into a chat message; none if no node has it.

    nodes: as CtxCompressPostprocessor returned them; any others count as whole. `source` is the node's id, `title` its
    title or else its path, and `additional_location_info` has `start_char_idx` and `end_char_idx`, half-open offsets
    into the node's original text: a quote over something that was left out has a block for each part. White space may
    differ, and the quote may have marks around it and dots ("...") for what it leaves out. metadata_map: as of
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
