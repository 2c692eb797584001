"""The document compressor: LangChain's calls, callbacks and traces around a compression."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.embeddings import Embeddings
from langchain_core.load.serializable import Serializable
from langchain_core.runnables import ensure_config, run_in_executor
from langchain_core.runnables.config import get_async_callback_manager_for_config, get_callback_manager_for_config
from langchain_core.stores import BaseStore
from pydantic import ConfigDict, Field
from typing_extensions import override

import ctxcompress
from ctxcompress import Compression, CompressionConfig, Encoder
from ctxcompress.adapters.call_memory import Remember, remembering
from ctxcompress.adapters.component_options import OPTIONS, ComponentOptions
from ctxcompress.adapters.records import original_index
from ctxcompress.agents.framework_models import LLMSelector
from langchain_ctxcompress.batching import shared_pool
from langchain_ctxcompress.byte_stores import ByteStoreMapping
from langchain_ctxcompress.convert import RECORD_KEY, DocumentsAndQuery, compressed_document, passages_from_documents
from langchain_ctxcompress.embeddings import as_encoder

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.runnables import Runnable
else:
    BaseChatModel = object
    """Pydantic need not know the class, which takes longer to import than all the rest: any object passes it."""

__all__ = ["CtxCompressor", "load_tracers"]


class CtxCompressor(ComponentOptions, Serializable, BaseDocumentCompressor):
    """A document compressor that keeps what answers the query, within a budget of tokens.

    The options are those of `ctxcompress.CompressionConfig`, as fields, and `preset`, `config`, `model` and `trace_to`.
    A passage is a document here. Documents carry no score of their own: `metadata_map={"score": ...}` names the
    metadata that has it, or `CtxCompressRetriever.from_vectorstore` asks the store. `format` says how
    `format_documents` will show the documents; they have no headers themselves, but the headers count in the budget.

    Guaranteed: the texts of the returned documents joined by `separator`, or what `format_documents` makes of them
    where a `format` is given, have at most the budget's tokens. Each text consists of pieces of the given document, in
    their order, and documents come in the order they were given. Returned documents are copies: id, metadata and
    subclass survive, nothing is shared with the input, and the input is not changed.

    Each returned document's metadata has one more key, "ctxcompress", which can be written as JSON: "spans" ([start,
    end) pairs of character offsets into the given document), "tokens" (of the text alone), "relevance" (comparable
    within one call only), "index" (the document's position in the input), and where they are known "score" and
    "score_kind" (from the retriever) and "stands_for" (the positions of dropped duplicates); with `feedback`, also
    "call" and "passage", by which `record` finds the call. Compressing a document again replaces the key: the spans
    then refer to the document that was given last.

    Each call is a run of its own in the trace, with the query, and the statistics at its end.

    Options are checked when the compressor is made and cannot be set afterwards; a wrong one raises pydantic's
    ValidationError (a ValueError) with the value, the limit and the remedy. Calls raise TypeError for anything but
    Documents, RuntimeError if `encoding` names a vocabulary that is neither on this machine nor can be fetched,
    ValueError if `encoder` does not return one vector for each text, and PluginError, a RuntimeError, with the cause if
    `encoder` raises: see `on_error`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    encoder: Embeddings | Encoder | object | None = Field(default="words", description=OPTIONS["encoder"].description)
    """What tells the scorer "evidence" how close texts are in meaning: LangChain `Embeddings`, such as
    `OpenAIEmbeddings()`, or one of ctxcompress.encoders, such as `StaticVectors()`. Only sentences whose words leave it
    in doubt are embedded, in a few calls; `EmbeddingsEncoder` adds word vectors. `acompress_documents` awaits
    `aembed_query` and `aembed_documents`. Embeddings that EmbeddingsFilter or EmbeddingsRedundantFilter left on the
    documents are used and not computed again, so they must come from this model."""
    llm: BaseChatModel | LLMSelector | object | None = Field(default=None, description=OPTIONS["llm"].description)
    """A chat model that selects the segments, such as `ChatOpenAI(...)`, also `model.with_retry()` and other runnables
    around one; or `LLMSelector(model, ...)`. Its run is a child of the compressor's run. `acompress_documents` awaits
    `ainvoke`. If it fails, the result is the one without it; the statistics in the trace say so."""
    cache: object | None = Field(default=None, exclude=True, description=OPTIONS["cache"].description)
    """A cache for what is found out about documents: a `Cache` of ctxcompress.cache, or a ByteStore, such as
    `InMemoryByteStore()`. It saves time and changes nothing else; `model_dump` does not include it."""

    @classmethod
    @override
    def is_lc_serializable(cls) -> bool:
        """Return True: `loads(text, allowed_objects=[CtxCompressor], valid_namespaces=["langchain_ctxcompress"])` of
        `langchain_core.load` reads what `dumps` writes."""
        return True

    @property
    @override
    def lc_attributes(self) -> dict[str, Any]:
        """All options as JSON has them, because a preset has other defaults."""
        models = {"encoder": _written(self.encoder), "llm": _written(self.llm)}
        return self.model_dump(mode="json", exclude={"encoding", "telemetry", *models}) | models

    @classmethod
    @override
    def config_of(cls, options: Mapping[str, Any]) -> CompressionConfig:
        load_tracers()
        return super().config_of(options)

    @staticmethod
    @override
    def _as_encoder(encoder: object) -> Any:
        return as_encoder(encoder)

    @staticmethod
    @override
    def _as_language_model(llm: object) -> Any:
        if llm is None:
            return None
        from langchain_ctxcompress.chat_models import as_language_model  # as for all of LangChain's models

        return as_language_model(llm)

    @staticmethod
    @override
    def _as_mapping(store: object) -> ByteStoreMapping | None:
        return ByteStoreMapping(store) if isinstance(store, BaseStore) else None

    @staticmethod
    @override
    def _context_window(model: object) -> int | None:
        from langchain_ctxcompress.window import context_window

        return context_window(model)

    @override
    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None, **options: Any
    ) -> list[Document]:
        """Return copies of `documents` that keep what answers `query` best, within the budget: see the class.

        No documents give an empty list. `callbacks` are told of the run; without them, the callbacks of the
        surrounding runnable are. options: other values of this compressor's options, for this call only.
        """
        if options:
            return self.with_options(**options).compress_documents(documents, query, callbacks)
        manager = get_callback_manager_for_config(ensure_config({"callbacks": callbacks}))
        run = manager.on_chain_start(None, _inputs(documents, query), name=type(self).__name__)
        try:
            compression, compressed = self._compress(documents, query, run.get_child())
        except BaseException as error:  # the trace says how the run ended, whatever the error is
            run.on_chain_error(error)
            raise
        run.on_chain_end(_outputs(compression, is_seen=bool(run.handlers)))
        return compressed

    @override
    async def acompress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None, **options: Any
    ) -> list[Document]:
        """Do the same on another thread, so that the event loop is not blocked. Embeddings are awaited on it."""
        if options:
            return await self.with_options(**options).acompress_documents(documents, query, callbacks)
        manager = get_async_callback_manager_for_config(ensure_config({"callbacks": callbacks}))
        run = await manager.on_chain_start(None, _inputs(documents, query), name=type(self).__name__)
        try:
            compression, compressed = await self._acompress(documents, query, run.get_child())
        except BaseException as error:
            await run.on_chain_error(error)
            raise
        await run.on_chain_end(_outputs(compression, is_seen=bool(run.handlers)))
        return compressed

    def expand(
        self, document: Document, documents: Sequence[Document], *, query: str = "", max_tokens: int | None = None
    ) -> Document:
        """Return more of a document that this compressor returned: a copy with all of its text, or with the parts that
        answer `query` best, in at most `max_tokens` tokens.

        documents: the documents that were compressed. Raises TypeError if they are others, and ValueError if nothing
        fits.
        """
        originals = [original.page_content for original in documents]
        index = original_index(document.metadata.get(RECORD_KEY), document.page_content, originals)
        config = self.config.switched_off() if max_tokens is None else self.config.for_expansion(max_tokens)
        passages = passages_from_documents(documents[index : index + 1], config)
        found = ctxcompress.Compressor(config).compress(query, passages)
        if not found.passages and originals[index]:
            raise ValueError(f"max_tokens is {max_tokens}, and nothing of the document fits; give more")
        whole = [replace(kept, index=index) for kept in found.passages]
        return compressed_document(documents[index], whole[0], config) if whole else documents[index].model_copy()

    async def aexpand(
        self, document: Document, documents: Sequence[Document], *, query: str = "", max_tokens: int | None = None
    ) -> Document:
        """Do the same on another thread."""
        more = partial(self.expand, document, documents, query=query, max_tokens=max_tokens)
        return await run_in_executor(None, more)

    def confidence(self, documents: Sequence[Document], query: str) -> float:
        """Return the probability, from 0 to 1, that the documents answer the query at all, before or in place of
        compressing them: see `ctxcompress.Compression.confidence`. A chain can search elsewhere if it is low."""
        return ctxcompress.Compressor(self.config).confidence(query, passages_from_documents(documents, self.config))

    def as_runnable(self) -> "Runnable[DocumentsAndQuery, list[Document]]":
        """Return this compressor as a step of a chain: {"documents": [...], "query": "..."} -> documents.

        The input can have options, too, for this call only: {"documents": [...], "query": "...", "top_n": 5}.
        `batch` and `abatch` of many inputs use several processes: see docs/how-to/batch.md.
        """
        from langchain_ctxcompress.compression_step import CompressionStep

        return CompressionStep(self, self._compress_given, self._acompress_given)

    def _compress_given(self, given: DocumentsAndQuery) -> list[Document]:
        return self.compress_documents(**_checked(given))

    async def _acompress_given(self, given: DocumentsAndQuery) -> list[Document]:
        return await self.acompress_documents(**_checked(given))

    def _compress(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks
    ) -> tuple[Compression, list[Document]]:
        config = self._traced_by(callbacks)
        passages = passages_from_documents(documents, config)
        with remembering(self.feedback) as remember:
            compression = (shared_pool(self) or ctxcompress.Compressor(config)).compress(query, passages)
        self._trace(compression)
        return compression, self._compressed(documents, compression, config, remember)

    async def _acompress(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks
    ) -> tuple[Compression, list[Document]]:
        config = self._traced_by(callbacks)
        # Documents with large metadata take time to read and copy.
        passages = await run_in_executor(None, passages_from_documents, documents, config)
        pool = shared_pool(self)
        with remembering(self.feedback) as remember:
            if pool is None:
                compression = await ctxcompress.Compressor(config).acompress(query, passages)
            else:
                compression = await run_in_executor(None, pool.compress, query, passages)
        if self.trace_to is not None:
            await run_in_executor(None, self._trace, compression)
        return compression, await run_in_executor(None, self._compressed, documents, compression, config, remember)

    def _traced_by(self, callbacks: Callbacks) -> CompressionConfig:
        if self.llm is None:
            return self.config
        from langchain_ctxcompress.chat_models import traced_by

        return traced_by(self.config, callbacks)

    def _trace(self, compression: Compression) -> None:
        if self.trace_to is not None:
            compression.trace(self.trace_to)

    def _compressed(
        self, documents: Sequence[Document], compression: Compression, config: CompressionConfig, remember: Remember
    ) -> list[Document]:
        call = remember(compression, None)
        return [compressed_document(documents[kept.index], kept, config, call) for kept in compression.passages]


