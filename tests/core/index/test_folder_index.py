"""Searching a folder: what is found, in which order, and that changes are seen."""

import logging
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcompress.apps.index import FolderIndex
from ctxcompress.apps.index import folder_index as module
from ctxcompress.apps.index.folder import Folder
from ctxcompress.errors import ConfigError


def write(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return FolderIndex(folder)


def paths(index, query):
    return [hit.chunk.path for hit in index.search(query)]


def test_the_best_chunk_comes_first_and_has_the_score_one(tmp_path):
    index = write(
        tmp_path,
        {
            "client.md": "# Client\n\nThe default timeout of the client is 30 seconds.",
            "server.md": "# Server\n\nThe server has a timeout, too, and many other things that are said here.",
            "logo.md": "# Logo\n\nIt is blue.",
        },
    )
    hits = index.search("what is the default timeout of the client?")
    assert [hit.chunk.path for hit in hits] == ["client.md", "server.md"]
    assert hits[0].score == 1.0 > hits[1].score > 0


def test_headings_and_the_path_are_searched_too(tmp_path):
    body = "Words about it, and some more of them until there are enough for a section. " * 4
    index = write(
        tmp_path, {"a.md": f"# Retries\n\n{body}\n\n## Backoff\n\n{body}", "proxies/b.md": body, "c.md": body}
    )
    assert [hit.chunk.header_path for hit in index.search("retries")] == [("Retries",), ("Retries", "Backoff")]
    assert paths(index, "proxy") == ["proxies/b.md"]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Die Vorgabe für das Zeitlimit der Verbindung ist dreißig Sekunden.", "Zeitlimits"),
        ("Der Verbindungsaufbau dauert und ist nicht immer das, was man von ihm erwartet.", "Verbindung"),
        ("客户端的默认超时时间是三十秒。可以在配置文件中修改。", "默认超时"),
        ("Тайм-аут соединения по умолчанию составляет тридцать секунд.", "соединение"),
        ("def read_timeout_seconds(self):\n    return self._seconds\n", "timeout"),
    ],
)
def test_other_languages_and_identifiers_are_found(tmp_path, text, query):
    index = write(tmp_path, {"a.md": text, "b.md": "The client opens one connection for each of the hosts."})
    assert paths(index, query)[0] == "a.md"


@pytest.mark.parametrize("query", ["", "   ", "???", "zeppelin", "\ud800", "\0", "the"])
def test_a_query_without_a_term_that_occurs_finds_nothing(tmp_path, query):
    assert FolderIndex(tmp_path).search(query) == []
    assert write(tmp_path, {"a.md": "A text about something else."}).search(query) == []


@pytest.mark.parametrize("is_copied", [False, True])
def test_a_change_that_leaves_the_same_stamp_is_seen_while_the_file_is_new(tmp_path, monkeypatch, is_copied):
    index = write(tmp_path, {"a.md": "alpha"})
    if is_copied:
        os.utime(tmp_path / "a.md", ns=(1, 1))  # with the time of another file
    assert paths(index, "alpha") == ["a.md"]
    listing = Folder(tmp_path).files()
    monkeypatch.setattr(Folder, "files", lambda _: listing)  # the clock of the file system has not ticked
    (tmp_path / "a.md").write_text("gamma")
    assert paths(index, "gamma") == ["a.md"]


def test_a_change_of_an_old_file_is_seen_whatever_its_time_says(tmp_path, monkeypatch):
    now = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: now() + 3_600_000_000_000)  # every file is old
    index = write(tmp_path, {"a.md": "alpha"})
    os.utime(tmp_path / "a.md", ns=(1, 1))
    assert paths(index, "alpha") == ["a.md"]
    (tmp_path / "a.md").write_text("gamma")
    os.utime(tmp_path / "a.md", ns=(1, 1))
    assert paths(index, "gamma") == ["a.md"]


def test_only_what_has_changed_is_analysed_again(tmp_path, monkeypatch):
    analysed = []
    real = module.analyse_file
    monkeypatch.setattr(
        module, "analyse_file", lambda text, path, *rest: analysed.append(path) or real(text, path, *rest)
    )
    index = write(tmp_path, {"a.md": "alpha", "b.md": "beta"})
    index.refresh()
    index.refresh()
    (tmp_path / "b.md").write_text("gamma")
    index.refresh()
    os.utime(tmp_path / "a.md", ns=(1, 1))  # touched, with the same content
    index.refresh()
    assert analysed == ["a.md", "b.md", "b.md"]


