"""The node postprocessor: LlamaIndex's events and serialization around a compression."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike, fspath
from pickle import PicklingError
from typing import Any, Self

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.base.llms.base import BaseLLM
from llama_index.core.bridge.pydantic import ConfigDict, Field, field_serializer, model_validator
from llama_index.core.callbacks import CBEventType, EventPayload
from llama_index.core.instrumentation import get_dispatcher  # type: ignore[attr-defined]
from llama_index.core.instrumentation.events.rerank import ReRankEndEvent, ReRankStartEvent
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle
from llama_index.core.storage.kvstore.types import BaseKVStore
from pydantic import FieldSerializationInfo
from typing_extensions import override

from ctxcompress import Compression, CompressionConfig, Compressor, Encoder
from ctxcompress.adapters.component_options import ComponentOptions
from ctxcompress.adapters.records import original_index
from llamaindex_ctxcompress.compression import acompress_nodes, compress_node_lists, compress_nodes
from llamaindex_ctxcompress.convert import RECORD_KEY, is_text_only, passage_from_node
from llamaindex_ctxcompress.events import tell
from llamaindex_ctxcompress.kv_stores import KVStoreMapping
from llamaindex_ctxcompress.models import (
    LLMSelector,
    as_encoder,
    as_language_model,
    context_window,
    read_back,
    written_down,
)

__all__ = ["CtxCompressPostprocessor", "SerializedOptions"]


class SerializedOptions(ComponentOptions):
    """The options of a component, which can be written as JSON. A callable `encoding` is written by its name alone."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    @staticmethod
    @override
    def _as_encoder(encoder: object) -> Any:
        return as_encoder(encoder)

    @staticmethod
    @override
    def _as_language_model(llm: object) -> Any:
        return as_language_model(llm)

    @staticmethod
    @override
    def _as_mapping(store: object) -> KVStoreMapping | None:
        return KVStoreMapping(store) if isinstance(store, BaseKVStore) else None

    @staticmethod
    @override
    def _context_window(model: object) -> int | None:
        return context_window(model)

    @field_serializer("encoding")
    def _name_of_encoding(self, encoding: object) -> str:
        """Return a callable's name in brackets, which is no encoding's name: reading it back is refused."""
        if isinstance(encoding, str):
            return encoding
        return f"<callable {getattr(encoding, '__qualname__', type(encoding).__qualname__)}>"

    @field_serializer("encoder", "llm", check_fields=False)
    def _description_of_model(self, model: object, info: FieldSerializationInfo) -> object:
        return written_down(info.field_name, model)

    @field_serializer("trace_to")
    def _path_as_text(self, trace_to: str | PathLike[str] | None) -> str | None:
        return None if trace_to is None else fspath(trace_to)

    @field_serializer("cache")
    def _nothing_of_cache(self, _: object) -> None:
        """Write no cache: it only saves time, and can be given again."""

    @field_serializer("telemetry")
    def _switch_of_telemetry(self, telemetry: object) -> bool:
        """Write no observer: it changes nothing, and can be given again."""
        return telemetry is True


dispatcher = get_dispatcher(__name__)


