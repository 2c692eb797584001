"""What holds of every cache: what is put can be had, damage is noticed, and no store holds a compression up."""

import logging
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from caches import EXPECTED, MAKERS, PLAIN, compressed_with, warnings
from hypothesis import given
from hypothesis import strategies as st

from ctxcompress import CompressionConfig
from ctxcompress.cache import Cache, CacheStats, SqliteStore
from ctxcompress.cache import cache as module
from ctxcompress.cache.cache import Allowance, seal, unseal
from ctxcompress.errors import ConfigError


class Clock:
    """Tells the time that a test says it is."""

    now = 1_000_000.0

    def __call__(self):
        return self.now


class Slow(dict):
    """A store of which every answer takes some of the clock's seconds."""

    never_hangs = True

    def __init__(self, clock, seconds=0.0):
        super().__init__()
        self.clock, self.seconds, self.error, self.asked = clock, seconds, None, 0

    def get(self, key, default=None):
        self.asked += 1
        self.clock.now += self.seconds
        if self.error:
            raise self.error
        return super().get(key, default)


@pytest.fixture(params=MAKERS)
def cache(request, tmp_path):
    return MAKERS[request.param](tmp_path)


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(module, "monotonic", clock)
    return clock


def test_what_is_put_can_be_had_and_the_last_counts(cache):
    assert cache.get("one", PLAIN) is None
    cache.put("one", b"first", PLAIN)
    cache.put("two", b"", PLAIN)
    cache.put("one", b"second", PLAIN)
    assert cache.get("one", PLAIN) == b"second"
    assert cache.get("two", PLAIN) == b""
    assert cache.get("three", PLAIN) is None


def test_threads_share_a_cache(cache):
    def work(thread):
        for number in range(60):
            key = str((thread + number) % 7)
            assert cache.get(key, PLAIN) in (None, key.encode() * 50)
            cache.put(key, key.encode() * 50, PLAIN)
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))
    stats = cache.stats()
    assert stats.hits + stats.misses == 8 * 60


def test_hits_misses_and_entries_are_counted_until_all_is_cleared(cache):
    assert cache.stats() == CacheStats(0, 0, 0, 0)
    cache.put("one", b"first", PLAIN)
    cache.put("two", b"second", PLAIN)
    for key in ("one", "two", "three", "one"):
        cache.get(key, PLAIN)
    assert cache.stats()[:3] == (3, 1, 2)
    assert cache.stats().bytes == (11 if cache.max_bytes else 0)
    cache.clear()
    assert cache.stats() == CacheStats(0, 0, 0, 0)
    assert cache.get("one", PLAIN) is None
    cache.put("one", b"again", PLAIN)
    assert cache.get("one", PLAIN) == b"again"


def test_stores_are_mappings(cache):
    store = {} if cache.store is None else cache.store
    assert dict(store) == {}
    store["b"], store["a"], store["b"] = b"1", b"2", b"3"
    assert (dict(store), len(store), "a" in store) == ({"a": b"2", "b": b"3"}, 2, True)
    del store["a"]
    assert list(store) == ["b"]
    for refused in (store.__getitem__, store.__delitem__):
        with pytest.raises(KeyError):
            refused("a")


# Memory


def test_memory_forgets_what_was_not_used_for_the_longest_time():
    cache = Cache(max_bytes=30)
    for key in "abc":
        cache.put(key, b"0123456789", PLAIN)
    assert cache.get("a", PLAIN)
    cache.put("d", b"0123456789", PLAIN)
    assert [cache.get(key, PLAIN) is not None for key in "abcd"] == [True, False, True, True]
    cache.put("e", bytes(31), PLAIN)
    assert cache.get("e", PLAIN) is None
    assert cache.stats().entries == 3


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 40))))
def test_memory_never_holds_more_than_it_may(puts):
    cache = Cache(max_bytes=50 if puts else 20)
    for key, size in puts:
        cache.put(key, bytes(size), PLAIN)
        assert sum(len(cache.get(key, PLAIN) or b"") for key in "abcdef") == cache.stats().bytes <= 50
        assert cache.get(key, PLAIN) == bytes(size)


# Age


@pytest.mark.parametrize("options", [{}, {"store": {}}, {"store": {}, "max_bytes": 0}], ids=str)
def test_what_is_older_than_its_time_to_live_is_not_there_and_reading_makes_nothing_younger(options):
    clock = Clock()
    cache = Cache(**options, ttl=60, clock=clock)
    cache.put("one", b"first", PLAIN)
    for _ in range(3):
        clock.now += 20
        assert cache.get("one", PLAIN) == b"first"
    clock.now += 1
    assert cache.get("one", PLAIN) is None
    cache.put("one", b"second", PLAIN)
    assert cache.get("one", PLAIN) == b"second"


# Damage


