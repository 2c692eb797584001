"""Inside LangChain's own parts: retrievers, vector stores, compressor pipelines, chains, runs and callbacks."""

import copy
import math
import pickle
import re
import threading
from functools import partial
from typing import Any

import pytest
from framework import check_verbatim, tokens
from langchain_classic.retrievers import ContextualCompressionRetriever
from langchain_classic.retrievers.document_compressors import DocumentCompressorPipeline
from langchain_core.callbacks import AsyncCallbackHandler, BaseCallbackHandler, CallbackManager
from langchain_core.documents import BaseDocumentTransformer, Document
from langchain_core.embeddings import Embeddings
from langchain_core.language_models import FakeListChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import ConfigurableField, RunnableLambda, RunnablePassthrough
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore
from langchain_text_splitters import CharacterTextSplitter
from langchain_way import WAY, finder
from lc_documents import QUERY, make_documents, make_store
from meanings import PARAPHRASE
from pydantic import ConfigDict, Field, ValidationError

from ctxcompress.apps.research import ResearchCache
from langchain_ctxcompress import (
    CtxCompressor,
    CtxCompressRetriever,
    CtxResearchRetriever,
    format_documents,
    preview_tools,
    query_tool,
)

COMPRESSOR = CtxCompressor(max_tokens=60)


class ListRetriever(BaseRetriever):
    documents: list[Document]

    def _get_relevant_documents(self, query: str, *, run_manager: Any, k: int = 20) -> list[Document]:
        return self.documents[:k]


class Reverse(BaseDocumentTransformer):
    def transform_documents(self, documents, **kwargs):
        return list(reversed(documents))


def retrievers(base: Any, compressor: CtxCompressor = COMPRESSOR) -> list[Any]:
    return [
        CtxCompressRetriever(base_retriever=base, compressor=compressor),
        ContextualCompressionRetriever(base_retriever=base, base_compressor=compressor),
        {"documents": base, "query": RunnablePassthrough()} | compressor.as_runnable(),
    ]


def bases() -> list[Any]:
    store = make_store(make_documents())
    return [
        store.as_retriever(search_kwargs={"k": 4}),
        ListRetriever(documents=make_documents()),
        finder(lambda _: make_documents()),
        make_store([]).as_retriever(),
    ]


@pytest.mark.parametrize("base", bases(), ids=lambda base: type(base).__name__)
async def test_every_way_of_wiring_gives_the_same_documents_sync_and_async(base):
    given = base.invoke(QUERY)
    expected = COMPRESSOR.compress_documents(given, QUERY)
    check_verbatim(WAY, given, expected)
    for retriever in retrievers(base):
        assert retriever.invoke(QUERY) == expected
        assert await retriever.ainvoke(QUERY) == expected


async def test_every_way_of_wiring_uses_the_embeddings():
    encoder = WAY.embeddings()
    ways = retrievers(finder(lambda _: WAY.pages()), CtxCompressor(max_tokens=12, encoder=encoder))
    kept = [way.invoke(PARAPHRASE) for way in ways]
    assert encoder.methods == ["query", "texts"] * 3
    encoder.asked.clear()
    assert [await way.ainvoke(PARAPHRASE) for way in ways] == kept
    assert encoder.methods == ["async query", "async texts"] * 3


async def test_batches_and_streams():
    retriever = CtxCompressRetriever(base_retriever=ListRetriever(documents=make_documents()), compressor=COMPRESSOR)
    expected = retriever.invoke(QUERY)
    assert retriever.batch([QUERY] * 8) == await retriever.abatch([QUERY] * 8) == [expected] * 8
    given = {"documents": make_documents(), "query": QUERY}
    assert list(COMPRESSOR.as_runnable().stream(given)) == [expected]
    assert [chunk async for chunk in COMPRESSOR.as_runnable().astream(given)] == [expected]


def test_retrievers_and_steps_are_pickled_and_copied():
    retriever = CtxCompressRetriever(base_retriever=ListRetriever(documents=make_documents()), compressor=COMPRESSOR)
    expected = retriever.invoke(QUERY)
    for twin in (pickle.loads(pickle.dumps(retriever)), copy.deepcopy(retriever)):
        assert twin.invoke(QUERY) == expected
    step = pickle.loads(pickle.dumps(COMPRESSOR.as_runnable()))
    assert step.invoke({"documents": make_documents(), "query": QUERY}) == expected
    required = step.get_input_jsonschema()["$defs"]["DocumentsAndQuery"]["required"]
    assert set(required) == {"documents", "query"}


