"""A retriever that compresses another one's documents, and a search of a vector store that keeps the scores."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from typing import Any, ClassVar, Literal

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel, BaseLLM
from langchain_core.retrievers import BaseRetriever, RetrieverLike
from langchain_core.runnables import RunnableConfig, run_in_executor
from langchain_core.vectorstores import VectorStore
from pydantic import ConfigDict, Field, model_validator
from typing_extensions import override

from ctxcompress.adapters.component_options import ConfigSource, Preset
from ctxcompress.adapters.records import adecompose, decompose
from ctxcompress.adapters.records import fused as best_first
from langchain_ctxcompress.batching import sharing
from langchain_ctxcompress.compressor import CtxCompressor
from langchain_ctxcompress.convert import scored_document

__all__ = ["CtxCompressRetriever", "ScoredSearch", "fused"]


def fused(rankings: Sequence[Sequence[Document]]) -> list[Document]:
    """Return the documents of all rankings, each once, the best first: see `ctxcompress.adapters.records.fused`.

    Documents with the same id, text and strings in the metadata are the same.
    """
    return best_first(rankings, _identity)


def _identity(document: Document) -> Hashable:
    """Return what identifies a document. Numbers in the metadata may be scores of one search."""
    said = sorted((key, value) for key, value in document.metadata.items() if isinstance(value, str))
    return document.id, document.page_content, tuple(said)


class _Strict(BaseRetriever):
    """A retriever that refuses unknown keywords. LangChain's own retrievers ignore them."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    _more: ClassVar[frozenset[str]] = frozenset()
    """Names of arguments that are no fields."""

    @model_validator(mode="before")
    @classmethod
    def _known(cls, given: object) -> object:
        known = [*cls.model_fields, *cls._more, *(field.alias for field in cls.model_fields.values() if field.alias)]
        for name in given if isinstance(given, Mapping) else ():
            if name not in known:
                close = get_close_matches(name, known, n=1)
                hint = f"did you mean {close[0]!r}?" if close else f"the arguments are {', '.join(cls.model_fields)}"
                raise ValueError(f"there is no argument {name!r} of {cls.__name__}; {hint}")
        return given


class CtxCompressRetriever(_Strict):
    """A retriever that compresses the documents of another one.

        CtxCompressRetriever(base_retriever=retriever, compressor=CtxCompressor(max_tokens=1000))
        CtxCompressRetriever(base_retriever=retriever, max_tokens=1000, preset="docs")
        CtxCompressRetriever(base_retriever=retriever, config="ctxcompress.toml", k=20)

    Options of CtxCompressor, other than `llm`, may be given in place of `compressor`, as to LlamaIndex's retriever.

    An empty retrieval gives an empty list. All steps are child runs of this retriever's run in the trace. As in
    LangChain's own compression retriever, search arguments of a single call (`retriever.invoke(query, k=50)`) go to the
    base retriever. It raises what the base retriever or the compressor raises. An unknown keyword raises
    pydantic's ValidationError (a ValueError) with the closest field there is.
    """

    _more = frozenset((*CtxCompressor.model_fields, "config"))

    base_retriever: RetrieverLike
    """Any retriever, or any runnable from a query to a list of documents."""
    compressor: CtxCompressor = Field(default_factory=CtxCompressor)
    """The compressor of its documents."""
    preset: Preset | None = Field(default=None, exclude=True, repr=False)
    """In place of `compressor`: the preset of its options."""
    config: ConfigSource | None = Field(default=None, exclude=True, repr=False)
    """In place of `compressor`: its options, as a CompressionConfig or the path of a TOML or JSON file."""
    k: int | None = Field(default=None, ge=1)
    """The number of documents to search for, as a search argument of the base retriever. None leaves it to that."""
    decompose: bool | BaseChatModel | BaseLLM | Callable[[str], str] = False
    """Whether to split a query that is not simple into up to four searches, by its complexity. They run at the same
    time; their documents are merged by rank and compressed once for the whole query. True splits the query by rules, or
    by `llm`; a language model here, or a function from a prompt to its answer, does the same as `llm`."""
    llm: BaseChatModel | BaseLLM | None = None
    """The language model that writes the searches if `decompose` is True. Where it fails or refuses, the rules do."""

    @classmethod
    @override
    def is_lc_serializable(cls) -> bool:
        """Return True: `langchain_core.load` writes and reads it if it can do so with the base retriever."""
        return True

    @model_validator(mode="before")
    @classmethod
    def _with_compressor(cls, given: object) -> object:
        if not isinstance(given, Mapping):
            return given
        options = {name: value for name, value in given.items() if name in cls._more and name not in cls.model_fields}
        options |= {name: given[name] for name in ("preset", "config") if given.get(name) is not None}
        if not options:
            return given
        if "compressor" in given:
            names = "preset or config" if options.keys() <= {"preset", "config"} else next(iter(options))
            raise ValueError(f"both compressor and {names} are given; give them to CtxCompressor")
        others = {name: value for name, value in given.items() if name not in options}
        return {**others, "compressor": CtxCompressor(**options)}

    @classmethod
    def from_vectorstore(
        cls,
        store: VectorStore,
        *,
        k: int = 20,
        score_kind: Literal["similarity", "absolute", "distance", "rank", "none"],
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
            documents = fused(self.base_retriever.batch(searches, config, **self._k(search_kwargs)))
        else:
            documents = self.base_retriever.invoke(searches[0], config, **self._k(search_kwargs))
        return self.compressor.compress_documents(documents, query, run_manager.get_child())

    @override
    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **search_kwargs: Any
    ) -> list[Document]:
        config: RunnableConfig = {"callbacks": run_manager.get_child()}
        searches = await self._asearches(query, config)
        if len(searches) > 1:
            documents = fused(await self.base_retriever.abatch(searches, config, **self._k(search_kwargs)))
        else:
            documents = await self.base_retriever.ainvoke(searches[0], config, **self._k(search_kwargs))
        return await self.compressor.acompress_documents(documents, query, run_manager.get_child())

    def _k(self, search_kwargs: dict[str, Any]) -> dict[str, Any]:
        return search_kwargs if self.k is None else {"k": self.k, **search_kwargs}

    def _searches(self, query: str, config: RunnableConfig) -> list[str]:
        if self.decompose is False:
            return [query]
        model = self._model
        if isinstance(model, BaseChatModel | BaseLLM):
            return list(decompose(query, partial(_ask, model, config)))
        return list(decompose(query, model))

    async def _asearches(self, query: str, config: RunnableConfig) -> list[str]:
        model = self._model
        if self.decompose is not False and isinstance(model, BaseChatModel | BaseLLM):
            return list(await adecompose(query, partial(model.ainvoke, config=config)))
        return await run_in_executor(None, self._searches, query, config)

    @property
    def _model(self) -> BaseChatModel | BaseLLM | Callable[[str], str] | None:
        """The model that writes the searches, if any."""
        return self.llm if isinstance(self.decompose, bool) else self.decompose


def _ask(model: BaseChatModel | BaseLLM, config: RunnableConfig, prompt: str) -> object:
    return model.invoke(prompt, config)


class ScoredSearch(_Strict):
    """A retriever of a vector store's documents that puts the score under `metadata["ctxcompress"]["score"]`.

    The documents are copies. Raises NotImplementedError if the store gives no scores.
    """

    store: VectorStore
    k: int = Field(default=20, ge=1)
    """The number of documents to search for."""
    score_kind: Literal["similarity", "absolute", "distance", "rank", "none"]
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
