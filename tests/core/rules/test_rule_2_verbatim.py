"""What comes out was in the input, in its order, and is cut only where it can be read."""

import re

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from rule_inputs import budgets, fences, paragraphs, passages, queries, sentences, tables, words

from ctxcompress import compress
from ctxcompress.passages import Kind
from ctxcompress.segment.segments import segment

FILLER = "Something else entirely is said here about gardens and rain. " * 12


def _boundaries(result):
    """(original, offset) of every place where a text is cut."""
    for kept in result.passages:
        for offset in {offset for span in kept.spans for offset in span}:
            if 0 < offset < len(kept.original.text):
                yield kept.original.text, offset


@given(texts=passages, query=queries, budget=budgets)
def test_the_output_is_a_subsequence_in_source_order(texts, query, budget):
    result = compress(query, texts, max_tokens=budget)
    whole = iter("\n\n".join(texts))
    kept = ("".join(part.original.text[start:end] for start, end in part.spans) for part in result.passages)
    # Markers are declared, and of these texts only source code has any.
    assert all(character in whole for character in "\n\n".join(kept))
    assert result.text == "\n\n".join(part.text for part in result.passages)


@given(texts=st.lists(paragraphs, min_size=1, max_size=4), query=words, budget=st.integers(40, 200))
def test_nothing_is_cut_inside_a_word_that_fits(texts, query, budget):
    for text, offset in _boundaries(compress(query, texts, max_tokens=budget)):
        assert not (text[offset - 1].isascii() and re.fullmatch(r"\w\w", text[offset - 1 : offset + 1], re.ASCII))


GRAPHEMES = ["é", "e\u0301", "👍🏽", "🇩🇪", "👩\u200d👧", "\r\n", "กำ", "दि", "字", "❤\ufe0f", "각"]


@given(text=st.lists(st.sampled_from(GRAPHEMES), min_size=30))
def test_nothing_is_cut_inside_a_grapheme(text):
    whole = "".join(text)
    starts = {match.start() for match in regex.finditer(r"\X", whole)}
    for budget in (4, 9, 20):
        for _, offset in _boundaries(compress("q", [whole], max_tokens=budget)):
            assert offset in starts


@given(before=paragraphs, fence=fences, after=paragraphs, budget=st.integers(30, 200))
def test_a_fence_that_is_kept_is_closed(before, fence, after, budget):
    result = compress("return", [f"{before}\n\n{fence}\n\n{after}"], max_tokens=budget)
    mark = fence[:3]
    lines = [line for line in result.text.splitlines() if line.startswith(mark)]
    assert lines in ([], [mark + "python", mark])


@given(before=paragraphs, table=tables, query=words, budget=st.integers(25, 120))
def test_a_row_keeps_its_header(before, table, query, budget):
    result = compress(query, [f"{before}\n\n{table}"], max_tokens=budget)
    rows = [line for line in result.text.splitlines() if line.startswith("| ")]
    assert not rows or "| k | v |\n|---|---|\n" in result.text + "\n"


@given(
    parts=st.lists(st.tuples(st.integers(1, 3), words, sentences), min_size=2, max_size=6), budget=st.integers(20, 90)
)
def test_a_heading_is_never_kept_without_text_under_it(parts, budget):
    text = "\n\n".join(f"{'#' * level} Title {title}\n\n{body}" for level, title, body in parts)
    result = compress("timeout", [text], max_tokens=budget)
    segments = segment(text)
    kept = [
        s for s in segments if any(a <= s.start < b for a, b in (span for k in result.passages for span in k.spans))
    ]
    for heading in (s for s in kept if s.kind is Kind.HEADING):
        assert any(s.heading[: len(heading.heading)] == heading.heading for s in kept if s.kind is not Kind.HEADING)


def test_passages_come_in_source_order_not_by_relevance():
    texts = [f"Step {n}: wait. {FILLER}" for n in range(4)] + ["The timeout is ninety seconds."]
    result = compress("what is the timeout, what is step 1", list(reversed(texts)), max_tokens=40)
    assert [kept.index for kept in result.passages] == sorted(kept.index for kept in result.passages)
    assert result.text.startswith("The timeout is ninety seconds.")


@pytest.mark.parametrize(
    "part",
    [
        "def wait(seconds):\n    if seconds > 90:\n        raise Timeout(seconds)\n    return  seconds * 2\n",
        "* the `timeout` option\n    * its **default** is 90\n",
        "超时默认为九十秒。“重启”之后生效！真的吗？",
        "timeout\tdefault  90   seconds .\u00a0Really !",
    ],
)
def test_indentation_marks_and_punctuation_stay_as_they_are(part):
    result = compress("timeout default seconds 超时", [part, FILLER, FILLER], max_tokens=60)
    assert part.strip() in result.text


def test_crlf_stays():
    text = f"The timeout is 90.\r\n\r\n{FILLER.strip()}\r\n\r\nThe timeout can be set.\r\n"
    assert compress("timeout", [text], max_tokens=14).text == "The timeout is 90.\r\n\r\nThe timeout can be set."
