"""The document compressor: the core's options as fields, and LangChain's calls, callbacks and traces around it."""

from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import fields
from os import PathLike
from typing import Any, Literal

from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.embeddings import Embeddings
from langchain_core.runnables import Runnable, RunnableLambda, ensure_config, run_in_executor
from langchain_core.runnables.config import get_async_callback_manager_for_config, get_callback_manager_for_config
from pydantic import ConfigDict, Field, model_validator
from typing_extensions import TypedDict, override

from ctxcompress import Compression, CompressionConfig, Compressor, Encoder
from langchain_ctxcompress.convert import compressed_document, passages_from_documents
from langchain_ctxcompress.embeddings import as_encoder

__all__ = ["CtxCompressor", "DocumentsAndQuery"]

Preset = Literal["docs", "code", "web", "page", "docs_published", "code_published", "web_published", "page_published"]

_OPTIONS = tuple(option.name for option in fields(CompressionConfig))
_DEFAULT = CompressionConfig()


class DocumentsAndQuery(TypedDict):
    """What `CtxCompressor.as_runnable()` is invoked with."""

    documents: Sequence[Document]
    query: str


class CtxCompressor(BaseDocumentCompressor):
    """Keeps of retrieved documents what answers the query, within a budget of tokens.

    Guaranteed: the texts of the returned documents joined by `separator`, or what `format_documents`
    makes of them where a `format` is given, have at most the budget's tokens; each of them consists of
    pieces of the given document, in its order; documents come in the order they were given. They are
    copies: id, metadata and subclass survive, nothing is shared with the input and the input is not
    changed.

    Each returned document's metadata has one key more, "ctxcompress", which goes into JSON:
    "spans" ([start, end) pairs of character offsets into the document that was given), "tokens" (of
    the text alone), "relevance" (comparable within one call only), "index" (the position of the
    document among those that were given), and where there are such "score" and "score_kind" (what the
    retriever said) and "stands_for" (the positions of the documents that were left out as its copies).
    Compressing a document again replaces the key: the spans then refer to the document that was given last.

    Each call is a run of its own in the trace, with the query, and at its end the statistics.

    Options are checked when the compressor is made and cannot be set afterwards; a wrong one raises
    pydantic's ValidationError (a ValueError) with the value, the range and the remedy. Calls raise
    TypeError if given something else than Documents, RuntimeError if `encoding` names a vocabulary
    that is neither on this machine nor can be fetched, ValueError if `encoder` gives something else
    than a vector for each text, and what it raises itself.
    """

    # No values in messages: an embedding model may have an API key in it.
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True, hide_input_in_errors=True)

    max_tokens: int | Literal["auto"] | None = None
    """The budget of the final text in tokens, at least 1; "auto" fits it to the question; without it, `tier` does."""
    tier: Literal["key_facts", "summary", "detailed", "complete"] | None = None
    """The budget by name: 200, 1,000 (the default), 5,000 or 20,000 tokens. Give this or `max_tokens`."""
    encoding: str | Callable[[str], int | Sized] = "o200k_base"
    """What counts the tokens: a tiktoken encoding's name, or a function from a text to its tokens or
    their number, such as a chat model's `get_num_tokens`."""
    separator: str = "\n\n"
    """What will stand between two documents in the prompt; its tokens count."""
    format: Literal["plain", "compact", "verbose", "json", "xml"] = "plain"
    """How `format_documents` will show the documents: its headers count in the budget. The documents themselves have
    none."""
    mode: Literal["extract", "preview"] = "extract"
    """"preview" keeps of each document its best sentence alone."""
    order: Literal["source", "relevance", "edges"] = "source"
    """Of the documents: as they came, from the best to the worst, or the best first and last. A document's text always
    stays in its order."""
    on_empty: Literal["keep_best", "original", "drop"] = "keep_best"
    """Where scores would drop all documents: keep the best one, drop none, or drop them."""
    min_score: float | None = None
    """The score below which a document is left out, relative to the best one, which is 1.0. Documents carry no score of
    their own: `score_key` names the metadata that has it, or `CtxCompressRetriever.from_vectorstore` asks the store."""
    score_kind: Literal["similarity", "distance", "rank", "none"] = "similarity"
    """What scores mean: more is better, less is better, 1 is the best, or nothing. Vector stores differ."""
    score_key: str | None = None
    """The metadata key that holds the score: "relevance_score" of many rerankers, "score", "_score"."""
    normalize_scores: bool = True
    """Whether `min_score` is relative to the best score; otherwise scores are compared as they are, and it is the
    greatest distance or rank."""
    exact_dedup: bool | None = None
    """Whether what stands in several documents is kept once, the overlap of two chunks included. None does it where the
    documents do not fit as they are, or where other copies are left out."""
    ngram_threshold: float | None = None
    """How similar two documents' words must be for the worse one to be left out, such as 0.7 (Jaccard index of runs of
    three words)."""
    similarity_threshold: float | None = None
    """The same of the cosine of their embeddings, such as 0.85; those that filters left on the documents, or of
    `encoder`."""
    max_chunks_per_doc: int = 0
    """How many documents of one source are kept, 0 for all."""
    top_n: int | None = None
    """How many documents are kept."""
    metadata_only: bool = False
    """Whether a line with the path, the lines and what they define takes the place of a document whose score is below
    `score_threshold`."""
    score_threshold: float = 0.4
    """This score, which means what `min_score` does."""
    max_length: int | None = None
    """The most characters of a document that are looked at, at least 100; what matters most of a longer one is."""
    preserve_structure: bool = True
    """Whether these are signatures and what the question asks for; otherwise they are the beginning and the end."""
    factual_length: int | None = None
    """The most characters of a document that are kept where the question asks for a fact, at least 20."""
    factual_cut: Literal["boundary", "character"] = "boundary"
    """Whether these end at a sentence or a word, or at the very character."""
    scorer: Literal["evidence", "bm25"] = "evidence"
    """What says how much a segment matters: "evidence" is learned, "bm25" counts words on two levels."""
    encoder: Embeddings | Encoder | object | None = None
    """What tells the scorer "evidence" how close texts are in meaning: `encoder=OpenAIEmbeddings()`, or any other
    LangChain `Embeddings`, or one of ctxcompress.encoders: `encoder=StaticVectors()`. Only sentences whose words leave
    it in doubt are embedded, in a few calls; `EmbeddingsEncoder` puts word vectors beside. `acompress_documents` awaits
    `aembed_query` and `aembed_documents`. Embeddings that EmbeddingsFilter or EmbeddingsRedundantFilter left on the
    documents are used and not made again, so they must be of this model."""
    adaptive: bool = False
    """Whether to stop before the budget is full, at the segments that are hardly needed. What fits as it is stays."""
    min_probability: float = 0.012
    """How likely needed a segment must be for `adaptive` to keep it, above 0 and below 1."""
    language: str | None = None
    """ISO 639-1 code of the texts ("en", "de"); None detects it."""
    synonyms: Mapping[str, Sequence[str]] = Field(default_factory=dict)
    """Query word -> other words that mean the same."""
    technical_synonyms: bool = False
    """Whether a small built-in table for technical English is used as well."""
    type_weights: Mapping[str, float] = Field(default_factory=dict)
    """Segment kind ("heading", "paragraph", "list_item", "table", "code", "quote", "metadata") -> factor
    on its score, for kinds where it is not 1.0."""
    metadata_map: Mapping[str, str] = Field(default_factory=dict)
    """Which metadata key holds a document's title, header_path, doc_id or file_path, where it is not one of the usual
    ones."""
    cache: object | None = Field(default=None, exclude=True)
    """What remembers what was found out about documents, and what was kept of them: one of ctxcompress.cache, such as
    `cache=MemoryCache()`. It changes nothing but the time, and is not written down by `model_dump`."""
    preset: Preset | None = None
    """The options to start from; those that are given replace its own."""
    trace_to: str | PathLike[str] | None = None
    """A folder for a page in HTML of each call, which shows what became of every document (see docs/xray.md): the last
    100 of them. They hold the documents' texts. A page that cannot be written is a warning in the log, no error."""

    @model_validator(mode="before")
    @classmethod
    def _checked(cls, options: object) -> object:
        # Before pydantic looks at the types: it would take "10" or True for a number of tokens.
        if not isinstance(options, dict):
            return options
        # What is no field is left in: the core refuses it, and says what it may have been meant for.
        given = {name: value for name, value in options.items() if name in _OPTIONS or name not in cls.model_fields}
        config = _config(given, options.get("preset"))
        return {**options, **{name: getattr(config, name) for name in _OPTIONS if name != "encoder"}}

    @property
    def config(self) -> CompressionConfig:
        """The options as the core takes them, with `encoder` as an encoder of the core. Made anew each time, so that
        a copy with another value (`model_copy(update=...)`) never compresses with the old one."""
        return _config({name: getattr(self, name) for name in _OPTIONS})

    @override
    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> list[Document]:
        """What of `documents` answers `query` best, within the budget: see the class.

        No documents give an empty list. `callbacks` are told of the run; without them, those of the
        runnable that this is called in.
        """
        manager = get_callback_manager_for_config(ensure_config({"callbacks": callbacks}))
        run = manager.on_chain_start(None, _inputs(documents, query), name=type(self).__name__)
        try:
            compression, compressed = self._compress(documents, query)
        except BaseException as error:  # whatever it is, the trace has to say how the run ended
            run.on_chain_error(error)
            raise
        run.on_chain_end(_outputs(compression, is_seen=bool(run.handlers)))
        return compressed

    @override
    async def acompress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> list[Document]:
        """The same as `compress_documents`, on another thread: the event loop is not blocked.

        Embeddings are awaited on the event loop.
        """
        manager = get_async_callback_manager_for_config(ensure_config({"callbacks": callbacks}))
        run = await manager.on_chain_start(None, _inputs(documents, query), name=type(self).__name__)
        try:
            compression, compressed = await self._acompress(documents, query)
        except BaseException as error:
            await run.on_chain_error(error)
            raise
        await run.on_chain_end(_outputs(compression, is_seen=bool(run.handlers)))
        return compressed

    def with_options(self, **options: Any) -> "CtxCompressor":
        """A compressor with other values for some options, for a single call: `with_options(top_n=5)`.

        Raises ConfigError, a ValueError.
        """
        given: Any = {**options, **({"encoder": as_encoder(options["encoder"])} if "encoder" in options else {})}
        config = self.config.with_options(**given)
        changed = {name: getattr(config, name) for name in _OPTIONS if name != "encoder"}
        return self.model_copy(update={**changed, **{name: options[name] for name in options if name == "encoder"}})

    def as_runnable(self) -> Runnable[DocumentsAndQuery, list[Document]]:
        """This compressor as a step of a chain: {"documents": [...], "query": "..."} -> documents."""
        return RunnableLambda(self._compress_given, afunc=self._acompress_given, name="compress_documents")

    def _compress_given(self, given: DocumentsAndQuery) -> list[Document]:
        return self.compress_documents(given["documents"], given["query"])

    async def _acompress_given(self, given: DocumentsAndQuery) -> list[Document]:
        return await self.acompress_documents(given["documents"], given["query"])

    def _compress(self, documents: Sequence[Document], query: str) -> tuple[Compression, list[Document]]:
        config = self.config
        compression = Compressor(config).compress(query, passages_from_documents(documents, config))
        self._trace(compression)
        return compression, _compressed(documents, compression, config)

    async def _acompress(self, documents: Sequence[Document], query: str) -> tuple[Compression, list[Document]]:
        config = self.config
        # Documents with large metadata take their time to be read and copied.
        passages = await run_in_executor(None, passages_from_documents, documents, config)
        compression = await Compressor(config).acompress(query, passages)
        if self.trace_to is not None:
            await run_in_executor(None, self._trace, compression)
        return compression, await run_in_executor(None, _compressed, documents, compression, config)

    def _trace(self, compression: Compression) -> None:
        if self.trace_to is not None:
            compression.trace(self.trace_to)


def _config(options: Mapping[str, Any], preset: Any = None) -> CompressionConfig:
    encoded: Any = {**options, "encoder": as_encoder(options.get("encoder"))}
    start = _DEFAULT if preset is None else CompressionConfig.from_preset(preset)
    return start.with_options(**encoded)


def _compressed(documents: Sequence[Document], compression: Compression, config: CompressionConfig) -> list[Document]:
    return [compressed_document(documents[kept.index], kept, config) for kept in compression.passages]


def _inputs(documents: Sequence[Document], query: str) -> dict[str, object]:
    # The documents themselves are in the trace already, as the output of the step before this one.
    return {"query": query, "documents": len(documents)}


def _outputs(compression: Compression, *, is_seen: bool) -> dict[str, object]:
    """is_seen: whether anybody reads it. Counting the tokens of all that came in takes its time."""
    return {
        "documents": len(compression.passages),
        "tokens": int(compression.tokens),
        "max_tokens": compression.max_tokens,
        **({"stats": compression.stats.to_dict()} if is_seen else {}),
    }
