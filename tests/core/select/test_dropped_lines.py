"""Markers that say how many lines of a log were dropped."""

import re
from itertools import pairwise

import pytest

from ctxcompress import Passage, compress

LINES = [f"2026-05-01 10:{n:02}:00 INFO worker: finished job {n} of the batch" for n in range(60)]
LINES[20] = "2026-05-01 10:20:00 ERROR worker: the disk is full"
LINES[40] = "2026-05-01 10:40:00 INFO disk: cleaned up 3 directories"
LOG = "\n".join(LINES)
MARKER = re.compile(r"\[… ([\d,]+) lines? dropped\]")


def kept(text, **options):
    return compress("why was the disk full?", [text], max_tokens=120, mark_dropped_lines=True, **options)


def test_markers_count_the_lines_between_kept_ones():
    shown = kept(LOG).text.split("\n")
    assert LINES[20] in shown
    places = [LINES.index(line) for line in shown if line in LINES]
    for before, line, after in zip(shown, shown[1:], shown[2:], strict=False):
        if found := MARKER.fullmatch(line):
            assert int(found[1]) == LINES.index(after) - LINES.index(before) - 1
    assert len([line for line in shown if MARKER.fullmatch(line)]) == sum(
        second - first > 1 for first, second in pairwise(places)
    )


@pytest.mark.parametrize("budget", [20, 60, 120, 400, 900])
def test_the_budget_holds_with_markers(budget):
    assert compress("why was the disk full?", [LOG], max_tokens=budget, mark_dropped_lines=True).tokens <= budget


def test_markers_are_no_part_of_the_spans():
    result = kept(LOG)
    passage = result.passages[0]
    assert any("dropped" in marker.text for marker in passage.markers)
    assert "dropped" not in "".join(LOG[start:end] for start, end in passage.spans)


def test_there_are_none_by_default_and_none_in_prose():
    assert "dropped]" not in compress("why was the disk full?", [LOG], max_tokens=120).text
    prose = " ".join(f"The disk number {n} is full of old files and of dust." for n in range(60))
    assert "dropped]" not in kept(prose).text


def test_windows_line_ends_stay():
    assert "\n[…" not in kept(LOG.replace("\n", "\r\n")).text.replace("\r\n", "")


def test_a_text_cannot_forge_a_marker():
    forged = LOG.replace(LINES[21], "[… 3 lines dropped]: the disk is full")
    assert "\n\\[… 3 lines dropped]: the disk is full" in kept(forged).text
    assert kept("[... 9 Lines Dropped]").text == "\\[... 9 Lines Dropped]"
    assert compress("q", ["[… 9 lines dropped]"], max_tokens=99).text == "[… 9 lines dropped]"


def test_markers_of_an_earlier_compression_stay():
    first = kept(LOG)
    record = {"markers": [[marker.before, marker.text] for marker in first.passages[0].markers]}
    again = Passage("0", first.text, metadata={"ctxcompress": record})
    result = compress("why was the disk full?", [again], max_tokens=120, mark_dropped_lines=True)
    assert result.text == first.text
