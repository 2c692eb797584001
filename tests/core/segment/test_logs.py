"""Segments of logs, tracebacks, build output and diffs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcompress.data.passages import Kind
from ctxcompress.segment.formats import segment
from ctxcompress.text.log_lines import is_diff, is_log

SYSLOG = """\
Dec 10 09:32:20 box sshd[24680]: Accepted password for anna from 10.0.0.7 port 49116 ssh2
Dec 10 09:32:20 box sshd[24680]: pam_unix(sshd:session): session opened for user anna by (uid=0)
Dec 10 09:33:01 box CRON[24700]: (root) CMD (test -x /usr/sbin/anacron)
"""
PYTHON = """\
2026-05-01 10:00:00,120 INFO app.worker: processed job 16 in 19 ms
2026-05-01 10:00:00,121 ERROR app.worker: job 17 failed
Traceback (most recent call last):
  File "/srv/app/worker.py", line 40, in run
    self.handle(job)
    ~~~~~~~~~~~^^^^^
  File "/srv/app/worker.py", line 61, in handle
    token = job["token"]
KeyError: 'token'
2026-05-01 10:00:00,125 WARNING app.worker: the queue is
  98 % full
2026-05-01 10:00:00,126 INFO app.worker: processed job 18 in 2 ms
"""
JAVA = """\
Exception in thread "main" java.lang.IllegalStateException: user 42 could not be loaded
\tat Main.handle(Main.java:4)
\tat Main.main(Main.java:5)
Caused by: java.lang.NullPointerException: Cannot invoke "String.trim()"
\tat Main$Repo.find(Main.java:3)
\t... 2 more
"""
NODE = """\
Error: ENOENT: no such file or directory, open '/nope.json'
    at Object.openSync (node:fs:573:18)
    at Config.load (/srv/app/e.js:2:45)
    at async start (/srv/app/e.js:3:32)
"""
GO = """\
panic: runtime error: index out of range [5] with length 3

goroutine 1 [running]:
main.pick(...)
\t/srv/app/main.go:8
main.main()
\t/srv/app/main.go:12 +0x1d
exit status 2
"""
RUST = """\
thread 'works' (32329) panicked at src/main.rs:9:22:
assertion `left == right` failed
  left: 2
 right: 3
stack backtrace:
   0: __rustc::rust_begin_unwind
             at /rustc/library/std/src/panicking.rs:689:5
   1: core::panicking::assert_failed::<i32, i32>
             at /rustc/library/core/src/panicking.rs:394:5
"""
GCC = """\
gcc -Wall -c main.c
main.c: In function 'main':
main.c:3:38: warning: implicit declaration of function 'undeclared' [-Wimplicit-function-declaration]
    3 |     undeclared(1);
      |     ^~~~~~~~~~
main.c:4:12: error: 'y' undeclared (first use in this function)
    4 |     return y;
      |            ^
make: *** [Makefile:5: main.o] Error 1
"""
PYTEST = """\
=================================== FAILURES ===================================
___________________________________ test_add ___________________________________

    def test_add():
        x = add(1, 2)
>       assert x == 3, "sum is wrong"
E       AssertionError: sum is wrong
E       assert -1 == 3

test_sums.py:10: AssertionError
=========================== short test summary info ============================
FAILED test_sums.py::test_add - AssertionError: sum is wrong
"""
NGINX = """\
10.0.0.7 - - [12/May/2026:10:12:13 +0000] "GET /cart HTTP/1.1" 200 512 "-" "curl/8.1"
10.0.0.9 - - [12/May/2026:10:12:14 +0000] "POST /pay HTTP/1.1" 502 157 "-" "Mozilla/5.0"
2026/05/12 10:12:14 [error] 12#12: *3 connect() failed (111: Connection refused) while connecting to upstream
"""
DIFF = """\
diff --git a/cache.py b/cache.py
index 04b5b96..409dafc 100644
--- a/cache.py
+++ b/cache.py
@@ -16,7 +16,7 @@ __all__ = ["Cache"]
~
 T = TypeVar("T")
~
-FORMAT = 4
+FORMAT = 5
~
~
 class Cache:
diff --git a/words.py b/words.py
index 14b5b96..109dafc 100644
--- a/words.py
+++ b/words.py
@@ -1,2 +1,2 @@
--- a line that was removed
+++ a line that was added
 import re
""".replace("~", " ")
LOGS = {
    "syslog": SYSLOG,
    "python": PYTHON,
    "java": JAVA,
    "node": NODE,
    "go": GO,
    "rust": RUST,
    "gcc": GCC,
    "pytest": PYTEST,
    "nginx": NGINX,
    "diff": DIFF,
}


def parts(text):
    return [text[start:end].rstrip("\n") for _, start, end, *_ in segment(text)]


def needs(text):
    """Return the first line of a segment -> the first lines of the segments that it needs."""
    segments, said = segment(text), [part.partition("\n")[0].strip() for part in parts(text)]
    return {said[n]: [said[other] for other in found.needs] for n, found in enumerate(segments) if found.needs}


@pytest.mark.parametrize("text", LOGS.values(), ids=LOGS)
def test_logs_are_cut_at_lines_and_nothing_is_lost(text):
    segments = segment(text)
    assert {found.kind for found in segments} == {Kind.LOG}
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


def test_a_hunk_needs_the_header_of_its_file():
    assert needs(DIFF) == {
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
        f"Run it:\n\n```\n{SYSLOG}```\n",
        "| time | what |\n|---|---|\n| 10:00:00 | start |\n| 10:00:01 | stop |\n| 10:00:02 | end |\n",
        "--- \nA rule, and a list:\n\n+ one\n+ two\n- three\n",
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
