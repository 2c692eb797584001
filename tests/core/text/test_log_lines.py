"""Which texts are logs, and what their lines are."""

import pytest

from ctxcompress.text.log_lines import LineKind, has_signs, is_log, is_output, log_lines

ENTRIES = {
    "android": "03-17 16:13:38.811  1702  2395 D Window: opening app token=Token{a64f992",
    "apache": "[Sun Dec 04 04:47:44 2025] [notice] worker init ok /etc/httpd/conf/workers.properties",
    "celery": "[2026-05-12 10:12:13,123: INFO/MainProcess] Task app.add[1234] received",
    "dmesg": "[    0.000000] Linux version 6.1.0-18-amd64 (debian-kernel@lists.debian.org)",
    "django": '[12/May/2026 10:12:13] "GET /admin/ HTTP/1.1" 200 1234',
    "docker": 'time="2026-05-12T10:12:13Z" level=error msg="failed to pull image" error="unauthorized"',
    "epoch": "- 1117838570 2025.06.03 R02-M1 2025-06-03-15.42.50.363779 R02-M1 RAS KERNEL INFO parity error corrected",
    "glog": "I0512 10:12:13.123456   12345 server.go:120] starting server",
    "hdfs": "081109 203518 143 INFO node.Receiver: Receiving block blk_-16089 src: /10.0.0.2:54106",
    "loguru": "2026-05-12 10:12:13.123 | ERROR    | app.main:run:40 - it broke",
    "mysql": "2026-05-12T10:12:13.123456Z 0 [System] [MY-010116] [Server] mysqld starting as process 1",
    "nginx": '10.0.0.1 - anna [12/May/2026:10:12:13 +0000] "GET /cart HTTP/1.1" 200 512 "-" "curl/8.1"',
    "postgres": "2026-05-12 10:12:13.123 UTC [123] LOG:  database system is ready to accept connections",
    "rails": 'I, [2026-05-12T10:12:13.123456 #123]  INFO -- : Started GET "/" for 127.0.0.1',
    "redis": "1:M 12 May 2026 10:12:13.123 * Ready to accept connections tcp",
    "spark": "26/06/09 20:10:40 INFO executor.Backend: Registered signal handlers for [TERM, HUP, INT]",
    "syslog": "Jul  1 09:00:55 box kernel: PID hash table entries: 512",
    "zookeeper": "2026-07-29 17:41:44,747 - INFO  [Quorum[myid=1]:Election@774] - Notification time out: 3200",
}
SAID = {
    "irc": "[10:12:13] <anna> the build is red again",
    "discord": "[2026-05-12 10:12:13] Anna#1234: look at this picture",
    "transcript": "00:12:05 Anna Smith: so the budget is fixed",
    "whatsapp": "12/05/2026, 10:12:13 - Anna: see you there",
    "subtitle": "00:00:01.000 --> 00:00:04.000",
}


@pytest.mark.parametrize("line", ENTRIES.values(), ids=ENTRIES)
def test_one_line_of_a_log_is_a_log(line):
    assert [found.kind for found in log_lines(line)] == [LineKind.ENTRY]
    assert is_log(line)
    assert is_log(f"{line}\n" * 4)


@pytest.mark.parametrize("line", SAID.values(), ids=SAID)
def test_what_people_say_at_a_time_is_no_log(line):
    assert not is_log(line)
    assert not is_log(f"{line}\n" * 4)


def test_a_log_within_a_program_is_none():
    assert not is_log('def now(t):\n    stamp = t.format("2006/01/02 - 15:04:05")\n    return stamp\n')
    assert not is_log("NotImplementedError\n\n    def suspend(self):\n        raise NotImplementedError\n")


NAMES = "amber birch cedar delta ember fjord grove heron inlet jetty knoll larch".split()
OUTPUT = {
    "apt": "Get:{n} http://deb.test/debian {name} amd64 1.{n}",
    "cmake": "[ {n}%] Building CXX object src/{name}.cpp.o",
    "copied": "Kopiere Datei {n} von 12",
    "docker": "Step {n}/12 : COPY {name} /srv/{name}",
    "epochs": "epoch {n} loss 0.{n} acc 0.9{n}",
    "go": "ok  \tgithub.test/x/{name}\t0.{n}s",
    "gradle": "> Task :{name}{n}:compileJava",
    "pip": "Requirement already satisfied: {name}{n} in /usr/lib/python3 (1.{n})",
    "pytest": "tests/test_{name}.py ......   [ {n}%]",
    "status": "\tmodified:   src/{name}/{n}.go",
    "translated": "正在编译 模块{n} {name}.c",
    "users": "user{n} logged in",
}


@pytest.mark.parametrize("line", OUTPUT.values(), ids=OUTPUT)
def test_lines_whose_shape_is_repeated_are_output_of_a_program(line):
    lines = [line.format(n=n, name=name) for n, name in enumerate(NAMES, 10)]
    assert is_log("\n".join([*lines, "the disk is full"]))
    assert is_log("\r\n".join([*lines, "the disk is full"]))
    assert is_output("\n".join(["some words first"] * 40 + lines * 30))  # the same line again says nothing


WRITTEN = {
    "addresses": "{name} Berg\n{n} {name} Street\nSpringfield 627{n}\n",
    "article": "Article {n}\nThe party of {name} shall deliver all goods within {n} days of\nreceipt of the notice.\n",
    "assignment": "server{n}.port = 80{n}\nserver{n}.host = {name}",
    "code": "    case {n}:\n        return {name}({n});",
    "contents": "{n}.1 On {name} .......... {n}",
    "csv": "{name},{n},{n}.50,4",
    "lyrics": "Dance with me tonight\nla la la\nhold me, {name}",
    "numbers": "{n} {n}.5 1{n}",
    "poem": "And {name} was the evening\nwhen the ships came home",
    "sentences": "The {name} of number {n} is painted blue.",
    "table": "| {name} | {n} |",
    "translated": "第{n}条 {name}是蓝色的。",
}


@pytest.mark.parametrize("text", WRITTEN.values(), ids=WRITTEN)
def test_what_persons_write_line_by_line_is_no_output(text):
    assert not is_output("\n".join(text.format(n=n, name=name) for n, name in enumerate(NAMES, 10)))


@pytest.mark.parametrize("line", ["a" * 199, "word " * 40, "." * 199, "1 " * 99, ", " * 99, "a.", "1"])
def test_hostile_lines_take_linear_time(line):
    is_output(f"{line}\n" * 50_000)
    is_output(line * 50_000 + "\n" * 10)


SETUP = "".join(
    f"Preparing the machine of room {n} for the heron's job\nIt has {n} doors, all of them open\n" for n in range(70)
)
STEPS = "".join(f"[INFO] Building module {n} of the heron\n[WARN] module {n} has no tests\n" for n in range(150))


def test_a_log_that_first_tells_what_it_runs_on_is_known_by_its_middle():
    assert not has_signs(SETUP)
    assert has_signs(SETUP + STEPS)
    assert not has_signs(f"{SETUP}\n```\n{STEPS}```\n")


def test_what_a_terminal_has_coloured_is_a_log():
    assert is_log("Working on the heron\n\x1b[32mThe heron is ready\x1b[0m\nNothing else was asked for\n")
