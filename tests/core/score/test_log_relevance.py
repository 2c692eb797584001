"""Which lines of logs, tracebacks, build output and diffs are kept for a question."""

import pytest

from ctxcompress import Passage, compress
from ctxcompress.data.documents import documents_as_they_are
from ctxcompress.data.table import SegmentTable
from ctxcompress.score.line_shapes import LineShapes
from ctxcompress.segment.segments import segment

HEARTBEATS = [
    f"2026-05-01 10:{n // 60:02}:{n % 60:02},120 INFO  [pool-{n % 7}] c.e.Poller - polled shard {n} in {n * 37 % 90} ms"
    for n in range(300)
]
"""Three hundred lines of one shape."""
TRACEBACK = """\
Traceback (most recent call last):
  File "/srv/app/main.py", line 88, in <module>
    run(settings)
  File "/srv/app/jobs.py", line 40, in run
    load(settings.path)
  File "/usr/lib/python3.11/json/__init__.py", line 293, in load
    return loads(fp.read())
json.decoder.JSONDecodeError: Expecting ',' delimiter: line 7 column 3 (char 120)
"""
HADOOP = [
    "2026-05-01 18:01:53,447 INFO [main] org.example.rm.RMContainerRequestor: nodeBlacklistingEnabled:true",
    "2026-05-01 18:01:53,713 INFO [main] org.example.launcher.ContainerLauncherImpl: Upper limit on the pool is 500",
    "2026-05-01 18:01:53,885 INFO [Thread-50] org.example.rm.RMContainerAllocator: mapResourceRequest:<memory:1024>",
]


def with_line(line, at=170):
    return "\n".join([*HEARTBEATS[:at], line, *HEARTBEATS[at:]])


def kept(query, text, budget=150, **options):
    return compress(query, [text], max_tokens=budget, **options).text


@pytest.fixture(params=["evidence", "bm25"])
def scorer(request):
    return request.param


@pytest.mark.parametrize(
    "query", ["why did it fail?", "what went wrong?", "Warum ist es abgestürzt?", "was there a problem?"]
)
def test_the_only_error_answers_why_it_failed(query, scorer):
    line = "2026-05-01 10:02:50,900 ERROR [pool-3] c.e.sync.Writer - no space left on device"
    assert line in kept(query, with_line(line), scorer=scorer)


def test_the_only_line_of_its_shape_is_found_without_its_words(scorer):
    line = "2026-05-01 10:02:50,900 INFO  [main] c.e.sync.Limits - upper bound of the pool: 500"
    assert line in kept("how many threads may there be?", with_line(line), scorer=scorer)


def test_one_line_stands_for_its_shape(scorer):
    others = [
        f"2026-05-01 10:09:0{n},001 INFO  [main] c.e.{said}"
        for n, said in enumerate(["Main - up", "Gate - ok", "Db - on"])
    ]
    shown = kept("which shard was polled?", "\n".join([*HEARTBEATS, *others]), scorer=scorer)
    assert all(line in shown for line in others)


def test_the_best_line_of_a_shape_is_the_one_with_the_words(scorer):
    assert HEARTBEATS[211] in kept("how long did shard 211 take?", "\n".join(HEARTBEATS), scorer=scorer)


@pytest.mark.parametrize(
    ("query", "line"),
    [
        ("is blacklisting of nodes enabled?", HADOOP[0]),
        ("what is the limit of launchers?", HADOOP[1]),
        ("how much memory is requested for a map?", HADOOP[2]),
    ],
)
def test_parts_of_identifiers_match(query, line, scorer):
    assert line in kept(query, "\n".join([*HEARTBEATS[:150], *HADOOP, *HEARTBEATS[150:]]), 120, scorer=scorer)


def test_the_last_line_of_a_traceback_says_why(scorer):
    text = with_line(TRACEBACK.rstrip())
    shown = kept("why did it crash?", text, 110, scorer=scorer)
    assert "JSONDecodeError: Expecting ','" in shown


def test_frames_come_with_their_exception(scorer):
    shown = kept("where is settings.path loaded?", TRACEBACK, 100, scorer=scorer)
    assert "load(settings.path)" in shown
    assert "JSONDecodeError: Expecting ','" in shown


def test_a_piece_of_a_diff_comes_with_its_headers(scorer):
    hunks = "".join(
        f"--- a/part{n}.py\n+++ b/part{n}.py\n@@ -{n},2 +{n},2 @@ def part{n}():\n-    return {n}\n+    return {n}0\n"
        for n in range(1, 40)
    )
    changed = "--- a/retry.py\n+++ b/retry.py\n@@ -3,2 +3,2 @@ def wait():\n-    delay = 5\n+    delay = backoff(5)\n"
    assert changed.rstrip() in kept("how did the delay of the retry change?", hunks + changed, scorer=scorer)