async def test_in_a_compressor_pipeline_between_transformers():
    splitter = CharacterTextSplitter(separator="\n\n", chunk_size=80, chunk_overlap=0)
    pipeline = DocumentCompressorPipeline(transformers=[splitter, Reverse(), COMPRESSOR, Reverse()])
    collector = RunCollectorCallbackHandler()
    kept = pipeline.compress_documents(make_documents(), QUERY, callbacks=[collector])
    assert kept == await pipeline.acompress_documents(make_documents(), QUERY, callbacks=[collector])
    chunks = list(reversed(splitter.split_documents(make_documents())))
    assert list(reversed(kept)) == COMPRESSOR.compress_documents(chunks, QUERY)
    assert [run.name for run in collector.traced_runs] == ["CtxCompressor"] * 2


@pytest.mark.parametrize("format", ["plain", "compact", "verbose", "json", "xml"])
@pytest.mark.parametrize("number", [0, 1])
async def test_a_chain_puts_no_more_than_the_budget_into_the_prompt(format, number):
    base = make_store(make_documents(12)).as_retriever(search_kwargs={"k": 12})
    retriever = retrievers(base, CtxCompressor(max_tokens=120, format=format))[number]
    context = retriever | (format_documents if format == "compact" else partial(format_documents, format=format))
    prompt = ChatPromptTemplate.from_template("{context}\n\nQuestion: {question}")
    chain = {"context": context, "question": RunnablePassthrough()} | prompt
    for value in (chain.invoke(QUERY), await chain.ainvoke(QUERY)):
        shown = value.messages[0].content.removesuffix(f"\n\nQuestion: {QUERY}")
        assert shown == context.invoke(QUERY)
        assert 0 < tokens(shown) <= 120


# The step of a chain, and options of a call


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("a question", 'is str; give {"documents": [...], "query": "..."}'),
        ({"documents": [], "question": "a"}, "is ['documents', 'question']; give"),
        ({"documents": [], "query": QUERY, "topn": 1}, "there is no option 'topn'; did you mean 'top_n'?"),
        ({"documents": [], "query": QUERY, "top_n": 0}, "top_n is 0; give a whole number, at least 1"),
        ({"documents": [], "query": QUERY, "callbacks": []}, "the input of this step is"),
        ({"documents": [], "query": None}, "query is a NoneType; give a string"),
    ],
)
async def test_an_input_that_the_step_cannot_read_says_what_to_give(given, message):
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        COMPRESSOR.as_runnable().invoke(given)
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        await COMPRESSOR.as_runnable().ainvoke(given)


async def test_a_call_has_options_of_its_own():
    documents = make_documents()
    expected = CtxCompressor(max_tokens=60, top_n=1).compress_documents(documents, QUERY)
    given: Any = {"documents": documents, "query": QUERY, "top_n": 1}
    assert COMPRESSOR.compress_documents(documents, QUERY, top_n=1) == expected
    assert await COMPRESSOR.acompress_documents(documents, QUERY, top_n=1) == expected
    assert COMPRESSOR.as_runnable().invoke(given) == await COMPRESSOR.as_runnable().ainvoke(given) == expected
    assert COMPRESSOR.as_runnable().batch([given, given]) == [expected, expected]
    assert COMPRESSOR.compress_documents(documents, QUERY) != expected


def test_a_call_can_configure_the_compressor_and_the_searches():
    base = ListRetriever(documents=make_documents())
    retriever = CtxCompressRetriever(base_retriever=base, compressor=COMPRESSOR).configurable_fields(
        compressor=ConfigurableField(id="compressor"), decompose=ConfigurableField(id="decompose")
    )
    expected = COMPRESSOR.compress_documents(make_documents(), QUERY, top_n=1)
    for one in (COMPRESSOR.with_options(top_n=1), {"max_tokens": 60, "top_n": 1}):
        assert retriever.invoke(QUERY, {"configurable": {"compressor": one, "decompose": True}}) == expected
    assert retriever.invoke(QUERY) == COMPRESSOR.compress_documents(make_documents(), QUERY)
    with pytest.raises(ValueError, match="did you mean 'top_n'"):
        retriever.invoke(QUERY, {"configurable": {"compressor": {"topn": 1}}})


