"""Segments of logs, tracebacks, build output and diffs."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcompress import Passage, compress
from ctxcompress.data.passages import Kind
from ctxcompress.segment.formats import segment
from ctxcompress.text.log_lines import is_diff, is_log

LOGS = {path.stem: path.read_text(encoding="utf-8") for path in sorted((Path(__file__).parent / "logs").iterdir())}
PYTHON, JAVA, NODE = LOGS["python"], LOGS["java"], LOGS["node"]


def parts(text):
    return [text[start:end].rstrip("\n") for _, start, end, *_ in segment(text)]


def needs(text):
    """Return the first line of a segment -> the first lines of the segments that it needs."""
    segments, said = segment(text), [part.partition("\n")[0].strip() for part in parts(text)]
    return {said[n]: [said[other] for other in found.needs] for n, found in enumerate(segments) if found.needs}


@pytest.mark.parametrize("text", LOGS.values(), ids=LOGS)
def test_logs_are_cut_at_lines_and_nothing_is_lost(text):
    segments = segment(text)
    assert {found.kind for found in segments} <= {Kind.LOG, Kind.HEADING}
    assert "".join(text[found.start : found.end] for found in segments) == text
    assert all(text[found.end - 1] == "\n" for found in segments)


def test_a_frame_has_its_line_of_code_and_needs_the_exception():
    first = '  File "/srv/app/worker.py", line 40, in run\n    self.handle(job)\n    ~~~~~~~~~~~^^^^^'
    assert first in parts(PYTHON)
    assert needs(PYTHON) == {
        'File "/srv/app/worker.py", line 40, in run': ["KeyError: 'token'"],
        'File "/srv/app/worker.py", line 61, in handle': ["KeyError: 'token'"],
    }


def test_frames_below_an_exception_need_it():
    assert needs(JAVA)["at Main.main(Main.java:5)"] == [JAVA.partition("\n")[0]]
    assert needs(JAVA)["at Main$Repo.find(Main.java:3)"] == [JAVA.split("\n")[3]]
    assert needs(NODE)["at async start (/srv/app/e.js:3:32)"] == [NODE.partition("\n")[0]]


def test_a_piece_of_a_long_hunk_has_its_changes_and_the_lines_above_them():
    first, second = ("".join(f" {word} is kept as it was {n}\n" for n in range(12)) for word in ("tea", "milk"))
    hunk = f"@@ -1,27 +1,27 @@ drinks\n{first}-hot\n+cold\n{second}-sweet\n+sour\n end\n"
    text = f"--- a/drinks\n+++ b/drinks\n{hunk}"
    assert [part + "\n" for part in parts(text)] == [
        "--- a/drinks\n+++ b/drinks\n",
        "@@ -1,27 +1,27 @@ drinks\n",
        f"{first}-hot\n+cold\n",
        f"{second}-sweet\n+sour\n end\n",
    ]
    kinds = [found.kind for found in segment(text)]
    assert kinds == [Kind.HEADING, Kind.HEADING, Kind.LOG, Kind.LOG]


@pytest.mark.parametrize("header", ["--- a/drinks\n+++ b/drinks\n", "+++ b/drinks\n"])
def test_the_header_of_a_file_is_not_kept_without_a_change(header):
    text = f"{header}@@ -0,0 +1,40 @@\n" + "".join(f"+the tea is drunk hot on day {n}\n" for n in range(40))
    for budget in range(10, 60, 5):
        left = compress("what is new in the drinks?", [Passage("a", text)], max_tokens=budget).text
        assert "drinks" not in left or "+the" in left


def test_a_hunk_needs_the_header_of_its_file():
    assert needs(LOGS["changes"]) == {
        '@@ -16,7 +16,7 @@ __all__ = ["Cache"]': ["diff --git a/cache.py b/cache.py"],
        "@@ -1,2 +1,2 @@": ["diff --git a/words.py b/words.py"],
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The train leaves at 10:12:13 and arrives at 11:00:00.\nTake it.\n",
        "[10:01:02] anna: I think we should go\n[10:01:09] ben: why do you think so?\n[10:02:00] anna: my feet hurt\n",
        "1\n00:00:01,000 --> 00:00:04,000\nHello there.\n\n2\n00:00:05,000 --> 00:00:08,000\nGoodbye.\n\n3\n",
        "# Errors\n\nAn ERROR is raised if:\n\n- the file is missing\n- the WARNING is off\n\nSee below.\n",
        "import logging\n\nDEBUG = logging.DEBUG\nINFO = logging.INFO\nERROR = logging.ERROR\n",
        '{"time": "10:00:00", "level": "ERROR"}\n{"time": "10:00:01", "level": "INFO"}\n{"time": "10:00:02"}\n',
        f"Run it:\n\n```\n{LOGS['syslog']}```\n",
        "| time | what |\n|---|---|\n| 10:00:00 | start |\n| 10:00:01 | stop |\n| 10:00:02 | end |\n",
        "--- \nA rule, and a list:\n\n+ one\n+ two\n- three\n",
        "\n\n".join(
            f"Name: {n}\nPrice: {n}0\nWeight: {n} kg\nShelf: B {n}\nStock: {n * 7}\nGrade: {n % 3}" for n in range(9)
        ),
    ],
)
def test_what_is_no_log(text):
    assert not is_log(text)
    assert not is_diff(text)


@given(st.lists(st.sampled_from([line for text in LOGS.values() for line in text.splitlines(keepends=True)])))
def test_any_lines_of_logs_are_partitioned_at_lines(lines):
    text = "".join(lines)
    segments = segment(text)
    assert "".join(text[found.start : found.end] for found in segments) == text
    for number, found in enumerate(segments):
        assert found.start < found.end
        assert all(0 <= other < len(segments) and other != number for other in found.needs)
        if found.kind is Kind.LOG:
            assert text[found.end - 1] == "\n"


@pytest.mark.parametrize(
    "line", ["E   ", "  at ", "10:00:00 ", "@@ -1 +1 @@\n+", ":1:1: ", "a.", "ERROR", " 1 | ", "\t"]
)
def test_hostile_texts_take_linear_time(line):
    segment("10:00:00 INFO start\n" + line * 50_000)
    segment(("10:00:00 INFO start\n" + line) * 5_000)


STAMPED = [
    "2026-05-01T10:00:{n:02}.1234567Z   Compiling tide v0.3.1",
    "2026-05-01T10:00:{n:02}.1234567Z error[E0382]: borrow of moved value: `buf`",
    "2026-05-01T10:00:{n:02}.1234567Z   --> src/net/reader.rs:77:22",
    "2026-05-01T10:00:{n:02}.1234567Z    |",
    "2026-05-01T10:00:{n:02}.1234567Z 71 |     let buf = Vec::new();",
    "2026-05-01T10:00:{n:02}.1234567Z ",
    "2026-05-01T10:00:{n:02}.1234567Z warning: unused variable",
]


@pytest.mark.parametrize("gutter", ["2026-05-01T10:00:{n:02}.1234567Z ", "web-1  | "])
def test_what_stands_before_each_line_does_not_hide_what_goes_on(gutter):
    lines = [line.replace(STAMPED[0][:33], gutter).format(n=n) for n, line in enumerate(STAMPED)]
    text = "\n".join(lines)
    assert [text[part.start : part.end] for part in segment(text)] == [
        f"{lines[0]}\n",
        "\n".join(lines[1:6]) + "\n",
        lines[6],
    ]


def test_what_persons_say_in_lines_of_one_shape_stays_a_conversation():
    text = "".join(f"[10:{n:02}] {name}: see you at {n}\n" for n, name in enumerate(["anna", "ben"] * 8, 10))
    assert {part.kind for part in segment(text)} == {Kind.TURN}
