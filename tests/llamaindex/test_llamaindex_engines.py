"""Inside LlamaIndex: engines, spans, events, callbacks, windows around sentences, and many lists at once."""

import asyncio
import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import llama_index.core
import pytest
from li_nodes import QUERY, four_nodes, joined, scored, text_node, tokens
from llama_index.core import Document, MockEmbedding, QueryBundle, SummaryIndex, VectorStoreIndex
from llama_index.core.callbacks import CallbackManager, CBEventType, EventPayload, LlamaDebugHandler
from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.instrumentation.events.rerank import ReRankEndEvent, ReRankStartEvent
from llama_index.core.instrumentation.span.simple import SimpleSpan
from llama_index.core.instrumentation.span_handlers import SimpleSpanHandler
from llama_index.core.llms import MockLLM
from llama_index.core.node_parser import SentenceWindowNodeParser
from llama_index.core.postprocessor import MetadataReplacementPostProcessor
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import CitationQueryEngine, RetrieverQueryEngine
from llama_index.core.response_synthesizers import ResponseMode, get_response_synthesizer
from llama_index.core.schema import ImageNode, IndexNode, MetadataMode, NodeWithScore, TextNode
from llamaindex_way import WAY, events
from telemetry import Told

from ctxcompress import Compressor, CtxCompressError
from ctxcompress.apps.feedback import FeedbackLog
from ctxcompress.apps.research import ResearchCache
from ctxcompress.cache import Cache
from llamaindex_ctxcompress import (
    CtxAnalysisTransformer,
    CtxCompressPostprocessor,
    CtxCompressRetriever,
    CtxResearchRetriever,
    query_tool,
    record,
)
from llamaindex_ctxcompress.events import CompressionEvent

is_async_or_not = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])


def postprocessor(max_tokens: int = 60, **options: Any) -> CtxCompressPostprocessor:
    return CtxCompressPostprocessor(max_tokens=max_tokens, encoding="cl100k_base", **options)


@pytest.fixture
def index() -> VectorStoreIndex:
    return VectorStoreIndex([text_node(number) for number in range(4)], embed_model=MockEmbedding(embed_dim=8))


def engine_of(index: Any, *postprocessors: BaseNodePostprocessor, **options: Any) -> Any:
    given = {"similarity_top_k": 4, "llm": MockLLM(), **options}
    return index.as_query_engine(node_postprocessors=list(postprocessors), **given)


@pytest.fixture
def spans():
    root, handler = get_dispatcher(), SimpleSpanHandler()
    root.add_span_handler(handler)
    yield handler
    root.span_handlers.remove(handler)


def own_spans(handler: SimpleSpanHandler) -> list[SimpleSpan]:
    return [span for span in handler.completed_spans if span.id_.startswith("CtxCompressPostprocessor")]


async def test_a_query_engine_puts_the_compressed_text_into_the_prompt(index):
    before = deepcopy(index.docstore.docs)
    for one in (postprocessor(), postprocessor(format="compact")):
        engine = engine_of(index, one)
        response = engine.query(QUERY)
        assert 0 < tokens(joined(response.source_nodes)) <= 60
        assert joined(response.source_nodes) in str(response)  # MockLLM answers with its prompt
        assert (await engine.aquery(QUERY)).source_nodes == response.source_nodes
    assert index.docstore.docs == before


@pytest.mark.parametrize("mode", [MetadataMode.NONE, MetadataMode.LLM])
async def test_a_citation_engine_cites_from_the_compressed_text(index, mode):
    given = {"node_postprocessors": [postprocessor(metadata_mode=mode)], "metadata_mode": mode}
    engine = CitationQueryEngine.from_args(index, llm=MockLLM(), similarity_top_k=4, **given)
    response = engine.query(QUERY)
    sources = [item.text.split(":\n", 1)[1].strip() for item in response.source_nodes]
    assert 0 < tokens("\n\n".join(sources)) <= 60
    assert all("ctxcompress" not in source for source in sources)
    assert str(await engine.aquery(QUERY)) == str(response)


def test_a_chat_engine_takes_it_and_it_stands_beside_other_postprocessors(index):
    class Reversed(BaseNodePostprocessor):
        def _postprocess_nodes(self, nodes: Any, query_bundle: Any = None) -> Any:
            return nodes[::-1]

    engine = index.as_chat_engine(chat_mode="context", llm=MockLLM(), node_postprocessors=[postprocessor()])
    assert engine.chat(QUERY).source_nodes
    engine = engine_of(index, postprocessor(10_000), Reversed(), postprocessor())
    assert tokens(joined(engine.query(QUERY).source_nodes)) <= 60