def test_logs_and_prose_compete(scorer):
    prose = "The nightly job writes its report into the folder archive. It keeps ninety reports."
    passages = [with_line("2026-05-01 10:02:50,900 INFO  [main] c.e.Main - started"), prose]
    shown = compress("where does the nightly job write its report?", passages, max_tokens=90, scorer=scorer).text
    assert "folder archive" in shown


def test_scores_are_probabilities_and_order_does_not_depend_on_other_passages():
    text = with_line("2026-05-01 10:02:50,900 ERROR [pool-3] c.e.sync.Writer - no space left on device")
    result = compress("why did it fail?", [text], max_tokens=150)
    assert all(0 <= passage.relevance <= 1 for passage in result.passages)


def shapes(lines):
    text = "\n".join(lines) + "\n"
    documents = documents_as_they_are([text])
    return LineShapes.of(SegmentTable.of(documents, [segment(text)])).shape.tolist()


def test_a_shape_ignores_numbers_names_and_paths():
    assert set(shapes(HEARTBEATS[:9])) == {0}
    opened = [f"Dec 10 09:32:2{n} box sshd[2468{n}]: session opened for user {name} by (uid=0)" for n, name in
              enumerate(["anna", "ben", "carl"])]  # fmt: skip
    closed = ["Dec 10 09:45:06 box sshd[24680]: session closed for user anna"]
    assert shapes([*opened, *closed]) == [0, 0, 0, 1]


def test_an_empty_question_keeps_rare_lines():
    line = "2026-05-01 10:02:50,900 ERROR [pool-3] c.e.sync.Writer - no space left on device"
    assert kept("", with_line(line))
    assert compress("?", [Passage("1", with_line(line))], max_tokens=60).tokens <= 60


def test_a_log_without_a_word_of_the_question_leaves_the_room_to_other_text():
    log = "\n".join(HEARTBEATS)
    chunks = [log[start : start + 600] for start in range(0, 12_000, 600)]
    lease = "The tenant pays the rent on the first day.\n\nThe deposit is three rents.\n\nIt can be paid in parts."
    assert lease in compress("how large is the deposit?", [*chunks, lease], max_tokens=100).text
    result = compress("who painted the ceiling?", [*chunks, lease], max_tokens=500, adaptive=True, on_empty="drop")
    assert not result.text


TROUBLE = [
    f"May 12 07:{n:02}:11 gate {program}[{4000 + n}]: {said}"
    for n, (program, said) in enumerate(
        [
            ("pamd", "error: probable replay of a token"),
            ("ftpd", "FAILED login attempt of root"),
            ("mailer", "fatal: read from socket failed: connection reset by peer"),
            ("proxy", "error: cannot bind, address is in use"),
            ("couchd", "error: Broken pipe while syncing"),
            ("cron", "error: job skipped, authentication module is missing"),
            ("kernel", "panic: not enough memory for the journal"),
            ("named", "error: zone refused, no such key"),
            ("sshd", "error: authentication failure for admin via console"),
            ("dhcp", "fatal: lease file is corrupt"),
        ]
    )
]
"""Lines of as many shapes, which all say that something went wrong."""


@pytest.mark.parametrize("query", ["PROBABLE BREAK-OUT", "break-out", "Which door had a probable break-out?"])
def test_a_compound_with_a_word_for_failures_does_not_ask_what_went_wrong(query, scorer):
    line = "May 12 07:40:12 gate doord[4712]: badge of door 7, which is in use, was not seen on any way - BREAK-OUT"
    assert line in kept(query, "\n".join([*TROUBLE, line, *TROUBLE[::-1]]), 70, scorer=scorer)


@pytest.mark.parametrize(
    ("query", "line"),
    [
        ("What error came with the depot harbour?", "stored[77]: connection from 10.2.3.4 (depot.harbour.example)"),
        ("What error came with disconnecting many failures?", "stored[77]: Disconnecting: Too many failures to count"),
    ],
)
def test_a_line_with_the_words_of_the_question_comes_before_worse_ones(query, line):
    assert line in kept(query, "\n".join([*TROUBLE, f"May 12 07:40:12 gate {line}", *TROUBLE[::-1]]), 55)


_NAMES = ("test_total", "test_refund_dates", "test_invoices", "test_coupons", "test_taxes", "test_labels")


def _failed(name: str) -> str:
    dates = "".join(f"E         {{'due {n}': date(2026, 3, {n})}} != {{'due {n}': None}}\n" for n in range(6))
    differences = dates if name == "test_refund_dates" else "E         + where 35 = total([10, 20], 0.19)\n"
    return (
        f"{'_' * 30} {name} {'_' * 30}\n\n    def {name}():\n"
        f">       assert got == wanted\nE       AssertionError: not equal\n{differences}\ntest_shop.py:7: Error\n"
    )


