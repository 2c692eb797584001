"""What holds of every cache: what is put can be had, what is damaged is not there."""

import copy
import importlib
import logging
import pickle
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from caches import MAKERS, PLAIN
from hypothesis import given
from hypothesis import strategies as st
from qdrant_client import QdrantClient

from ctxcompress import CompressionConfig, CtxCompressError
from ctxcompress.cache import Cache, DiskCache, LayeredCache, MemoryCache, QdrantCache
from ctxcompress.cache.stored import seal, unseal


@pytest.fixture(params=MAKERS)
def cache(request, tmp_path):
    return MAKERS[request.param](tmp_path)


def test_what_is_put_can_be_had_and_the_last_counts(cache):
    assert isinstance(cache, Cache)
    assert cache.get("one", PLAIN) is None
    cache.put("one", b"first", PLAIN)
    cache.put("two", b"", PLAIN)
    cache.put("one", b"second", PLAIN)
    assert cache.get("one", PLAIN) == b"second"
    assert cache.get("two", PLAIN) == b""
    assert cache.get("three", PLAIN) is None


@pytest.mark.parametrize("kind", ["disk", "layered"])
def test_a_file_outlives_the_object(tmp_path, kind):
    MAKERS[kind](tmp_path).put("one", b"first", PLAIN)
    assert MAKERS[kind](tmp_path).get("one", PLAIN) == b"first"


def test_a_collection_is_shared_by_those_who_name_it():
    client = QdrantClient(":memory:")
    QdrantCache(client, collection="here").put("one", b"first", PLAIN)
    assert QdrantCache(client, collection="here").get("one", PLAIN) == b"first"
    assert QdrantCache(client, collection="there").get("one", PLAIN) is None


def test_entries_can_be_in_a_collection_of_vectors_and_no_search_finds_them():
    from qdrant_client.models import Distance, PointStruct, VectorParams

    client = QdrantClient(":memory:")
    client.create_collection("mine", vectors_config={"text": VectorParams(size=2, distance=Distance.COSINE)})
    client.upsert("mine", [PointStruct(id=1, vector={"text": [1.0, 0.0]}, payload={"page": 1})])
    cache = QdrantCache(client, collection="mine")
    cache.put("one", b"first", PLAIN)
    assert cache.get("one", PLAIN) == b"first"
    assert [point.id for point in client.query_points("mine", query=[1.0, 0.0], using="text").points] == [1]


def test_memory_finds_what_was_written_before_and_keeps_it(tmp_path):
    memory, disk = MemoryCache(), DiskCache(tmp_path / "c")
    disk.put("one", b"first", PLAIN)
    assert LayeredCache(memory, disk).get("one", PLAIN) == b"first"
    assert memory.get("one", PLAIN) == b"first"


def test_threads_share_a_cache(cache):
    def work(thread):
        for number in range(60):
            key = str((thread + number) % 7)
            found = cache.get(key, PLAIN)
            assert found in (None, key.encode() * 50)
            cache.put(key, key.encode() * 50, PLAIN)
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


# Bounds


def test_memory_forgets_what_was_not_used_for_the_longest_time():
    cache = MemoryCache(max_bytes=30)
    for key in "abc":
        cache.put(key, b"0123456789", PLAIN)
    assert cache.get("a", PLAIN)
    cache.put("d", b"0123456789", PLAIN)
    assert [cache.get(key, PLAIN) is not None for key in "abcd"] == [True, False, True, True]
    cache.put("e", bytes(31), PLAIN)
    assert cache.get("e", PLAIN) is None
    assert len(cache) == 3


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 40))))
def test_memory_never_holds_more_than_it_may(puts):
    cache = MemoryCache(max_bytes=50)
    for key, size in puts:
        cache.put(key, bytes(size), PLAIN)
        assert sum(len(cache.get(key, PLAIN) or b"") for key in "abcdef") <= 50
        assert (cache.get(key, PLAIN) is not None) == (size <= 50)


def test_a_file_never_holds_more_than_it_may(tmp_path):
    cache = DiskCache(tmp_path / "c", max_bytes=10_000)
    for number in range(300):
        cache.put(str(number % 90), bytes(100 + number), PLAIN)
        assert _sizes(cache.path)[0] == _sizes(cache.path)[1] <= 10_000
        assert cache.get(str(number % 90), PLAIN) == bytes(100 + number)
    cache.put("large", bytes(10_001), PLAIN)
    assert cache.get("large", PLAIN) is None
    assert cache.path.stat().st_size < 100_000


def _sizes(path):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT (SELECT bytes FROM room), sum(length(data)) FROM entries").fetchone()


# Damage


@given(st.binary(), st.data())
def test_whatever_is_changed_is_noticed(data, draw):
    whole = seal("key", data)
    assert unseal("key", whole) == data
    place = draw.draw(st.integers(0, len(whole) - 1))
    changed = whole[:place] + bytes([whole[place] ^ draw.draw(st.integers(1, 255))]) + whole[place + 1 :]
    for key, wrong in (("key", changed), ("key", whole[:place]), ("other", whole), ("key", None), ("key", "text")):
        with pytest.raises(ValueError, match=r"checksum|begin"):
            unseal(key, wrong)


