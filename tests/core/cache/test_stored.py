"""A cache that does not answer holds no compression up for longer than it is allowed, and is left alone afterwards."""

import logging
import socket
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from inspect import signature
from threading import Barrier, Event

import pytest
from caches import PLAIN, QUESTIONS, passages
from pytest_socket import enable_socket, socket_allow_hosts
from qdrant_client import QdrantClient
from servers import always, byte_by_byte, raw, serving, silence

from ctxcompress import CompressionConfig, Compressor
from ctxcompress.cache import DiskCache, LayeredCache, MemoryCache, QdrantCache
from ctxcompress.cache.protocol import Allowance, Timely, timely
from ctxcompress.cache.qdrant import BoundedThreads
from ctxcompress.cache.stored import Guard, StoredCache


class Clock:
    """Tells the time that a test says it is."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


class Slow:
    """A cache, and a store, of which everything takes some of the clock's seconds."""

    def __init__(self, clock, seconds):
        self.clock, self.seconds, self.fails = clock, seconds, False
        self.asked, self.held = [], {}

    def _ask(self, key):
        self.asked.append(key)
        self.clock.now += self.seconds
        if self.fails:
            raise ConnectionError("no route")

    def get(self, key, codec, /):
        self._ask(key)
        return self.held.get(key)

    def put(self, key, value, codec, /):
        self._ask(key)
        self.held[key] = value

    def read(self, key, seconds, /):
        self._ask(key)
        return self.held.get(key)

    def write(self, key, data, documents, seconds, /):
        self._ask(key)
        self.held[key] = data


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def loopback():
    enable_socket()
    socket_allow_hosts(["127.0.0.1"])


def compress_with(cache, question=QUESTIONS[0]):
    return Compressor(CompressionConfig(max_tokens=60, cache=cache)).compress(question, passages())


EXPECTED = Compressor(CompressionConfig(max_tokens=60)).compress(QUESTIONS[0], passages())


def client_of(server):
    # Releases before 1.13 do not ask the server for its version, and have no such argument.
    asks = {"check_compatibility": False} if "check_compatibility" in signature(QdrantClient).parameters else {}
    return QdrantClient(url=server.url, timeout=60, **asks)


def warnings(caplog):
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


# Servers


def test_a_server_that_accepts_and_does_not_answer_is_asked_once(loopback, caplog):
    with serving(silence) as server, caplog.at_level(logging.WARNING, "ctxcompress"):
        cache = QdrantCache(client_of(server), collection="c")
        for _ in range(3):
            assert compress_with(cache) == EXPECTED
        assert len(server.requests) == 1
    [warning] = warnings(caplog)
    assert warning.startswith("the collection c cannot be used (it does not answer); continuing without")


GARBAGE = {
    "byte by byte": byte_by_byte,
    "no HTTP": raw(bytes(range(256)) * 10),
    "nothing": raw(b""),
    "an error": always(b'{"status": {"error": "out of memory"}}', "500 Internal Server Error"),
    "too many requests": raw(b"HTTP/1.1 429 No\r\nretry-after: soon\r\ncontent-length: 2\r\n\r\n{}"),
    "no JSON": always(b"<html>Welcome!</html>"),
    "no text": always(b"\xff\xfe\xfd"),
    "deep": always(b"[" * 100_000),
    "null": always(b"null"),
    "no result": always(b'{"result": null}'),
    "another result": always(b'{"result": {"exists": "no"}, "status": 7, "time": "now"}'),
    "a list": always(b'[{"result": true}]'),
    "true": always(b'{"result": true, "status": "ok", "time": 0.1}'),
    "of another API": always(b'{"result": {"exists": true}, "status": "ok", "time": 0.1}'),
}


@pytest.mark.parametrize("answer", GARBAGE.values(), ids=GARBAGE)
def test_a_server_that_answers_something_else_is_asked_once(loopback, caplog, answer):
    with serving(answer) as server, caplog.at_level(logging.WARNING, "ctxcompress"):
        cache = QdrantCache(client_of(server), collection="c")
        assert cache.within(Allowance(0.5)).get("one", PLAIN) is None
        asked = len(server.requests)
        assert 1 <= asked <= 3
        assert compress_with(cache) == EXPECTED
        assert len(server.requests) == asked
    assert len(warnings(caplog)) == 1


@pytest.mark.filterwarnings("ignore:Failed to obtain server version")
def test_a_server_that_refuses_is_left_alone(loopback, caplog):
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        port = listening.getsockname()[1]
    cache = QdrantCache(f"http://127.0.0.1:{port}", collection="c")
    with caplog.at_level(logging.WARNING, "ctxcompress"):
        for _ in range(3):
            assert compress_with(cache) == EXPECTED
    assert len(warnings(caplog)) == 1


def test_work_that_is_late_goes_on_alone_and_too_much_of_it_is_not_begun():
    threads, over, begun = BoundedThreads(), Event(), []

    def hang():
        begun.append(1)
        over.wait()

    for _ in range(20):
        with pytest.raises(TimeoutError):
            threads.run(hang, 0.01)
    assert len(begun) == 8
    over.set()
    while True:  # until they have ended
        try:
            assert threads.run(lambda: "done", 10) == "done"
        except TimeoutError:
            continue
        break
    with pytest.raises(LookupError):
        threads.run(lambda: {}["none"], 10)


# Files


