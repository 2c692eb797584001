"""Conversion of documents to passages, and of kept passages to documents. The input is never changed or shared."""

import copy
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Real

from langchain_core.documents import Document
from typing_extensions import TypedDict

from ctxcompress import CompressionConfig, KeptPassage, Passage, passage_from_metadata
from ctxcompress.adapters.records import (
    RECORD_KEY,
    REFUSALS,
    Decision,
    as_number,
    check_kind,
    copied,
    dropped_record,
    kept_from_record,
    readable,
    record_of,
)

__all__ = [
    "RECORD_KEY",
    "DocumentsAndQuery",
    "check_retriever",
    "compressed_document",
    "copied_document",
    "dropped_document",
    "kept_passages",
    "passages_from_documents",
    "scored_document",
]


class DocumentsAndQuery(TypedDict):
    """The input of `CtxCompressor.as_runnable()`."""

    documents: Sequence[Document]
    query: str


def passages_from_documents(documents: Iterable[Document], config: CompressionConfig) -> tuple[Passage, ...]:
    """Return the documents as passages, in their order. A document without an id gets its position as id.

    The score is the metadata's value under the key that `metadata_map` has for it; without one, the score that an
    earlier step recorded, if it is of the same `score_kind`. Raises TypeError for anything but Documents.
    """
    return tuple(_passage(index, document, config) for index, document in enumerate(documents))


def check_retriever(retriever: object) -> None:
    """Raise TypeError for what finds no documents."""
    from langchain_core.runnables import Runnable  # takes longer to import than all the rest

    check_kind("retriever", retriever, Runnable, "a retriever, or any runnable from a query to documents")


def kept_passages(documents: Sequence[Document], config: CompressionConfig) -> list[KeptPassage]:
    """Return the documents as kept passages, from their records where they have one.

    Raises TypeError for anything but Documents.
    """
    found = []
    for position, (document, passage) in enumerate(
        zip(documents, passages_from_documents(documents, config), strict=True)
    ):
        kept = kept_from_record(position, passage, document.metadata.get(RECORD_KEY))
        if document.id is None:  # its id is its position in the input
            kept = replace(kept, original=replace(kept.original, id=str(kept.index)))
        found.append(kept)
    return found


def scored_document(document: Document, score: object, kind: str) -> Document:
    """Return a copy of `document` that records the retriever's score and its kind, if the score is a number."""
    number = as_number(score)
    record = {} if number is None else {"score": number, "score_kind": kind}
    return copied_document(document).model_copy(update={"metadata": {**copied(document.metadata), RECORD_KEY: record}})


def compressed_document(
    document: Document, kept: KeptPassage, config: CompressionConfig, call: str | None = None
) -> Document:
    """Return a copy of `document` that holds the kept text, and a record of it under RECORD_KEY.

    Id, metadata, subclass and the subclass's fields stay as they are. The exception is a transformer's document that
    offers `to_document()`: its state belongs to the longer text, so the copy is a plain Document. call: see
    `record_of`.
    """
    metadata = {
        **copied(document.metadata),
        RECORD_KEY: record_of(
            kept, index=kept.index, stands_for=kept.stands_for, score_kind=config.score_kind, call=call
        ),
    }
    if type(document) is Document or callable(getattr(document, "to_document", None)):
        return Document(kept.text, id=document.id, metadata=metadata)
    return copied_document(document).model_copy(update={"page_content": kept.text, "metadata": metadata})


def dropped_document(document: Document, dropped: Decision) -> Document:
    """Return a copy of `document` that holds the dropped text, and under RECORD_KEY its place and the reason."""
    record = dropped_record(dropped)
    return Document(dropped.text, id=document.id, metadata={**copied(document.metadata), RECORD_KEY: record})


def _passage(index: int, document: object, config: CompressionConfig) -> Passage:
    if not isinstance(document, Document):
        raise TypeError(f"documents[{index}] is a {type(document).__name__}; give a list of LangChain Documents")
    identity = str(index) if document.id is None else document.id
    passage = passage_from_metadata(
        identity,
        document.page_content,
        readable(document.metadata),
        metadata_map=config.metadata_map,
    )
    score = passage.score if "score" in config.metadata_map else _recorded_score(document, config.score_kind)
    embedding = _carried_embedding(document)
    return passage if score is None and embedding is None else replace(passage, score=score, embedding=embedding)


def _recorded_score(document: Document, kind: str) -> float | None:
    """Return the score that an earlier step recorded, if it is of this kind."""
    record = document.metadata.get(RECORD_KEY)
    if not record or not isinstance(record, Mapping) or _meaning(record.get("score_kind")) != _meaning(kind):
        return None
    score = record.get("score")
    return score if isinstance(score, float) and math.isfinite(score) else None


def _meaning(kind: object) -> object:
    """Return the kind of scores without how limits are compared with them."""
    return "similarity" if kind == "absolute" else kind


def _carried_embedding(document: Document) -> tuple[float, ...] | None:
    """Return the embedding that LangChain's embedding filters leave on documents."""
    state = vars(document).get("state")  # asking for an attribute that is missing takes longer
    if not state or not isinstance(state, Mapping):
        return None
    found = state.get("embedded_doc")
    numbers = tuple(found) if isinstance(found, Iterable) else ()
    return numbers if numbers and all(issubclass(kind, Real) for kind in set(map(type, numbers))) else None


def copied_document(document: Document) -> Document:
    """Return a deep copy of `document`, with the private attributes of its class where they can be copied."""
    try:
        return copy.deepcopy(document)
    except REFUSALS:
        return document.model_copy(update={name: copied(value) for name, value in document})
