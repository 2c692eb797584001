"""Lines that programs print are rows: no kept line is made of two."""

import random

import pytest

from ctxcompress import compress
from ctxcompress.segment.formats import segment

CHANCE = random.Random(2)
PODS = "NAME                        READY   STATUS             RESTARTS        AGE    IP              NODE\n" + "".join(
    f"{name}-7c9f{CHANCE.randint(1000, 9999)}".ljust(28)
    + f"1/1     {CHANCE.choice(['Running', 'CrashLoopBackOff']):19}"
    + f"{CHANCE.randint(0, 40)} ({CHANCE.randint(2, 59)}m ago)".ljust(16)
    + f"{CHANCE.randint(1, 90)}d".ljust(7)
    + f"10.0.{CHANCE.randint(0, 255)}.{CHANCE.randint(2, 250)}".ljust(16)
    + f"node-{CHANCE.choice('abcdef')}\n"
    for name in ["cart", "ledger", "mailer", "search"] * 25
)
PROCESSES = "USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND\n" + "".join(
    f"www-data   {number:5} {number % 7}.1  2.0  {number * 77 % 9999:5} {number * 31 % 5000:5} ?        Ss   "
    f"Nov{number % 28 + 1:02}   0:{number % 60:02} /usr/bin/redis-server *:{number + 5000}\n"
    for number in range(1000, 1150)
)
METRICS = "".join(
    f'http_seconds_bucket{{endpoint="/{path}",le="{limit}",service="{name}"}} {CHANCE.randint(0, 999)}.0\n'
    for name in ("cart", "ledger", "pdf", "mailer")
    for path in ("login", "orders", "items", "health")
    for limit in ("0.1", "0.25", "2.5", "+Inf")
)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        (PODS, "which mailer pods are in CrashLoopBackOff, and on which node?"),
        (PROCESSES, "which process listens on 6076?"),
        (METRICS, "how many requests of pdf to /orders took less than 2.5 seconds?"),
    ],
    ids=["kubectl", "ps", "prometheus"],
)
@pytest.mark.parametrize("max_tokens", [150, 400, 700])
def test_every_kept_line_is_a_line_of_the_input(text, query, max_tokens):
    kept = compress(query, [text], max_tokens=max_tokens).text
    assert kept
    assert set(kept.splitlines()) <= {*text.splitlines(), ""}


def test_rows_bring_the_header_of_their_columns():
    assert compress("who runs pid 1077?", [PROCESSES], max_tokens=150).text.startswith("USER         PID")


FOLDERS = "lib docs tests tools images fonts".split()
WORDS = "mount login sleep clock cart ledger mailer search".split()
UNITS = "UNIT FILE                     STATE    PRESET\n" + "".join(
    f"{name}-{kind}.service".ljust(30) + "static   -\n" for name in WORDS for kind in FOLDERS
)


def test_a_header_in_capitals_needs_no_numbers_below():
    units = UNITS.splitlines()
    assert [part.needs for part in segment(UNITS)] == [(), *[(0,)] * (len(units) - 1)]


@pytest.mark.parametrize("sign", ["|", "\t"])
def test_rows_without_their_header_are_kept_whole(sign: str) -> None:
    rows = [f"part{n} {sign} Counts the valves of hall {n}. Use `--hall` to choose. {sign} Linux" for n in range(9)]
    kept = compress("Which part counts the valves of hall 4?", ["\n".join(rows)], max_tokens=70).text
    assert rows[4] in kept
    lines = kept.replace(" […]", "").replace("[…] ", "").split("\n")
    assert [line for line in lines if line not in (*rows, "[…]")] == []


def test_options_of_a_manual_with_wide_blanks_are_no_rows() -> None:
    text = (
        "If a compound command or shell function  executes\t in  a\n"
        "\t\t      context  where -e is being ignored, none of the commands\n"
        "\t\t      executed within the compound command  or\tfunction  body\n"
        "\t\t      will  be\taffected  by the -e setting.\n"
        "\t      -f      Disable pathname expansion.\n"
        "\t      -h      Remember the location of commands as they are looked  up\n"
        "\t\t      for execution.  This is enabled by default.\n"
        "\t      -k      All  arguments  in the form of assignment statements are\n"
        "\t\t      placed in the environment for a command, not just\t those\n"
        "\t\t      that precede the command name.\n"
    )
    kept = compress("what does -e set?", [text], max_tokens=60).text
    assert "none of the commands" in kept
    assert "will  be\taffected  by the -e setting." in kept


DRAWN = """\
    +-------------+------------------------------------------+
    |   Command   |                  Effect                  |
    |-------------+------------------------------------------|
    |drop a       |removes the box a with all that is in it, |
    |             |if nobody has locked it                   |
    |-------------+------------------------------------------|
    |             |moves the box a into the room b, which    |
    |send a b     |must exist                                |
    |-------------+------------------------------------------|
    |send a b/    |renames the box a, if there is no box of  |
    |c            |that name in the room b                   |
    +-------------+------------------------------------------+
"""
GRID = """\
+------------+----------------------+
| Command    | Effect               |
+============+======================+
| drop a     | removes the box, if  |
|            | nobody has locked it |
+------------+----------------------+
| send a b   | moves the box        |
+------------+----------------------+
"""
RESULT = """\
+----+--------+
| id | name   |
+----+--------+
|  1 | Anna   |
|  2 | Berta  |
|  3 | Carla  |
+----+--------+
"""


@pytest.mark.parametrize("max_tokens", range(30, 150, 15))
def test_a_row_between_two_rules_is_kept_whole(max_tokens):
    kept = compress("What does send a b do?", [DRAWN], max_tokens=max_tokens, encoding="o200k_base").text
    lines = DRAWN.splitlines()
    for first, second in ((3, 4), (6, 7), (9, 10)):
        assert (lines[first] in kept) == (lines[second] in kept)
    assert "must exist" in kept or max_tokens < 60


@pytest.mark.parametrize(
    ("text", "rows"),
    [(DRAWN, [3, 3, 3, 3]), (GRID, [3, 3, 1, 1]), (RESULT, [3, 1, 1, 1, 1])],
    ids=["drawn", "rst", "mysql"],
)
def test_a_rule_belongs_to_the_header_or_to_a_row_of_several_lines(text, rows):
    assert [text[part.start : part.end].count("\n") for part in segment(text)] == rows


def test_a_line_of_signs_below_names_is_a_line_as_any_other():
    text = "NAME   VALUE\n=====  =====\nfoo    1\nbar    2\n\n"
    assert [text[part.start : part.end] for part in segment(text)] == [
        *text.splitlines(keepends=True)[:3],
        "bar    2\n\n",
    ]