def test_a_damaged_entry_of_a_file_is_not_there_and_says_so(tmp_path, caplog):
    cache = DiskCache(tmp_path / "c")
    cache.put("one", b"first", PLAIN)
    with closing(sqlite3.connect(cache.path)) as connection, connection:
        connection.execute("UPDATE entries SET data = substr(data, 1, length(data) - 1)")
    with caplog.at_level(logging.WARNING, "ctxcompress"):
        assert cache.get("one", PLAIN) is None
    assert "damaged" in caplog.text
    cache.put("one", b"again", PLAIN)
    assert cache.get("one", PLAIN) == b"again"


@pytest.mark.parametrize(
    "payload", [{}, {"ctxcompress_cache": 7}, {"ctxcompress_cache": "%"}, {"ctxcompress_cache": "YQ=="}]
)
def test_a_damaged_entry_of_a_collection_is_not_there_and_says_so(payload, caplog):
    client = QdrantClient(":memory:")
    cache = QdrantCache(client, collection="c")
    cache.put("one", b"first", PLAIN)
    [point], _ = client.scroll("c")
    client.overwrite_payload("c", payload=payload, points=[point.id])
    with caplog.at_level(logging.WARNING, "ctxcompress"):
        assert cache.get("one", PLAIN) is None
    assert "damaged" in caplog.text


def test_a_file_that_is_ruined_while_it_is_open_is_one_that_knows_nothing(tmp_path, caplog):
    cache = DiskCache(tmp_path / "c")
    for number in range(100):
        cache.put(str(number), bytes(1000), PLAIN)
    cache.close()
    whole = cache.path.read_bytes()
    cache.path.write_bytes(whole[:5000] + bytes(len(whole) - 5000))
    with caplog.at_level(logging.WARNING, "ctxcompress"):
        for number in range(100):
            assert cache.get(str(number), PLAIN) in (None, bytes(1000))
            cache.put(str(number), b"new", PLAIN)
    assert caplog.records


def test_a_collection_that_has_gone_is_one_that_knows_nothing(caplog):
    client = QdrantClient(":memory:")
    cache = QdrantCache(client, collection="c")
    cache.put("one", b"first", PLAIN)
    client.delete_collection("c")
    with caplog.at_level(logging.WARNING, "ctxcompress"):
        assert cache.get("one", PLAIN) is None
        cache.put("one", b"first", PLAIN)
    assert "continuing without" in caplog.text


# What is refused


@pytest.mark.parametrize("size", [0, -1, True, 1.5, "1", None])
def test_a_size_that_is_none_is_refused(size, tmp_path):
    for make in (MemoryCache, lambda max_bytes: DiskCache(tmp_path / "c", max_bytes=max_bytes)):
        with pytest.raises(CtxCompressError, match=r"max_bytes is .* at least 1"):
            make(max_bytes=size)


def test_a_file_of_something_else_is_refused_and_left_alone(tmp_path):
    text, other = tmp_path / "notes.txt", tmp_path / "other.sqlite"
    text.write_text("These are my notes. " * 100)
    with closing(sqlite3.connect(other)) as connection, connection:
        connection.execute("CREATE TABLE mine (x)")
    for path in (text, other, tmp_path, tmp_path / "missing" / "c"):
        before = path.read_bytes() if path.is_file() else None
        with pytest.raises(CtxCompressError, match="give the path of another file"):
            DiskCache(path)
        assert before is None or path.read_bytes() == before


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "qdrant_client", None)
    with pytest.raises(ImportError, match=r"pip install 'ctxcompress\[qdrant\]'"):
        QdrantCache("http://localhost:6333", collection="c")


@pytest.mark.parametrize(
    ("client", "name"), [(7, "c"), (None, "c"), ("http://localhost:6333", ""), ("http://localhost:6333", 7)]
)
def test_a_client_or_a_collection_that_is_none_is_refused(client, name):
    with pytest.raises(CtxCompressError, match="give"):
        QdrantCache(client, collection=name)


@pytest.mark.parametrize("wrong", ["memory", 7, MemoryCache, object()])
def test_what_is_no_cache_is_refused(wrong):
    with pytest.raises(CtxCompressError, match=r"give one of ctxcompress.cache"):
        CompressionConfig(cache=wrong)


def test_qdrant_is_not_imported_before_it_is_asked_for():
    code = "import sys, ctxcompress.cache; print('qdrant_client' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


@pytest.mark.parametrize("clone", [copy.copy, copy.deepcopy, lambda cache: pickle.loads(pickle.dumps(cache))])
def test_a_copy_of_a_cache_works(clone, tmp_path):
    memory = clone(MemoryCache(max_bytes=7))
    assert memory.max_bytes == 7
    disk = DiskCache(tmp_path / "c", max_bytes=1000)
    disk.put("one", b"first", PLAIN)
    assert clone(disk).get("one", PLAIN) == b"first"
    assert clone(disk).max_bytes == 1000
    assert clone(LayeredCache(memory, disk)).get("one", PLAIN) == b"first"


def test_modules_of_caches_have_no_pickle():
    for name in ("memory", "disk", "qdrant", "stored"):
        module = importlib.import_module(f"ctxcompress.cache.{name}")
        assert not hasattr(module, "pickle"), name