def test_the_node_behind_an_index_node_is_not_rewritten_for_good():  # what another optimizer does
    hidden = text_node(0)
    before = deepcopy(hidden)
    index = SummaryIndex(objects=[IndexNode(text="summary", index_id="i", obj=hidden)])
    engine = engine_of(index, postprocessor(30, metadata_mode=MetadataMode.NONE))
    (source,) = engine.query(QUERY).source_nodes
    assert source.node_id == hidden.id_
    assert source.text != hidden.text
    assert hidden == before


def test_a_query_can_be_given_as_a_string_or_a_bundle_and_not_both():
    one = postprocessor()
    by_string = one.postprocess_nodes(four_nodes(), query_str=QUERY)
    assert one.postprocess_nodes(four_nodes(), QueryBundle(QUERY)) == by_string
    with pytest.raises(ValueError, match="both query_str and query_bundle"):
        one.postprocess_nodes(four_nodes(), QueryBundle(QUERY), query_str=QUERY)


# Spans, events and callbacks


@is_async_or_not
async def test_a_run_shows_as_one_span_and_as_nodes_before_and_after(spans, is_async):
    debug, given = LlamaDebugHandler(print_trace_on_end=False), four_nodes()
    with events() as seen:
        one = postprocessor(callback_manager=CallbackManager([debug]))
        result = await WAY.acompress(one, given, QUERY) if is_async else WAY.compress(one, given, QUERY)
    (span,) = own_spans(spans)
    assert span.id_.startswith(f"CtxCompressPostprocessor._{'a' if is_async else ''}postprocess_nodes-")
    start, compression, end = seen
    assert isinstance(start, ReRankStartEvent)
    assert isinstance(compression, CompressionEvent)
    assert isinstance(end, ReRankEndEvent)
    assert CompressionEvent.model_validate_json(compression.model_dump_json()).stats["kept_count"] == len(result)
    assert (start.nodes, end.nodes) == (given, result)
    assert (start.query, start.model_name) == (QueryBundle(QUERY), "CtxCompressPostprocessor")
    assert start.span_id == end.span_id == span.id_
    ((begun, ended),) = debug.get_event_pairs(CBEventType.RERANKING)
    assert begun.payload[EventPayload.QUERY_STR] == QUERY
    assert begun.payload[EventPayload.MODEL_NAME] == "CtxCompressPostprocessor"
    assert (begun.payload[EventPayload.NODES], ended.payload[EventPayload.NODES]) == (given, result)


@is_async_or_not
def test_the_span_stands_under_the_span_of_the_query(index, spans, is_async):
    engine = engine_of(index, postprocessor())
    if is_async:
        asyncio.run(engine.aquery(QUERY))
    else:
        engine.query(QUERY)
    (span,) = own_spans(spans)
    assert str(span.parent_id).startswith("RetrieverQueryEngine.")


def test_an_error_drops_the_span_and_reaches_the_caller(spans):
    broken = CtxCompressPostprocessor(encoding=lambda text: None)
    with events() as seen, pytest.raises(CtxCompressError, match="encoding must return the tokens or their number"):
        broken.postprocess_nodes(four_nodes(), query_str=QUERY)
    assert [span.id_.split("-")[0] for span in spans.dropped_spans] == ["CtxCompressPostprocessor._postprocess_nodes"]
    assert not any(isinstance(event, ReRankEndEvent) for event in seen)


def test_an_engine_hands_its_callback_manager_on(index):
    debug, one = LlamaDebugHandler(print_trace_on_end=False), postprocessor()
    manager = CallbackManager([debug])
    given: Any = {"llm": MockLLM(callback_manager=manager), "callback_manager": manager}
    RetrieverQueryEngine.from_args(index.as_retriever(), node_postprocessors=[one], **given).query(QUERY)
    assert one.callback_manager.handlers == [debug]
    assert len(debug.get_event_pairs(CBEventType.RERANKING)) == 1


def test_several_attempts_are_one_compression(monkeypatch):
    told, attempts, compress = Told(), [], Compressor.compress
    monkeypatch.setattr(Compressor, "compress", lambda *a, **o: attempts.append(1) or compress(*a, **o))
    image = NodeWithScore(node=ImageNode(text="An image of the timeout", image="aGk="), score=0.5)
    for number, budget in enumerate(range(20, 60), 1):
        attempts.clear()
        options: Any = {"separator": "\n", "telemetry": told.telemetry}
        CtxCompressPostprocessor(max_tokens=budget, **options).postprocess_nodes(
            [image, *four_nodes()], query_str=QUERY
        )
        assert len(told.spans) == number
        if len(attempts) > 1:
            return
    pytest.fail("no budget took several attempts")


def test_the_page_counts_what_the_language_model_sees(tmp_path):
    CtxCompressPostprocessor(max_tokens=10_000, trace_to=tmp_path).postprocess_nodes(four_nodes(), query_str=QUERY)
    (page,) = (path.read_text(encoding="utf-8") for path in tmp_path.iterdir())
    assert f"of {Compressor().count(joined(four_nodes())):,} tokens" in page


