"""Kinds, heading paths and what needs what, in whole Markdown and in chunks cut anywhere."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from segment_texts import markdown_pages

from ctxcompress.data.passages import Kind
from ctxcompress.segment import markdown as module
from ctxcompress.segment.formats import segment
from ctxcompress.segment.markdown import markdown_blocks

PAGE = """\
---
title: x
---
# Guide

First one. Second one.

## Setup

- one
- two
  - nested

> said so

<!-- hidden -->

***

Old style
=========

Lower
-----

| a | b |
|---|---|
| 1 | 2 |
| 3 | 4 |

```py
x = 1
```

end
"""


def pieces(text, **options):
    return [(item.kind.value, text[item.start : item.end].strip("\n")) for item in segment(text, **options)]


def test_kinds_of_a_page():
    assert [piece for piece in pieces(PAGE) if piece[1]] == [
        ("boilerplate", "---\ntitle: x\n---"),
        ("heading", "# Guide"),
        ("paragraph", "First one. "),
        ("paragraph", "Second one."),
        ("heading", "## Setup"),
        ("list_item", "- one"),
        ("list_item", "- two"),
        ("list_item", "  - nested"),
        ("quote", "> said so"),
        ("boilerplate", "<!-- hidden -->"),
        ("metadata", "***"),
        ("heading", "Old style\n========="),
        ("heading", "Lower\n-----"),
        ("table", "| a | b |\n|---|---|"),
        ("table", "| 1 | 2 |"),
        ("table", "| 3 | 4 |"),
        ("code", "```py\nx = 1\n```"),
        ("paragraph", "end"),
    ]


def test_heading_paths_of_a_page():
    paths = {PAGE[item.start : item.end].strip(): item.heading for item in segment(PAGE)}
    assert paths["---\ntitle: x\n---"] == ()
    assert paths["# Guide"] == ("Guide",)
    assert paths["- nested"] == ("Guide", "Setup")
    assert paths["end"] == ("Old style", "Lower")


def test_every_row_needs_its_header_and_the_header_nothing():
    segments = segment(PAGE)
    rows = [index for index, item in enumerate(segments) if item.kind is Kind.TABLE]
    assert segments[rows[0]].needs == ()
    assert all(segments[row].needs == (rows[0],) for row in rows[1:])


@pytest.mark.parametrize("fence", ["```", "~~~", "````"])
def test_the_pieces_of_a_long_fence_need_both_its_ends(fence):
    text = "Text.\n\n" + fence + "py\n" + "value = compute(value)\n" * 200 + fence + "\n\nText.\n"
    segments = segment(text)
    code = [index for index, item in enumerate(segments) if item.kind is Kind.CODE]
    first, last = code[0], code[-1]
    assert len(code) > 10
    assert text[segments[first].start :].startswith(fence + "py\n")
    assert text[segments[last].start :].startswith(fence + "\n")
    assert segments[first].needs == (last,)
    assert segments[last].needs == (first,)
    assert all(segments[index].needs == (first, last) for index in code[1:-1])


def test_the_pieces_of_a_fence_without_end_need_its_beginning():
    text = "```py\n" + "value = compute(value)\n" * 200
    segments = segment(text)
    assert segments[0].needs == ()
    assert all(item.needs == (0,) for item in segments[1:])


def test_a_chunk_that_begins_inside_a_fence():
    text = "x = 1\ny = f(x)\n```\n\nThen we run it.\n\n```sh\nls\n```\n"
    assert [piece for piece in pieces(text) if piece[1]] == [
        ("code", "x = 1\ny = f(x)\n```"),
        ("paragraph", "Then we run it."),
        ("code", "```sh\nls\n```"),
    ]


def test_a_chunk_that_ends_inside_a_fence():
    assert pieces("Run this:\n\n```py\nx = 1\n\n# note\ny = 2") == [
        ("paragraph", "Run this:"),
        ("code", "```py\nx = 1\n\n# note\ny = 2"),
    ]


def test_a_chunk_that_begins_inside_a_table():
    text = "| 1 | 2 |\n| 3 | 4 |\n\nAfter the table.\n"
    assert [piece for piece in pieces(text) if piece[1]] == [
        ("table", "| 1 | 2 |"),
        ("table", "| 3 | 4 |"),
        ("paragraph", "After the table."),
    ]
    assert all(item.needs == () for item in segment(text))


@pytest.mark.parametrize(
    "text",
    [
        "It began in\n1986. That was a year.\n",
        "Text\n    indented by accident and quite long\n\n    Another indented paragraph of prose.\n",
    ],
)
def test_plain_text_that_looks_like_markdown(text):
    assert {kind for kind, _ in pieces(text, name="notes.txt")} == {"paragraph"}


@pytest.mark.parametrize(
    "text",
    [
        "* one thing\n* two things\n* three things\n",
        "- [Install](#install)\n- [Usage](#usage)\n- [Licence](#licence)\n",
        "## 1.2.0\n\n* Fixed x (#12)\n* Fixed y (#13)\n\n## 1.1.0\n\n* New z (#11)\n",
        "# Title\n\n## A\n\nSome text.\n\n## B\n\n### C\n\n#### D\n",
        "1. `get(x)`\n2. `set(y)`\n",
        "**Note**: a thing (one).\n\n**Hint**: another (two)\n",
    ],
)
def test_lists_and_headings_alone_are_not_code(text):
    assert Kind.CODE not in {item.kind for item in segment(text)}


def test_offsets_count_characters_not_bytes():
    text = "# Überschrift 👍\n\n中文。\n\n- één\n\ud800\n\n```\nx\n```\n"
    assert [text[block.start] for block in markdown_blocks(text)] == ["#", "中", "-", "`"]


def top_level(text):
    """line -> kind of every block that is in no other, as markdown-it sees them."""
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    return {token.map[0]: token.type for token in tokens if token.level == 0 and token.map and token.nesting >= 0}


KINDS = {
    "heading_open": Kind.HEADING,
    "paragraph_open": Kind.PARAGRAPH,
    "table_open": Kind.TABLE,
    "fence": Kind.CODE,
    "blockquote_open": Kind.QUOTE,
    "hr": Kind.METADATA,
}


def test_blocks_of_real_pages_begin_where_markdown_it_sees_them():
    seen = 0
    for name, text in markdown_pages().items():
        lines, found, position, line = text.split("\n"), {}, 0, 0
        for block in markdown_blocks(text):
            begin = block.end - len(text[block.start : block.end].lstrip())  # the text may begin with empty lines
            line += text.count("\n", position, begin)
            position = begin
            found[line] = block.kind
        for line_, token in top_level(text).items():
            seen += 1
            assert line_ in found, f"{name}, line {line_}: {lines[line_]!r}"
            if token in KINDS and len(lines[line_]) <= 200:
                assert found[line_] is KINDS[token], f"{name}, line {line_}: {lines[line_]!r}"
    assert seen > 100


# A text that is one table is told without the parser, which is the oracle.

TABLE_PIECES = (
    *(
        "|", " | ", "||", "a", "-", "---", ":-:", "`", "\\", "<b>", " ", "\n", "\n|", "\n| ", "| a | b |\n",
        "|---|---|\n", "| - |\n",
    ),
    *("**", "[a](b)", "&amp;", "\t", "~~~", "```", "\n\n", ">", "#", "1.", "é", "\r\n"),
)  # fmt: skip
DELIMITERS = ("|\n| --- | --- |", "|\n|-|-|", "|\n|:-:|\n", " | b |\n| --- | --- |\n")


@given(
    st.lists(st.sampled_from(TABLE_PIECES), min_size=1, max_size=4).map("".join),
    st.sampled_from(DELIMITERS),
    st.lists(st.sampled_from(TABLE_PIECES), max_size=6).map("".join),
)
@example("a", "|\n|:-:|\n", "|")
@example("", "|\n|-|-|", "\n| a |")
@example("a", "|\n|\t---|\n", "| a |")
@example(" a | b ", "|\n| --- | --- |", "\n| 1 | 2 |\n|  | 3 |\n")
def test_a_text_that_is_a_table_has_the_blocks_that_the_parser_finds(header, delimiter, rows):
    text = f"|{header}{delimiter}{rows}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_is_table", lambda text: False)
        expected = list(markdown_blocks(text))
    assert list(markdown_blocks(text)) == expected


@pytest.mark.parametrize("mark", [">", "> "])
def test_quotes_too_deep_to_be_written_are_one_block(mark: str) -> None:
    text = mark * 100_000 + "x\n\nAfter it.\n"
    blocks = list(markdown_blocks(text))
    assert "".join(text[block.start : block.end] for block in blocks) == text
    assert [text[block.start : block.end] for block in blocks][-1] == "After it.\n"
    assert module._without_deep_quotes(text).count(">") == 50
    assert module._without_deep_quotes(text[99_951 * len(mark) :]) == text[99_951 * len(mark) :]


UNREAD = {
    "comment of YAML": "<!-- YAML\nadded: v1.2\nchanges:\n  - version: v13. Since then.\n    pr-url: https://x.org/1\n-->\n",
}


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("unread", UNREAD.values(), ids=UNREAD)
def test_what_no_reader_sees_is_one_segment_that_is_no_text(unread, newline):
    text = f"First text.\n\n{unread}\nLast text.\n".replace("\n", newline)
    parts = [(part.kind, text[part.start : part.end].strip()) for part in segment(text)]
    assert [kind for kind, _ in parts] == [Kind.PARAGRAPH, Kind.BOILERPLATE, Kind.PARAGRAPH]
    assert parts[1][1] == unread.strip().replace("\n", newline)


@pytest.mark.parametrize(
    "text",
    [
        "[^1]: The timeout is 30/40 seconds.\n",
        "Call me at nine.\n\n[Anna]: thanks.\n\n[Bob]: 9:30.\n",
        "---\nThe timeout is 30.\n---\n\nMore text.\n",
        "---\n- The timeout is 30.\n---\n\nMore text.\n",
        "Text that goes on with\n[x]: http://a.org\n",
        "<!-- a comment --> The timeout is 30.\n",
        "<!-- a comment without end\n\nThe timeout is 30.\n",
        "a --> b\n\nThe timeout is 30.\n",
    ],
)
def test_notes_and_text_beside_a_comment_stay_text(text):
    assert Kind.BOILERPLATE not in {part.kind for part in segment(text)}


@pytest.mark.parametrize("code", ["}", "end", "x = 1\n\n}", "~~ ~", "Title"])
@pytest.mark.parametrize("fence", ["~~~", "~~~~~~~~"])
def test_tildes_under_code_close_its_fence_and_under_a_title_they_open_none(code: str, fence: str) -> None:
    block = f"{fence}\nbegin {{\n\n{code}\n{fence}"
    page = f"Use it so.\n\n{block}\n\nThe rest is prose.\n\nLimits\n~~~~~~~~\n\nNone is known.\n"
    kinds = [(block.kind, page[block.start : block.end].strip()) for block in markdown_blocks(page)]
    assert kinds == [
        (Kind.PARAGRAPH, "Use it so."),
        (Kind.CODE, block),
        (Kind.PARAGRAPH, "The rest is prose."),
        (Kind.HEADING, "Limits\n~~~~~~~~"),
        (Kind.PARAGRAPH, "None is known."),
    ]


def test_a_heading_in_a_quote_is_no_section():
    text = "# Guide\n\n> ## Note\n> The pool is small.\n\n## Limits\n\nThe limit is ten.\n"
    assert [part.heading for part in segment(text)][-1] == ("Guide", "Limits")
    assert not any("Note" in part.heading for part in segment(text))


@pytest.mark.parametrize("indentation", ["\t", "  ", "    "])
def test_lines_of_an_indented_item_are_those_of_its_own(indentation):
    items = [
        "* Mail:\n",
        "- Split the commands of the queue,\n  so that it is short\n",
        "- Close the gate\n  at night\n",
    ]
    items[1:] = ["".join(indentation + line for line in item.splitlines(keepends=True)) for item in items[1:]]
    text = "".join(items)
    assert [text[part.start : part.end] for part in segment(text)] == items


@pytest.mark.parametrize("deep", [4, 5, 8])
def test_a_first_line_that_is_indented_deeper_is_of_its_paragraph(deep):
    text = f"{' ' * deep}The gate opens at nine, if the guard\n   is there. It closes at six.\n\nOther text.\n"
    parts = [(part.kind, text[part.start : part.end].strip()) for part in segment(text)]
    assert parts == [
        (Kind.PARAGRAPH, "The gate opens at nine, if the guard\n   is there."),
        (Kind.PARAGRAPH, "It closes at six."),
        (Kind.PARAGRAPH, "Other text."),
    ]
