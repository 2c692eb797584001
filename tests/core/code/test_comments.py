"""Comments are cut where the reader of a file sees that something ends, and their sign is that of the text."""

import pytest

from ctxcompress import compress
from ctxcompress.code.comments import comment_parts, comment_sign, is_disabled

DEFAULTS = """\
# Defaults of the mail gate. The service reads them when it starts.
# Read the manual before you change anything.
#
# How often the queue is read
#QUEUE_INTERVAL='20m'
# Where bounced mail goes
#BOUNCE_ADDRESS='postmaster'
# Which greylist the gate asks first
#GREYLIST_HOST='grey.local'
"""
SECTION = "[Lid]\n" + "".join(
    f"#{key}\n"
    for key in ("OnPowerKey=halt", "OnSleepKey=sleep", "OnLidClosed=sleep", "OnLidDocked=ignore", "IdleAfter=25min")
)
LICENCE = "# This file is part of the lid service.\n#\n# It is free; you may pass it on and change it as you like.\n\n"


def _parts(text, sign="#"):
    begins = comment_parts(text, 0, len(text), sign)
    return [text[start:end] for start, end in zip(begins, [*begins[1:], len(text)], strict=True)]


def test_a_line_that_is_turned_off_stays_with_the_lines_that_describe_it():
    assert _parts(DEFAULTS)[1:] == [
        "# How often the queue is read\n#QUEUE_INTERVAL='20m'\n",
        "# Where bounced mail goes\n#BOUNCE_ADDRESS='postmaster'\n",
        "# Which greylist the gate asks first\n#GREYLIST_HOST='grey.local'\n",
        "",
    ]


def test_a_block_that_is_turned_off_is_one_part():
    text = "#listener front {\n#  port = 25\n#}\n#user = gate\n"
    assert _parts(text) == ["#listener front {\n#  port = 25\n#}\n", "#user = gate\n", ""]


def test_the_last_lines_belong_to_what_follows():
    assert _parts("#old = 1\n# The port\nport = 2\n") == ["#old = 1\n", "# The port\nport = 2\n"]


def test_a_short_comment_of_prose_is_one_part_and_a_long_one_has_paragraphs():
    paragraph = "# The gate reads this file, then it starts.\n"
    assert len(_parts(f"{paragraph}#\n{paragraph}")) == 1
    assert _parts(f"{8 * paragraph}#\n{8 * paragraph}") == [f"{8 * paragraph}#\n", 8 * paragraph]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("#Port 22", True),
        ("# port = 22", True),
        (";port=22", True),
        ("# The port", False),
        ("#", False),
        ("## x", False),
    ],
)
def test_lines_that_are_turned_off(line, expected):
    assert is_disabled(line) is expected


@pytest.mark.parametrize(
    ("text", "language", "sign"),
    [
        ("# a\nb {\n", "", "#"),
        ("// a\nb {\n", "", "//"),
        ("b {\n", "", "//"),
        ("# a\n", "lua", "--"),
        ("; a\n", "", ";"),
    ],
)
def test_the_sign_of_a_comment(text, language, sign):
    assert comment_sign(text, language) == sign


@pytest.mark.parametrize("query", ["GREYLIST_HOST", "What is GREYLIST_HOST?", "Which greylist is asked first?"])
@pytest.mark.parametrize("budget", [30, 50])
def test_a_setting_that_is_turned_off_is_found(query, budget):
    assert (
        "# Which greylist the gate asks first\n#GREYLIST_HOST=" in compress(query, [DEFAULTS], max_tokens=budget).text
    )


@pytest.mark.parametrize("text", [SECTION, LICENCE + SECTION])
@pytest.mark.parametrize("query", ["OnLidDocked", "What is the default of OnLidDocked?"])
def test_a_setting_that_is_turned_off_is_found_in_its_section(text, query):
    found = compress(query, [text], max_tokens=25).text
    assert "[Lid]\n" in found
    assert "#OnLidDocked=ignore" in found


def test_settings_that_are_turned_off_among_others_are_found():
    lines = "".join(f"#item_{number} = {number}\n" for number in range(60))
    text = f"[gate]\nhost = grey.local\n{lines}port = 25\n"
    assert "#item_43 = 43\n" in f"{compress('item_43', [text], max_tokens=40).text}\n"


def test_a_gap_is_marked_by_the_sign_of_the_text():
    blocks = "\n".join(
        f"  # The {name} door\n  listener {name} {{\n    port = 25\n    # Who listens\n    user = {name}\n  }}\n"
        for name in ("front", "side", "back", "roof")
    )
    found = compress("listener back", [f"service gate {{\n{blocks}}}\n"], max_tokens=60).text
    assert "  # ...\n" in found
    assert "listener back {" in found
    assert "//" not in found
