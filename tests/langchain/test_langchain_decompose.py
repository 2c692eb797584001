"""A retriever that searches for the parts of a question at the same time."""

import asyncio
import threading

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda

from langchain_ctxcompress import CtxCompressor, CtxCompressRetriever
from langchain_ctxcompress.retriever import fused

QUESTION = "Compare Redis and Memcached and Ignite for sessions"
TEXTS = {
    "Redis": "Redis keeps sessions on disk as well.",
    "Memcached": "Memcached forgets sessions when it restarts.",
    "Ignite": "Ignite spreads sessions over many machines.",
}
COMMON = Document("Sessions end after a while.", id="common", metadata={"source": "common.md"})


class Base:
    """Finds the texts of the names in a query, and what all have in common."""

    def __init__(self):
        self.queries = []
        self.lock = threading.Lock()

    def find(self, query, **search):
        with self.lock:
            self.queries.append(query)
        return [COMMON, *(Document(text, id=name) for name, text in TEXTS.items() if name in query)]

    async def afind(self, query, **search):
        return self.find(query)

    @property
    def runnable(self):
        return RunnableLambda(self.find, afunc=self.afind)


def retriever_of(base, **options):
    return CtxCompressRetriever(base_retriever=base.runnable, compressor=CtxCompressor(max_tokens=100), **options)


async def found(retriever, question, *, is_async, **config):
    return await retriever.ainvoke(question, **config) if is_async else retriever.invoke(question, **config)


@pytest.mark.parametrize("is_async", [False, True])
async def test_each_part_is_searched_for_and_the_whole_is_compressed_once(is_async):
    base = Base()
    documents = await found(retriever_of(base, decompose=True), QUESTION, is_async=is_async)
    assert sorted(base.queries) == sorted(
        ["Redis for sessions", "Memcached for sessions", "Ignite for sessions", QUESTION]
    )
    assert {document.id for document in documents} == {"common", *TEXTS}
    assert len(documents) == 4


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize(("decompose", "question"), [(False, QUESTION), (True, "What is Redis?")])
async def test_a_simple_question_is_its_own_search(decompose, question, is_async):
    base = Base()
    await found(retriever_of(base, decompose=decompose), question, is_async=is_async)
    assert base.queries == [question]


@pytest.mark.parametrize("is_async", [False, True])
async def test_a_model_writes_the_searches(is_async):
    answer = "Redis sessions\nMemcached sessions\nIgnite sessions"
    for llm in (
        FakeListChatModel(responses=[answer]),
        GenericFakeChatModel(messages=iter([AIMessage([{"type": "text", "text": answer}])])),
        lambda prompt: answer,
    ):
        base = Base()
        documents = await found(retriever_of(base, decompose=llm), QUESTION, is_async=is_async)
        assert sorted(base.queries) == ["Ignite sessions", "Memcached sessions", "Redis sessions"]
        assert len(documents) == 4


class Runs(BaseCallbackHandler):
    def __init__(self):
        self.parents = {}
        self.names = {}

    def on_retriever_start(self, serialized, query, *, run_id, parent_run_id=None, **kwargs):
        self.parents[run_id], self.names[run_id] = parent_run_id, "retriever"

    def on_chain_start(self, serialized, inputs, *, run_id, parent_run_id=None, **kwargs):
        self.parents[run_id], self.names[run_id] = parent_run_id, kwargs.get("name") or "chain"

    def on_chat_model_start(self, serialized, messages, *, run_id, parent_run_id=None, **kwargs):
        self.parents[run_id], self.names[run_id] = parent_run_id, "model"


@pytest.mark.parametrize("is_async", [False, True])
async def test_all_steps_are_child_runs(is_async):
    runs = Runs()
    llm = FakeListChatModel(responses=["Redis\nMemcached"])
    await found(retriever_of(Base(), decompose=llm), QUESTION, is_async=is_async, config={"callbacks": [runs]})
    (root,) = (run for run, parent in runs.parents.items() if parent is None)
    assert runs.names[root] == "retriever"
    children = [runs.names[run] for run, parent in runs.parents.items() if parent == root]
    assert children.count("model") == 1
    assert len(children) == 4  # the model, two searches, the compression


