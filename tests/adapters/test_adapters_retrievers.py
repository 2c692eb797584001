"""The retrievers of both adapters: one searches for the parts of a question, the other reuses what was found."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from both_frameworks import Framework, both
from research_questions import AGAIN, ASKED, OTHER

from ctxcompress.apps.research import ResearchCache
from ctxcompress.cache import Cache, SqliteStore

sync_and_async = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
QUESTION = "Compare Redis and Memcached and Ignite for sessions"
PARTS = ["Redis for sessions", "Memcached for sessions", "Ignite for sessions", QUESTION]
TEXTS = {
    "Redis": "Redis keeps sessions on disk as well.",
    "Memcached": "Memcached forgets sessions when it restarts.",
    "Ignite": "Ignite spreads sessions over many machines.",
}


class Base:
    """Finds the texts of the names in a query, and what all have in common; remembers the queries."""

    def __init__(self, framework: Framework) -> None:
        self.framework, self.queries = framework, list[str]()
        self.retriever = framework.retriever(self.find)

    def find(self, query: str):
        self.queries.append(query)
        texts = {"common": "Sessions end after a while.", **{name: TEXTS[name] for name in TEXTS if name in query}}
        return [self.framework.item(text, name, score=0.5) for name, text in texts.items()]

    async def ask(self, question: str, *, is_async: bool, **options):
        retriever = self.framework.compressing(self.retriever, **{"max_tokens": 100, **options})
        return await self.framework.found(retriever, question, is_async=is_async)


@both
@sync_and_async
@pytest.mark.parametrize(
    ("options", "question", "searches"),
    [
        ({"decompose": True}, QUESTION, PARTS),
        ({"decompose": True}, "What is Redis?", ["What is Redis?"]),
        ({"decompose": False}, QUESTION, [QUESTION]),
        (
            {"decompose": True},
            "top 5 cloud providers by price and support",
            ["top 5 cloud providers by price", "top 5 cloud providers by support"],
        ),
    ],
)
async def test_the_question_decides_how_many_searches_there_are(framework, is_async, options, question, searches):
    base = Base(framework)
    found = await base.ask(question, is_async=is_async, **options)
    assert sorted(base.queries) == sorted(searches)
    if searches is PARTS:
        assert sorted(framework.ids(found)) == sorted(["common", *TEXTS])  # each of them once
        assert len(await base.ask(question, is_async=is_async, max_tokens=10, **options)) == 1


@both
@sync_and_async
async def test_a_model_writes_the_searches(framework, is_async):
    base, model = Base(framework), framework.chat(lambda _: "1. Redis\n2. Memcached\n3. Ignite\n4. KeyDB\n5. Hazelcast")
    await base.ask("top 5 session stores", is_async=is_async, decompose=True, llm=model)
    assert sorted(base.queries) == ["Ignite", "KeyDB", "Memcached", "Redis"]
    assert len(model.asked) == 1


def failing(_: object) -> str:
    raise ConnectionError("no model")


@both
@sync_and_async
@pytest.mark.parametrize("answer", [failing, lambda _: "I'm sorry, but I can't help with that."])
async def test_where_the_model_fails_or_refuses_the_rules_make_the_searches(framework, answer, is_async, warned):
    base = Base(framework)
    found = await base.ask(QUESTION, is_async=is_async, decompose=True, llm=framework.chat(answer))
    assert sorted(base.queries) == sorted(PARTS)
    assert len(found) == 4
    assert "the language model" in warned.text


@both
@sync_and_async
async def test_searches_run_at_the_same_time(framework, is_async):
    """Nothing is found before all four searches have begun."""
    threads, tasks = threading.Barrier(4, timeout=10), asyncio.Barrier(4)

    async def afind(_: str) -> list[object]:
        await asyncio.wait_for(tasks.wait(), 10)
        return []

    base = framework.retriever(lambda _: (threads.wait() and []) or [], afind)
    assert await framework.found(framework.compressing(base, decompose=True), QUESTION, is_async=is_async) == []


@both
@sync_and_async
@pytest.mark.parametrize("decompose", [False, True])
async def test_what_a_search_raises_is_raised_on(framework, decompose, is_async):
    retriever = framework.compressing(framework.retriever(failing), decompose=decompose)
    with pytest.raises(ConnectionError):
        await framework.found(retriever, QUESTION, is_async=is_async)


@both
async def test_many_questions_at_once_end(framework):
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(2))  # more questions than threads
    model = framework.chat(lambda _: "Redis\nMemcached")
    calls = [Base(framework).ask(QUESTION, is_async=True, decompose=True, llm=model) for _ in range(12)]
    assert len(await asyncio.wait_for(asyncio.gather(*calls), timeout=60)) == 12


@both
def test_a_retriever_takes_the_options_of_its_component(framework):
    found = framework.finding(*framework.items())
    given = {"max_tokens": 20, "must_keep": ["INV-7"]}
    retriever = framework.compressing(found, **given)
    component = getattr(retriever, "compressor", None) or retriever.postprocessor
    assert component.config == framework.component(**given).config
    with pytest.raises(ValueError, match="max_tokens is 0; it must be at least 1"):
        framework.compressing(found, max_tokens=0)


# Earlier questions


@both
@sync_and_async
@pytest.mark.parametrize("is_stored", [False, True])
async def test_a_question_in_other_words_gets_the_same_items_with_a_note(framework, is_stored, is_async, tmp_path):
    asked: list[str] = []
    base = framework.retriever(lambda query: asked.append(query) or framework.items(scores=(0.5, 0.25)))
    given = {"store": Cache(SqliteStore(tmp_path / "research.sqlite"))} if is_stored else {}
    retriever = framework.researching(base, ResearchCache(**given))
    first = await framework.found(retriever, ASKED, is_async=is_async)
    again = await framework.found(retriever, AGAIN, is_async=is_async)
    assert framework.shown(first) == framework.shown(again) == framework.shown(framework.items(2))
    for item, fresh in zip(again, first, strict=True):
        note = framework.metadata(item).pop("ctxcompress")
        assert note == {"research": {"question": ASKED, "similarity": 1.0}}
        assert (framework.id(item), framework.metadata(item)) == (framework.id(fresh), framework.metadata(fresh))
        assert getattr(item, "score", None) == getattr(fresh, "score", None)
    await framework.found(retriever, OTHER, is_async=is_async)
    assert asked == [ASKED, OTHER]


@both
async def test_reused_items_keep_their_record_and_are_not_shared(framework):
    retriever = framework.researching(
        framework.compressing(framework.finding(*framework.items()), max_tokens=60), ResearchCache()
    )
    first, again = framework.retrieve(retriever, ASKED)[0], (await framework.aretrieve(retriever, AGAIN))[0]
    note = {"research": {"question": ASKED, "similarity": 1.0}}
    assert framework.record(again) == framework.record(first) | note
    framework.metadata(again)["loc"]["lines"] = "changed"
    (once_more, *_) = framework.retrieve(retriever, AGAIN)
    assert framework.metadata(once_more)["loc"] == framework.metadata(framework.items()[0])["loc"]


# What is analysed before


@both
def test_items_are_analysed_once_when_they_are_indexed(framework):
    cache, items = Cache(), framework.pages()
    options = {"max_tokens": 60}
    cached = framework.component(cache=cache, **options)
    assert framework.analyse(cached, items) is items
    assert cache.stats().entries == len(items)
    framework.analyse(cached, items)
    before = cache.stats()
    assert before.entries == len(items)
    assert framework.compress(cached, items, ASKED) == framework.kept(items, ASKED, **options)
    assert cache.stats().hits >= before.hits + len(items)
    with pytest.raises(ValueError, match="cache is None"):
        framework.analyse(framework.component(), items)


@both
async def test_with_a_cache_the_same_call_finds_its_outcome(framework):
    cache, items = Cache(), framework.items()
    component = framework.component(max_tokens=60, cache=cache)
    first = framework.compress(component, items, ASKED)
    hits, misses, *_ = cache.stats()
    assert framework.compress(component, items, ASKED) == await framework.acompress(component, items, ASKED) == first
    assert cache.stats()[:2] == (hits + 2, misses)
