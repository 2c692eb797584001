"""The research cache: questions that ask the same share a context; all other questions are searched for."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from question_pairs import DIFFERENT, NEW_DIFFERENT, NEW_SAME, SAME, pairs

from ctxcompress import compress
from ctxcompress.cache import DiskCache, MemoryCache
from ctxcompress.encoders import StaticVectors
from ctxcompress.errors import ConfigError, InputError
from ctxcompress.research import ContextCodec, Research, ResearchCache

ENCODER = StaticVectors()
ASKED, AGAIN = "How do I reset my password?", "How can I reset my password?"


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


class Search:
    """A search that counts its calls."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, question: str) -> str:
        self.asked.append(question)
        return f"context of {question}"

    async def later(self, question: str) -> str:
        await asyncio.sleep(0)
        return self(question)


class Letters:
    """An encoder that counts letters."""

    def encode_query(self, text):
        return np.array([float(text.lower().count(letter)) for letter in "abcdefghijklmnopqrstuvwxyz"])

    def encode_document(self, texts):
        return np.array([self.encode_query(text) for text in texts])


class LettersLater(Letters):
    awaited = 0

    async def aencode_query(self, text):
        type(self).awaited += 1
        return self.encode_query(text)

    async def aencode_document(self, texts):
        return self.encode_document(texts)


@pytest.fixture
def search():
    return Search()


def cached(**given) -> ResearchCache:
    return ResearchCache(ENCODER, **{"clock": Clock(), **given})


def test_a_question_in_other_words_gets_the_earlier_context_and_is_told_so(search):
    clock = Clock()
    cache = cached(clock=clock, corpus_version="v1")
    first = cache.context(ASKED, search)
    clock.now += 90
    again = cache.context(AGAIN, search)
    assert first == Research(f"context of {ASKED}", ASKED, corpus_version="v1")
    assert (again.context, again.question, again.earlier, again.age) == (first.context, AGAIN, ASKED, 90.0)
    assert 0.85 <= again.similarity < 1
    assert (first.is_reused, again.is_reused) == (False, True)
    assert search.asked == [ASKED]
    assert cache.stats() == (1, 1, 1)


@pytest.mark.parametrize(
    "polite", [f"Hi! {ASKED}", f"{ASKED} Thanks a lot!", f"Hello there! {ASKED} Thank you in advance."]
)
def test_greetings_and_thanks_are_no_other_question(polite, search):
    for one, other in ((ASKED, polite), (polite, ASKED)):
        cache = cached()
        cache.context(one, search)
        again = cache.context(other, search)
        assert (again.is_reused, again.earlier, again.similarity) == (True, one, 1.0)


def test_what_a_question_is_about_stays_a_part_of_it(search):
    cache = cached(threshold=0.01)
    cache.context(ASKED, search)
    assert not cache.context(f"Hi! I use Postgres 15. {ASKED}", search).is_reused


def test_reuse_is_logged(search, caplog):
    cache = cached()
    cache.context(ASKED, search)
    with caplog.at_level("INFO", logger="ctxcompress"):
        cache.context(AGAIN, search)
    assert "context of an earlier question is reused" in caplog.text
    assert "password" not in caplog.text


@pytest.mark.parametrize(("one", "other"), [*pairs(DIFFERENT), *pairs(NEW_DIFFERENT)])
def test_a_question_that_asks_something_else_is_searched_for(one, other, search):
    cache = cached(threshold=0.01)
    cache.context(one, search)
    assert not cache.context(other, search).is_reused
    assert search.asked == [one, other]


def test_the_threshold_finds_most_paraphrases():
    found = 0
    listed = [*pairs(SAME), *pairs(NEW_SAME)]
    for one, other in listed:
        cache = cached()
        cache.context(one, str)
        found += cache.context(other, str).is_reused
    assert found > 0.6 * len(listed)


def test_a_context_is_too_old_after_max_age(search):
    clock = Clock()
    cache = cached(clock=clock, max_age=60)
    cache.context(ASKED, search)
    clock.now += 60
    assert cache.context(AGAIN, search).age == 60
    clock.now += 0.1
    assert not cache.context(AGAIN, search).is_reused
    assert cache.stats().entries == 1


def test_another_version_of_the_corpus_has_other_contexts(search):
    version = ["a"]
    cache = cached(corpus_version=lambda: version[0])
    cache.context(ASKED, search)
    version[0] = "b"
    assert not cache.context(ASKED, search).is_reused
    version[0] = "a"
    assert cache.context(AGAIN, search).is_reused


def test_scopes_do_not_mix(search):
    store = MemoryCache()
    cached(store=store, scope="ada").context(ASKED, search)
    assert not cached(store=store, scope="bob").context(ASKED, search).is_reused
    assert cached(store=store, scope="ada").context(ASKED, search).is_reused


