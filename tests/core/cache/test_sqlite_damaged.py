"""A damaged file is an empty cache: nothing is raised, nothing hangs, and it works again.

Many more are damaged by `benchmarks/damaged_cache.py`.
"""

import logging
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from caches import EXPECTED, PLAIN, compressed_with

from ctxcompress import CtxCompressError
from ctxcompress.cache import Cache, SqliteStore


def cache_in(path):
    return Cache(SqliteStore(path), max_bytes=0)


@pytest.fixture
def path(tmp_path):
    """A closed cache of a few entries."""
    cache = cache_in(tmp_path / "cache.sqlite")
    cache.put("one", b"first", PLAIN)
    cache.store.close()
    return cache.store.path


def change(path, old, new):
    """Bytes of the file, at the first place where they are."""
    data = path.read_bytes()
    assert old in data
    path.write_bytes(data.replace(old, new, 1))


def run(path, script):
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)


DAMAGES = {
    # Of these two the module cannot even say what is the matter: the message quotes bytes that are no text.
    "a name in the schema": lambda path: change(
        path, b"CREATE TABLE ctxcache", b"CREATE TABLE \xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8"
    ),
    "a word of the schema": lambda path: change(path, b"TEXT NOT NULL", b"TEXT NOT \xf8ULL"),
    "a column": lambda path: change(path, b"data BLOB", b"date BLOB"),
    "the header": lambda path: change(path, b"SQLite format 3\0", bytes(16)),
    "whose it is": lambda path: change(path, b"ctxc", b"ctxd"),
    "the encoding of texts": lambda path: path.write_bytes(
        path.read_bytes()[:56] + b"\0\0\0\2" + path.read_bytes()[60:]
    ),
    "that it may be written": lambda path: path.write_bytes(path.read_bytes()[:18] + b"\7" + path.read_bytes()[19:]),
    "cut within the header": lambda path: path.write_bytes(path.read_bytes()[:50]),
    "cut after a page": lambda path: path.write_bytes(path.read_bytes()[:4096]),
    "zeros": lambda path: path.write_bytes(bytes(5000)),
    "no table": lambda path: run(path, "DROP TABLE ctxcache"),
    "another row": lambda path: run(path, "PRAGMA writable_schema = ON; UPDATE sqlite_master SET rootpage = 99"),
}


@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_file_is_an_empty_cache_that_works_again(path, damage, is_open, caplog):
    cache = cache_in(path) if is_open else None
    damage(path)
    with caplog.at_level(logging.WARNING, "ctxcompress"):
        cache = cache or cache_in(path)
        assert compressed_with(cache) == EXPECTED == compressed_with(cache)
        cache.store.close()
        assert cache.get("none", PLAIN) is None
    if not is_open:
        assert "cache.sqlite is damaged" in caplog.text
        assert path.with_name("cache.sqlite.damaged").exists()
    cache.put("two", b"second", PLAIN)
    assert cache.get("two", PLAIN) == cache_in(path).get("two", PLAIN) == b"second"


@pytest.mark.parametrize("happens", ["set aside", "deleted"])
def test_who_has_the_file_open_goes_on_with_the_new_one(path, happens):
    one, other = cache_in(path), cache_in(path)
    assert one.get("one", PLAIN) == other.get("one", PLAIN) == b"first"
    if happens == "deleted":
        path.unlink()
    else:
        run(path, "DROP TABLE ctxcache")
    one.put("two", b"second", PLAIN)
    assert other.get("two", PLAIN) == b"second"
    assert other.get("one", PLAIN) is None
    other.put("three", b"third", PLAIN)
    assert one.get("three", PLAIN) == b"third"


def test_a_folder_in_which_nothing_can_be_renamed_has_no_cache(path, caplog, monkeypatch):
    """As on Windows, where another process has the file open."""
    cache = cache_in(path)
    run(path, "DROP TABLE ctxcache")
    monkeypatch.setattr(Path, "replace", _refuse)
    with caplog.at_level(logging.WARNING, "ctxcompress"):
        cache.put("two", b"second", PLAIN)
        assert compressed_with(cache) == EXPECTED
    assert "continuing without" in caplog.text
    with pytest.raises(CtxCompressError, match=r"is open.*give the path of another file"):
        cache_in(path)


def _refuse(path, _):
    raise PermissionError(f"{path} is open")


@pytest.mark.parametrize("content", [b"These are my notes. " * 100, b"SQLite format 3\0" + b"\7" * 5000], ids=range(2))
def test_what_was_put_in_the_place_of_an_open_file_is_left_alone(path, content):
    cache = cache_in(path)
    path.unlink()
    path.write_bytes(content)
    assert cache.get("one", PLAIN) is None
    cache.put("one", b"first", PLAIN)
    assert path.read_bytes() == content
    with pytest.raises(CtxCompressError, match=r"something else.* give the path of another file"):
        cache_in(path)
    assert path.read_bytes() == content