NAMES = st.sampled_from(["a.md", "b.txt", "sub/c.md", "sub/d.py"])
WORDS = st.lists(st.sampled_from("alpha beta gamma delta the".split()), max_size=6).map(" ".join)


@given(st.lists(st.tuples(NAMES, st.none() | WORDS), max_size=8))
def test_an_index_that_has_seen_changes_is_as_one_that_is_new(changes):
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "sub").mkdir()
        index = FolderIndex(folder)
        for file, text in changes:
            if text is None:
                (folder / file).unlink(missing_ok=True)
            else:
                (folder / file).write_text(text)
            assert index.search("alpha the beta") == FolderIndex(folder).search("alpha the beta")


def test_what_cannot_be_read_is_left_out_with_one_line_in_the_log(tmp_path, caplog):
    index = write(tmp_path, {"a.md": "alpha"})
    (tmp_path / "a.png").write_bytes(b"\x89PNG\0")
    (tmp_path / "binary.md").write_bytes(b"alpha\0")
    (tmp_path / "latin.md").write_bytes("alpha é".encode("latin-1"))
    with caplog.at_level(logging.WARNING):
        assert paths(index, "alpha") == ["a.md"]
        assert paths(index, "alpha") == ["a.md"]
    assert [record.getMessage() for record in caplog.records] == [
        "binary.md is skipped: it is not text",
        "latin.md is skipped: it is not UTF-8 (byte 0xe9 at offset 6); convert it, for example with: "
        "iconv -f ENCODING -t UTF-8",
        "files that are no text are skipped: 1 .png",
    ]


def test_the_log_says_why_nothing_is_found(tmp_path, caplog):
    index = write(tmp_path, {})
    assert (index.refresh(), index.refresh()) == (0, 0)
    (tmp_path / "a.png").write_bytes(b"\x89PNG\0")
    assert (index.refresh(), index.refresh()) == (0, 0)
    assert [record.getMessage() for record in caplog.records] == [
        "the folder has no text file",
        "files that are no text are skipped: 1 .png",
    ]


def test_the_log_says_that_a_folder_cannot_be_read(tmp_path, caplog):
    index = write(tmp_path, {"sub/b.md": "alpha"})
    for folder, expected in ((tmp_path / "sub", "'sub/' is skipped"), (tmp_path, "'./' is skipped")):
        folder.chmod(0o300)
        if os.access(folder, os.R_OK):
            pytest.skip("rights hold for others than this user")
        index.refresh()
        folder.chmod(0o700)
        assert caplog.records[-1].getMessage() == f"{expected}: Permission denied"


def test_large_files_and_more_files_than_the_limit_are_not_indexed(tmp_path, monkeypatch, caplog):
    index = write(tmp_path, {f"{n}.md": "alpha" for n in range(4)})
    monkeypatch.setattr("ctxcompress.apps.index.folder.MOST_FILES", 3)
    assert paths(index, "alpha") == ["0.md", "1.md", "2.md"]
    assert "serve a smaller folder" in caplog.text
    monkeypatch.setattr("ctxcompress.apps.index.folder.MOST_BYTES", 10)
    assert paths(index, "alpha") == ["0.md", "1.md"]
    (tmp_path / "0.md").write_text("alpha beta")
    monkeypatch.setattr("ctxcompress.apps.index.folder.MOST_BYTES", 1_000)
    monkeypatch.setattr("ctxcompress.apps.index.folder.LARGEST", 9)
    assert "0.md" not in paths(index, "alpha")
    assert "0.md is skipped: it has more than 9 bytes" in caplog.text


def test_threads_search_while_files_change(tmp_path):
    index = write(tmp_path, {f"{n}.md": f"alpha {n}" for n in range(20)})
    started = threading.Barrier(5)

    def search(_):
        started.wait()
        for _ in range(20):
            assert {hit.chunk.text.split()[0] for hit in index.search("alpha")} == {"alpha"}

    with ThreadPoolExecutor(5) as pool:
        searches = [pool.submit(search, n) for n in range(4)]
        started.wait()
        for n in range(20):
            (tmp_path / f"{n}.md").write_text(f"alpha and {n}")
        for done in searches:
            done.result()


@pytest.mark.parametrize("name", ["nowhere", "a.md", "nul\0l"])
def test_what_is_no_folder_is_refused(tmp_path, name):
    (tmp_path / "a.md").write_text("a")
    with pytest.raises(ConfigError, match=r"give (a|the) folder"):
        FolderIndex(tmp_path / name)
