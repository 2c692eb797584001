"""A retriever that compresses another one's documents, and a search of a vector store that keeps the scores."""

import asyncio
import contextvars
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from difflib import get_close_matches
from typing import Any, Literal

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel, BaseLLM
from langchain_core.retrievers import BaseRetriever, RetrieverLike
from langchain_core.runnables import RunnableConfig, run_in_executor
from langchain_core.vectorstores import VectorStore
from pydantic import ConfigDict, Field, model_validator
from typing_extensions import override

from ctxcompress import decompose as searches_for
from langchain_ctxcompress.batching import sharing
from langchain_ctxcompress.compressor import CtxCompressor
from langchain_ctxcompress.convert import scored_document
from langchain_ctxcompress.fusion import fused

__all__ = ["CtxCompressRetriever", "ScoredSearch"]


class _Strict(BaseRetriever):
    """A retriever that refuses unknown keywords. LangChain's own retrievers ignore them."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    @model_validator(mode="before")
    @classmethod
    def _known(cls, given: object) -> object:
        known = [*cls.model_fields, *(field.alias for field in cls.model_fields.values() if field.alias)]
        for name in given if isinstance(given, Mapping) else ():
            if name not in known:
                close = get_close_matches(name, known, n=1)
                hint = f"did you mean {close[0]!r}?" if close else f"the arguments are {', '.join(known)}"
                raise ValueError(f"there is no argument {name!r} of {cls.__name__}; {hint}")
        return given


class CtxCompressRetriever(_Strict):
    """A retriever that compresses the documents of another one.

    An empty retrieval gives an empty list. All steps are child runs of this retriever's run in the trace. As in
    LangChain's own compression retriever, search arguments of a single call (`retriever.invoke(query, k=50)`) go to the
    base retriever. It raises what the base retriever, the model or the compressor raises. An unknown keyword raises
    pydantic's ValidationError (a ValueError) with the closest field there is.
    """

    base_retriever: RetrieverLike
    """Any retriever, or any runnable from a query to a list of documents."""
    compressor: CtxCompressor
    """The compressor of its documents."""
    decompose: bool | BaseChatModel | BaseLLM | Callable[[str], str] = False
    """Whether to split a query that is not simple into up to four searches, by its complexity. They run at the same
    time; their documents are merged by rank and compressed once for the whole query. True splits the query by rules; a
    language model, or a function from a prompt to its answer, writes the searches."""

    @classmethod
    def from_vectorstore(
        cls,
        store: VectorStore,
        *,
        k: int = 20,
        score_kind: Literal["similarity", "distance", "rank", "none"],
        search_kwargs: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> "CtxCompressRetriever":
        """Return a retriever of a vector store's `k` best documents with their scores, which `as_retriever` loses.

        score_kind: what the scores of the store's `similarity_search_with_score` mean; the store's documentation says
        whether more ("similarity") or less ("distance") is better. search_kwargs: more arguments of that method, such
        as a filter. options: those of CtxCompressor, such as `min_score`.
        """
        base = ScoredSearch(store=store, k=k, score_kind=score_kind, search_kwargs=dict(search_kwargs or {}))
        return cls(base_retriever=base, compressor=CtxCompressor(score_kind=score_kind, **options))

    @override
    def batch(
        self,
        inputs: list[str],
        config: RunnableConfig | list[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> list[list[Document]]:
        """Retrieve for many queries at the same time. The documents of many are compressed in several processes."""
        with sharing(self.compressor, len(inputs)):
            return super().batch(inputs, config, return_exceptions=return_exceptions, **kwargs)

    @override
    async def abatch(
        self,
        inputs: list[str],
        config: RunnableConfig | list[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any | None,
    ) -> list[list[Document]]:
        """Do the same, with the base retriever awaited."""
        with sharing(self.compressor, len(inputs)):
            return await super().abatch(inputs, config, return_exceptions=return_exceptions, **kwargs)

    @override
    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **search_kwargs: Any
    ) -> list[Document]:
        config: RunnableConfig = {"callbacks": run_manager.get_child()}
        searches = self._searches(query, config)
        if len(searches) > 1:
            documents = fused(self.base_retriever.batch(searches, config, **search_kwargs))
        else:
            documents = self.base_retriever.invoke(searches[0], config, **search_kwargs)
        return self.compressor.compress_documents(documents, query, run_manager.get_child())

    @override
    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **search_kwargs: Any
    ) -> list[Document]:
        config: RunnableConfig = {"callbacks": run_manager.get_child()}
        searches = await self._asearches(query, config)
        if len(searches) > 1:
            documents = fused(await self.base_retriever.abatch(searches, config, **search_kwargs))
        else:
            documents = await self.base_retriever.ainvoke(searches[0], config, **search_kwargs)
        return await self.compressor.acompress_documents(documents, query, run_manager.get_child())

    def _searches(self, query: str, config: RunnableConfig) -> list[str]:
        llm = self.decompose
        if isinstance(llm, bool):
            return list(searches_for(query)) if llm else [query]
        if isinstance(llm, BaseChatModel | BaseLLM):
            model = llm
            return list(searches_for(query, lambda prompt: model.invoke(prompt, config)))
        return list(searches_for(query, llm))

    async def _asearches(self, query: str, config: RunnableConfig) -> list[str]:
        llm = self.decompose
        if not isinstance(llm, BaseChatModel | BaseLLM):
            return await run_in_executor(None, self._searches, query, config)
        loop, model = asyncio.get_running_loop(), llm

        def ask(prompt: str) -> object:
            return asyncio.run_coroutine_threadsafe(model.ainvoke(prompt, config), loop).result()

        # On its own thread: it waits for a model that may need one of the loop's threads.
        with_context = contextvars.copy_context().run
        executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ctxcompress")
        try:
            return list(await loop.run_in_executor(executor, with_context, searches_for, query, ask))
        finally:
            executor.shutdown(wait=False)


class ScoredSearch(_Strict):
    """A retriever of a vector store's documents that puts the score under `metadata["ctxcompress"]["score"]`.

    The documents are copies. Raises NotImplementedError if the store gives no scores.
    """

    store: VectorStore
    k: int = Field(default=20, ge=1)
    """The number of documents to search for."""
    score_kind: Literal["similarity", "distance", "rank", "none"]
    """The meaning of the store's scores."""
    search_kwargs: dict[str, Any] = Field(default_factory=dict)
    """More arguments of the store's `similarity_search_with_score`, such as a filter."""

    @override
    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **search_kwargs: Any
    ) -> list[Document]:
        found = self.store.similarity_search_with_score(query, **{"k": self.k, **self.search_kwargs, **search_kwargs})
        return [scored_document(document, score, self.score_kind) for document, score in found]

    @override
    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **search_kwargs: Any
    ) -> list[Document]:
        found = await self.store.asimilarity_search_with_score(
            query, **{"k": self.k, **self.search_kwargs, **search_kwargs}
        )
        return [scored_document(document, score, self.score_kind) for document, score in found]