def test_the_oldest_are_forgotten_first_and_the_rest_on_clear(search):
    cache = cached(max_entries=2)
    for question in ("who owns the billing service?", "where are the logs?", "why did the build fail?"):
        cache.context(question, search)
    assert not cache.context("who owns the billing service?", search).is_reused
    assert cache.context("why did the build fail?", search).is_reused
    cache.clear()
    assert cache.stats().entries == 0
    assert not cache.context("why did the build fail?", search).is_reused


@pytest.mark.parametrize("empty", ["", [], None])
def test_an_empty_context_is_not_stored(empty):
    cache = cached()
    cache.context(ASKED, lambda _: empty)
    assert not cache.context(ASKED, lambda _: empty).is_reused


def test_an_error_of_the_search_is_raised_and_nothing_is_stored(search):
    cache = cached()
    with pytest.raises(OSError, match="down"):
        cache.context(ASKED, lambda _: (_ for _ in ()).throw(OSError("down")))
    assert not cache.context(ASKED, search).is_reused


def test_a_compression_is_kept_in_memory():
    cache = cached()
    result = cache.context(ASKED, lambda question: compress(question, ["Press reset to set a password."]))
    assert cache.context(AGAIN, lambda question: compress(question, [])).context == result.context


def test_a_file_is_shared_and_outlives_the_cache(tmp_path, search):
    store = DiskCache(tmp_path / "research.sqlite")
    cached(store=store).context(ASKED, search)
    store.close()
    again = cached(store=DiskCache(tmp_path / "research.sqlite")).context(AGAIN, search)
    assert (again.earlier, again.context) == (ASKED, f"context of {ASKED}")


def test_what_json_does_not_have_needs_a_codec_for_a_file(tmp_path):
    class Sets(ContextCodec[set]):
        def to_json(self, context):
            return sorted(context)

        def from_json(self, data):
            return set(data)

    store = DiskCache(tmp_path / "research.sqlite")
    cached(store=store).context(ASKED, lambda _: {1, 2})
    assert not cached(store=store).context(ASKED, lambda _: {1, 2}).is_reused
    cached(store=store).context(ASKED, lambda _: {1, 2}, codec=Sets())
    assert cached(store=store).context(AGAIN, lambda _: {3}, codec=Sets()).context == {1, 2}


def test_a_context_that_cannot_be_read_is_searched_for_again(tmp_path, search, caplog):
    class Broken(ContextCodec[str]):
        def from_json(self, data):
            raise KeyError("text")

    cache = cached()
    cache.context(ASKED, search)
    assert not cache.context(ASKED, search, codec=Broken()).is_reused
    assert "cannot be read" in caplog.text


def test_contexts_are_not_shared_with_the_caller():
    cache = cached()
    given = ["a"]
    cache.context(ASKED, lambda _: given)
    given.append("b")
    found = cache.context(AGAIN, lambda _: [])
    assert found.context == ["a"]
    found.context.append("c")
    assert cache.context(AGAIN, lambda _: []).context == ["a"]


async def test_coroutines_are_awaited(search):
    cache = cached()
    assert not (await cache.acontext(ASKED, search.later)).is_reused
    assert (await cache.acontext(AGAIN, search.later)).earlier == ASKED
    assert cache.context(AGAIN, search).is_reused


async def test_an_async_encoder_is_awaited(search):
    cache = ResearchCache(LettersLater(), threshold=0.9)
    await cache.acontext(ASKED, search.later)
    assert (await cache.acontext(AGAIN, search.later)).is_reused
    assert LettersLater.awaited == 2


def test_threads_share_a_cache():
    cache, asked, lock = cached(), [], threading.Lock()

    def search(question: str) -> str:
        with lock:
            asked.append(question)
        return question

    questions = [f"what happened in the year {year}?" for year in range(1900, 1930)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda question: cache.context(question, search), questions))
        found = list(threads.map(lambda question: cache.context(question, search), questions))
    assert [research.context for research in found] == questions
    assert len(asked) == len(questions)


def test_words_that_the_encoder_does_not_know_are_found_again(search):
    cache = cached()
    cache.context("默认超时是多少?", search)
    assert cache.context("默认超时是多少?", search).similarity == 1.0


def test_another_encoder_needs_a_threshold_of_its_own(search):
    with pytest.raises(ConfigError, match="threshold is None with Letters; only StaticVectors has a measured one"):
        ResearchCache(Letters())
    cache = ResearchCache(Letters(), threshold=0.9)
    cache.context(ASKED, search)
    assert cache.context(AGAIN, search).is_reused


@pytest.mark.parametrize(
    "wrong",
    [
        {"threshold": 0},
        {"threshold": 1.1},
        {"threshold": True},
        {"max_age": 0},
        {"max_age": "1"},
        {"max_entries": 0},
        {"store": {}},
    ],
)
def test_wrong_arguments_are_refused(wrong):
    with pytest.raises(ConfigError, match="give"):
        cached(**wrong)


def test_a_wrong_encoder_or_question_is_refused(search):
    with pytest.raises(ConfigError, match="encoder is a str"):
        ResearchCache("static")
    with pytest.raises(InputError, match="the question is a NoneType"):
        cached().context(None, search)