def test_a_file_that_is_locked_is_not_waited_for_again(tmp_path, caplog):
    cache = DiskCache(tmp_path / "c")
    with closing(sqlite3.connect(cache.path)) as other, caplog.at_level(logging.WARNING, "ctxcompress"):
        other.execute("BEGIN IMMEDIATE")
        view = cache.within(Allowance(0.1))
        for number in range(1000):
            view.put(str(number), b"value", PLAIN)
        for number in range(1000):
            cache.put(str(number), b"value", PLAIN)
        other.rollback()
    assert warnings(caplog) == [
        "the cache c cannot be used (database is locked); continuing without it, and trying again later"
    ]


def test_reading_waits_for_nobody_who_writes(tmp_path, caplog):
    cache = DiskCache(tmp_path / "c")
    cache.put("one", b"first", PLAIN)
    with closing(sqlite3.connect(cache.path)) as other, caplog.at_level(logging.WARNING, "ctxcompress"):
        other.execute("UPDATE entries SET used = 0")  # so that reading would note its use
        other.commit()
        other.execute("BEGIN IMMEDIATE")
        assert cache.get("one", PLAIN) == b"first"
    assert warnings(caplog) == []


# Allowances


class Watched:
    """A cache that is asked by way of what it gives for one compression, and never itself."""

    get = put = MemoryCache.get

    def __init__(self):
        self.memory, self.allowances = MemoryCache(), []

    def within(self, allowance, /):
        self.allowances.append(allowance.left)
        return self.memory


def test_all_of_a_compression_has_one_allowance_of_two_seconds():
    watched = Watched()
    assert compress_with(watched) == EXPECTED
    assert watched.allowances == [2]
    assert len(watched.memory) > 4
    assert compress_with(LayeredCache(MemoryCache(), watched)) == EXPECTED
    assert watched.allowances == [2, 2]


def test_a_cache_of_ones_own_is_not_asked_when_the_allowance_is_spent(clock):
    slow = Slow(clock, 0.3)
    assert not isinstance(slow, Timely)
    view = timely(slow, Allowance(2, clock=clock))
    for number in range(50):
        assert view.get(str(number), PLAIN) is None
        view.put(str(number), b"value", PLAIN)
    assert len(slow.asked) == 7
    assert view.get("0", PLAIN) is None
    assert timely(slow, Allowance(2, clock=clock)).get("0", PLAIN) == b"value"


def test_layers_have_one_allowance_together(clock):
    first, second = Slow(clock, 0.5), Slow(clock, 0.5)
    view = timely(LayeredCache(first, second), Allowance(2, clock=clock))
    for number in range(50):
        view.get(str(number), PLAIN)
    assert len(first.asked) + len(second.asked) == 4
    memory = LayeredCache(MemoryCache(), first)
    view = timely(memory, Allowance(0, clock=clock))
    view.put("one", b"first", PLAIN)
    assert view.get("one", PLAIN) == b"first"  # memory is not slow
    assert "one" not in first.held


# Being left alone


def test_a_store_that_takes_all_its_time_is_left_alone_for_longer_and_longer(clock, caplog):
    store = Slow(clock, 0.3)
    cache = StoredCache("the store", store, guard=Guard("the store", clock=clock))

    def asked(seconds_later):
        clock.now += seconds_later
        store.asked.clear()
        view = cache.within(Allowance(2, clock=clock))
        for number in range(50):
            view.get(str(number), PLAIN)
        return len(store.asked)

    with caplog.at_level(logging.INFO, "ctxcompress"):
        assert asked(0) == 7
        assert asked(0) == 0
        assert asked(29) == 0
        store.seconds = 3  # it does not even answer once in time
        assert asked(1) == 1
        assert asked(50) == 0
        assert asked(10) == 1
        assert asked(100) == 0
        assert len(caplog.messages) == 1
        store.seconds = 0.001
        assert asked(20) == 50
        assert caplog.messages[1:] == ["the store works again"]
        store.fails = True
        assert asked(0) == 1
        assert asked(29) == 0
        assert asked(1) == 1
    assert caplog.messages[2:] == ["the store cannot be used (no route); continuing without it, and trying again later"]


def test_it_is_never_left_alone_for_longer_than_ten_minutes(clock):
    store = Slow(clock, 0)
    store.fails = True
    guard = Guard("the store", clock=clock)
    for _ in range(30):
        guard.call(lambda _: store.read("one", 1), Allowance())
        clock.now += 600
    assert len(store.asked) == 30


def test_one_thread_tries_again_and_one_warns(clock, caplog):
    store = Slow(clock, 0)
    store.fails = True
    guard = Guard("the store", clock=clock)
    together = Barrier(8)

    def ask(number):
        together.wait()
        return guard.call(lambda _: store.read(number, 1), Allowance())

    with ThreadPoolExecutor(8) as pool, caplog.at_level(logging.WARNING, "ctxcompress"):
        list(pool.map(ask, range(8)))
        store.asked.clear()
        clock.now += 30
        list(pool.map(ask, range(8)))
    assert len(store.asked) == 1
    assert len(caplog.messages) == 1


def test_what_is_read_in_time_is_used_even_if_it_was_the_last(clock):
    store = Slow(clock, 5)
    store.held["one"] = b"bytes"
    guard = Guard("the store", clock=clock)
    assert guard.call(lambda _: store.read("one", 1), Allowance(2, clock=clock)) == b"bytes"
    assert guard.call(lambda _: store.read("one", 1), Allowance(2, clock=clock)) is None