def test_a_retriever_has_its_compressor_or_the_options_of_one():
    base = ListRetriever(documents=make_documents())
    assert CtxCompressRetriever(base_retriever=base) == CtxCompressRetriever(
        base_retriever=base, compressor=CtxCompressor()
    )
    assert CtxCompressRetriever(base_retriever=base, max_tokens=20, k=3).compressor == CtxCompressor(max_tokens=20)
    scored = CtxCompressRetriever.from_vectorstore(make_store([]), score_kind="similarity", preset="docs")
    assert scored.compressor.min_score == 0.3
    for options, said in (
        ({"max_token": 20}, "there is no argument 'max_token' of CtxCompressRetriever; did you mean 'max_tokens'?"),
        ({"decompos": True}, "did you mean 'decompose'?"),
        ({"max_tokens": 20, "compressor": COMPRESSOR}, "both compressor and max_tokens are given; give them to"),
        ({"preset": "docs", "compressor": COMPRESSOR}, "both compressor and preset or config are given"),
        ({"compressor": "summary"}, "compressor"),
        ({"base_retriever": "store"}, "base_retriever"),
        ({"k": 0}, "greater than or equal to 1"),
    ):
        with pytest.raises(ValueError, match=re.escape(said)):
            CtxCompressRetriever(**{"base_retriever": base, **options})


def test_a_subclass_may_have_fields_of_its_own_and_what_every_retriever_has():
    class Mine(CtxCompressRetriever):
        model_config = ConfigDict(populate_by_name=True)
        region: str = Field(default="eu", alias="where")

    given: Any = {"base_retriever": ListRetriever(documents=[]), "tags": ["a"], "metadata": {"b": 1}}
    assert Mine(**given, where="us").region == Mine(**given, region="us").region == "us"
    with pytest.raises(ValidationError, match="'regoin' of Mine; did you mean 'region'"):
        Mine(**given, regoin="us")


def test_search_arguments_of_one_call_go_to_the_base_retriever():
    base, options = ListRetriever(documents=make_documents()), {"compressor": CtxCompressor(max_tokens=5_000)}
    retriever = CtxCompressRetriever(base_retriever=base, k=3, **options)
    assert [len(retriever.invoke(QUERY)), len(retriever.invoke(QUERY, k=2))] == [3, 2]
    asked = CtxResearchRetriever(base_retriever=base, research_cache=ResearchCache())
    assert [len(asked.invoke(QUERY)), len(asked.invoke(QUERY, k=2))] == [5, 2]  # past the cache


# Scores of a vector store


class Angles(Embeddings):
    """Embeds a text so that its cosine with any query is the last number in it."""

    def embed_query(self, text: str) -> list[float]:
        return [1.0, 0.0]

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        cosines = [float(re.findall(r"0\.\d+", text)[-1]) for text in texts]
        return [[cosine, math.sqrt(1 - cosine**2)] for cosine in cosines]


