"""Batches of the postprocessor are compressed in several processes."""

import os
from concurrent.futures.process import BrokenProcessPool
from typing import Any

import pytest
from llama_index.core.bridge.pydantic import Field
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events.rerank import ReRankEndEvent
from llama_index.core.schema import NodeWithScore, TextNode

from ctxcompress.errors import InputError
from llamaindex_ctxcompress import CtxCompressPostprocessor
from llamaindex_ctxcompress.events import CompressionEvent

QUERIES = [f"timeout of pool {number}?" for number in range(20)]


def nodes(query: str) -> list[NodeWithScore]:
    texts = [f"Pool {place} opens ten connections for {query}. Its timeout is {place} seconds." for place in range(6)]
    return [
        NodeWithScore(node=TextNode(text=text, id_=f"{query}{n}", metadata={"title": f"Pool {n}"}), score=0.5)
        for n, text in enumerate(texts)
    ]


GIVEN = [nodes(query) for query in QUERIES]


class _Heard(BaseEventHandler):
    events: list[Any] = Field(default_factory=list)

    def handle(self, event: Any, **_: Any) -> None:
        self.events.append(event)


@pytest.mark.parametrize("workers", [None, 2])
def test_a_batch_gives_what_single_calls_give(workers: int | None) -> None:
    postprocessor = CtxCompressPostprocessor(max_tokens=40)
    expected = [
        postprocessor.postprocess_nodes(given, query_str=query) for given, query in zip(GIVEN, QUERIES, strict=True)
    ]
    heard = _Heard()
    get_dispatcher().add_event_handler(heard)
    try:
        found = postprocessor.postprocess_nodes_batch(GIVEN, QUERIES, workers=workers)
    finally:
        get_dispatcher().event_handlers.remove(heard)
    assert found == expected
    ends = [event.nodes for event in heard.events if isinstance(event, ReRankEndEvent)]
    assert ends == expected
    assert sum(isinstance(event, CompressionEvent) for event in heard.events) == len(QUERIES)


class _Ends:
    def __reduce__(self) -> Any:
        return os._exit, (9,)


def test_an_error_is_that_of_a_single_call() -> None:
    postprocessor = CtxCompressPostprocessor(max_tokens=40)
    wrong: Any = [*QUERIES[:3], 7]
    with pytest.raises((InputError, ValueError)):
        postprocessor.postprocess_nodes_batch(GIVEN[:4], wrong, workers=2)
    with pytest.raises(ValueError, match="zip"):
        postprocessor.postprocess_nodes_batch(GIVEN[:4], QUERIES[:3])
    deadly = [NodeWithScore(node=TextNode(text="This ends a process.", metadata={"end": _Ends()}))]
    with pytest.raises(BrokenProcessPool, match="the process ended"):
        postprocessor.postprocess_nodes_batch([GIVEN[0], deadly], QUERIES[:2], workers=2)
