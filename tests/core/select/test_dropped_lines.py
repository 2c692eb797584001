"""Markers where lines of a log were dropped."""

from itertools import pairwise

from ctxcompress import compress

LINES = [f"2026-05-01 10:{n:02}:00 INFO worker: finished job {n} of the batch" for n in range(60)]
LINES[20] = "2026-05-01 10:20:00 ERROR worker: the disk is full"
LINES[40] = "2026-05-01 10:40:00 INFO disk: cleaned up 3 directories"
LOG = "\n".join(LINES)
MARKER = "[…]"


def kept(text, **options):
    return compress("why was the disk full?", [text], max_tokens=120, **options)


def test_there_is_a_marker_where_lines_are_missing_and_nowhere_else():
    shown = kept(LOG).text.split("\n")
    assert LINES[20] in shown
    for before, after in pairwise(shown):
        if MARKER not in (before, after):
            assert LINES.index(after) == LINES.index(before) + 1
    places = [LINES.index(line) for line in shown if line in LINES]
    assert shown.count(MARKER) == sum(second - first > 1 for first, second in pairwise(places))


def test_markers_are_no_part_of_the_spans():
    passage = kept(LOG).passages[0]
    assert any(MARKER in marker.text for marker in passage.markers)
    assert MARKER not in "".join(LOG[start:end] for start, end in passage.spans)