class Listed(VectorStore):
    """A store that gives what it is made of, scores included, as they are: distances, or whatever a driver returns."""

    def __init__(self, *scores: object) -> None:
        self.found = [(Document(f"Page {n} opens at {n}.", id=str(n)), score) for n, score in enumerate(scores)]

    @classmethod
    def from_texts(cls, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    def similarity_search(self, query: str, k: int = 4, **_: Any) -> Any:
        return [document for document, _ in self.found[:k]]

    def similarity_search_with_score(self, query: str, k: int = 4, **_: Any) -> Any:
        return self.found[:k]


def of_store(made: VectorStore, score_kind: Any = "similarity", **options: Any) -> CtxCompressRetriever:
    return CtxCompressRetriever.from_vectorstore(made, score_kind=score_kind, **options)


def found_in(made: VectorStore, *given: Any, **options: Any) -> list[str | None]:
    return WAY.ids(of_store(made, *given, **options).invoke("open?"))


SIMILARITIES = (0.9, 0.6, 0.4, 0.2)


@pytest.fixture
def store() -> InMemoryVectorStore:
    made = InMemoryVectorStore(Angles())
    made.add_documents(
        [
            Document(f"It opens at {n}, near: {cosine}", id=str(n), metadata={"tags": []})
            for n, cosine in enumerate(SIMILARITIES)
        ]
    )
    return made


async def test_scores_of_a_vector_store_choose_and_are_in_the_record(store):
    before, collector = copy.deepcopy(store.store), RunCollectorCallbackHandler()
    documents = of_store(store).invoke("open?", {"callbacks": [collector]})
    assert WAY.ids(documents) == ["0", "1", "2", "3"]
    assert [WAY.record(document)["score"] for document in documents] == pytest.approx(SIMILARITIES)
    assert [child.name for child in collector.traced_runs[0].child_runs] == ["ScoredSearch", "CtxCompressor"]
    documents[0].metadata["tags"].append("x")
    assert store.store == before
    retriever = of_store(store, min_score=0.5)
    assert WAY.ids(retriever.invoke("open?")) == WAY.ids(await retriever.ainvoke("open?")) == ["0", "1"]
    again = CtxCompressor(min_score=0.5).compress_documents(documents, "open?")
    assert [WAY.record(document)["score"] for document in again] == pytest.approx([0.9, 0.6])


def test_k_and_a_filter_are_arguments_of_the_search(store):
    assert found_in(store, k=2) == ["0", "1"]
    assert WAY.ids(of_store(store).invoke("open?", k=1)) == ["0"]
    not_the_first = {"filter": lambda document: document.id != "0"}
    assert found_in(store, k=2, search_kwargs=not_the_first) == ["1", "2"]
    with pytest.raises(ValueError, match="greater than or equal to 1"):
        of_store(store, k=0)


def test_scores_mean_what_is_said(store, warned):
    distances = Listed(0.0, 0.5, 1.0, 3.0)  # 1, 2/3, 1/2 and 1/4 of the best
    assert found_in(distances, "distance", min_score=0.5) == ["0", "1", "2"]
    assert found_in(Listed(-2.5, 3.1, 0.4), "absolute", min_score=0.0) == ["1", "2"]
    assert found_in(Listed(0.1, 0.2, 0.9), "none", top_n=2) == ["0", "1"]
    for score in (None, "0.9", math.nan, math.inf, True):
        assert found_in(Listed(0.8, score, 0.1), min_score=0.5) == ["0", "1"]
    with pytest.raises(ValueError, match=r'min_score=0\.9 is given with score_kind="none"'):
        of_store(store, "none", min_score=0.9)
    with pytest.raises(TypeError, match="score_kind"):
        CtxCompressRetriever.from_vectorstore(store)
    with pytest.raises(ValueError, match=r"score_kind\n.*'similarity', 'absolute', 'distance', 'rank' or 'none'"):
        of_store(store, "cosine")
    assert not warned.messages
    found_in(Listed(0.2, 0.3, 0.5, 0.6, 0.8), "similarity", min_score=0.1)
    assert ['declare score_kind="distance"' in message for message in warned.messages] == [True]


# Several searches


def test_a_model_may_answer_in_blocks_and_a_function_may_be_one():
    answer, asked = "Redis sessions\nMemcached sessions", []
    base = finder(lambda query: asked.append(query) or [])
    blocks = GenericFakeChatModel(messages=iter([AIMessage([{"type": "text", "text": answer}])]))
    for llm in (blocks, lambda prompt: answer):
        retriever = CtxCompressRetriever(base_retriever=base, compressor=COMPRESSOR, decompose=llm)
        retriever.invoke("Compare Redis and Memcached for sessions")
    assert sorted(asked) == ["Memcached sessions"] * 2 + ["Redis sessions"] * 2


# Runs and callbacks


def test_a_call_is_a_run_with_query_documents_and_tokens():
    collector = RunCollectorCallbackHandler()
    kept = COMPRESSOR.compress_documents(make_documents(9), QUERY, callbacks=[collector])
    given = {"documents": make_documents(), "query": QUERY}
    output = COMPRESSOR.as_runnable().invoke(given, {"callbacks": [collector]})
    run, step = collector.traced_runs
    assert (run.name, run.inputs, run.error) == ("CtxCompressor", {"query": QUERY, "documents": 9}, None)
    assert (run.outputs["documents"], run.outputs["max_tokens"]) == (len(kept), 60)
    assert run.outputs["tokens"] == run.outputs["stats"]["compressed_tokens"] == tokens(WAY.shown(kept))
    assert 0 <= run.outputs["confidence"] <= 1
    assert (step.name, step.inputs, step.outputs) == ("compress_documents", given, {"output": output})
    assert [child.name for child in step.child_runs] == ["CtxCompressor"]


class Recorder(AsyncCallbackHandler):
    def __init__(self) -> None:
        self.seen: list[Any] = []

    async def on_chain_start(self, serialized: Any, inputs: Any, **given: Any) -> None:
        self.seen.append((given["name"], inputs))

    async def on_chain_end(self, outputs: Any, **_: Any) -> None:
        self.seen.append(outputs["documents"])


class RunInline(BaseCallbackHandler):
    """Asks to be called on the event loop's own thread, and notes the thread."""

    run_inline = True

    def __init__(self) -> None:
        self.threads: list[int] = []

    def on_chain_start(self, *_: Any, **__: Any) -> None:
        self.threads.append(threading.get_ident())


async def test_async_handlers_are_awaited_and_others_stay_on_the_event_loops_thread():
    recorder, inline = Recorder(), RunInline()
    kept = await COMPRESSOR.acompress_documents(make_documents(3), QUERY, callbacks=[recorder, inline])
    assert recorder.seen == [("CtxCompressor", {"query": QUERY, "documents": 3}), len(kept)]
    assert inline.threads == [threading.get_ident()]


def test_the_run_belongs_to_the_manager_that_is_given_or_to_the_runnable_around_it():
    class Shorten(CtxCompressor):
        """A subclass goes by its own name."""

    collector = RunCollectorCallbackHandler()
    parent = CallbackManager.configure([collector]).on_chain_start(None, {}, name="parent")
    COMPRESSOR.compress_documents(make_documents(), QUERY, callbacks=parent.get_child())
    parent.on_chain_end({})
    chain = RunnableLambda(lambda query: Shorten().compress_documents(make_documents(), query), name="outer")
    chain.invoke(QUERY, {"callbacks": [collector]})
    runs = [(run.name, [child.name for child in run.child_runs]) for run in collector.traced_runs]
    assert runs == [("parent", ["CtxCompressor"]), ("outer", ["Shorten"])]


@pytest.mark.parametrize("is_async", [False, True])
async def test_all_steps_of_a_retriever_are_child_runs(is_async):
    collector, llm = RunCollectorCallbackHandler(), FakeListChatModel(responses=["Redis\nMemcached"])
    for decompose in (False, llm):
        retriever = WAY.compressing(finder(lambda _: make_documents()), decompose=decompose)
        await WAY.found(retriever.with_config(callbacks=[collector]), "Compare Redis and Memcached", is_async=is_async)
    simple, parts = ([child.name for child in run.child_runs] for run in collector.traced_runs)
    assert simple == ["finder", "CtxCompressor"]
    assert sorted(parts) == ["CtxCompressor", "FakeListChatModel", "finder", "finder"]


@pytest.mark.parametrize("is_async", [False, True])
async def test_the_retrievers_run_is_a_child_of_the_tools_and_gets_what_is_configured(is_async):
    seen: list[Any] = []
    base = RunnableLambda(lambda query, config: seen.append(config["configurable"]["tenant"]) or [], name="finder")
    for tool in (preview_tools(base)[0], query_tool(base)):
        collector = RunCollectorCallbackHandler()
        config: Any = {"callbacks": [collector], "tags": ["mine"], "configurable": {"tenant": "t"}}
        _ = await tool.ainvoke({"query": QUERY}, config) if is_async else tool.invoke({"query": QUERY}, config)
        [run] = collector.traced_runs
        assert [(child.name, "mine" in child.tags) for child in run.child_runs] == [("finder", True)]
    assert seen == ["t", "t"]