def test_feedback_on_what_an_engine_used(index, tmp_path):
    log = FeedbackLog(tmp_path / "feedback.sqlite")
    response = engine_of(index, postprocessor(150, feedback=log)).query(QUERY)
    assert "call" not in str(response)
    quoted = "The default timeout is thirty seconds."
    assert record(response.source_nodes, log=log, answer=f"It says: {quoted}") >= 1
    (found,) = log.records()
    assert found.sheet.tokens[found.used[0].passage] > 5
    # The budget of the evidence has room for what the template shows, and an image beside texts shifts no passage.
    nodes = scored([ImageNode(text="", image_url="a.png"), *(text_node(number) for number in range(4))])
    for item in nodes[1:]:
        item.node.metadata["note"] = "a long note of the template " * 20
    kept = postprocessor(400, feedback=log).postprocess_nodes(nodes, query_str=QUERY)
    record([item for item in kept if "ctxcompress" in item.node.metadata], log=log, answer=quoted)
    newest = max(log.records(), key=lambda each: each.sheet.budget)
    assert {used.passage for used in newest.used} == {0}
    assert newest.sheet.evidence(newest.used[0]).budget >= 150


# Retrievers and the search tool


def test_a_compressing_retriever_works_in_a_query_engine():
    found = WAY.finding(*WAY.pages())
    retriever = CtxCompressRetriever(found, postprocessor=CtxCompressPostprocessor(max_tokens=300))
    engine = RetrieverQueryEngine(retriever, response_synthesizer=get_response_synthesizer(llm=MockLLM()))
    assert len(engine.query("By what price is the car sold?").source_nodes) > 0
    asked: list[QueryBundle] = []
    base = WAY.retriever(lambda _: [])
    base._retrieve = lambda bundle: asked.append(bundle) or []  # an embedding of its own comes with a question
    CtxCompressRetriever(base).retrieve(bundle := QueryBundle("What is Redis?", embedding=[1.0]))
    assert asked == [bundle]
    for given, said in (
        ({"postprocessor": CtxCompressPostprocessor(), "max_tokens": 5}, "max_tokens is given beside a postprocessor"),
        ({"max_token": 5}, "max_token"),
        ({"postprocessor": 5}, "postprocessor is a int; give a Ctx"),
        ({"llm": 5, "decompose": False}, "llm is a int; give an LLM"),
        ({"decompose": "yes"}, "decompose is 'yes'; give True or False"),
    ):
        with pytest.raises((TypeError, ValueError), match=said):
            CtxCompressRetriever(found, **given)
    for wrong in ((5, ResearchCache()), (found, 5)):
        with pytest.raises(TypeError, match=r"is a int; give a (BaseRetriever|ResearchCache)"):
            CtxResearchRetriever(*wrong)
    with pytest.raises(TypeError, match="retriever is a int; give a BaseRetriever"):
        CtxCompressRetriever(5)


async def test_a_query_with_an_embedding_of_its_own_goes_past_the_research_cache():
    asked: list[str] = []
    retriever = CtxResearchRetriever(WAY.retriever(lambda query: asked.append(query) or four_nodes()), ResearchCache())
    retriever.retrieve(QUERY)
    again = retriever.retrieve(QUERY)
    assert [item.get_content(MetadataMode.LLM) for item in again] == [
        item.get_content(MetadataMode.LLM) for item in four_nodes()
    ]
    retriever.retrieve(QueryBundle(QUERY, embedding=[1.0]))
    await retriever.aretrieve(QueryBundle(QUERY, embedding=[1.0]))
    assert asked == [QUERY] * 3


async def test_nodes_are_analysed_in_an_ingestion_pipeline():
    cache, nodes = Cache(), [text_node(n) for n in range(4)]
    transformer = CtxAnalysisTransformer(postprocessor=CtxCompressPostprocessor(cache=cache))
    assert await transformer.acall([*nodes, ImageNode(image="aGk=")])
    assert cache.stats().entries == 4


def answering(*nodes: NodeWithScore, streaming: bool = False) -> RetrieverQueryEngine:
    synthesizer = get_response_synthesizer(
        llm=MockLLM(max_tokens=4), response_mode=ResponseMode.SIMPLE_SUMMARIZE, streaming=streaming
    )
    return RetrieverQueryEngine(WAY.finding(*nodes), response_synthesizer=synthesizer)


