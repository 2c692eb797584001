"""Nodes to passages, and what was kept of a passage back to a node. Nothing that goes in is changed or shared."""

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
from ctxcompress.tools.records import RECORD_KEY, deep_copy, readable, record_of

__all__ = [
    "RECORD_KEY",
    "compressed_node",
    "compressed_or_same",
    "copy_node",
    "is_text_only",
    "kept_passages",
    "passage_from_node",
    "passed_through",
]

_Model = TypeVar("_Model", bound=BaseModel)

_NOTHING: Mapping[str, object] = MappingProxyType({})
_IMMUTABLE = frozenset({str, int, float, bool, bytes, type(None), NodeRelationship, ObjectType})


def is_text_only(node: BaseNode) -> bool:
    """Whether a text is all that `node` brings: no image, audio or video, no object behind an index node."""
    if isinstance(node, ImageNode):
        return False
    if isinstance(node, IndexNode):
        return node.obj is None
    if isinstance(node, Node):
        return not (node.image_resource or node.audio_resource or node.video_resource)
    return True


def passage_from_node(
    item: NodeWithScore, metadata_map: Mapping[str, str] | None = None, score_key: str | None = None
) -> Passage:
    """The passage of a node: its bare text, its score, and what its metadata says of where it comes from.

    The id of the source node is the passage's doc_id where the metadata names no document.
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
        score_key=score_key,
    )
    return replace(passage, doc_id=passage.doc_id or _source_id(node), embedding=node.embedding)


def kept_passages(nodes: Sequence[NodeWithScore], config: CompressionConfig) -> list[KeptPassage]:
    """The nodes as what was kept of them, as far as their records tell it."""
    passages = (passage_from_node(item, config.metadata_map) for item in nodes)
    return [
        KeptPassage.from_record(position, passage, item.node.metadata.get(RECORD_KEY))
        for position, (item, passage) in enumerate(zip(nodes, passages, strict=True))
    ]


def compressed_node(
    item: NodeWithScore, kept: KeptPassage, position: int, stands_for: Sequence[int] = ()
) -> NodeWithScore:
    """A copy of `item` that holds the kept text and a record of it under RECORD_KEY.

    Class, id, score, relationships, metadata, templates and `start_char_idx`/`end_char_idx` (the
    place of the whole chunk in its document, to which the spans are relative) stay as they are. An
    embedding of a text that has changed is dropped. The record is excluded from prompts.
    """
    node = item.node
    record = record_of(kept, index=position, stands_for=stands_for)
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


def compressed_or_same(item: NodeWithScore, kept: KeptPassage) -> NodeWithScore:
    """Return a copy of `item` that holds the kept text, or that is unchanged if a text is not all that it brings."""
    return compressed_node(item, kept, kept.index, kept.stands_for) if is_text_only(item.node) else passed_through(item)


def passed_through(item: NodeWithScore) -> NodeWithScore:
    """A copy of `item` with nothing changed; the object behind an index node is the same object."""
    return _with_node(item, copy_node(item.node))


def copy_node(node: BaseNode, changes: Mapping[str, object] = _NOTHING) -> BaseNode:
    """A copy with other values for the fields in `changes`.

    It shares nothing mutable with `node` but the object behind an index node. Faster than
    `model_copy(deep=True)`, which walks through every number of an embedding, and possible where the
    object of an index node cannot be copied at all.
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
        return {key: info.model_copy(update={"metadata": deep_copy(info.metadata)}) for key, info in value.items()}
    return deep_copy(value)


def _native(score: float | None) -> float | None:
    """The same score as a number of Python: a number of numpy does not go into JSON."""
    return None if score is None else float(score)


def _source_id(node: BaseNode) -> str | None:
    source = node.relationships.get(NodeRelationship.SOURCE)
    return source.node_id if isinstance(source, RelatedNodeInfo) else None
