"""Feedback on compressed nodes: which of them the answer used."""

from collections.abc import Iterable, Sequence

from llama_index.core.base.llms.types import CitationBlock
from llama_index.core.schema import NodeWithScore

from ctxcompress import CompressionConfig
from ctxcompress.adapters.feedback_calls import FeedbackLog, Span, Used, checked_items, record_used
from llamaindex_ctxcompress.convert import kept_passages

__all__ = ["record"]


def record(
    nodes: Sequence[NodeWithScore],
    *,
    log: FeedbackLog,
    used: Iterable[NodeWithScore | CitationBlock | str] = (),
    answer: str | None = None,
    numbered: bool = False,
    missing: bool = False,
    question: str = "",
) -> int:
    """Record which of the nodes an answer used, and return the number of pieces of evidence.

    nodes: as CtxCompressPostprocessor(feedback=log) returned them, such as `response.source_nodes`. used: some of these
    nodes, their ids, or blocks that `cite` returned for them. answer: the answer, such as `str(response)`; what it
    quotes counts as used. numbered: whether numbers in brackets in the answer, such as [2], cite nodes, from 1.
    missing: whether the nodes lacked the answer. question: stored only if the log keeps texts.

    Raises TypeError if a node is not remembered by the log, or `used` names none of the nodes, and ValueError if the
    log's file cannot be used.
    """
    given = checked_items("nodes", nodes, NodeWithScore)
    return record_used(
        log,
        kept_passages(given, CompressionConfig()),
        [item.node.metadata for item in given],
        [_used(item, given) for item in used],
        answer=answer,
        numbered=numbered,
        missing=missing,
        question=question,
    )


def _used(item: object, nodes: Sequence[NodeWithScore]) -> Used:
    spans, node_id = None, item
    if isinstance(item, CitationBlock):
        place = item.additional_location_info or {}
        node_id, spans = item.source, (Span(place["start_char_idx"], place["end_char_idx"]),)
    elif isinstance(item, NodeWithScore):
        node_id = item.node.node_id
    places = [number for number, node in enumerate(nodes) if node is item or node.node.node_id == node_id]
    if not places:
        raise TypeError(f"used has {item!r:.80}, which is none of the nodes; give nodes, ids or blocks of cite")
    # Several calls may have returned a node of this id.
    return Used(min(places, key=lambda number: (nodes[number] is not item, nodes[number] != item)), spans)