def test_what_failed_in_the_test_asked_for_comes_before_other_failures() -> None:
    passed = "".join(f"test_shop.py::test_item[{n}] PASSED [ {n}%]\n" for n in range(80))
    failed = "".join(map(_failed, _NAMES))
    text = f"==== test session starts ====\n{passed}==== FAILURES ====\n{failed}==== short test summary ====\n"
    text += "".join(f"FAILED test_shop.py::{name} - AssertionError\n" for name in _NAMES)
    kept = compress("why does test_refund_dates fail?", [text], max_tokens=300).text
    assert "E         {'due 0': date(2026, 3, 0)}" in kept


SHORT = {
    "steps": "Step {n}/300 : COPY part{n} /srv/part{n}",
    "epochs": "epoch {n} loss {n}.5",
    "cmake": "[{n}%] Building CXX object m{n}.o",
    "go": "ok  \tgithub.test/x/pkg{n}\t0.{n}s",
    "users": "user{n} logged in",
}
FAULTS = [
    "ERROR: the disk is full",
    "fatal: the disk is full",
    "\x1b[91merror\x1b[0m: it is full",
    "Fehler: Platte voll",
]


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("line", SHORT.values(), ids=SHORT)
def test_the_only_fault_in_a_console_of_short_lines_is_kept(line, fault):
    lines = [line.format(n=n) for n in range(300)]
    text = "\n".join([*lines[:230], fault, *lines[230:]])
    assert fault in kept("why did the build fail?", text, 200)
    assert fault in kept("why did the build fail?", text, 60)
    chunks = [Passage(str(n), text[n : n + 1_000]) for n in range(0, len(text), 1_000)]
    assert fault.split()[-1] in compress("what went wrong?", chunks, max_tokens=300).text


ASKED = """\
warum ist der Build fehlgeschlagen? | pourquoi la construction a-t-elle échoué ? | ¿por qué falló? | perché è fallita?
por que falhou? | waarom is de build mislukt? | почему сборка упала? | neden başarısız? | 为什么构建失败了？
なぜ失敗したのですか？ | 왜 실패했나요? | لماذا فشل البناء؟ | यह विफल क्यों हुआ? | ทำไมล้มเหลว
"""


@pytest.mark.parametrize("query", ASKED.replace("\n", " | ").split(" | ")[:-1])
def test_a_question_of_any_language_asks_what_went_wrong(query):
    lines = [f"epoch {n} loss {n}.5" for n in range(300)]
    assert "ERROR: full" in kept(query, "\n".join([*lines[:230], "ERROR: full", *lines[230:]]), 100)


BELOW = {
    "place": "error: the tide table is off\n  --> src/tide.rs:77:22\n   |\n77 |     table.rows[9]",
    "difference": "FAIL test/tide.js\n  ● rounds\n\n    Expected: 2.35\n    Received: 2.34",
    "task": "FAILURE: Build failed.\n\n* What went wrong:\nExecution failed for task ':marsh'.\n> two files found",
    "list": "ERROR: Cannot install a and b.\n\nThe conflict is caused by:\n    a 5.3 depends on c<6\n    b needs c 7",
}


@pytest.mark.parametrize("prefix", ["", "2026-05-01T10:00:00.1234567Z "], ids=["plain", "stamped"])
@pytest.mark.parametrize("below", BELOW.values(), ids=BELOW)
def test_what_belongs_to_the_line_that_says_what_went_wrong_comes_with_it(below, prefix):
    lines = [f"cached part {n} of tide{n % 9}" for n in range(200)]
    text = "\n".join(prefix + line for line in [*lines[:150], *below.split("\n"), *lines[150:]])
    found = kept("why did the build fail?", text, 300)
    assert [line for line in below.split("\n") if line and prefix + line not in found] == []


def test_lines_of_a_frequent_shape_are_not_raised_by_an_error_beside_them():
    done = [f"part {n} done" for n in range(20)]
    text = "\n".join([*done, "ERROR: full", "at slot 8 of the quay", *done])
    table = SegmentTable.of(documents_as_they_are([text]), [segment(text)])
    severity = LineShapes.of(table).severity
    assert severity[20] > severity[21] > 4 * severity[22]


def test_a_word_of_the_question_that_many_lines_have_does_not_outweigh_what_went_wrong():
    steps = [
        f"{tool}:build: step {n} of {tool} took {n * 7 % 13} ms" for n in range(40) for tool in ("web", "api", "db")
    ]
    steps[70] = "db: the migration 0042 does not apply"
    log = "\n".join([*steps, "The build ends here", "A build of the web was asked for", "build db"])
    assert steps[70] in compress("Why did the build fail?", [log], max_tokens=60).text
