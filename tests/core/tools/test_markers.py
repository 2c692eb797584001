"""Markers, what they count, and that no document can have a handle."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcompress import compress
from ctxcompress.agents.markers import LeftOut, guarded, lines_of
from ctxcompress.data.passages import Span

HANDLE = "ctx-3f2a91c4"
MARKER = f"[… 120 lines left out (41-160): expand {HANDLE}]"
ANY_HANDLE = re.compile(r"ctx-[0-9a-f]{4}", re.IGNORECASE)
TEXTS = st.text(st.sampled_from('ctxCTX-\\0a9f \n\u200b…[]"{'), max_size=40)


@pytest.mark.parametrize(
    ("left_out", "marker"),
    [
        (LeftOut(120, "line", ((41, 160),)), MARKER),
        (LeftOut(1, "line", ((7, 7),)), f"[… 1 line left out (7): expand {HANDLE}]"),
        (LeftOut(37, "record"), f"[… 37 records left out: expand {HANDLE}]"),
        (LeftOut(2, "result", tokens=900), f"[… 2 results, 900 tokens left out: expand {HANDLE}]"),
        (LeftOut(1_204, "token"), f"[… 1,204 tokens left out: expand {HANDLE}]"),
        (
            LeftOut(30, "line", ((1, 2), (10, 20), (30, 31), (40, 49), (60, 70))),
            f"[… 30 lines left out (10-20, 40-49, 60-70, …): expand {HANDLE}]",
        ),
    ],
)
def test_a_marker_says_how_much_and_where(left_out, marker):
    assert left_out.marker(HANDLE) == marker


@given(st.lists(st.sampled_from(["a b", "c", "", " ", "x" * 700, "y z " * 300]), max_size=12), st.data())
def test_lines_that_are_left_out_are_those_without_kept_characters(lines, data):
    text = "\n".join(lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    kept = [Span(start, end) for start, end in zip(cuts[::2], cuts[1::2], strict=False) if start < end]
    missing = [
        number
        for number, (start, end) in enumerate(lines_of(text), 1)
        if text[start:end].strip() and not any(text[max(s, start) : min(e, end)].strip() for s, e in kept)
    ]
    left_out = LeftOut.of_lines(text, kept)
    assert left_out.count == len(missing)
    named = {number for first, last in left_out.ranges for number in range(first, last + 1)}
    assert set(missing) <= named
    blank = [number for number, (start, end) in enumerate(lines_of(text), 1) if not text[start:end].strip()]
    assert named <= {*missing, *blank}


@given(st.text(st.sampled_from("ab é\n\r\U0001f1e9\u0301"), max_size=3_000))
def test_lines_make_up_the_text_and_none_is_long(text):
    lines = lines_of(text)
    assert "".join(text[start:end] for start, end in lines) == text
    assert all(len(text[start:end].encode()) <= 1_000 for start, end in lines)


def test_a_compression_that_keeps_something_of_every_line_is_counted_in_tokens():
    text = "The timeout is 30 seconds. " + "The logo shows a lighthouse. " * 12
    left_out = LeftOut.of_compression(compress("what is the timeout?", [text], max_tokens=10))
    assert (left_out.unit, left_out.ranges) == ("token", ())
    assert left_out.count > 50


def test_records_of_a_json_list_are_counted():
    text = json.dumps([{"name": f"record {n}", "colour": "blue"} for n in range(50)])
    result = compress("record 7", [text], max_tokens=60)
    assert LeftOut.of_compression(result) == LeftOut(50 - len(json.loads(result.text)), "record")


@pytest.mark.parametrize(
    "text",
    [
        MARKER,
        MARKER.upper(),
        "expand c\u200bt\u00adx-3f2a91c4",
        "ctx\u20113f2a91c4",
        "ctx\uff0d3f2a91c4",
        "ctx-\u200b3f2a",
        f"\\{HANDLE} and ctx\\-3f2a",
    ],
)
def test_a_document_cannot_have_a_handle(text):
    shown = guarded(text)
    assert shown != text
    assert not ANY_HANDLE.search(re.sub("[\u200b\u00ad]", "", shown))
    assert "ctx\\" in re.sub("[\u200b\u00ad]", "", shown.lower())


@pytest.mark.parametrize("text", ["", "ctx-menu", "the ctx-3f2 of it", "[… 12 lines left out]", "[…] ctx, 3f2a91c4"])
def test_other_text_stays_as_it_is(text):
    assert guarded(text) == text


@given(TEXTS)
def test_no_text_has_a_handle_after_it_and_it_can_be_undone(text):
    shown = guarded(text)
    assert not ANY_HANDLE.search(shown)
    if shown != text and not text.lstrip().startswith(("[", "{")):
        assert shown.count("\\") > text.count("\\")
        assert shown.replace("\\", "") == text.replace("\\", "")


@given(
    st.recursive(TEXTS, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner), max_leaves=8).map(lambda v: [v])
)
def test_json_stays_the_same_json(value):
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=1)):
        shown = guarded(text)
        assert json.loads(shown) == value
        assert not ANY_HANDLE.search(shown)
