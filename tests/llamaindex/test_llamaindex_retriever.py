"""A retriever that searches for the parts of a question at the same time."""

import asyncio
import threading

import pytest
from llama_index.core.base.llms.types import CompletionResponse, LLMMetadata
from llama_index.core.bridge.pydantic import Field
from llama_index.core.llms import CustomLLM, MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from llamaindex_ctxcompress import CtxCompressPostprocessor, CtxCompressRetriever

QUESTION = "Compare Redis and Memcached and Ignite for sessions"
PARTS = ["Redis for sessions", "Memcached for sessions", "Ignite for sessions"]
TEXTS = {
    "Redis": "Redis keeps sessions on disk as well.",
    "Memcached": "Memcached forgets sessions when it restarts.",
    "Ignite": "Ignite spreads sessions over many machines.",
}


class Base(BaseRetriever):
    """Finds the texts of the names in a query, and what all have in common."""

    def __init__(self):
        super().__init__()
        self.queries, self.bundles = [], []

    def _retrieve(self, query_bundle):
        query = query_bundle.query_str
        self.queries.append(query)
        self.bundles.append(query_bundle)
        texts = {"common": "Sessions end after a while.", **{name: TEXTS[name] for name in TEXTS if name in query}}
        return [NodeWithScore(node=TextNode(text=text, id_=name), score=0.5) for name, text in texts.items()]

    async def _aretrieve(self, query_bundle):
        return self._retrieve(query_bundle)


class Model(CustomLLM):
    """A language model with one answer, or none."""

    answer: str = ""
    prompts: list[str] = Field(default_factory=list)

    @property
    def metadata(self):
        return LLMMetadata()

    def complete(self, prompt, formatted=False, **kwargs):
        self.prompts.append(prompt)
        if not self.answer:
            raise ConnectionError("no model")
        return CompletionResponse(text=self.answer)

    def stream_complete(self, prompt, formatted=False, **kwargs):
        raise NotImplementedError


async def found(retriever, question, *, is_async):
    return await retriever.aretrieve(question) if is_async else retriever.retrieve(question)


@pytest.mark.parametrize("is_async", [False, True])
async def test_each_part_is_searched_for_and_the_whole_is_compressed_once(is_async):
    base = Base()
    nodes = await found(CtxCompressRetriever(base, max_tokens=100), QUESTION, is_async=is_async)
    assert sorted(base.queries) == sorted([*PARTS, QUESTION])
    assert {item.node.node_id for item in nodes} == {"common", *TEXTS}
    small = await found(CtxCompressRetriever(base, max_tokens=10), QUESTION, is_async=is_async)
    assert len(small) == 1


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize(("decompose", "question"), [(True, "What is Redis?"), (False, QUESTION)])
async def test_one_search_takes_the_question_as_it_is(decompose, question, is_async):
    base = Base()
    asked = QueryBundle(question, embedding=[1.0])
    await found(CtxCompressRetriever(base, decompose=decompose), asked, is_async=is_async)
    assert base.bundles == [asked]


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize(
    ("question", "searches"),
    [
        ("Explain Redis sessions and Memcached restarts", ["Explain Redis sessions", "Explain Memcached restarts"]),
        (
            "top 5 cloud providers by price, support and security",
            [f"top 5 cloud providers by {aspect}" for aspect in ("price", "support", "security")],
        ),
    ],
)
async def test_the_question_decides_how_many_searches_there_are(question, searches, is_async):
    base = Base()
    await found(CtxCompressRetriever(base), question, is_async=is_async)
    assert sorted(base.queries) == sorted(searches)


@pytest.mark.parametrize("is_async", [False, True])
async def test_a_model_writes_the_searches(is_async):
    base, model = Base(), Model(answer="1. Redis\n2. Memcached\n3. Ignite\n4. KeyDB\n5. Hazelcast")
    await found(CtxCompressRetriever(base, llm=model), "top 5 session stores", is_async=is_async)
    assert sorted(base.queries) == ["Ignite", "KeyDB", "Memcached", "Redis"]
    assert len(model.prompts) == 1


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("answer", ["", "I'm sorry, but I can't help with that."])
async def test_where_the_model_fails_or_refuses_the_rules_make_the_searches(answer, is_async, warned):
    base = Base()
    await found(CtxCompressRetriever(base, llm=Model(answer=answer)), QUESTION, is_async=is_async)
    assert sorted(base.queries) == sorted([*PARTS, QUESTION])
    assert "the language model" in warned.text


class Meeting(BaseRetriever):
    """Finds nothing before all four searches have begun."""

    def __init__(self):
        super().__init__()
        self.threads, self.tasks, self.begun = threading.Barrier(4, timeout=10), asyncio.Event(), 0

    def _retrieve(self, query_bundle):
        self.threads.wait()
        return []

    async def _aretrieve(self, query_bundle):
        self.begun += 1
        if self.begun == 4:
            self.tasks.set()
        await asyncio.wait_for(self.tasks.wait(), 10)
        return []


@pytest.mark.parametrize("is_async", [False, True])
async def test_searches_run_at_the_same_time(is_async):
    assert await found(CtxCompressRetriever(Meeting()), QUESTION, is_async=is_async) == []


@pytest.mark.parametrize("is_async", [False, True])
async def test_what_a_search_raises_is_raised_on(is_async):
    class Broken(BaseRetriever):
        def _retrieve(self, query_bundle):
            raise ConnectionError(query_bundle.query_str)

    with pytest.raises(ConnectionError):
        await found(CtxCompressRetriever(Broken()), QUESTION, is_async=is_async)


def test_it_works_in_a_query_engine():
    retriever = CtxCompressRetriever(Base(), postprocessor=CtxCompressPostprocessor(max_tokens=100))
    synthesizer = get_response_synthesizer(llm=MockLLM())
    answer = RetrieverQueryEngine(retriever, response_synthesizer=synthesizer).query(QUESTION)
    assert len(answer.source_nodes) == 4


def test_options_beside_a_postprocessor_are_refused():
    with pytest.raises(ValueError, match="max_tokens is given beside a postprocessor"):
        CtxCompressRetriever(Base(), postprocessor=CtxCompressPostprocessor(), max_tokens=5)
    with pytest.raises(ValueError, match="max_token"):
        CtxCompressRetriever(Base(), max_token=5)
