"""The research cache: a question like an earlier one shares its context; all other questions are searched for."""

import stat
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcompress.apps.research import Research, ResearchCache, question_similarity
from ctxcompress.cache import Cache, SqliteStore
from ctxcompress.encoders import StaticVectors
from ctxcompress.errors import ConfigError, InputError

ASKED, AGAIN, OTHER = "How do I reset my password?", "How can I reset my password?", "Where are the logs?"


def on_disk(path):
    return Cache(SqliteStore(path), max_bytes=0)


def test_a_question_in_other_words_gets_the_earlier_context_and_is_told_so():
    cache = ResearchCache()
    assert cache.context(ASKED, str.upper) == Research(ASKED.upper())
    assert cache.context(AGAIN, str.upper) == Research(ASKED.upper(), ASKED, 1.0)
    assert cache.context(OTHER, str.upper) == Research(OTHER.upper())


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("How do I configure retries?", "how to configure a retry", 1.0),
        ("Hi! Where are the logs? Thanks!", "where are the logs", 1.0),
        ("Wann wurde das Haus gebaut?", "Wo wurde das Haus gebaut?", 1.0),
        ("What is the capital of France?", "What is the capital of Spain?", 1 / 3),
        ("AI agents", "AI agent frameworks", 2 / 3),
        ("默认超时是多少?", "默认超时是多少", 1.0),
        ("solar power", "wind", 0.0),
        ("", "", 1.0),
        ("🎉", "🔥", 0.0),
        ("What is the price before tax?", "What is the price after tax?", 1.0),  # a limit that the how-to names
    ],
)
def test_similarity_is_the_share_of_common_keywords(one, other, expected):
    assert question_similarity(one, other) == pytest.approx(expected)


@given(st.text(max_size=60), st.text(max_size=60))
def test_similarity_is_symmetric(one, other):
    assert 0.0 <= question_similarity(one, other) == question_similarity(other, one) <= 1.0
    assert question_similarity(one, one) == 1.0


@given(st.lists(st.sampled_from("Oslo Rome Bern Riga Kyiv Baku Lima Doha".split()), max_size=30), st.integers(1, 5))
def test_the_least_recently_used_are_forgotten_first(places, limit):
    cache, expected = ResearchCache(max_entries=limit), list[str]()
    for place in places:
        is_reused = cache.context(f"weather in {place}", str).earlier is not None
        assert is_reused == (place in expected)
        expected = [*(other for other in expected if other != place), place][-limit:]


def test_an_encoder_compares_by_the_cosine():
    cache = ResearchCache(StaticVectors(), threshold=0.8)
    cache.context("How tall is Mount Everest?", str.upper)
    found = cache.context("How high is Mount Everest?", str.upper)
    assert found.earlier
    assert 0.8 <= found.similarity < 1.0
    cache.context("默认超时是多少?", str.upper)
    assert cache.context("默认超时是多少?", str.upper).similarity == 1.0  # the encoder knows none of its words


def test_scopes_do_not_mix():
    store = Cache()
    ResearchCache(store=store, scope="ada").context(ASKED, str.upper)
    assert ResearchCache(store=store, scope="bob").context(ASKED, str.upper).earlier is None
    assert ResearchCache(store=store, scope="ada").context(AGAIN, str.upper).earlier == ASKED


@pytest.mark.parametrize("empty", ["", [], None])
def test_an_empty_context_is_not_stored(empty):
    cache = ResearchCache()
    cache.context(ASKED, lambda _: empty)
    assert cache.context(ASKED, lambda _: empty).earlier is None


def test_contexts_are_not_shared_with_the_caller():
    cache, context = ResearchCache(), ["a"]
    cache.context(ASKED, lambda _: context)
    context.append("b")
    found = cache.context(AGAIN, lambda _: [])
    assert found.context == ["a"]
    found.context.append("c")
    assert cache.context(AGAIN, lambda _: []).context == ["a"]


def test_a_file_is_the_owners_outlives_the_cache_and_is_empty_once_it_is_damaged(tmp_path):
    path = tmp_path / "research.sqlite"
    for expected in (None, ASKED):
        store = on_disk(path)
        assert ResearchCache(store=store).context(ASKED, str.upper).earlier == expected
        store.store.close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.write_bytes(bytes(5_000))
    assert ResearchCache(store=on_disk(path)).context(ASKED, str.upper).earlier is None


@pytest.mark.parametrize("context", [{1, 2}, (1, 2), {1: 2}, float("nan"), "\ud800"])
def test_a_file_gives_back_what_was_stored_or_nothing(tmp_path, context):
    store = on_disk(tmp_path / "research.sqlite")
    ResearchCache(store=store).context(ASKED, lambda _: context)
    found = ResearchCache(store=store).context(ASKED, lambda _: context)
    assert (found.earlier == ASKED) == (context == "\ud800")
    assert found.context is context or found.context == context


async def test_coroutines_are_awaited():
    async def search(question: str) -> str:
        return question

    cache = ResearchCache()
    assert await cache.acontext(ASKED, search) == Research(ASKED)
    assert await cache.acontext(AGAIN, search) == Research(ASKED, ASKED, 1.0)


def test_threads_share_a_cache():
    cache, questions = ResearchCache(), [f"what happened in the year {year}?" for year in range(1900, 1930)]
    with ThreadPoolExecutor(8) as threads:
        found = [*threads.map(lambda question: cache.context(question, str), questions * 2)]
    assert [research.context for research in found] == questions * 2


@pytest.mark.parametrize(
    "wrong",
    [{"encoder": "static"}, {"threshold": 1.1}, {"threshold": True}, {"max_entries": 0}, {"store": {}}],
)
def test_wrong_arguments_are_refused(wrong):
    (name,) = wrong
    with pytest.raises(ConfigError, match=f"{name} is .*; give"):
        ResearchCache(**wrong)
    with pytest.raises(InputError, match="the question is a NoneType"):
        ResearchCache().context(None, str.upper)
