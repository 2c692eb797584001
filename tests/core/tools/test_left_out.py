"""The stores of left-out texts: by conversation, for a time, up to a size, and on disk for the owner only."""

import copy
import pickle
import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest

from ctxcompress.agents.left_out import DiskStore, LeftOutStore, MemoryStore
from ctxcompress.errors import ConfigError


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(params=["memory", "disk"])
def make(request, tmp_path):
    def make_store(**options):
        return MemoryStore(**options) if request.param == "memory" else DiskStore(tmp_path / "left.db", **options)

    return make_store


def test_a_text_is_found_in_its_conversation_only(make):
    store = make()
    assert isinstance(store, LeftOutStore)
    assert store.put("one", "ctx-1", "text \ud800 é")
    assert store.get("one", "ctx-1") == "text \ud800 é"
    assert store.get("other", "ctx-1") is None
    assert store.get("one", "ctx-2") is None
    assert (store.handles("one"), store.handles("other")) == (["ctx-1"], [])


def test_texts_expire(make):
    clock = Clock()
    store = make(ttl=60, clock=clock)
    store.put("one", "ctx-1", "first")
    clock.now += 30
    store.put("one", "ctx-2", "second")
    clock.now += 30
    assert store.get("one", "ctx-1") is None
    assert store.get("one", "ctx-2") == "second"
    assert store.handles("one") == ["ctx-2"]
    clock.now += 1e9
    assert store.handles("one") == []
    forever = make(ttl=None, clock=clock)
    forever.put("two", "ctx-1", "first")
    clock.now += 1e9
    assert forever.get("two", "ctx-1") == "first"


def test_the_oldest_go_first(make):
    clock = Clock()
    store = make(max_bytes=30, clock=clock)
    for number in range(5):
        clock.now += 1
        assert store.put(f"conversation {number % 2}", f"ctx-{number}", str(number) * 10)
    assert store.handles("conversation 0") == ["ctx-4", "ctx-2"]
    assert store.handles("conversation 1") == ["ctx-3"]


def test_a_text_that_is_larger_than_the_store_is_not_kept(make):
    store = make(max_bytes=10)
    store.put("one", "ctx-1", "small")
    assert not store.put("one", "ctx-2", "é" * 6)
    assert store.handles("one") == ["ctx-1"]


def test_texts_can_be_forgotten(make):
    store = make()
    for conversation, handle in (("one", "ctx-1"), ("one", "ctx-2"), ("one", "ctx-3"), ("other", "ctx-1")):
        store.put(conversation, handle, "text")
    store.forget("one", "ctx-2")
    assert sorted(store.handles("one")) == ["ctx-1", "ctx-3"]
    store.forget("one")
    assert (store.handles("one"), store.handles("other")) == ([], ["ctx-1"])


def test_threads_share_a_store(make):
    store = make(max_bytes=1_000)
    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(lambda number: store.put("one", f"ctx-{number}", "x" * 100), range(40)))
    assert len(store.handles("one")) == 10


def test_a_copy_is_the_same_store_and_a_pickled_one_has_the_same_limits(make):
    store = make(max_bytes=500, ttl=7.0)
    store.put("one", "ctx-1", "text")
    assert copy.copy(store) is copy.deepcopy(store) is store
    loaded = pickle.loads(pickle.dumps(store))
    assert (loaded.max_bytes, loaded.ttl) == (500, 7.0)
    assert loaded.get("one", "ctx-1") == ("text" if isinstance(store, DiskStore) else None)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_bytes": 0}, "max_bytes is 0; give a whole number of bytes, at least 1"),
        ({"max_bytes": True}, "max_bytes is True"),
        ({"ttl": 0}, "ttl is 0; give a number of seconds above 0, or None"),
        ({"ttl": "1 h"}, "ttl is '1 h'"),
    ],
)
def test_values_that_cannot_work_are_refused(make, options, message):
    with pytest.raises(ConfigError, match=message):
        make(**options)


def test_a_forgotten_text_is_not_in_the_file(tmp_path):
    path = tmp_path / "left.db"
    store = DiskStore(path)
    store.put("one", "ctx-1", "a very secret text" * 100)
    assert b"secret" in path.read_bytes()
    store.forget("one")
    assert b"secret" not in path.read_bytes()


def test_files_of_others_are_refused_and_not_touched(tmp_path):
    database = tmp_path / "other.db"
    connection = sqlite3.connect(database)
    connection.execute("CREATE TABLE mine (a)")
    connection.close()
    text = tmp_path / "notes.txt"
    text.write_text("These are my notes. " * 100)
    (tmp_path / "link.db").symlink_to(database)
    for path in (database, text, tmp_path / "link.db", tmp_path / "none" / "left.db"):
        before = path.read_bytes() if path.exists() else None
        with pytest.raises(ConfigError, match="cannot be used as a store"):
            DiskStore(path)
        assert (path.read_bytes() if path.exists() else None) == before


def test_a_file_that_is_damaged_later_raises_oserror(tmp_path):
    path = tmp_path / "left.db"
    store = DiskStore(path)
    store.put("one", "ctx-1", "text")
    path.write_bytes(b"damaged" * 1_000)
    with pytest.raises(OSError, match=r"left\.db"):
        store.get("one", "ctx-1")


def test_a_file_that_is_deleted_is_made_again(tmp_path):
    store = DiskStore(tmp_path / "left.db")
    store.put("one", "ctx-1", "text")
    (tmp_path / "left.db").unlink()
    assert store.get("one", "ctx-1") is None
    assert store.put("one", "ctx-1", "text")
