"""Conversion of nodes to passages, and of kept passages to nodes. The input is never changed or shared."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, TypeVar

from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.schema import (
    BaseNode,
    ImageNode,
    IndexNode,
    MetadataMode,
    Node,
    NodeRelationship,
    NodeWithScore,
    ObjectType,
    RelatedNodeInfo,
)

from ctxcompress import CompressionConfig, KeptPassage, Passage, passage_from_metadata
from ctxcompress.adapters.records import (
    RECORD_KEY,
    Decision,
    copied,
    dropped_record,
    kept_from_record,
    readable,
    record_of,
)

__all__ = [
    "RECORD_KEY",
    "compressed_node",
    "compressed_or_same",
    "copy_node",
    "dropped_node",
    "is_text_only",
    "kept_passages",
    "passage_from_node",
    "passed_through",
]

_Model = TypeVar("_Model", bound=BaseModel)

_NOTHING: Mapping[str, object] = MappingProxyType({})
_IMMUTABLE = frozenset({str, int, float, bool, bytes, type(None), NodeRelationship, ObjectType})


def is_text_only(node: BaseNode) -> bool:
    """Return whether `node` brings nothing but text: no image, audio or video, and no object behind an index node."""
    if isinstance(node, ImageNode):
        return False
    if isinstance(node, IndexNode):
        return node.obj is None
    if isinstance(node, Node):
        return not (node.image_resource or node.audio_resource or node.video_resource)
    return True


def passage_from_node(item: NodeWithScore, metadata_map: Mapping[str, str] | None = None) -> Passage:
    """Return the passage of a node: its bare text, its score, and its source as the metadata has it.

    The passage's doc_id is the id of the source node if the metadata names no document.
    """
    node = item.node
    metadata = readable(node.metadata)
    if isinstance(start := getattr(node, "start_char_idx", None), int):
        metadata.setdefault("start_char_idx", start)  # where in its document the chunk begins
    passage = passage_from_metadata(
        node.node_id,
        node.get_content(MetadataMode.NONE),
        metadata,
        score=_native(item.score),
        metadata_map=metadata_map,
    )
    source = node.relationships.get(NodeRelationship.SOURCE)
    source_id = source.node_id if isinstance(source, RelatedNodeInfo) else None
    return replace(passage, doc_id=passage.doc_id or source_id, embedding=node.embedding)


def kept_passages(nodes: Sequence[NodeWithScore], config: CompressionConfig) -> list[KeptPassage]:
    """Return the nodes as kept passages, from their records where they have one."""
    passages = (passage_from_node(item, config.metadata_map) for item in nodes)
    return [
        kept_from_record(position, passage, item.node.metadata.get(RECORD_KEY))
        for position, (item, passage) in enumerate(zip(nodes, passages, strict=True))
    ]


def compressed_node(
    item: NodeWithScore,
    kept: KeptPassage,
    position: int,
    stands_for: Sequence[int] = (),
    call: str | None = None,
) -> NodeWithScore:
    """Return a copy of `item` that holds the kept text, and a record of it under RECORD_KEY.

    Class, id, score, relationships, metadata, templates and `start_char_idx`/`end_char_idx` (the place of the whole
    chunk in its document, to which the spans are relative) stay as they are. The embedding is dropped if the text has
    changed. The record is excluded from prompts. call: see `record_of`.
    """
    node = item.node
    record = record_of(kept, index=position, stands_for=stands_for, call=call)
    changes: dict[str, object] = {
        "metadata": {**_copy(node.metadata), RECORD_KEY: record},
        "excluded_llm_metadata_keys": _with_record_key(node.excluded_llm_metadata_keys),
        "excluded_embed_metadata_keys": _with_record_key(node.excluded_embed_metadata_keys),
    }
    if kept.untouched:
        return _with_node(item, copy_node(node, changes))
    shorter = copy_node(node, {**changes, "embedding": None})
    shorter.set_content(kept.text)
    return _with_node(item, shorter)


def dropped_node(item: NodeWithScore, dropped: Decision) -> NodeWithScore:
    """Return a copy of `item` that holds the dropped text, and under RECORD_KEY its place and the reason."""
    metadata = {**_copy(item.node.metadata), RECORD_KEY: dropped_record(dropped)}
    shorter = copy_node(item.node, {"metadata": metadata, "embedding": None})
    shorter.set_content(dropped.text)
    return _with_node(item, shorter)


def compressed_or_same(item: NodeWithScore, kept: KeptPassage) -> NodeWithScore:
    """Return a copy of `item` that holds the kept text; an unchanged copy if the node brings more than text."""
    return compressed_node(item, kept, kept.index, kept.stands_for) if is_text_only(item.node) else passed_through(item)


def passed_through(item: NodeWithScore) -> NodeWithScore:
    """Return an unchanged copy of `item`. It shares the object behind an index node."""
    return _with_node(item, copy_node(item.node))


def copy_node(node: BaseNode, changes: Mapping[str, object] = _NOTHING) -> BaseNode:
    """Return a copy with other values for the fields in `changes`.

    It shares nothing mutable with `node` but the object behind an index node, which may be impossible to copy. It is
    faster than `model_copy(deep=True)`, which copies every number of an embedding.
    """
    if isinstance(node, IndexNode):
        changes = {"obj": node.obj, **changes}
    return _copy_model(node, changes)


def _with_node(item: NodeWithScore, node: BaseNode) -> NodeWithScore:
    return item.model_copy(update={"node": node, "score": _native(item.score)})


def _with_record_key(keys: list[str]) -> list[str]:
    return keys.copy() if RECORD_KEY in keys else [*keys, RECORD_KEY]


def _copy_model(model: _Model, changes: Mapping[str, object] = _NOTHING) -> _Model:
    fields = model.__dict__.items()
    copies = {name: _copy(value) for name, value in fields if type(value) not in _IMMUTABLE and name not in changes}
    return model.model_copy(update={**copies, **changes})


def _copy(value: Any) -> Any:
    """Return a deep copy, with short cuts for the models and flat containers that nodes consist of."""
    if isinstance(value, BaseModel):
        return _copy_model(value)
    if type(value) is list and _IMMUTABLE.issuperset(map(type, value)):
        return value.copy()
    if type(value) is dict and set(map(type, value.values())) == {RelatedNodeInfo}:
        return {key: info.model_copy(update={"metadata": copied(info.metadata)}) for key, info in value.items()}
    return copied(value)


def _native(score: float | None) -> float | None:
    """Return the score as a number of Python, because numpy's numbers cannot be written as JSON."""
    return None if score is None else float(score)
