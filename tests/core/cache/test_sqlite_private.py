"""A cache's files are their owner's alone, from the moment that they are there; and no link leads elsewhere."""

import os
import shutil
import stat

import pytest
from caches import PLAIN

from ctxcompress import CtxCompressError
from ctxcompress.apps.feedback import FeedbackLog
from ctxcompress.cache import Cache, SqliteStore
from ctxcompress.errors import ConfigError

pytestmark = pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")


@pytest.fixture(params=[0, 0o077], ids=oct)
def umask(request):
    before = os.umask(request.param)
    yield
    os.umask(before)


def modes(folder):
    return {file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()}


PRIVATE = {"c": 0o600, "c-wal": 0o600, "c-shm": 0o600}


def test_others_can_read_none_of_its_files(tmp_path, umask):
    Cache(SqliteStore(tmp_path / "c"), max_bytes=0).put("one", b"first", PLAIN)
    assert modes(tmp_path) == PRIVATE


def test_files_that_were_open_to_others_are_closed_to_them(tmp_path):
    open_to_all, left = tmp_path / "open", tmp_path / "left"
    open_to_all.mkdir()
    cache = Cache(SqliteStore(open_to_all / "c"))
    cache.put("one", b"first", PLAIN)
    shutil.copytree(open_to_all, left)  # with its log, as after a crash
    for file in left.iterdir():
        file.chmod(0o666)
    again = Cache(SqliteStore(left / "c"))
    assert modes(left) == PRIVATE
    assert again.get("one", PLAIN) == b"first"


def test_what_is_set_aside_is_the_owners_too(tmp_path, umask):
    store = SqliteStore(tmp_path / "c")
    store.close()
    store.path.write_bytes(store.path.read_bytes().replace(b"data BLOB", b"date BLOB"))
    Cache(SqliteStore(tmp_path / "c"), max_bytes=0).put("one", b"first", PLAIN)
    assert modes(tmp_path) == {**PRIVATE, "c.damaged": 0o600}


@pytest.mark.parametrize("name", ["c", "c-wal", "c-shm"])
@pytest.mark.parametrize("dangles", [False, True])
def test_a_symbolic_link_is_refused_and_nothing_is_written_where_it_leads(tmp_path, name, dangles):
    target = tmp_path / "target"
    if not dangles:
        target.write_bytes(b"")
    (tmp_path / name).symlink_to(target)
    with pytest.raises(CtxCompressError, match=rf"{tmp_path}/c cannot .*{name} is a symbolic link.* give the path"):
        SqliteStore(tmp_path / "c")
    assert target.exists() is not dangles
    assert dangles or target.read_bytes() == b""


def test_a_link_that_takes_the_place_of_an_open_file_is_not_followed(tmp_path):
    store = SqliteStore(tmp_path / "c")
    store.path.unlink()
    store.path.symlink_to(tmp_path / "target")
    cache = Cache(store, max_bytes=0)
    cache.put("one", b"first", PLAIN)
    assert cache.get("one", PLAIN) is None
    assert not (tmp_path / "target").exists()


def test_another_users_file_is_refused(tmp_path, monkeypatch):
    SqliteStore(tmp_path / "c")
    mine = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: mine + 1)
    with pytest.raises(
        CtxCompressError, match=r"/c cannot .*c belongs to another user.* give the path of another file"
    ):
        SqliteStore(tmp_path / "c")


@pytest.mark.parametrize("name", ["a\0b", "\0", "a\0"])
def test_a_path_with_a_null_character_is_refused(tmp_path, name):
    with pytest.raises(ConfigError, match=r"null character.* give the path of another file"):
        SqliteStore(f"{tmp_path}/{name}")
    with pytest.raises(ConfigError, match=r"null character.* give the path of another file"):
        FeedbackLog(f"{tmp_path}/{name}")
