"""What `git log` prints: a message stands under its own hash and date."""

import random

import pytest

from ctxcompress import compress
from ctxcompress.segment.segments import segment

CHANCE = random.Random(5)
SUBJECTS = [
    f"{verb} the {what} of the {where}"
    for verb in ("Add", "Remove", "Mend", "Rename")
    for what in ("timeout", "cache", "parser", "header")
    for where in ("client", "server", "index", "report")
]
COMMITS = [
    f"commit {CHANCE.getrandbits(160):040x}\nAuthor: Ann <ann@example.org>\n"
    f"Date:   2026-0{number % 9 + 1}-1{number % 7} 10:{number % 60:02}:00 +0100\n\n    {subject}\n\n"
    + ("    It was too slow.\n\n" if number % 3 else "")
    for number, subject in enumerate(SUBJECTS)
]
LOG = "".join(COMMITS)


@pytest.mark.parametrize("number", [3, 17, 40])
def test_a_subject_has_its_own_hash_and_date(number):
    kept = compress(f'when was "{SUBJECTS[number]}" done?', [LOG], max_tokens=300).text
    head = COMMITS[number].partition("\n\n")[0]
    assert f"{head}\n\n    {SUBJECTS[number]}\n" in f"{kept}\n"


def test_each_kept_subject_stands_under_its_own_head():
    kept = compress("what changed in the cache?", [LOG], max_tokens=400).text
    for part in kept.split("commit ")[1:]:
        original = next(commit for commit in COMMITS if commit.startswith(f"commit {part[:40]}"))
        assert all(line in original for line in part.splitlines() if line != "[…]")


@pytest.mark.parametrize("text", [LOG, LOG[100:], LOG[:-30], LOG.replace("\n", "\r\n")])
def test_segments_partition_the_text(text):
    assert "".join(text[part.start : part.end] for part in segment(text)) == text