class CtxCompressPostprocessor(SerializedOptions, BaseNodePostprocessor):
    """A node postprocessor that keeps what answers the query, within one token budget for all nodes together.

    It returns copies, in the order of the input: same class, id, score, relationships and metadata, and a text of which
    every character was in the node's text, in its order. The metadata key "ctxcompress", which no prompt shows, says
    where the text comes from:

        {"spans": [[start, end], ...], "tokens": int, "relevance": float, "index": int}

    `spans` are half-open character offsets into the text that the node had (add `start_char_idx`, which stays, for the
    place in the document), `tokens` count the bare text, `index` is the position in the input, and `relevance` compares
    within one call only. With `feedback`, "call" and "passage" let `record` find the call. An embedding is dropped if
    the text has changed. Input nodes are never changed or shared.

    Nodes with an image, audio or video, and index nodes with an object, stay in their place unchanged. The text they
    show counts in the budget: the other nodes share what remains.

    The options are those of `ctxcompress.CompressionConfig`, as fields, and `metadata_mode`, `preset`, `config`,
    `model` and `trace_to`. A passage is a node here.

    `format="compact"`, `"verbose"`, `"xml"` and `"preview"` set the `text_template` of the copies so that
    `get_content(MetadataMode.LLM)` shows a number and the source, or the line of the preview, in place of the metadata;
    that is what counts in the budget. The nodes' texts stay as they are. "json" is refused: `format_nodes` writes it.

    `to_dict`, `to_json` and pickle keep every option. A callable `encoding` cannot be written to a dictionary or JSON:
    only its name is, and `from_dict(data)` refuses that name; give it again with `from_dict(data, encoding=...)`. The
    same holds for `encoder` and `llm`, except for an embedding model and an LLM: LlamaIndex writes it, for some models
    with the API key, and reads it back if it knows the class by name. Pickle keeps what of these can be pickled.

    Raises pydantic's ValidationError (a ValueError) if an option has a value that cannot work. When nodes are
    processed, it raises ConfigError (a ValueError) if such a value was assigned afterwards, or if `encoder` does not
    return one vector for each text, TokenizerUnavailable (a RuntimeError) if the vocabulary of `encoding` can neither
    be found nor fetched, and PluginError, a RuntimeError, with the cause if `encoder` raises: see `on_error`. Pickle
    raises PicklingError for an `encoding`, `encoder` or `llm` that cannot be pickled.
    """

    encoder: BaseEmbedding | Encoder | object | None = Field(default="words", json_schema_extra={"type": "object"})
    """What tells the scorer "evidence" how close texts are in meaning: an embedding model of LlamaIndex, such as
    `Settings.embed_model`, or one of ctxcompress.encoders, such as `StaticVectors()`. Only sentences whose words leave
    it in doubt are embedded, in a few calls, which async engines await; `EmbeddingsEncoder` adds word vectors.
    Embeddings that nodes carry are used and not computed again, so they must come from the same model."""
    llm: BaseLLM | LLMSelector | object | None = Field(default=None, json_schema_extra={"type": "object"})
    """An LLM that selects the segments, such as `Settings.llm`, or `LLMSelector(llm, ...)`. It is asked with `chat`;
    async engines await `achat`. If it fails, the result is the one without it; the statistics of the event say so."""
    metadata_mode: MetadataMode = MetadataMode.LLM
    """What counts in the budget. LLM counts `node.get_content(MetadataMode.LLM)`, the text in its metadata template,
    which response synthesizers join; NONE counts the bare text, which CitationQueryEngine reads. Only the bare text is
    scored and cut."""

    @override
    @classmethod
    def _as_given(cls, options: dict[str, Any]) -> dict[str, Any]:
        mode = options.get("metadata_mode", MetadataMode.LLM)
        if mode not in (MetadataMode.LLM, MetadataMode.NONE):
            raise ValueError(f"metadata_mode is {mode!r}; give MetadataMode.LLM or MetadataMode.NONE")
        return {**options, **read_back(options)}

    @model_validator(mode="after")
    def _with_right_format(self) -> Self:
        _check_format(self.format, self.metadata_mode)
        return self

    @property
    @override
    def config(self) -> CompressionConfig:
        _check_format(self.format, self.metadata_mode)
        return super().config

    def confidence(self, nodes: list[NodeWithScore], query_str: str) -> float:
        """Return the probability, from 0 to 1, that the nodes answer the query at all, before or in place of
        compressing them: see `ctxcompress.Compression.confidence`. A workflow can search elsewhere if it is low."""
        config = self.config
        texts = [passage_from_node(item, config.metadata_map) for item in nodes if is_text_only(item.node)]
        return Compressor(config).confidence(query_str, texts)

    @classmethod
    def class_name(cls) -> str:
        """Return the name under which LlamaIndex writes the component and shows it in traces."""
        return "CtxCompressPostprocessor"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        with self._traced(nodes, query_bundle) as kept:
            found, compression = compress_nodes(
                self.config, _text_of(query_bundle), nodes, self.metadata_mode, self.feedback
            )
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
                self.config, _text_of(query_bundle), nodes, self.metadata_mode, self.feedback
            )
            kept += found
            await asyncio.to_thread(self._tell, compression)
        return kept

    def postprocess_nodes_batch(
        self, nodes: Sequence[list[NodeWithScore]], query_strs: Sequence[str], *, workers: int | None = None
    ) -> list[list[NodeWithScore]]:
        """Return what `postprocess_nodes` returns for each list of nodes and its query, in several processes.

        workers: the number of processes; None uses others after two seconds of work: see
        `ctxcompress.apps.batch.compress_batch`. A script has to call this under ``if __name__ == "__main__"``. With an
        `llm` or `feedback`, this process does all the work.

        Handlers get the same events, in this process. Raises what `postprocess_nodes` raises for one of the lists,
        ValueError if there are not as many queries as lists, and BrokenProcessPool if a process ends during its work.
        """
        if self.feedback is not None or self.llm is not None:  # what they see belongs to this process
            pairs = zip(nodes, query_strs, strict=True)
            return [self.postprocess_nodes(given, query_str=query) for given, query in pairs]
        results: list[list[NodeWithScore]] = []
        compressed = compress_node_lists(self.config, query_strs, nodes, self.metadata_mode, workers)
        for given, query, compress in zip(nodes, query_strs, compressed, strict=True):
            with self._traced(given, QueryBundle(query)) as kept:
                found, compression = compress()
                kept += found
                self._tell(compression)
            results.append(kept)
        return results

    def expand(
        self, node: NodeWithScore, nodes: Sequence[NodeWithScore], *, query_str: str = "", max_tokens: int | None = None
    ) -> NodeWithScore:
        """Return more of a node that this postprocessor returned: a copy with all of its text, or with the parts that
        answer `query_str` best, in at most `max_tokens` tokens of text.

        nodes: the nodes that were processed. Raises TypeError if they are others, and ValueError if nothing fits.
        """
        originals = [original.node.get_content(MetadataMode.NONE) for original in nodes]
        record, kept = node.node.metadata.get(RECORD_KEY), node.node.get_content(MetadataMode.NONE)
        index = original_index(record, kept, originals)
        config = self.config.switched_off() if max_tokens is None else self.config.for_expansion(max_tokens)
        found, _ = compress_nodes(config, query_str, nodes[index : index + 1], MetadataMode.NONE)
        if not found:
            raise ValueError(f"max_tokens is {max_tokens}, and nothing of the node fits; give more")
        if RECORD_KEY in found[0].node.metadata:
            found[0].node.metadata[RECORD_KEY]["index"] = index
        return found[0]

    async def aexpand(
        self, node: NodeWithScore, nodes: Sequence[NodeWithScore], *, query_str: str = "", max_tokens: int | None = None
    ) -> NodeWithScore:
        """Do the same on another thread."""
        return await asyncio.to_thread(self.expand, node, nodes, query_str=query_str, max_tokens=max_tokens)

    def _tell(self, compression: Compression) -> None:
        tell(compression)
        if self.trace_to is not None:
            compression.trace(self.trace_to)

    @contextmanager
    def _traced(self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None) -> Iterator[list[NodeWithScore]]:
        """Tell handlers which nodes were given and which were put into the yielded list.

        LlamaIndex has no event for postprocessors as such. Tracing tools show the events of rerankers, with the nodes
        before and after.
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

    def __getstate__(self) -> dict[str, Any]:
        # LlamaIndex drops what it cannot pickle, from the object too, so it gets a copy. Without its encoding the copy
        # would count with another one, and without its encoder keep other texts, so that is refused.
        state = super(CtxCompressPostprocessor, self.model_copy()).__getstate__()
        # A cache that cannot be pickled only costs time, and a model has told its context window already.
        state["__dict__"] = {"cache": None, "telemetry": False, "feedback": None, "model": None, **state["__dict__"]}
        if "must_keep" not in state["__dict__"]:
            raise PicklingError("must_keep has a function that cannot be pickled; give one that a module defines")
        if "encoding" not in state["__dict__"]:
            raise PicklingError(
                f"encoding is {self.encoding!r}, which cannot be pickled; give an encoding's name or a "
                "function that a module defines"
            )
        for name in ("encoder", "llm"):
            if name not in state["__dict__"]:
                raise PicklingError(
                    f"{name} is an object of type {type(getattr(self, name)).__name__}, which cannot be pickled; give "
                    f"one that can be, or pickle without it ({name}=None) and assign it to the copy"
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