def _checked(given: object) -> Mapping[str, Any]:
    """Return the input of the step: the documents, the query and options, which `with_options` checks."""
    if not isinstance(given, Mapping) or not {"documents", "query"} <= given.keys() or "callbacks" in given:
        found = sorted(map(str, given)) if isinstance(given, Mapping) else type(given).__name__
        raise TypeError(f'the input of this step is {found}; give {{"documents": [...], "query": "..."}}')
    if not isinstance(given["query"], str):
        raise TypeError(f"query is a {type(given['query']).__name__}; give a string")
    return given


def load_tracers() -> None:
    """Import what LangChain imports in the first call of any component, so that no request has to wait for it."""
    for name in ("context", "langchain", "stdout"):
        import_module(f"langchain_core.tracers.{name}")


def _written(model: object) -> object:
    """Return a model that LangChain can write; of any other the class, which shows no key and which `loads` refuses."""
    can_be = isinstance(model, str | None) or (isinstance(model, Serializable) and model.is_lc_serializable())
    return model if can_be else type(model)


def _inputs(documents: Sequence[Document], query: str) -> dict[str, object]:
    if isinstance(documents, Document) or not isinstance(documents, Sequence):
        raise TypeError(f"documents is a {type(documents).__name__}; give a list of LangChain Documents")
    # The documents are in the trace already, as the output of the previous step.
    return {"query": query, "documents": len(documents)}


def _outputs(compression: Compression, *, is_seen: bool) -> dict[str, object]:
    """is_seen: whether anything reads the statistics: counting the tokens of the input takes time."""
    return {
        "documents": len(compression.passages),
        "tokens": int(compression.tokens),
        "max_tokens": compression.max_tokens,
        **({"stats": compression.stats.to_dict(), "confidence": compression.confidence} if is_seen else {}),
    }
