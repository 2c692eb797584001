"""The segments of a text are that text, whatever it holds."""

import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from segment_texts import LANGUAGES, markdown_pages, sources, texts

from ctxcompress.segment.formats import segment

MARKER = re.compile(r"[-*+]|\(?\d{1,9}[.)]")
NAMES = (None, "a.py", "a.md", "Node.js", "notes.txt")


def assert_partition(text, segments):
    assert "".join(text[item.start : item.end] for item in segments) == text
    assert all(item.start < item.end for item in segments)
    assert [item.start for item in segments] == [0, *(item.end for item in segments)][: len(segments)]


def assert_numbers(segments):
    """Blocks are counted from 0 without holes; what a segment needs is another one of the same block."""
    blocks = [item.block for item in segments]
    assert blocks == sorted(blocks)
    assert set(blocks) == set(range(len(set(blocks))))
    for index, item in enumerate(segments):
        assert index not in item.needs
        assert item.unit is not None or all(segments[other].block == item.block for other in item.needs)


def test_an_empty_text_has_no_segments():
    assert segment("") == []


@given(texts, st.sampled_from(LANGUAGES), st.sampled_from(NAMES))
def test_segments_partition_the_text(text, language, name):
    segments = segment(text, language=language, name=name)
    assert_partition(text, segments)
    assert_numbers(segments)


@settings(max_examples=2 * settings().max_examples)
@given(texts, st.sampled_from(LANGUAGES))
def test_no_cut_is_inside_a_word_or_after_the_marker_of_a_list_or_before_a_combining_mark(text, language):
    alone = {line.strip() for line in text.split("\n")}
    for number, item in enumerate(segment(text, language=language)):
        piece = text[item.start : item.end].strip()
        assert not MARKER.fullmatch(piece) or piece in alone
        if number:
            before, after = text[item.start - 1], text[item.start]
            assert not (before.isascii() and after.isascii() and before.isalnum() and after.isalnum())
            at_line_end = unicodedata.category(before) in ("Cc", "Zl", "Zp")
            assert at_line_end or not (unicodedata.category(after)[0] == "M" or after == "\u200d")
            assert not (before == "\r" and after == "\n")


@pytest.mark.parametrize("space", ["\t", "\x0b", "\x85", "\xa0", "\u2003"])
def test_a_marker_after_unusual_white_space_is_kept_with_its_text(space):
    assert len(segment(f"{space}2. Restart the server")) == 1


@pytest.mark.parametrize(("texts_of", "name"), [(markdown_pages, None), (sources, None), (sources, "module.py")])
def test_pages_of_this_project_and_sources_of_the_standard_library(texts_of, name):
    for text in texts_of().values():
        segments = segment(text, name=name)
        assert_partition(text, segments)
        assert_numbers(segments)


def test_chunks_cut_anywhere():
    for text in markdown_pages().values():
        for start in range(0, min(len(text), 4_000), 331):
            chunk = text[start : start + 700]
            assert_partition(chunk, segment(chunk))


HOSTILE = {
    "one word": "a", "spaces": " ", "blank lines": "\n", "nul": "\0", "backticks": "`", "open code": "`a",
    "open fences": "```x\n", "fences": "~~~\n", "quotes": "> ", "nested quotes": ">", "nested list": "- ",
    "nested numbers": "1. ", "empty items": "-\n", "links": "[", "targets": "](", "images": "![",
    "tags": "<", "comments": "<!--", "html": "<div>\n", "pipes": "|", "rows": "|a|b|\n",
    "tables": "|a|\n|-|\n", "headings": "# a\n", "braces": "{", "brackets": "[{", "json": '{"a": [1]},\n',
    "quotation": '"', "underscores": "a_", "camel": "aB", "full stops": ".", "spaced stops": ". ",
    "sentences": "A b. ", "short lines": "Ab.\n", "address": "http://", "Chinese": "中",
    "Chinese sentences": "中。", "Thai": "ก", "Thai words": "กข ", "Hindi": "क। ", "Arabic": "ع؟ ",
    "emoji": "👩\u200d", "accents": "a\u0301", "surrogates": "\ud800", "carriage returns": "\r",
    "definitions": "def f(x):\n", "arguments": "a(b, ", "generics": "a<b>", "types": "int a(b, ",
    "attributes": "@a\n", "assignments": "a = b\n", "rules": "---\n", "underlined": "a\n===\n",
    "entities": "&amp;", "escapes": "\\", "references": "[a]: b\n", "indented": "    a\n",
    "initials": "J. ", "abbreviations": "e.g. ", "quoted": '"A." ', "no-break": "B\xa0. ",
}  # fmt: skip


@pytest.mark.parametrize("name", [None, "a.py"])
@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
def test_hostile_repetition_ends(piece, name):
    size = 10_000 + 300 * settings().max_examples  # more where there is more time
    text = "Text here.\n\n" + piece * (size // len(piece)) + "\n\nThe end. More text.\n"
    assert_partition(text, segment(text, name=name))
