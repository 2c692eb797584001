"""Feedback on compressed documents: which of them the answer used."""

from collections.abc import Iterable, Mapping, Sequence

from langchain_core.documents import Document
from langchain_core.messages.content import Citation

from ctxcompress import CompressionConfig
from ctxcompress.adapters.feedback_calls import FeedbackLog, Span, Used, checked_items, record_used
from langchain_ctxcompress.convert import kept_passages

__all__ = ["record"]


def record(
    documents: Sequence[Document],
    *,
    log: FeedbackLog,
    used: Iterable[Document | Citation | str] = (),
    answer: str | None = None,
    numbered: bool = False,
    missing: bool = False,
    question: str = "",
) -> int:
    """Record which of the documents an answer used, and return the number of pieces of evidence.

    documents: as CtxCompressor(feedback=log) returned them. used: some of these documents, their ids, or blocks that
    `cite` returned for them. answer: the model's answer; what it quotes counts as used. numbered: whether numbers in
    brackets in the answer, such as [2], cite documents, from 1. missing: whether the documents lacked the answer.
    question: stored only if the log keeps texts.

    Raises TypeError if a document is not remembered by the log, or `used` names none of the documents, and ValueError
    if the log's file cannot be used.
    """
    given = checked_items("documents", documents, Document)
    kept = kept_passages(given, CompressionConfig())
    return record_used(
        log,
        kept,
        [document.metadata for document in given],
        [_used(item, given) for item in used],
        answer=answer,
        numbered=numbered,
        missing=missing,
        question=question,
    )


def _used(item: object, documents: Sequence[Document]) -> Used:
    if isinstance(item, Mapping):
        extras = item.get("extras", {})
        spans = tuple(Span(start, end) for start, end in extras.get("spans", ()))
        place, found = extras.get("index"), spans or None
        places = [n for n, document in enumerate(documents) if document.metadata["ctxcompress"].get("index") == place]
    elif isinstance(item, Document):
        found, places = None, [n for n, document in enumerate(documents) if document is item or document == item]
    else:
        found, places = None, [n for n, document in enumerate(documents) if document.id == item]
    if not places:
        raise TypeError(f"used has {item!r:.80}, which is none of the documents; give documents, ids or blocks of cite")
    return Used(places[0], found)
