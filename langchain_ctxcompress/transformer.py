"""A document transformer that analyses chunks when they are indexed, so that later compressions take less time."""

from collections.abc import Sequence
from typing import Any

from langchain_core.documents import BaseDocumentTransformer, Document
from typing_extensions import override

from ctxcompress import Compressor
from langchain_ctxcompress.compressor import CtxCompressor
from langchain_ctxcompress.convert import passages_from_documents

__all__ = ["CtxAnalysisTransformer"]


class CtxAnalysisTransformer(BaseDocumentTransformer):
    """A document transformer that returns its documents as they are, and fills the cache of a compressor.

        compressor = CtxCompressor(max_tokens=1000, cache=Cache(SqliteStore("analysis.sqlite")))
        chunks = splitter.split_documents(documents)
        store.add_documents(CtxAnalysisTransformer(compressor).transform_documents(chunks))

    Put it after the splitter, and use the same compressor, or one with the same cache, for queries. The analysis is
    found again by the text and the metadata that the chunk has then, so the store has to keep the title, the source and
    the document id. A compressor without a cache raises ConfigError, a ValueError.
    """

    def __init__(self, compressor: CtxCompressor) -> None:
        self.compressor = compressor

    @override
    def transform_documents(self, documents: Sequence[Document], **kwargs: Any) -> Sequence[Document]:
        """Analyse the documents, and return them."""
        config = self.compressor.config
        Compressor(config).analyse(passages_from_documents(documents, config))
        return documents
