"""Inside LlamaIndex: engines, async, traces and threads."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from typing import Any

import pytest
from li_nodes import QUERY, TEXTS, count_words, four_nodes, joined, text_node, tokens
from llama_index.core import MockEmbedding, QueryBundle, SummaryIndex, VectorStoreIndex
from llama_index.core.bridge.pydantic import Field
from llama_index.core.callbacks import CallbackManager, CBEventType, EventPayload, LlamaDebugHandler
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events import BaseEvent
from llama_index.core.instrumentation.events.rerank import ReRankEndEvent, ReRankStartEvent
from llama_index.core.instrumentation.span.simple import SimpleSpan
from llama_index.core.instrumentation.span_handlers import SimpleSpanHandler
from llama_index.core.llms import MockLLM
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import CitationQueryEngine, RetrieverQueryEngine
from llama_index.core.schema import IndexNode, MetadataMode, NodeWithScore, TextNode

from ctxcompress import CtxCompressError, compress
from llamaindex_ctxcompress import CtxCompressPostprocessor
from llamaindex_ctxcompress.events import CompressionEvent


def postprocessor(max_tokens: int = 60, **options: Any) -> CtxCompressPostprocessor:
    return CtxCompressPostprocessor(max_tokens=max_tokens, encoding="cl100k_base", **options)


def index_of(nodes: list[TextNode]) -> VectorStoreIndex:
    return VectorStoreIndex(nodes, embed_model=MockEmbedding(embed_dim=8))


@pytest.fixture
def index():
    return index_of([text_node(number) for number in range(4)])


class Events(BaseEventHandler):
    seen: list[BaseEvent] = Field(default_factory=list)

    def handle(self, event: BaseEvent, **kwargs: Any) -> None:
        self.seen.append(event)


@pytest.fixture
def events():
    root, handler = get_dispatcher(), Events()
    root.add_event_handler(handler)
    yield handler
    root.event_handlers.remove(handler)


@pytest.fixture
def spans():
    root, handler = get_dispatcher(), SimpleSpanHandler()
    root.add_span_handler(handler)
    yield handler
    root.span_handlers.remove(handler)


def own_spans(handler: SimpleSpanHandler) -> list[SimpleSpan]:
    return [span for span in handler.completed_spans if span.id_.startswith("CtxCompressPostprocessor")]


def test_a_query_engine_puts_the_compressed_text_into_the_prompt(index):
    engine = index.as_query_engine(similarity_top_k=4, node_postprocessors=[postprocessor()], llm=MockLLM())
    response = engine.query(QUERY)
    assert 0 < len(response.source_nodes) <= 4
    assert joined(response.source_nodes) in str(response)  # MockLLM answers with its prompt
    assert tokens(joined(response.source_nodes)) <= 60


async def test_an_async_query_engine_gives_the_same(index):
    engine = index.as_query_engine(similarity_top_k=4, node_postprocessors=[postprocessor()], llm=MockLLM())
    response = await engine.aquery(QUERY)
    assert response.source_nodes == engine.query(QUERY).source_nodes
    assert joined(response.source_nodes) in str(response)


@pytest.mark.parametrize("mode", [MetadataMode.NONE, MetadataMode.LLM])
def test_a_citation_engine_cites_from_the_compressed_text(index, mode):
    engine = CitationQueryEngine.from_args(
        index,
        llm=MockLLM(),
        similarity_top_k=4,
        node_postprocessors=[postprocessor(metadata_mode=mode)],
        metadata_mode=mode,
    )
    response = engine.query(QUERY)
    sources = [item.text.split(":\n", 1)[1].strip() for item in response.source_nodes]
    assert sources
    assert tokens("\n\n".join(sources)) <= 60
    assert all("ctxcompress" not in source for source in sources)


async def test_a_citation_engine_works_async(index):
    engine = CitationQueryEngine.from_args(
        index, llm=MockLLM(), similarity_top_k=4, node_postprocessors=[postprocessor()]
    )
    assert str(await engine.aquery(QUERY)) == str(engine.query(QUERY))


def test_a_chat_engine_takes_it(index):
    engine = index.as_chat_engine(chat_mode="context", llm=MockLLM(), node_postprocessors=[postprocessor()])
    assert engine.chat(QUERY).source_nodes


def test_it_stands_beside_other_postprocessors(index):
    class Reversed(BaseNodePostprocessor):
        def _postprocess_nodes(
            self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
        ) -> list[NodeWithScore]:
            return nodes[::-1]

    chain = [postprocessor(10_000), Reversed(), postprocessor()]
    engine = index.as_query_engine(similarity_top_k=4, node_postprocessors=chain, llm=MockLLM())
    assert tokens(joined(engine.query(QUERY).source_nodes)) <= 60


def test_a_stored_node_is_the_same_after_a_query(index):
    before = deepcopy(index.docstore.docs)
    engine = index.as_query_engine(similarity_top_k=4, node_postprocessors=[postprocessor(30)], llm=MockLLM())
    first = engine.query(QUERY)
    assert index.docstore.docs == before
    assert engine.query(QUERY).source_nodes == first.source_nodes


def test_the_node_behind_an_index_node_is_not_rewritten_for_good():  # what another optimizer does
    hidden = text_node(0)
    before = deepcopy(hidden)
    index = SummaryIndex(objects=[IndexNode(text="summary", index_id="i", obj=hidden)])
    engine = index.as_query_engine(
        node_postprocessors=[postprocessor(30, metadata_mode=MetadataMode.NONE)], llm=MockLLM()
    )
    (source,) = engine.query(QUERY).source_nodes
    assert source.node_id == hidden.id_
    assert source.text != hidden.text
    assert hidden == before


def test_nodes_handed_over_in_a_list_are_the_same_after_it():
    given = four_nodes()
    identities, before = [id(item.node) for item in given], deepcopy(given)
    postprocessor().postprocess_nodes(given, query_str=QUERY)
    assert [id(item.node) for item in given] == identities
    assert given == before


async def test_sync_and_async_give_the_same():  # LI#20973
    for max_tokens in (1, 30, 60, 10_000):
        one = postprocessor(max_tokens)
        sync = one.postprocess_nodes(four_nodes(), query_str=QUERY)
        assert await one.apostprocess_nodes(four_nodes(), query_str=QUERY) == sync
        assert await one.apostprocess_nodes(four_nodes(), QueryBundle(QUERY)) == sync


async def test_async_without_a_query_or_nodes():
    assert await postprocessor().apostprocess_nodes([]) == []
    assert await postprocessor().apostprocess_nodes(four_nodes())


async def test_async_does_not_block_the_event_loop():  # LI#19379
    loop, counting = asyncio.get_running_loop(), threading.Event()
    loop_ran = threading.Event()

    def count(text: str) -> int:
        if not counting.is_set():
            counting.set()
            loop.call_soon_threadsafe(loop_ran.set)
            assert loop_ran.wait(60), "the event loop stood still while tokens were counted"
        return count_words(text)

    await CtxCompressPostprocessor(max_tokens=60, encoding=count).apostprocess_nodes(four_nodes(), query_str=QUERY)
    assert counting.is_set()


def test_a_query_can_be_given_as_a_string_or_a_bundle_and_not_both():
    one = postprocessor()
    by_string = one.postprocess_nodes(four_nodes(), query_str=QUERY)
    assert one.postprocess_nodes(four_nodes(), QueryBundle(QUERY)) == by_string
    with pytest.raises(ValueError, match="both query_str and query_bundle"):
        one.postprocess_nodes(four_nodes(), QueryBundle(QUERY), query_str=QUERY)


def test_threads_share_one_postprocessor():
    one = postprocessor()
    questions = [QUERY, "How often are retries made?", "When is the office closed?", "What colour is the logo?"] * 8
    alone = [one.postprocess_nodes(four_nodes(), query_str=question) for question in questions]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda question: one.postprocess_nodes(four_nodes(), query_str=question), questions))
    assert together == alone


def test_a_run_shows_as_one_span_and_as_nodes_before_and_after(events, spans):
    given = four_nodes()
    result = postprocessor().postprocess_nodes(given, query_str=QUERY)
    (span,) = own_spans(spans)
    assert span.id_.startswith("CtxCompressPostprocessor._postprocess_nodes-")
    start, compression, end = events.seen
    assert isinstance(compression, CompressionEvent)
    assert isinstance(start, ReRankStartEvent)
    assert isinstance(end, ReRankEndEvent)
    assert (start.nodes, end.nodes) == (given, result)
    assert (start.query, start.model_name) == (QueryBundle(QUERY), "CtxCompressPostprocessor")
    assert start.span_id == end.span_id == span.id_


async def test_an_async_run_shows_as_one_span_too(events, spans):
    result = await postprocessor().apostprocess_nodes(four_nodes(), query_str=QUERY)
    (span,) = own_spans(spans)
    assert span.id_.startswith("CtxCompressPostprocessor._apostprocess_nodes-")
    start, _, end = events.seen
    assert end.nodes == result
    assert start.span_id == end.span_id == span.id_


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_the_span_stands_under_the_span_of_the_query(index, spans, is_async):
    engine = index.as_query_engine(node_postprocessors=[postprocessor()], llm=MockLLM())
    if is_async:
        asyncio.run(engine.aquery(QUERY))
    else:
        engine.query(QUERY)
    (span,) = own_spans(spans)
    assert span.parent_id is not None
    assert span.parent_id.startswith("RetrieverQueryEngine.")


def test_an_error_drops_the_span_and_reaches_the_caller(events, spans):
    broken = CtxCompressPostprocessor(encoding=lambda text: None)
    with pytest.raises(CtxCompressError, match="encoding must return the tokens or their number"):
        broken.postprocess_nodes(four_nodes(), query_str=QUERY)
    assert [span.id_.split("-")[0] for span in spans.dropped_spans] == ["CtxCompressPostprocessor._postprocess_nodes"]
    assert not any(isinstance(event, ReRankEndEvent) for event in events.seen)


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_the_callback_manager_hears_of_it(is_async):
    debug = LlamaDebugHandler(print_trace_on_end=False)
    one = postprocessor(callback_manager=CallbackManager([debug]))
    if is_async:
        result = asyncio.run(one.apostprocess_nodes(four_nodes(), query_str=QUERY))
    else:
        result = one.postprocess_nodes(four_nodes(), query_str=QUERY)
    ((start, end),) = debug.get_event_pairs(CBEventType.RERANKING)
    assert start.payload[EventPayload.QUERY_STR] == QUERY
    assert start.payload[EventPayload.MODEL_NAME] == "CtxCompressPostprocessor"
    assert (start.payload[EventPayload.NODES], end.payload[EventPayload.NODES]) == (four_nodes(), result)


def test_an_engine_hands_its_callback_manager_on(index):
    debug = LlamaDebugHandler(print_trace_on_end=False)
    synthesizer_llm = MockLLM(callback_manager=CallbackManager([debug]))
    one = postprocessor()
    engine = RetrieverQueryEngine.from_args(
        index.as_retriever(),
        llm=synthesizer_llm,
        node_postprocessors=[one],
        callback_manager=CallbackManager([debug]),
    )
    engine.query(QUERY)
    assert one.callback_manager.handlers == [debug]
    assert len(debug.get_event_pairs(CBEventType.RERANKING)) == 1


def test_texts_are_the_ones_that_were_indexed(index):
    engine = index.as_query_engine(similarity_top_k=4, node_postprocessors=[postprocessor(10_000)], llm=MockLLM())
    assert sorted(item.text for item in engine.query(QUERY).source_nodes) == sorted(TEXTS)


def test_a_workflow_can_ask_whether_the_nodes_answer_at_all() -> None:
    nodes = [NodeWithScore(node=TextNode(text="The default timeout of the pool is 30 seconds."))]
    postprocessor = CtxCompressPostprocessor(max_tokens=100)
    asked, other = "what is the default timeout of the pool?", "who won the bicycle race in Ghent?"
    assert postprocessor.confidence(nodes, asked) == compress(asked, [nodes[0].text]).confidence > 0.6
    assert postprocessor.confidence(nodes, other) < 0.1
