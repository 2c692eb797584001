"""Which lines of logs, tracebacks, build output and diffs are kept for a question."""

import pytest

from ctxcompress import Passage, compress

HEARTBEATS = [
    f"2026-05-01 10:{n // 60:02}:{n % 60:02},120 INFO  [pool-{n % 7}] c.e.Poller - polled shard {n} in {n * 37 % 90} ms"
    for n in range(300)
]
"""Three hundred lines of one shape."""
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


def test_a_piece_of_a_diff_comes_with_its_headers(scorer):
    hunks = "".join(
        f"--- a/part{n}.py\n+++ b/part{n}.py\n@@ -{n},2 +{n},2 @@ def part{n}():\n-    return {n}\n+    return {n}0\n"
        for n in range(1, 40)
    )
    changed = "--- a/retry.py\n+++ b/retry.py\n@@ -3,2 +3,2 @@ def wait():\n-    delay = 5\n+    delay = backoff(5)\n"
    assert changed.rstrip() in kept("how did the delay of the retry change?", hunks + changed, scorer=scorer)


def test_a_log_without_a_word_of_the_question_leaves_the_room_to_other_text():
    log = "\n".join(HEARTBEATS)
    chunks = [log[start : start + 600] for start in range(0, 12_000, 600)]
    lease = "The tenant pays the rent on the first day.\n\nThe deposit is three rents.\n\nIt can be paid in parts."
    assert lease in compress("how large is the deposit?", [*chunks, lease], max_tokens=100).text
    result = compress("who painted the ceiling?", [*chunks, lease], max_tokens=500, adaptive=True, on_empty="drop")
    assert not result.text


SHORT = {
    "steps": "Step {n}/300 : COPY part{n} /srv/part{n}",
    "epochs": "epoch {n} loss {n}.5",
    "cmake": "[{n}%] Building CXX object m{n}.o",
    "go": "ok  \tgithub.test/x/pkg{n}\t0.{n}s",
    "users": "user{n} logged in",
}
FAULTS = ["ERROR: the disk is full", "\x1b[91merror\x1b[0m: it is full", "Fehler: Platte voll"]


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


PASSED = {
    "name": "test missing::{n} ... ok",
    "secret": "token_{n}: ***",
}


@pytest.mark.parametrize("line", PASSED.values(), ids=PASSED)
def test_thousands_of_names_hide_no_error(line):
    letters = "bcdfghklmnpqrtvwxz"
    names = [first + second + third for first in letters for second in letters for third in letters]
    lines = [f"2026-05-01T10:00:00.1234567Z {line.format(n=name)}" for name in names]
    error = "2026-05-01T10:00:09.1234567Z sh: 1: marsh: not found"
    assert error in kept("why did it fail?", "\n".join([*lines[:5_000], error, *lines[5_000:]]), 60)


def test_colours_with_their_first_character_written_out_hide_no_error():
    lines = [f"^[[32mwave of tide\t{n * 7}^[[0m" for n in range(300)]
    text = "\n".join([*lines[:230], "^[[31mFAILED at the marsh^[[0m", *lines[230:]])
    assert "FAILED at the marsh" in kept("why did it go wrong?", text, 40)
