"""Several processes share a file, and one is killed while it writes."""

import os
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from caches import PLAIN

from ctxcompress.cache import Cache, SqliteStore

_SECONDS = os.environ.get("CTXCOMPRESS_HAMMER_SECONDS", "2")
"""Sixty for the full measure. Processes go on until they have found something as well."""
_ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
"""The programs import what these tests import."""


def _cache(path):
    return Cache(SqliteStore(path), max_bytes=0)


def _start(path, seconds, seed):
    command = [sys.executable, str(Path(__file__).with_name("hammer.py")), str(path), seconds, str(seed)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=_ENVIRONMENT)


@pytest.mark.slow(reason="two processes are busy for some seconds")
def test_two_processes_that_write_and_read_all_the_time_never_get_a_wrong_answer(tmp_path):
    path = tmp_path / "c"
    processes = [_start(path, _SECONDS, seed) for seed in range(2)]
    for process in processes:
        out, err = process.communicate(timeout=float(_SECONDS) + 120)
        assert (process.returncode, err) == (0, "")
        rounds, hits = map(int, out.split())
        assert 0 < hits <= rounds
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_new_file_can_be_opened_by_many_at_once(tmp_path):
    for attempt in range(20):
        path = tmp_path / str(attempt)
        with ThreadPoolExecutor(8) as pool:
            caches = list(pool.map(lambda _, path=path: _cache(path), range(8)))
        for number, cache in enumerate(caches):
            cache.put("one", b"%d" % number, PLAIN)
            assert all(other.get("one", PLAIN) == b"%d" % number for other in caches)


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.slow(reason="a process")) for n in (1, 2, 3))])
def test_after_a_kill_in_the_midst_of_writing_the_cache_opens_again(tmp_path, seed):
    path = tmp_path / "c"
    cache = _cache(path)
    cache.put("before", b"first", PLAIN)
    code = (
        "import sys; from ctxcompress.cache import Cache, SqliteStore; from caches import PLAIN\n"
        "cache = Cache(SqliteStore(sys.argv[1]), max_bytes=0)\n"
        "for number in range(10**9):\n"
        "    cache.put(str(number % 50), bytes([number % 50]) * 300_000, PLAIN)\n"
        "    print(number, flush=True)\n"
    )
    command = [sys.executable, "-c", code, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=_ENVIRONMENT) as process:
        for _ in range(2 + 7 * seed):
            assert process.stdout.readline()
        process.send_signal(signal.SIGKILL)
    again = _cache(path)
    assert again.get("before", PLAIN) == b"first"
    for number in range(50):
        assert again.get(str(number), PLAIN) in (None, bytes([number]) * 300_000)
    again.put("after", b"last", PLAIN)
    assert cache.get("after", PLAIN) == b"last"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_process_has_a_connection_of_its_own(tmp_path):
    cache = _cache(tmp_path / "c")
    cache.put("one", b"first", PLAIN)
    child = os.fork()
    if child == 0:
        found = cache.get("one", PLAIN)
        cache.put("two", b"second", PLAIN)
        os._exit(0 if found == b"first" else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert cache.get("two", PLAIN) == b"second"
