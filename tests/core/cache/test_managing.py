"""Caches can be limited in age, cleared, made to forget a document, and asked what they hold."""

import copy
import gc
import sqlite3
from contextlib import closing

import pytest
from caches import PLAIN, QUESTIONS, Plain, passages
from hypothesis import given
from hypothesis import strategies as st
from qdrant_client import QdrantClient

from ctxcompress import CompressionConfig, Compressor, CtxCompressError
from ctxcompress.cache import CacheStats, DiskCache, LayeredCache, MemoryCache, QdrantCache
from ctxcompress.cache.protocol import document_number
from ctxcompress.errors import CacheUnavailable, ConfigError


class Clock:
    """Tells the time that a test says it is."""

    def __init__(self):
        self.now = 1_000_000.0

    def __call__(self):
        return self.now


MAKERS = {
    "memory": lambda folder, **options: MemoryCache(**options),
    "disk": lambda folder, **options: DiskCache(folder / "cache.sqlite", **options),
    "qdrant": lambda folder, **options: QdrantCache(QdrantClient(":memory:"), collection="remembered", **options),
    "layered": lambda folder, **options: LayeredCache(MemoryCache(), DiskCache(folder / "layered.sqlite"), **options),
}
SECRET = b"the launch code is 0451"


@pytest.fixture(params=MAKERS)
def make(request, tmp_path):
    return lambda **options: MAKERS[request.param](tmp_path, **options)


@pytest.fixture
def cache(make):
    return make()


@pytest.fixture
def clock():
    return Clock()


def keep(cache, key, value, *names, made=None):
    cache.keep(key, value, PLAIN, documents=frozenset(map(document_number, names)), made=made)


# Age


def test_what_is_older_than_its_time_to_live_is_not_there(make, clock):
    cache = make(ttl=60, clock=clock)
    cache.put("one", b"first", PLAIN)
    clock.now += 60
    assert cache.get("one", PLAIN) == b"first"
    clock.now += 1
    assert cache.get("one", PLAIN) is None
    cache.put("one", b"second", PLAIN)
    assert cache.get("one", PLAIN) == b"second"


def test_reading_makes_nothing_younger(make, clock):
    cache = make(ttl=60, clock=clock)
    cache.put("one", b"first", PLAIN)
    for _ in range(3):
        clock.now += 20
        assert cache.get("one", PLAIN) == b"first"
    clock.now += 1
    assert cache.get("one", PLAIN) is None


def test_without_a_limit_nothing_is_too_old(make, clock):
    cache = make(clock=clock)
    cache.put("one", b"first", PLAIN)
    clock.now += 1e9
    assert cache.get("one", PLAIN) == b"first"


def test_what_moves_into_memory_is_as_old_there(tmp_path, clock):
    memory, disk = MemoryCache(ttl=60, clock=clock), DiskCache(tmp_path / "c", clock=clock)
    disk.put("one", b"first", PLAIN)
    clock.now += 50
    assert LayeredCache(memory, disk).get("one", PLAIN) == b"first"
    assert memory.get("one", PLAIN) == b"first"
    clock.now += 20
    assert memory.get("one", PLAIN) is None


def test_old_entries_that_nobody_asks_for_are_deleted(tmp_path, clock):
    caches = [
        MemoryCache(ttl=60, clock=clock),
        DiskCache(tmp_path / "c", ttl=60, clock=clock),
        QdrantCache(QdrantClient(":memory:"), collection="c", max_entries=20, ttl=60, clock=clock),
    ]
    for cache in caches:
        cache.put("old", b"first", PLAIN)
    clock.now += 100
    for cache in caches:
        cache.put("new", b"second", PLAIN)
        assert cache.stats().entries == 1, cache


@pytest.mark.parametrize("ttl", [0, -1, True, "60", float("nan"), float("inf")])
def test_a_time_to_live_that_is_none_is_refused(make, ttl):
    with pytest.raises(ConfigError, match=r"ttl is .* a number of seconds above 0"):
        make(ttl=ttl)


def test_a_copy_has_the_same_limits(make, clock):
    cache = make(ttl=60, clock=clock)
    if isinstance(cache, LayeredCache):
        return  # which has no state of its own
    assert copy.copy(cache).ttl == 60
    assert copy.copy(cache)._clock is clock


