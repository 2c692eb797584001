"""The retriever: another retriever's documents, compressed."""

from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever, RetrieverLike
from typing_extensions import override

from langchain_ctxcompress.compressor import CtxCompressor

__all__ = ["CtxCompressRetriever"]


class CtxCompressRetriever(BaseRetriever):
    """Retrieves with `base_retriever` and keeps what answers the query, as `compressor` says.

    Nothing retrieved gives an empty list. Both steps are child runs of this retriever's run in the
    trace. Like in LangChain's own compression retriever, search arguments of a single call
    (`retriever.invoke(query, k=50)`) are the base retriever's. What the base retriever or the
    compressor raises is raised on.
    """

    base_retriever: RetrieverLike
    """Any retriever, or any runnable from a query to a list of documents."""
    compressor: CtxCompressor
    """What compresses its documents."""

    @override
    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **search: Any
    ) -> list[Document]:
        documents = self.base_retriever.invoke(query, {"callbacks": run_manager.get_child()}, **search)
        return self.compressor.compress_documents(documents, query, run_manager.get_child())

    @override
    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **search: Any
    ) -> list[Document]:
        documents = await self.base_retriever.ainvoke(query, {"callbacks": run_manager.get_child()}, **search)
        return await self.compressor.acompress_documents(documents, query, run_manager.get_child())
