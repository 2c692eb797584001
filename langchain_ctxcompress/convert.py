"""Documents to passages, and what was kept of a passage back to a document. Nothing that goes in is changed or shared."""

import copy
import pickle
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any

from langchain_core.documents import Document

from ctxcompress import KeptPassage, Passage, passage_from_metadata

__all__ = ["RECORD_KEY", "compressed_document", "passages_from_documents"]

RECORD_KEY = "ctxcompress"
"""The one metadata key that a compressed document gets: where its text comes from, for citing it."""

# What Python's own objects and those of common libraries raise when they refuse to be copied.
_REFUSALS = (TypeError, ValueError, AttributeError, RuntimeError, copy.Error, pickle.PickleError)


def passages_from_documents(
    documents: Iterable[Document], metadata_map: Mapping[str, str] | None = None
) -> tuple[Passage, ...]:
    """The documents as passages, in their order; one without an id gets its position for an id.

    Raises TypeError if something among them is not a Document.
    """
    return tuple(_passage(index, document, metadata_map) for index, document in enumerate(documents))


def compressed_document(document: Document, kept: KeptPassage) -> Document:
    """A copy of `document` that holds the kept text and a record of it under RECORD_KEY.

    Id, metadata, subclass and the subclass's fields stay as they are. The exception is a document
    that is a transformer's working state and offers `to_document()` to leave it behind: the state
    belongs to the longer text and is no business of the reader, so a plain Document comes out.
    """
    if callable(getattr(document, "to_document", None)):
        metadata = {**_copied(document.metadata), RECORD_KEY: _record(kept)}
        return Document(kept.text, id=document.id, metadata=metadata)
    twin = _twin(document)
    metadata = {**twin.metadata, RECORD_KEY: _record(kept)}
    return twin.model_copy(update={"page_content": kept.text, "metadata": metadata})


def _passage(index: int, document: object, metadata_map: Mapping[str, str] | None) -> Passage:
    if not isinstance(document, Document):
        raise TypeError(f"documents[{index}] is a {type(document).__name__}; give a list of LangChain Documents")
    # Only what a title, a path or a score can be read from: the rest may be large, or refuse to be
    # copied, and is not needed before it is known which documents are kept.
    readable = {key: value for key, value in document.metadata.items() if _is_readable(value)}
    identity = str(index) if document.id is None else document.id
    return passage_from_metadata(identity, document.page_content, readable, metadata_map=metadata_map)


def _is_readable(value: object) -> bool:
    if isinstance(value, list | tuple):
        return all(isinstance(item, str) for item in value)
    return isinstance(value, str | Real)


def _record(kept: KeptPassage) -> dict[str, object]:
    """Native numbers and lists only: it goes into JSON."""
    return {
        "spans": [[int(start), int(end)] for start, end in kept.spans],
        "tokens": int(kept.tokens),
        "relevance": float(kept.relevance),
        "index": int(kept.index),
    }


def _twin(document: Document) -> Document:
    try:
        return copy.deepcopy(document)
    except _REFUSALS:
        return document.model_copy(update={name: _copied(value) for name, value in document})


def _copied(value: Any) -> Any:
    """A deep copy that shares only what refuses to be copied, such as a lock or a database client."""
    try:
        return copy.deepcopy(value)
    except _REFUSALS:
        if isinstance(value, dict):
            return {key: _copied(item) for key, item in value.items()}
        return [_copied(item) for item in value] if isinstance(value, list) else value