async def test_searches_run_at_the_same_time():
    waiting = asyncio.Barrier(4)

    async def find(query):
        await asyncio.wait_for(waiting.wait(), timeout=10)
        return [COMMON]

    base = RunnableLambda(lambda query: [], afunc=find)
    retriever = CtxCompressRetriever(base_retriever=base, compressor=CtxCompressor(), decompose=True)
    assert len(await retriever.ainvoke(QUESTION)) == 1


def test_threads_search_at_the_same_time():
    waiting = threading.Barrier(4)

    def find(query):
        waiting.wait(timeout=10)
        return [COMMON]

    retriever = CtxCompressRetriever(base_retriever=RunnableLambda(find), compressor=CtxCompressor(), decompose=True)
    assert len(retriever.invoke(QUESTION)) == 1


@pytest.mark.parametrize("is_async", [False, True])
async def test_what_a_search_raises_is_raised_on(is_async):
    def fail(query):
        raise ConnectionError(query)

    broken = CtxCompressRetriever(base_retriever=RunnableLambda(fail), compressor=CtxCompressor(), decompose=True)
    with pytest.raises(ConnectionError):
        await found(broken, QUESTION, is_async=is_async)


class Broken(FakeListChatModel):
    def _call(self, *args, **kwargs):
        raise ConnectionError("no model")


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize(
    "model",
    [
        {"llm": Broken(responses=[])},
        {"decompose": Broken(responses=[])},
        {"llm": FakeListChatModel(responses=["I'm sorry, I can't."])},
    ],
)
async def test_where_the_model_fails_or_refuses_the_rules_make_the_searches(is_async, model, warned):
    base = Base()
    documents = await found(retriever_of(base, **{"decompose": True, **model}), QUESTION, is_async=is_async)
    assert "Redis for sessions" in base.queries
    assert {document.id for document in documents} == {"common", *TEXTS}
    assert "the language model" in warned.text


@pytest.mark.parametrize("is_async", [False, True])
async def test_the_best_of_many_is_searched_for_in_each_aspect(is_async):
    base = Base()
    await found(retriever_of(base, decompose=True), "top 5 cloud providers by price and support", is_async=is_async)
    assert sorted(base.queries) == ["top 5 cloud providers by price", "top 5 cloud providers by support"]


def documents(*ids):
    return [Document(f"Text {name}.", id=name) for name in ids]


def test_what_is_found_often_comes_first():
    rankings = [documents("a", "b", "c"), documents("b", "d"), documents("c", "b", "a")]
    assert [document.id for document in fused(rankings)] == ["b", "a", "c", "d"]


def test_a_document_is_as_its_best_rank_has_it():
    low = Document("Text.", id="x", metadata={"score": 0.1})
    high = Document("Text.", id="x", metadata={"score": 0.9})
    assert fused([[*documents("a"), low], [high]])[0] is high


def test_documents_of_one_text_and_two_sources_are_two():
    same = [Document("Text.", metadata={"source": name}) for name in ("a", "b", "a")]
    assert len(fused([same])) == 2


def test_addresses_tell_documents_apart():
    found = [Document("Text.", metadata={"url": f"https://{name}", "score": n}) for n, name in enumerate("aba")]
    assert [document.metadata["url"] for document in fused([found])] == ["https://a", "https://b"]


def test_a_document_counts_once_in_a_ranking():
    one, other = Document("One.", id="1"), Document("Other.", id="2")
    assert fused([[other, one, one, one], [other]])[0] is other


async def test_many_questions_at_once_end():
    retriever = retriever_of(Base(), decompose=FakeListChatModel(responses=["Redis\nMemcached"]))
    found = await asyncio.wait_for(asyncio.gather(*(retriever.ainvoke(QUESTION) for _ in range(80))), timeout=60)
    assert len(found) == 80


def test_nothing_found_is_nothing():
    assert fused([[], []]) == []
