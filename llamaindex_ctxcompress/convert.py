"""Nodes to passages, and what was kept of a passage back to a node. Nothing that goes in is changed or shared."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pickle import PickleError
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

__all__ = [
    "RECORD_KEY",
    "compressed_node",
    "copy_node",
    "is_text_only",
    "kept_passages",
    "passage_from_node",
    "passed_through",
]

RECORD_KEY = "ctxcompress"
"""The one metadata key that a compressed node gets: where its text comes from, for citing it."""

_Model = TypeVar("_Model", bound=BaseModel)

_NOTHING: Mapping[str, object] = MappingProxyType({})
_IMMUTABLE = frozenset({str, int, float, bool, bytes, type(None), NodeRelationship, ObjectType})
# What an object raises if it refuses to be copied.
_REFUSALS = (TypeError, copy.Error, PickleError)


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
    # The rest of the metadata may be large, or refuse to be copied.
    readable = {key: value for key, value in node.metadata.items() if type(value) in _IMMUTABLE or _is_readable(value)}
    if isinstance(start := getattr(node, "start_char_idx", None), int):
        readable.setdefault("start_char_idx", start)  # where in its document the chunk begins
    passage = passage_from_metadata(
        node.node_id,
        node.get_content(MetadataMode.NONE),
        readable,
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
    record = {
        "spans": [[int(start), int(end)] for start, end in kept.spans],
        "tokens": int(kept.tokens),
        "relevance": float(kept.relevance),
        "index": position,
        **({"stands_for": list(stands_for)} if stands_for else {}),
        **({"markers": [list(marker) for marker in kept.markers]} if kept.markers else {}),
        **({"metadata_only": True} if kept.metadata_only else {}),
    }
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


def _is_readable(value: object) -> bool:
    """Whether a title, a path or a score could be read from it."""
    if isinstance(value, list | tuple):
        return all(isinstance(part, str) for part in value)
    return isinstance(value, str | int | float)


def _with_node(item: NodeWithScore, node: BaseNode) -> NodeWithScore:
    return item.model_copy(update={"node": node, "score": _native(item.score)})


def _with_record_key(keys: list[str]) -> list[str]:
    return keys.copy() if RECORD_KEY in keys else [*keys, RECORD_KEY]


def _copy_model(model: _Model, changes: Mapping[str, object] = _NOTHING) -> _Model:
    fields = model.__dict__.items()
    copies = {name: _copy(value) for name, value in fields if type(value) not in _IMMUTABLE and name not in changes}
    return model.model_copy(update={**copies, **changes})


def _copy(value: Any) -> Any:
    """Like deepcopy, with short cuts for what nodes are made of: flat containers and models."""
    if isinstance(value, BaseModel):
        return _copy_model(value)
    if type(value) is list and _IMMUTABLE.issuperset(map(type, value)):
        return value.copy()
    if type(value) is dict:
        kinds = set(map(type, value.values())) - _IMMUTABLE
        if kinds == {RelatedNodeInfo}:
            return {key: info.model_copy(update={"metadata": _copy(info.metadata)}) for key, info in value.items()}
        if not kinds:
            return value.copy()
    return _deep_copy(value)


def _deep_copy(value: Any) -> Any:
    """What cannot be copied (a lock, a connection) is shared; the containers around it are not."""
    try:
        return copy.deepcopy(value)
    except _REFUSALS:
        if isinstance(value, dict):
            return {key: _copy(inner) for key, inner in value.items()}
        return list(map(_copy, value)) if isinstance(value, list) else value


def _native(score: float | None) -> float | None:
    """The same score as a number of Python: a number of numpy does not go into JSON."""
    return None if score is None else float(score)


def _source_id(node: BaseNode) -> str | None:
    source = node.relationships.get(NodeRelationship.SOURCE)
    return source.node_id if isinstance(source, RelatedNodeInfo) else None
