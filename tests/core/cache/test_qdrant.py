"""Caches in a Qdrant collection, and servers that are not as they should be."""

import logging
import sys
from inspect import signature

import pytest
from caches import EXPECTED, PLAIN, compressed_with, warnings
from qdrant_client import QdrantClient
from servers import always, byte_by_byte, raw, serving

from ctxcompress.cache import Cache, QdrantStore
from ctxcompress.cache import cache as module
from ctxcompress.errors import ConfigError, MissingExtra


def cache_in(client, name="c", **options):
    return Cache(QdrantStore(client, collection=name, **options), max_bytes=0)


def client_of(server):
    # Releases before 1.13 do not ask the server for its version, and have no such argument.
    asks = {"check_compatibility": False} if "check_compatibility" in signature(QdrantClient).parameters else {}
    return QdrantClient(url=server.url, timeout=60, **asks)


def test_entries_can_be_in_a_collection_of_vectors_and_no_search_finds_them():
    from qdrant_client.models import Distance, PointStruct, VectorParams

    client = QdrantClient(":memory:")
    client.create_collection("mine", vectors_config={"text": VectorParams(size=2, distance=Distance.COSINE)})
    client.upsert("mine", [PointStruct(id=1, vector={"text": [1.0, 0.0]}, payload={"page": 1})])
    cache = cache_in(client, "mine")
    cache.put("one", b"first", PLAIN)
    assert cache.get("one", PLAIN) == b"first"
    assert [point.id for point in client.query_points("mine", query=[1.0, 0.0], using="text").points] == [1]
    cache.clear()
    assert client.count("mine").count == 1


def test_a_collection_holds_about_as_many_entries_as_it_may_and_the_oldest_go():
    cache = cache_in(QdrantClient(":memory:"), max_entries=40)
    for number in range(100):
        cache.put(str(number), b"value", PLAIN)
        assert cache.stats().entries <= 42
    assert [cache.get(str(number), PLAIN) for number in (0, 70, 99)] == [None, b"value", b"value"]


@pytest.mark.parametrize(
    "payload", [{}, {"ctxcompress_cache": 7}, {"ctxcompress_cache": "%"}, {"ctxcompress_cache": "YQ=="}]
)
def test_a_damaged_entry_counts_as_missing(payload, caplog):
    client = QdrantClient(":memory:")
    cache = cache_in(client)
    cache.put("one", b"first", PLAIN)
    [point], _ = client.scroll("c")
    client.overwrite_payload("c", payload=payload, points=[point.id])
    with caplog.at_level(logging.WARNING, "ctxcompress"):
        assert cache.get("one", PLAIN) is None
    assert "damaged" in caplog.text


# Servers


GARBAGE = {
    "byte by byte": byte_by_byte,
    "no HTTP": raw(bytes(range(256)) * 10),
    "nothing": raw(b""),
    "an error": always(b'{"status": {"error": "out of memory"}}', "500 Internal Server Error"),
    "no JSON": always(b"<html>Welcome!</html>"),
    "deep": always(b"[" * 100_000),
    "null": always(b"null"),
    "no result": always(b'{"result": null}'),
    "of another API": always(b'{"result": {"exists": true}, "status": "ok", "time": 0.1}'),
}


@pytest.mark.parametrize("answer", GARBAGE.values(), ids=GARBAGE)
def test_a_server_that_answers_something_else_is_asked_once(loopback, caplog, monkeypatch, answer):
    monkeypatch.setattr(module, "_SECONDS", 0.5)
    with serving(answer) as server, caplog.at_level(logging.WARNING, "ctxcompress"):
        cache = cache_in(client_of(server))
        assert cache.get("one", PLAIN) is None
        asked = len(server.requests)
        assert 1 <= asked <= 3
        assert compressed_with(cache) == EXPECTED
        assert len(server.requests) == asked
    assert len(warnings(caplog)) == 1


# What is refused


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "qdrant_client", None)
    with pytest.raises(MissingExtra, match=r"pip install 'ctxcompress\[qdrant\]'"):
        QdrantStore("http://localhost:6333", collection="c")


@pytest.mark.parametrize(
    ("client", "options"),
    [
        (7, {}),
        (None, {}),
        ("http://localhost:6333", {"collection": ""}),
        ("http://localhost:6333", {"collection": 7}),
        ("http://localhost:6333", {"max_entries": 0}),
        ("http://localhost:6333", {"max_entries": 1.5}),
    ],
)
def test_arguments_that_cannot_work_are_refused(client, options):
    with pytest.raises(ConfigError, match="give"):
        QdrantStore(client, **{"collection": "c", **options})