# Documents


def test_a_document_is_forgotten(cache):
    keep(cache, "a", b"1", "one")
    keep(cache, "b", b"2", "one", "two")
    keep(cache, "c", b"3", "two")
    keep(cache, "d", b"4")
    layers = 2 if isinstance(cache, LayeredCache) else 1
    assert cache.forget("one") == 2 * layers
    assert [cache.get(key, PLAIN) for key in "abcd"] == [None, None, b"3", b"4"]
    assert cache.forget("one") == 0
    assert cache.forget("two") == layers


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.frozensets(st.sampled_from("xyz")), st.booleans()), max_size=30))
def test_whatever_is_put_and_forgotten_the_index_of_documents_is_right(steps):
    cache = MemoryCache(max_bytes=450)  # some entries with their documents
    for key, names, forgets in steps:
        if forgets:
            for name in names:
                cache.forget(name)
                assert name not in _named(cache)
        else:
            keep(cache, key, bytes(10), *names)
        assert _indexed(cache) == _named(cache)


def _named(cache):
    return {(number, key) for key, (entry, _) in cache._entries.items() for number in entry.documents}


def _indexed(cache):
    return {(number, key) for number, found in cache._by_document.items() for key in found}


def test_a_replaced_entry_belongs_to_its_new_documents(cache):
    keep(cache, "a", b"1", "one")
    keep(cache, "a", b"2", "two")
    assert cache.forget("one") == 0
    assert cache.get("a", PLAIN) == b"2"


def test_many_entries_of_a_document_are_forgotten(tmp_path):
    cache = DiskCache(tmp_path / "c")
    for number in range(2_500):
        keep(cache, str(number), b"value", "one" if number % 2 else "two")
    assert cache.forget("one") == 1_250
    assert cache.stats().entries == 1_250
    with closing(sqlite3.connect(cache.path)) as connection:
        assert connection.execute("SELECT count(*) FROM origins").fetchone() == (1_250,)


@pytest.mark.parametrize("way", ["forget", "clear", "evict"])
def test_nothing_of_what_is_deleted_remains_in_the_file(tmp_path, way):
    cache = DiskCache(tmp_path / "c", max_bytes=100_000)
    keep(cache, "secret", SECRET * 100, "one")
    assert SECRET in b"".join(path.read_bytes() for path in tmp_path.iterdir())
    if way == "evict":
        for number in range(60):
            keep(cache, str(number), bytes(2_000), "two")
        cache.forget("one")
    elif way == "forget":
        assert cache.forget("one") == 1
    else:
        cache.clear()
    assert SECRET not in b"".join(path.read_bytes() for path in tmp_path.iterdir())


def test_only_the_id_of_a_document_is_accepted(cache):
    with pytest.raises(ConfigError, match="doc_id is a int; give the id"):
        cache.forget(7)


# Contents


def test_hits_misses_entries_and_bytes_are_counted(cache):
    is_layered = isinstance(cache, LayeredCache)
    assert cache.stats() == CacheStats(0, 0, 0, 0)
    cache.put("one", b"first", PLAIN)
    cache.put("two", b"second", PLAIN)
    for key in ("one", "two", "three", "one"):
        cache.get(key, PLAIN)
    found = cache.stats()
    assert (found.hits, found.misses, found.entries) == (3, 1, 4 if is_layered else 2)
    assert found.bytes >= 11
    cache.put("one", b"", PLAIN)
    assert cache.stats().bytes < found.bytes


def test_what_is_cleared_is_empty_and_works(cache):
    for number in range(20):
        keep(cache, str(number), bytes(100), "one")
    cache.get("1", PLAIN)
    cache.clear()
    assert cache.stats() == CacheStats(0, 0, 0, 0)
    assert cache.get("1", PLAIN) is None
    cache.put("1", b"again", PLAIN)
    assert cache.get("1", PLAIN) == b"again"


def test_a_file_that_is_cleared_is_small_and_has_no_damaged_one_beside_it(tmp_path):
    cache = DiskCache(tmp_path / "c")
    for number in range(30):
        cache.put(str(number), bytes(100_000), PLAIN)
    damaged = tmp_path / "c.damaged"
    damaged.write_bytes(SECRET)
    cache.clear()
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 200_000
    assert not damaged.exists()


