"""A retriever that gives a question the documents of an earlier one like it."""

from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever, RetrieverLike
from pydantic import ConfigDict

from ctxcompress.adapters.records import with_provenance
from ctxcompress.apps.research import ContextCodec, Research, ResearchCache
from langchain_ctxcompress.convert import copied_document

__all__ = ["CtxResearchRetriever"]


class CtxResearchRetriever(BaseRetriever):
    """A retriever that asks `base_retriever`, unless the research cache has the documents of a question like this one.

    Reused documents say so: `metadata["ctxcompress"]["research"]` has the earlier "question" and the "similarity".
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    base_retriever: RetrieverLike
    research_cache: ResearchCache

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **search_kwargs: Any
    ) -> list[Document]:
        def search(question: str) -> list[Document]:
            return self.base_retriever.invoke(question, {"callbacks": run_manager.get_child()}, **search_kwargs)

        # The cache knows nothing of arguments such as k.
        return search(query) if search_kwargs else _shown(self.research_cache.context(query, search, _CODEC))

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **search_kwargs: Any
    ) -> list[Document]:
        async def search(question: str) -> list[Document]:
            return await self.base_retriever.ainvoke(question, {"callbacks": run_manager.get_child()}, **search_kwargs)

        cache = self.research_cache
        return await search(query) if search_kwargs else _shown(await cache.acontext(query, search, _CODEC))


def _shown(research: Research[list[Document]]) -> list[Document]:
    copies = map(copied_document, research.context)
    return [copy.model_copy(update={"metadata": with_provenance(copy.metadata, research)}) for copy in copies]


_CODEC = ContextCodec[list[Document]](
    lambda documents: [[document.id, document.page_content, document.metadata] for document in documents],
    lambda data: [Document(text, id=name, metadata=metadata) for name, text, metadata in data],
)
