"""A retriever that gives a question the documents of an earlier one that asks the same."""

from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever, RetrieverLike
from langchain_core.runnables import RunnableConfig
from pydantic import ConfigDict
from typing_extensions import override

from ctxcompress.adapters.research_contexts import ContextCodec, Research, ResearchCache, with_provenance
from langchain_ctxcompress.convert import copied_document

__all__ = ["CtxResearchRetriever"]


class CtxResearchRetriever(BaseRetriever):
    """A retriever that asks another one, unless the research cache has the documents of a question that asks the same.

    Reused documents say so: `metadata["ctxcompress"]["research"]` has the earlier "question", the "similarity" and the
    "age" in seconds. Documents are copies. An empty retrieval is not stored, and a call with search arguments of its
    own (`retriever.invoke(query, k=50)`) neither reads nor writes the cache.

    To reuse compressed documents, give a `CtxCompressRetriever` as `base_retriever`. A store outside the process, such
    as `DiskCache`, holds plain Documents with metadata that JSON can hold; others stay in memory.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    base_retriever: RetrieverLike
    """Any retriever, or any runnable from a query to a list of documents."""
    research_cache: ResearchCache
    """The cache of earlier questions, one of ctxcompress.research."""

    @override
    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **search_kwargs: Any
    ) -> list[Document]:
        config: RunnableConfig = {"callbacks": run_manager.get_child()}
        if search_kwargs:
            return self.base_retriever.invoke(query, config, **search_kwargs)

        def search(question: str) -> list[Document]:
            return self.base_retriever.invoke(question, config)

        return _shown(self.research_cache.context(query, search, codec=_DocumentsCodec()))

    @override
    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **search_kwargs: Any
    ) -> list[Document]:
        config: RunnableConfig = {"callbacks": run_manager.get_child()}
        if search_kwargs:
            return await self.base_retriever.ainvoke(query, config, **search_kwargs)

        async def search(question: str) -> list[Document]:
            return await self.base_retriever.ainvoke(question, config)

        return _shown(await self.research_cache.acontext(query, search, codec=_DocumentsCodec()))


class _DocumentsCodec(ContextCodec[list[Document]]):
    def to_json(self, context: list[Document]) -> object:
        if any(type(document) is not Document for document in context):
            raise TypeError("a subclass of Document has more than JSON tells")
        return [[document.id, document.page_content, document.metadata] for document in context]

    def from_json(self, data: Any) -> list[Document]:
        return [Document(text, id=identity, metadata=metadata) for identity, text, metadata in data]


def _shown(research: Research[list[Document]]) -> list[Document]:
    """Return copies of the documents that say where they come from."""
    copies = map(copied_document, research.context)
    return [
        copy.model_copy(update={"metadata": with_provenance(copy.metadata, research)}) if research.is_reused else copy
        for copy in copies
    ]