def test_two_processes_may_have_a_file_open_while_one_clears_it(tmp_path):
    one, other = DiskCache(tmp_path / "c"), DiskCache(tmp_path / "c")
    keep(one, "a", b"1", "one")
    assert other.get("a", PLAIN) == b"1"
    other.clear()
    assert one.get("a", PLAIN) is None
    keep(one, "a", b"2", "one")
    assert other.forget("one") == 1
    assert one.get("a", PLAIN) is None


def test_a_cache_that_cannot_be_reached_says_so(tmp_path):
    client = QdrantClient(":memory:")
    qdrant = QdrantCache(client, collection="c")
    client.close()
    folder = tmp_path / "folder"
    folder.mkdir()
    disk = DiskCache(folder / "c")
    disk.close()
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    for cache in (qdrant, disk, LayeredCache(MemoryCache(), disk)):
        for manage in (cache.clear, cache.stats, lambda cache=cache: cache.forget("one")):
            with pytest.raises(CacheUnavailable, match="cannot be used"):
                manage()


class Custom(Plain):
    """The least that a cache can be."""

    def __init__(self):
        self.held = {}

    def get(self, key, codec, /):
        return self.held.get(key)

    def put(self, key, value, codec, /):
        self.held[key] = value


def test_a_cache_with_get_and_put_alone_works_and_cannot_be_managed():
    custom = Custom()
    for cache in (custom, LayeredCache(MemoryCache(), custom), LayeredCache(custom, MemoryCache())):
        found = [
            Compressor(CompressionConfig(max_tokens=60, cache=cache)).compress(QUESTIONS[0], passages())
            for _ in range(2)
        ]
        assert found[0] == found[1]
        assert found[1].cache.is_outcome
        if isinstance(cache, LayeredCache):
            with pytest.raises(CtxCompressError, match="the layers are"):
                cache.forget("one")


# Collections


def test_a_collection_holds_about_as_many_entries_as_it_may_and_the_oldest_go(clock):
    client = QdrantClient(":memory:")
    client.create_collection("c", vectors_config={})
    from qdrant_client.models import PointStruct

    client.upsert("c", [PointStruct(id=number, vector={}, payload={"mine": True}) for number in range(50)])
    cache = QdrantCache(client, collection="c", max_entries=40, clock=clock)
    for number in range(100):
        clock.now += 1
        cache.put(str(number), b"value", PLAIN)
        assert cache.stats().entries <= 42
    assert cache.get("99", PLAIN) == b"value"
    assert cache.get("0", PLAIN) is None
    assert cache.get("70", PLAIN) == b"value"
    assert client.count("c").count == 50 + cache.stats().entries
    cache.clear()
    assert client.count("c").count == 50


def test_an_entry_says_when_it_was_written(clock):
    client = QdrantClient(":memory:")
    QdrantCache(client, collection="c", clock=clock).put("one", b"first", PLAIN)
    [point], _ = client.scroll("c")
    assert point.payload["ctxcompress_cache_time"] == clock.now


@pytest.mark.parametrize("number", [0, -1, True, 1.5, None])
def test_a_number_of_entries_that_is_none_is_refused(number):
    with pytest.raises(ConfigError, match=r"max_entries is .* at least 1"):
        QdrantCache(QdrantClient(":memory:"), collection="c", max_entries=number)


def test_memory_that_is_cleared_is_freed():
    class Value(bytes):
        pass

    cache = MemoryCache()
    cache.put("one", Value(b"first"), PLAIN)
    cache.clear()
    assert not [value for value in gc.get_objects() if isinstance(value, Value)]


def test_an_outcome_outlives_the_object_within_its_time(tmp_path):
    cache = DiskCache(tmp_path / "c", ttl=3600)
    config = CompressionConfig(max_tokens=60, cache=cache)
    first = Compressor(config).compress(QUESTIONS[0], passages())
    cache.close()
    again = DiskCache(tmp_path / "c", ttl=3600)
    assert Compressor(config.with_options(cache=again)).compress(QUESTIONS[0], passages()) == first
    assert again.stats().hits == 1
