"""Documents to passages, and what was kept of them back to documents. Nothing that goes in is changed or shared."""

import copy
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Real

from langchain_core.documents import Document

from ctxcompress import CompressionConfig, KeptPassage, Passage, passage_from_metadata
from ctxcompress.tools.records import RECORD_KEY, REFUSALS, as_number, deep_copy, readable, record_of

__all__ = ["RECORD_KEY", "compressed_document", "kept_passages", "passages_from_documents", "scored_document"]


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
    number = as_number(score)
    record = {} if number is None else {"score": number, "score_kind": kind}
    return _twin(document).model_copy(update={"metadata": {**deep_copy(document.metadata), RECORD_KEY: record}})


def compressed_document(document: Document, kept: KeptPassage, config: CompressionConfig) -> Document:
    """A copy of `document` that holds the kept text and a record of it under RECORD_KEY. config: what was asked for.

    Id, metadata, subclass and the subclass's fields stay as they are. The exception is a document
    that is a transformer's working state and offers `to_document()` to leave it behind: the state
    belongs to the longer text and is no business of the reader, so a plain Document comes out.
    """
    metadata = {
        **deep_copy(document.metadata),
        RECORD_KEY: record_of(kept, index=kept.index, stands_for=kept.stands_for, score_kind=config.score_kind),
    }
    if type(document) is Document or callable(getattr(document, "to_document", None)):
        return Document(kept.text, id=document.id, metadata=metadata)
    return _twin(document).model_copy(update={"page_content": kept.text, "metadata": metadata})


def _passage(index: int, document: object, config: CompressionConfig) -> Passage:
    if not isinstance(document, Document):
        raise TypeError(f"documents[{index}] is a {type(document).__name__}; give a list of LangChain Documents")
    identity = str(index) if document.id is None else document.id
    passage = passage_from_metadata(
        identity,
        document.page_content,
        readable(document.metadata),
        metadata_map=config.metadata_map,
        score_key=config.score_key,
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


def _twin(document: Document) -> Document:
    """A deep copy with the private attributes of its class, where they can be copied."""
    try:
        return copy.deepcopy(document)
    except REFUSALS:
        return document.model_copy(update={name: deep_copy(value) for name, value in document})