@given(st.binary(min_size=8), st.data())
def test_whatever_is_changed_is_noticed(data, draw):
    whole = seal("key", data)
    assert unseal("key", whole) == data
    place = draw.draw(st.integers(0, len(whole) - 1))
    changed = whole[:place] + bytes([whole[place] ^ draw.draw(st.integers(1, 255))]) + whole[place + 1 :]
    for key, wrong in (("key", changed), ("key", whole[:place]), ("other", whole), ("key", None), ("key", "text")):
        with pytest.raises(ValueError, match=r"checksum|begin"):
            unseal(key, wrong)


@pytest.mark.parametrize("damage", [b"", b"x", "text", 7, {}, seal("one", b""), seal("two", bytes(20))], ids=repr)
def test_a_damaged_or_foreign_entry_counts_as_missing_and_is_replaced(damage, caplog):
    store = {"one": damage}
    cache = Cache(store)
    with caplog.at_level(logging.WARNING, "ctxcompress"):
        assert cache.get("one", PLAIN) is None
    assert "an entry of dict is damaged" in caplog.text
    cache.put("one", b"again", PLAIN)
    assert Cache(store).get("one", PLAIN) == b"again"


# Stores that fail


@pytest.mark.parametrize("error", [OSError("user:password@host"), RecursionError(), MemoryError()])
def test_a_store_that_fails_is_not_asked_for_a_minute(clock, caplog, error):
    store = Slow(clock)
    cache = Cache(store, max_bytes=0)
    store.error = error
    with caplog.at_level(logging.WARNING, "ctxcompress"):
        for seconds in (0, 0, 59, 2):
            clock.now += seconds
            assert cache.get("one", PLAIN) is None
    assert store.asked == 2
    warning, _ = warnings(caplog)
    assert warning.startswith(f"the cache in Slow cannot be used ({type(error).__name__}); continuing without it, and")
    clock.now += 61
    store.error = None
    cache.put("one", b"first", PLAIN)
    assert cache.get("one", PLAIN) == b"first"


def test_a_slow_store_is_asked_for_a_second_in_one_compression(clock, caplog):
    store, allowance = Slow(clock, 0.3), Allowance()
    cache = Cache(store, max_bytes=0)
    cache.put("one", b"first", PLAIN)
    found = [cache.get("one", PLAIN, allowance) for _ in range(50)]
    assert found == [b"first"] * 4 + [None] * 46  # the last answer is used, though it came late
    assert len(warnings(caplog)) == 1
    clock.now += 61
    assert cache.get("one", PLAIN) == b"first"


def test_a_store_that_hangs_is_given_up_after_a_second_and_not_asked_while_it_hangs(monkeypatch, caplog):
    monkeypatch.setattr(module, "_SECONDS", 0.05)
    monkeypatch.setattr(module, "_PAUSE", 0.0)
    over, begun = Event(), []

    class Hanging(dict):
        def get(self, key, default=None):
            begun.append(key)
            over.wait()
            return super().get(key, default)

    cache = Cache(Hanging(), max_bytes=0)
    assert compressed_with(cache) == EXPECTED
    assert compressed_with(cache) == EXPECTED
    assert len(begun) == 1
    over.set()
    cache._late.result(10)
    cache.put("one", b"first", PLAIN)
    assert cache.get("one", PLAIN) == b"first"
    assert warnings(caplog)[0].startswith("the cache in Hanging cannot be used (TimeoutError)")


# What is refused


@pytest.mark.parametrize("size", [0, -1, True, 1.5, "1", None])
def test_a_size_that_is_none_is_refused(size, tmp_path):
    for make in (Cache, lambda max_bytes: SqliteStore(tmp_path / "c", max_bytes=max_bytes)):
        with pytest.raises(ConfigError, match=r"max_bytes is .* at least 1"):
            make(max_bytes=size)


@pytest.mark.parametrize("ttl", [0, -1, True, "60", float("nan"), float("inf")])
def test_a_time_to_live_that_is_none_is_refused(ttl):
    with pytest.raises(ConfigError, match=r"ttl is .* a number of seconds above 0"):
        Cache(ttl=ttl)


@pytest.mark.parametrize("wrong", ["memory", 7, dict, Cache, object()])
def test_what_is_no_store_or_no_cache_is_refused(wrong):
    with pytest.raises(ConfigError, match=r"give a mutable mapping"):
        Cache(wrong)
    with pytest.raises(ConfigError, match=r"give one of ctxcompress.cache"):
        CompressionConfig(cache=wrong)


def test_no_store_is_imported_before_it_is_asked_for_and_pickle_never():
    code = (
        "import sys, ctxcompress.cache as c; a = {'qdrant_client', 'sqlite3', 'pickle'} & {*sys.modules}; "
        "c.SqliteStore; print(a, 'pickle' in sys.modules)"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        == "set() False\n"
    )