@pytest.mark.parametrize("streaming", [False, True])
async def test_the_answer_of_a_query_engine_comes_first(streaming):
    tool, plain = query_tool(answering(*four_nodes(), streaming=streaming)), query_tool(WAY.finding(*four_nodes()))
    output = tool(query=QUERY)
    assert output.raw_output.response
    assert output.content == f"{output.raw_output.response}\n\n{plain(query=QUERY).content}"
    assert (await tool.acall(query=QUERY)).content == output.content
    for max_tokens in (10, 50, 150):
        short = query_tool(answering(*four_nodes()), max_tokens=max_tokens)(query=QUERY, show_stats=True).content
        assert Compressor().count(short) <= max_tokens
    with pytest.raises(ValueError, match="format is 'json' with a query engine, whose answer comes first as text"):
        query_tool(answering(), format="json")


# Sentences that are retrieved, and the windows around them: before compression, not after it

ASKED = "What is the default timeout of the pool?"
WARNING = "list that before CtxCompressPostprocessor"


@pytest.fixture(scope="module")
def sentences() -> VectorStoreIndex:
    """The sentence splitter reads the files that come with LlamaIndex; its older versions would download them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NLTK_DATA", str(Path(llama_index.core.__file__).parent / "_static" / "nltk_cache"))
        towns = [f"The harbour of town {n} was built long ago and has a lighthouse with {n} steps." for n in range(60)]
        document = Document(text=" ".join([*towns, "The default timeout of the pool is 30 seconds.", *towns]))
        # All vectors are equal, so the ids decide what is retrieved.
        parser = SentenceWindowNodeParser.from_defaults(window_size=3, id_func=lambda number, _: f"sentence {number}")
        return VectorStoreIndex.from_documents(
            [document], transformations=[parser], embed_model=MockEmbedding(embed_dim=8)
        )


def said(warned: Any) -> int:
    return sum(WARNING in message for message in warned.messages)


async def test_windows_first_are_compressed_into_the_budget_and_afterwards_they_are_over_it(sentences, warned):
    windows = MetadataReplacementPostProcessor(target_metadata_key="window")
    response = engine_of(sentences, windows, postprocessor(150), similarity_top_k=20).query(ASKED)
    assert 0 < tokens(joined(response.source_nodes)) <= 150
    assert any(len(item.node.metadata["window"]) > len(item.text) for item in response.source_nodes)
    postprocessor(150).postprocess_nodes(response.source_nodes, query_str=ASKED)  # a second time they are no news
    assert not said(warned)
    for number, is_async in enumerate((False, True), 1):
        engine = engine_of(sentences, postprocessor(150), windows, similarity_top_k=20)
        response = await engine.aquery(ASKED) if is_async else engine.query(ASKED)
        assert tokens(joined(response.source_nodes)) > 150
        assert said(warned) == number
    assert re.search(r"nodes have under metadata\['window'\] a longer text", warned.text)


@pytest.mark.parametrize(
    "window", ["The pool.", "the pool", "Another text that is longer than it.", 7, None, ["The pool."]]
)
def test_other_metadata_of_that_name_are_no_matter(warned, window):
    node = TextNode(text="The pool.", metadata={"window": window}, excluded_llm_metadata_keys=["window"])
    postprocessor(150).postprocess_nodes([NodeWithScore(node=node)], query_str=QUERY)
    assert not said(warned)


# Many lists at once, in several processes

QUERIES = [f"timeout of pool {number}?" for number in range(20)]
GIVEN = [
    scored(
        TextNode(text=f"Pool {n} opens ten connections for {query} Its timeout is {n} seconds.", id_=f"{query}{n}")
        for n in range(6)
    )
    for query in QUERIES
]


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow(reason="processes import LlamaIndex"))])
def test_a_batch_gives_what_single_calls_give(workers):
    one = CtxCompressPostprocessor(max_tokens=40)
    expected = [one.postprocess_nodes(nodes, query_str=query) for nodes, query in zip(GIVEN, QUERIES, strict=True)]
    with events() as seen:
        assert one.postprocess_nodes_batch(GIVEN, QUERIES, workers=workers) == expected
    assert [event.nodes for event in seen if isinstance(event, ReRankEndEvent)] == expected
    assert sum(isinstance(event, CompressionEvent) for event in seen) == len(QUERIES)


def test_a_batch_with_a_model_of_this_process_stays_in_it():
    model = WAY.chat(lambda _: "1")
    one = CtxCompressPostprocessor(max_tokens=40, llm=model)
    assert len(one.postprocess_nodes_batch(GIVEN[:2], QUERIES[:2], workers=2)) == 2
    assert model.asked == ["sync"] * 2


def test_an_error_in_a_batch_is_that_of_a_single_call():
    one = CtxCompressPostprocessor(max_tokens=40)
    wrong: Any = [*QUERIES[:3], 7]
    with pytest.raises(TypeError, match="query is a int; give a string"):
        one.postprocess_nodes_batch(GIVEN[:4], wrong)
    with pytest.raises(ValueError, match="zip"):
        one.postprocess_nodes_batch(GIVEN[:4], QUERIES[:3])
