"""What is kept as the final text: which spans are emitted, markers between them, and the order of the passages."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selections import pages
from towns import PASSAGES, QUERY, TEXTS, words

from ctxcompress import compress
from ctxcompress.data.passages import shown
from ctxcompress.segment.formats import segment
from ctxcompress.select.between_segments import assemble


@given(text=pages, data=st.data())
def test_assembled_spans_hold_the_kept_segments_and_white_space(text, data):
    segments = segment(text)
    kept = sorted(data.draw(st.sets(st.integers(0, len(segments) - 1))))
    spans = assemble(text, segments, kept)
    covered = {position for start, end in spans for position in range(start, end)}
    assert all(start < end for start, end in spans)
    assert all(one.end < other.start for one, other in pairwise(spans))
    for number, (_, start, end, *_) in enumerate(segments):
        visible = {position for position in range(start, end) if not text[position].isspace()}
        assert covered & visible == (visible if number in kept else set())


# Markers where lines of a log were dropped

LINES = [f"2026-05-01 10:{n:02}:00 INFO worker: finished job {n} of the batch" for n in range(60)]
LINES[20] = "2026-05-01 10:20:00 ERROR worker: the disk is full"
LINES[40] = "2026-05-01 10:40:00 INFO disk: cleaned up 3 directories"
MARKER = "[…]"


def kept(text, **options):
    return compress("why was the disk full?", [text], max_tokens=120, **options)


EVERY_SECOND = [
    f"2026-05-01 10:{n:02}:00 ERROR disk: disk {n} is full" if n % 2 else LINES[n] + " without a word to say" * 3
    for n in range(60)
]


@pytest.mark.parametrize(("lines", "wanted"), [(LINES, 20), (EVERY_SECOND, 1)])
def test_there_is_a_marker_where_lines_are_missing_and_nowhere_else(lines, wanted):
    shown = kept("\n".join(lines)).text.split("\n")
    assert lines[wanted] in shown
    for before, after in pairwise(shown):
        if MARKER not in (before, after):
            assert lines.index(after) == lines.index(before) + 1
    places = [lines.index(line) for line in shown if line in lines]
    assert shown.count(MARKER) == sum(second - first > 1 for first, second in pairwise(places))


def test_a_marker_in_a_log_ends_its_line_as_the_log_does():
    text = kept("\r\n".join(EVERY_SECOND)).text
    assert f"\r\n{MARKER}\r\n" in text
    assert {*text.split("\r\n")} <= {*EVERY_SECOND, MARKER}


# The order that passages are shown in


def run(order="source", max_tokens=60, passages=PASSAGES, **options):
    return compress(QUERY, passages, order=order, max_tokens=max_tokens, encoding=words, **options)


@pytest.mark.parametrize("max_tokens", [40, 60, 1_000])
def test_by_relevance_the_best_comes_first(max_tokens):
    result = run("relevance", max_tokens)
    relevance = [kept.relevance for kept in result.passages]
    assert relevance == sorted(relevance, reverse=True)
    assert len(set(relevance)) > 1
    assert result.passages[0].id == "fenwick"


@pytest.mark.parametrize("max_tokens", [60, 1_000])
def test_with_edges_the_worst_is_in_the_middle(max_tokens):
    relevance = [kept.relevance for kept in run("edges", max_tokens).passages]
    lowest = relevance.index(min(relevance))
    assert relevance[: lowest + 1] == sorted(relevance[: lowest + 1], reverse=True)
    assert relevance[lowest:] == sorted(relevance[lowest:])
    ranked = sorted(relevance, reverse=True)
    assert [relevance[0], relevance[-1]] == ranked[:2]


@pytest.mark.parametrize("order", ["source", "relevance", "edges"])
@pytest.mark.parametrize("max_tokens", [40, 60, 1_000])
def test_the_text_is_in_the_order_of_the_passages_and_each_of_them_in_its_own(order, max_tokens):
    result = run(order, max_tokens)
    assert result.text == "\n\n".join(kept.text for kept in result.passages)
    for kept in result.passages:
        assert list(kept.spans) == sorted(kept.spans)
        assert kept.text == shown(kept.original.text, kept.spans, kept.markers)


@pytest.mark.parametrize("max_tokens", [40, 1_000])
def test_the_order_does_not_decide_what_is_kept(max_tokens):
    kept = [{(k.id, k.text) for k in run(order, max_tokens).passages} for order in ("source", "relevance", "edges")]
    assert kept[0] == kept[1] == kept[2]


@given(
    texts=st.lists(
        st.sampled_from([*TEXTS, "", " ", "# Heading", "```\ncode = 1\n```", "服务器。重启它。"]), max_size=7
    ),
    order=st.sampled_from(["source", "relevance", "edges"]),
    format=st.sampled_from(["plain", "preview"]),
    max_tokens=st.integers(1, 300),
    count=st.sampled_from([len, words, lambda text: len(text) ** 2 // 90]),
)
def test_the_budget_holds_in_every_order(texts, order, format, max_tokens, count):
    result = compress(QUERY, texts, order=order, format=format, max_tokens=max_tokens, encoding=count)
    assert (count(result.text) if result.text else 0) == result.tokens <= max_tokens
    assert len({kept.index for kept in result.passages}) == len(result.passages)


def test_gap_markers_can_be_switched_off_but_for_those_that_keep_code_valid():
    page = "The harbour opened in 1920. Wear gloves near the rotor at all times. Its lamp is red."
    query, code = (
        "when did the harbour open, and which lamp?",
        "def load(path):\n    data = read(path)\n    return data\n",
    )
    assert "[…]" in compress(query, [page], max_tokens=14).text
    assert "[…]" not in compress(query, [page], max_tokens=14, gap_markers=False).text
    kept = compress("def load", [{"text": code, "metadata": {"source": "a.py"}}], max_tokens=9, gap_markers=False)
    assert "..." in kept.text


def test_a_title_in_small_letters_is_no_rest_of_a_sentence():
    page = "curl 8.22\n\nThe harbour opened in 1920. Its lamp is red. Wear gloves near the rotor at all times."
    text = compress("gloves near the rotor", [page], max_tokens=18).text
    assert text.startswith("curl 8.22 […]")


@pytest.mark.parametrize("before", ["# Fruit", "```\nlist pears\n```"])
def test_a_marker_stands_above_the_line_of_an_item_which_keeps_its_indentation(before):
    page = f"{before}\n\n- Apples are red and cost two euro a kilo in March.\n  - Pears cost nine euro.\n"
    text = compress("list pears: what do pears cost?", [page], max_tokens=10, encoding=words).text
    assert text == f"{before}\n[…]\n  - Pears cost nine euro."
