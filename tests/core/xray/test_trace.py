"""Pages in a folder: one for each call, only the last ones are kept, and a failure never stops a chain."""

import os
import re
import stat
from concurrent.futures import ThreadPoolExecutor

from meanings import Encoding

from ctxcompress import Compressor, Passage, compress
from ctxcompress.apps.xray import LAST, write_page

NAME = re.compile(r"ctxcompress-\d{8}T\d{6}\.\d{6}Z-[0-9a-f]{8}\.html")
QUERY = "what is the default timeout?"
PASSAGES = [Passage("a", "The default timeout is 30 seconds."), Passage("b", "Lighthouses are white. " * 30)]


def test_a_page_is_written_under_a_name_that_tells_its_time(tmp_path):
    result = compress(QUERY, PASSAGES, max_tokens=20)
    path = result.trace(tmp_path / "new" / "folder")
    assert path is not None
    assert NAME.fullmatch(path.name)
    assert path.read_bytes().decode() == result.xray()
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_the_last_ones_are_kept_and_nothing_else_is_touched(tmp_path):
    others = [
        "ctxcompress.html",
        "ctxcompress-20200101T000000.000000Z-00000000.html.bak",
        "notes.txt",
        "ctxcompress-20200101T000000.000000Z-0000000g.html",
    ]
    for name in others:
        (tmp_path / name).write_text("mine")
    old = [tmp_path / f"ctxcompress-20200101T00000{n}.000000Z-00000000.html" for n in range(5)]
    for path in old:
        path.write_text("old")
    paths = [write_page(str(number), tmp_path) for number in range(LAST - 2)]
    assert [path.exists() for path in old] == [False, False, False, True, True]
    assert all(path is not None and path.exists() for path in paths)
    write_page("one", tmp_path)
    write_page("more", tmp_path)
    assert not any(path.exists() for path in old)
    assert {path.name for path in tmp_path.iterdir() if not NAME.fullmatch(path.name)} == set(others)
    assert all((tmp_path / name).read_text() == "mine" for name in others)


def test_threads_do_not_take_each_others_names_nor_keep_too_many(tmp_path):
    with ThreadPoolExecutor(8) as threads:
        paths = list(threads.map(lambda number: write_page(str(number), tmp_path), range(LAST + 60)))
    assert len(set(paths)) == LAST + 60
    assert None not in paths
    assert len(list(tmp_path.iterdir())) == LAST


def test_what_cannot_be_written_is_a_warning(tmp_path, warned):
    (tmp_path / "file").write_text("")
    assert compress(QUERY, PASSAGES, max_tokens=20).trace(tmp_path / "file") is None
    assert "could not be written" in warned.text
    assert str(tmp_path / "file") in warned.text


def test_an_encoder_is_not_asked_again(tmp_path):
    encoder = Encoding(lambda text: [1.0, 0.5])
    compressor = Compressor(Compressor().config.with_options(encoder=encoder, max_tokens=30, similarity_threshold=0.99))
    result = compressor.compress(QUERY, [*PASSAGES, Passage("c", "The timeout may be changed. " * 20)])
    asked = len(encoder.asked)
    assert asked
    path = result.trace(tmp_path)
    assert path is not None
    assert "evidence with Encoding, which was not asked again" in path.read_text(encoding="utf-8")
    assert len(encoder.asked) == asked
    result.xray()
    assert len(encoder.asked) > asked
