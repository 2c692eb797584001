"""Documents to passages, and what was kept of them back to documents. Nothing that goes in is changed or shared."""

import copy
import math
import pickle
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

from langchain_core.documents import Document

from ctxcompress import CompressionConfig, KeptPassage, Passage, passage_from_metadata

__all__ = ["RECORD_KEY", "compressed_document", "kept_passages", "passages_from_documents", "scored_document"]

RECORD_KEY = "ctxcompress"
"""The one metadata key that a compressed document gets: where its text comes from, for citing it."""

_IMMUTABLE = frozenset({str, int, float, bool, bytes, type(None)})
# What Python's own objects and those of common libraries raise when they refuse to be copied.
_REFUSALS = (TypeError, ValueError, AttributeError, RuntimeError, copy.Error, pickle.PickleError)


def passages_from_documents(documents: Iterable[Document], config: CompressionConfig) -> tuple[Passage, ...]:
    """The documents as passages, in their order; one without an id gets its position for an id.

    The score is what the metadata has under `score_key`; without that option, what an earlier step left in the record,
    if it is of the same `score_kind`.
    Raises TypeError if something among them is not a Document.
    """
    return tuple(_passage(index, document, config) for index, document in enumerate(documents))


def kept_passages(documents: Sequence[Document], config: CompressionConfig) -> list[KeptPassage]:
    """The documents as what was kept of them, as far as their records tell it.

    Raises TypeError if something among them is not a Document.
    """
    found = []
    for position, (document, passage) in enumerate(
        zip(documents, passages_from_documents(documents, config), strict=True)
    ):
        kept = KeptPassage.from_record(position, passage, document.metadata.get(RECORD_KEY))
        if document.id is None:  # it is called what it was called when it came
            kept = replace(kept, original=replace(kept.original, id=str(kept.index)))
        found.append(kept)
    return found


def scored_document(document: Document, score: object, kind: str) -> Document:
    """A copy of `document` whose record says what the retriever's score is, if that is a number, and what it means."""
    is_number = isinstance(score, Real) and not isinstance(score, bool) and math.isfinite(score)
    record = {"score": float(score), "score_kind": kind} if isinstance(score, Real) and is_number else {}
    return _twin(document).model_copy(update={"metadata": {**_copied(document.metadata, {}), RECORD_KEY: record}})


def compressed_document(document: Document, kept: KeptPassage, config: CompressionConfig) -> Document:
    """A copy of `document` that holds the kept text and a record of it under RECORD_KEY. config: what was asked for.

    Id, metadata, subclass and the subclass's fields stay as they are. The exception is a document
    that is a transformer's working state and offers `to_document()` to leave it behind: the state
    belongs to the longer text and is no business of the reader, so a plain Document comes out.
    """
    metadata = {**_copied(document.metadata, {}), RECORD_KEY: _record(kept, config.score_kind)}
    if type(document) is Document or callable(getattr(document, "to_document", None)):
        return Document(kept.text, id=document.id, metadata=metadata)
    return _twin(document).model_copy(update={"page_content": kept.text, "metadata": metadata})


def _passage(index: int, document: object, config: CompressionConfig) -> Passage:
    if not isinstance(document, Document):
        raise TypeError(f"documents[{index}] is a {type(document).__name__}; give a list of LangChain Documents")
    # Only what a title, a path or a score can be read from: the rest may be large, or refuse to be
    # copied, and is not needed before it is known which documents are kept.
    readable = {key: value for key, value in document.metadata.items() if _is_readable(value)}
    identity = str(index) if document.id is None else document.id
    passage = passage_from_metadata(
        identity, document.page_content, readable, metadata_map=config.metadata_map, score_key=config.score_key
    )
    score = _recorded_score(document, config.score_kind) if config.score_key is None else passage.score
    embedding = _carried_embedding(document)
    return passage if score is None and embedding is None else replace(passage, score=score, embedding=embedding)


def _recorded_score(document: Document, kind: str) -> float | None:
    """What an earlier step has recorded, if it means what scores mean here."""
    record = document.metadata.get(RECORD_KEY)
    if not isinstance(record, Mapping) or record.get("score_kind") != kind:
        return None
    score = record.get("score")
    return score if isinstance(score, float) and math.isfinite(score) else None


def _carried_embedding(document: Document) -> tuple[float, ...] | None:
    """What LangChain's embedding filters leave on the documents that they hand on."""
    state = getattr(document, "state", None)
    found = state.get("embedded_doc") if isinstance(state, Mapping) else None
    numbers = tuple(found) if isinstance(found, Iterable) else ()
    return numbers if numbers and all(issubclass(kind, Real) for kind in set(map(type, numbers))) else None


def _is_readable(value: object) -> bool:
    if type(value) in _IMMUTABLE:
        return True
    if isinstance(value, list | tuple):
        return all(isinstance(item, str) for item in value)
    return isinstance(value, str | Real)


def _record(kept: KeptPassage, score_kind: str) -> dict[str, object]:
    """Native numbers and lists only: it goes into JSON."""
    return {
        "spans": [[int(start), int(end)] for start, end in kept.spans],
        "tokens": int(kept.tokens),
        "relevance": float(kept.relevance),
        "index": int(kept.index),
        **({} if kept.original.score is None else {"score": kept.original.score, "score_kind": score_kind}),
        **({"stands_for": list(kept.stands_for)} if kept.stands_for else {}),
        **({"markers": [list(marker) for marker in kept.markers]} if kept.markers else {}),
        **({"metadata_only": True} if kept.metadata_only else {}),
    }


def _twin(document: Document) -> Document:
    """A deep copy with the private attributes of its class, where they can be copied."""
    try:
        return copy.deepcopy(document)
    except _REFUSALS:
        return document.model_copy(update={name: _copied(value, {}) for name, value in document})


def _copied(value: Any, memo: dict[int, Any]) -> Any:
    """A deep copy that shares only what refuses to be copied, such as a lock or a database client.

    Faster than deepcopy for what metadata is made of. `memo`: copies by the id of their original.
    """
    if id(value) in memo:
        return memo[id(value)]
    if type(value) in (dict, list):
        memo[id(value)] = twin = value.copy()
        for key, item in value.items() if type(value) is dict else enumerate(value):
            if type(item) not in _IMMUTABLE:
                twin[key] = _copied(item, memo)
        return twin
    try:
        return copy.deepcopy(value, memo)
    except _REFUSALS:
        return value
