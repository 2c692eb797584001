"""The node postprocessor: compresses retrieved nodes for a query, under a hard token budget."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from dataclasses import fields
from os import PathLike, fspath
from pickle import PicklingError
from typing import Any, Literal

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import ConfigDict, Field, field_serializer, model_validator
from llama_index.core.callbacks import CBEventType, EventPayload
from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]
from llama_index.core.instrumentation.events.rerank import ReRankEndEvent, ReRankStartEvent
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle

from ctxcompress import Compression, CompressionConfig, Encoder
from llamaindex_ctxcompress.compression import acompress_nodes, compress_nodes
from llamaindex_ctxcompress.embeddings import Preset, as_encoder, config_of, read_back, written_down
from llamaindex_ctxcompress.events import tell

__all__ = ["CtxCompressPostprocessor"]

dispatcher = get_dispatcher(__name__)

FactualCut = Literal["boundary", "character"]
Scorer = Literal["evidence", "bm25"]
Tier = Literal["key_facts", "summary", "detailed", "complete"]
Encoding = str | Callable[[str], int | Sized]
AnyEncoder = BaseEmbedding | Encoder | object | None

_OPTIONS = tuple(option.name for option in fields(CompressionConfig))


class CtxCompressPostprocessor(BaseNodePostprocessor):
    """Keeps of each node what answers the query, within one token budget for all nodes together.

    What comes out are copies, in the order in which the nodes came: same class, id, score,
    relationships and metadata, a text of which every character was in the node's text, in its order,
    and under the metadata key "ctxcompress", which no prompt shows, where it comes from:

        {"spans": [[start, end], ...], "tokens": int, "relevance": float, "index": int}

    `spans` are half-open character offsets into the text that the node had (add `start_char_idx`,
    which stays, for the place in the document), `tokens` count the bare text, `index` is the
    position among the nodes that came in, `relevance` compares within one call only. An embedding
    is dropped if the text has changed. Nodes that are given are never changed or shared.

    Nodes with an image, audio or video, and index nodes with an object, are passed on in their place
    with nothing changed. The text they show counts in the budget: the others share what is left.

    The options are those of `ctxcompress.CompressionConfig`, and `metadata_mode`: what of a node
    counts in the budget. LLM (the default) counts `node.get_content(MetadataMode.LLM)`, the text
    in its metadata template, which is what response synthesizers join; NONE counts the bare text,
    which is what CitationQueryEngine reads. The bare text is all that is scored and cut.

    `format="compact"`, `"verbose"` or `"xml"` sets the `text_template` of the copies so that `get_content(
    MetadataMode.LLM)` shows a number and where the text is from, in place of the metadata; that is what counts in the
    budget. The nodes' texts stay as they are. "json" is refused: `format_nodes` writes it.

    `encoder` tells the scorer "evidence" how close texts are in meaning: `encoder=Settings.embed_model`
    or any other embedding model of LlamaIndex, or one of ctxcompress.encoders: `encoder=StaticVectors()`.
    Only sentences whose words leave it in doubt are embedded, in a few calls, which async engines await;
    `EmbeddingsEncoder` puts word vectors beside.
    Embeddings that nodes carry are used and not made again, so they must be of the same model.

    `to_dict`, `to_json` and pickle keep every option. A callable `encoding` cannot be written down:
    a dictionary or JSON names it only, and `from_dict(data)` refuses that name; give it again with
    `from_dict(data, encoding=...)`. The same holds for `encoder`, but that an embedding model is written
    as LlamaIndex writes it, which for some has the API key in it, and read back if LlamaIndex knows its
    class by name. Pickle keeps a callable and an encoder that can be pickled.

    Raises pydantic's ValidationError (a ValueError) if an option has a value that cannot work; ConfigError (a
    ValueError), when nodes are processed, if such a value was assigned afterwards, or if `encoder` gives something
    else than a vector for each text; PicklingError for an `encoding` or `encoder` that cannot be pickled;
    TokenizerUnavailable (a RuntimeError), when nodes are processed, if the vocabulary of `encoding` can neither be
    found nor fetched. What `encoder` raises is raised on.
    """

    # No values in messages: an embedding model may have an API key in it.
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    max_tokens: int | Literal["auto"] | None = Field(
        default=None, description='Budget in tokens, at least 1; without it, `tier` says it. "auto" fits the question.'
    )
    tier: Tier | None = Field(
        default=None, description="Budget by name: 200, 1,000 (the default), 5,000 or 20,000 tokens."
    )
    encoding: Encoding = Field(
        default="o200k_base",
        description="What counts the tokens: a tiktoken encoding's name, or a callable such as Settings.tokenizer.",
        json_schema_extra={"type": "string"},
    )
    separator: str = Field(default="\n\n", description="What stands between two nodes where they are joined.")
    format: Literal["plain", "compact", "verbose", "json", "xml"] = Field(
        default="plain",
        description='How nodes show their text: "compact", "verbose" or "xml" put a number and the source before it.',
    )
    mode: Literal["extract", "preview"] = Field(
        default="extract", description='"preview" keeps of each node its best sentence alone.'
    )
    order: Literal["source", "relevance", "edges"] = Field(
        default="source",
        description="Of the nodes: as they came, from the best to the worst, or the best at both ends.",
    )
    on_empty: Literal["keep_best", "original", "drop"] = Field(
        default="keep_best", description="Where scores would drop all nodes: keep the best, drop none, or drop them."
    )
    min_score: float | None = Field(
        default=None, description="The score below which a node is left out, relative to the best one, which is 1.0."
    )
    score_kind: Literal["similarity", "distance", "rank", "none"] = Field(
        default="similarity", description="What scores mean: more is better, less is better, 1 is the best, or nothing."
    )
    score_key: str | None = Field(
        default=None, description="The metadata key that holds the score, where nodes have none of their own."
    )
    normalize_scores: bool = Field(
        default=True, description="Whether `min_score` is relative to the best score; otherwise it is an absolute one."
    )
    exact_dedup: bool | None = Field(
        default=None,
        description="Whether what stands in several nodes is kept once; None where they do not fit as they are.",
    )
    ngram_threshold: float | None = Field(
        default=None, description="Jaccard index of runs of three words, such as 0.7, from which a node is a copy."
    )
    similarity_threshold: float | None = Field(
        default=None, description="Cosine of embeddings, such as 0.85, from which a node is a copy."
    )
    max_chunks_per_doc: int = Field(default=0, description="How many nodes of one document are kept, 0 for all.")
    top_n: int | None = Field(default=None, description="How many nodes are kept.")
    metadata_only: bool = Field(
        default=False, description="Whether a line about it takes the place of a node scored below `score_threshold`."
    )
    score_threshold: float = Field(default=0.4, description="This score, which means what `min_score` does.")
    max_length: int | None = Field(
        default=None, description="The most characters of a node that are looked at, at least 100."
    )
    preserve_structure: bool = Field(
        default=True,
        description="Whether these are signatures and what is asked for; otherwise the beginning and the end.",
    )
    factual_length: int | None = Field(
        default=None, description="The most characters of a node kept where a fact is asked for, at least 20."
    )
    factual_cut: FactualCut = Field(
        default="boundary", description="Whether these end at a sentence or a word, or at the very character."
    )
    scorer: Scorer = Field(
        default="evidence", description="What says how much a segment matters: learned, or words on two levels."
    )
    encoder: AnyEncoder = Field(
        default=None,
        description="What tells how close texts are in meaning: an embedding model, or one of ctxcompress.encoders.",
        json_schema_extra={"type": "object"},
    )
    adaptive: bool = Field(
        default=False, description="Whether to stop before the budget is full, at what is hardly needed."
    )
    min_probability: float = Field(
        default=0.012, description="How likely needed a segment must be for `adaptive` to keep it, above 0 and below 1."
    )
    language: str | None = Field(default=None, description="ISO 639-1 code of the texts; None detects it.")
    synonyms: Mapping[str, Sequence[str]] = Field(
        default_factory=dict, description="Query word -> other words that mean the same."
    )
    technical_synonyms: bool = Field(
        default=False, description="Whether a small built-in table for technical English is used as well."
    )
    type_weights: Mapping[str, float] = Field(
        default_factory=dict,
        description="Kind of a segment (heading, paragraph, list_item, table, code, quote, metadata) -> factor.",
    )
    metadata_map: Mapping[str, str] = Field(
        default_factory=dict,
        description="Which metadata key holds the title, header_path, doc_id or file_path, if not a usual one.",
    )
    cache: object | None = Field(
        default=None,
        description="What remembers what was found out about nodes, one of ctxcompress.cache; it only saves time.",
        json_schema_extra={"type": "object"},
    )
    metadata_mode: MetadataMode = Field(
        default=MetadataMode.LLM,
        description="What counts in the budget: the text with the metadata that the language model sees, or alone.",
    )

    preset: Preset | None = Field(
        default=None, description="The options to start from; those that are given replace its own."
    )

    trace_to: str | PathLike[str] | None = Field(
        default=None,
        description="A folder for a page in HTML of each call, with the nodes' texts: the last 100; see docs/xray.md.",
    )

    @model_validator(mode="before")
    @classmethod
    def _checked(cls, options: Any) -> Any:
        # Before pydantic looks at the types: it would take "10" or True for a number of tokens.
        if not isinstance(options, dict):
            return options
        # What is no field is left in: the core refuses it, and says what it may have been meant for.
        given = {name: value for name, value in options.items() if name in _OPTIONS or name not in cls.model_fields}
        given["encoder"] = read_back(given.get("encoder"))
        config = config_of(given, options.get("preset"))
        mode = options.get("metadata_mode", MetadataMode.LLM)
        if mode not in (MetadataMode.LLM, MetadataMode.NONE):
            raise ValueError(f"metadata_mode is {mode!r}; give MetadataMode.LLM or MetadataMode.NONE")
        _check_format(config.format, mode)
        return {**options, **{name: getattr(config, name) for name in _OPTIONS}, "encoder": given["encoder"]}

    def with_options(self, **options: Any) -> "CtxCompressPostprocessor":
        """A postprocessor with other values for some options, for a single call: `with_options(top_n=5)`.

        Raises ConfigError, a ValueError.
        """
        given: Any = {**options, **({"encoder": as_encoder(options["encoder"])} if "encoder" in options else {})}
        config = self._options().with_options(**given)
        changed = {name: getattr(config, name) for name in _OPTIONS if name != "encoder"}
        return self.model_copy(update={**changed, **{name: options[name] for name in options if name == "encoder"}})

    @classmethod
    def class_name(cls) -> str:
        """The name under which LlamaIndex writes it down and shows it in traces."""
        return "CtxCompressPostprocessor"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        with self._traced(nodes, query_bundle) as kept:
            found, compression = compress_nodes(self._options(), _text_of(query_bundle), nodes, self.metadata_mode)
            kept += found
            self._tell(compression)
        return kept

    # LlamaIndex opens a span by itself for the abstract method above, not for this one.
    @dispatcher.span
    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        with self._traced(nodes, query_bundle) as kept:
            found, compression = await acompress_nodes(
                self._options(), _text_of(query_bundle), nodes, self.metadata_mode
            )
            kept += found
            await asyncio.to_thread(self._tell, compression)
        return kept

    def _tell(self, compression: Compression) -> None:
        tell(compression)
        if self.trace_to is not None:
            compression.trace(self.trace_to)

    def _options(self) -> CompressionConfig:
        # Built anew each time, so that an option that was assigned counts, and is checked.
        _check_format(self.format, self.metadata_mode)
        return config_of({name: getattr(self, name) for name in _OPTIONS})

    @contextmanager
    def _traced(self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None) -> Iterator[list[NodeWithScore]]:
        """Tells handlers which nodes came in and which were put into the list that it yields.

        LlamaIndex has no event for postprocessors as such. Those of the rerankers are what tracing
        tools show with the nodes before and after.
        """
        name, query = self.class_name(), query_bundle.query_str if query_bundle else ""
        kept: list[NodeWithScore] = []
        dispatcher.event(ReRankStartEvent(query=query_bundle, nodes=nodes, top_n=len(nodes), model_name=name))
        payload: dict[str, Any] = {
            EventPayload.NODES: nodes,
            EventPayload.MODEL_NAME: name,
            EventPayload.QUERY_STR: query,
            EventPayload.TOP_K: len(nodes),
        }
        with self.callback_manager.event(CBEventType.RERANKING, payload=payload) as event:
            yield kept
            event.on_end(payload={EventPayload.NODES: kept})
        dispatcher.event(ReRankEndEvent(nodes=kept))

    @field_serializer("encoding")
    def _name_of_encoding(self, encoding: Encoding) -> str:
        """A callable's name in brackets, which is no encoding's name: reading it back is refused."""
        if isinstance(encoding, str):
            return encoding
        return f"<callable {getattr(encoding, '__qualname__', type(encoding).__qualname__)}>"

    @field_serializer("encoder")
    def _description_of_encoder(self, encoder: AnyEncoder) -> object:
        return written_down(encoder)

    @field_serializer("trace_to")
    def _path_as_text(self, trace_to: str | PathLike[str] | None) -> str | None:
        return None if trace_to is None else fspath(trace_to)

    @field_serializer("cache")
    def _nothing_of_cache(self, _: object) -> None:
        """It changes nothing but the time: whoever reads this back gives one again, or none."""

    def __getstate__(self) -> dict[str, Any]:
        # LlamaIndex leaves out what it cannot pickle. Without its encoding the copy would count with
        # another one, and without its encoder keep other texts, so that is refused; and as it also takes
        # it from the object, it gets a copy.
        state = super(CtxCompressPostprocessor, self.model_copy()).__getstate__()
        state["__dict__"].setdefault("cache", None)  # one that cannot be pickled; it changes nothing but the time
        if "encoding" not in state["__dict__"]:
            raise PicklingError(
                f"encoding is {self.encoding!r}, which cannot be pickled; give an encoding's name or a "
                "function that a module defines"
            )
        if "encoder" not in state["__dict__"]:
            raise PicklingError(
                f"encoder is an object of type {type(self.encoder).__name__}, which cannot be pickled; give one that "
                "can be, or pickle without it (encoder=None) and assign it to the copy"
            )
        return state


def _check_format(format: str, mode: MetadataMode) -> None:
    if format == "json":
        raise ValueError(
            "format is 'json'; one JSON object cannot be split over nodes: give 'compact', 'verbose' or 'xml', or show "
            "the nodes that come out with format_nodes(nodes, format='json')"
        )
    if format != "plain" and mode is not MetadataMode.LLM:
        raise ValueError(
            f"format is {format!r} with metadata_mode=MetadataMode.NONE, where nodes show their bare text; give "
            "MetadataMode.LLM, or format='plain' and show the nodes with format_nodes"
        )


def _text_of(query_bundle: QueryBundle | None) -> str | None:
    return query_bundle.query_str if query_bundle else None
