"""Manual pages, which are read as any other text with terms above what explains them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcompress import CompressionConfig, Compressor
from ctxcompress.data.passages import Kind
from ctxcompress.segment.formats import segment

LONG = "It may be given more than once. " * 3
PAGE = f"""PACK(1)                     User Commands                     PACK(1)

NAME
       pack - put files into a box

SYNOPSIS
       pack [-abc | --all | --box=<name>] [-v] [<pathspec>...]
            [--dry-run] [(-c | -C | --squash) <commit>]

OPTIONS
   Common options
       -k, --keep name...
              The input stays where it is.

       --leave-out=PATTERN
              Files whose names match PATTERN do not get into the box. {LONG}
              {LONG}

              Directories are matched too, with all that is in them. See
              --dry-run, which only shows what would be done, for a way to
              find out.

       lid    Closes the box.

SEE ALSO
       unpack(1)
"""


def read(text):
    return [
        (part.kind, text[part.start : part.end].split("\n")[0].strip(), part.heading[-1:]) for part in segment(text)
    ]


def test_the_term_above_a_long_entry_is_a_heading():
    found = read(PAGE)
    titles = [title for kind, title, _ in found if kind is Kind.HEADING]
    assert titles == ["NAME", "SYNOPSIS", "OPTIONS", "--leave-out=PATTERN", "SEE ALSO"]
    assert (Kind.PARAGRAPH, "Directories are matched too, with all that is in them.", ("--leave-out=PATTERN",)) in found
    assert "".join(PAGE[part.start : part.end] for part in segment(PAGE)) == PAGE


@pytest.mark.parametrize("options", [{}, {"adaptive": True}])
@pytest.mark.parametrize(
    ("question", "option"),
    [
        ("Which option matches directories with all that is in them?", "--leave-out=PATTERN"),
        ("How does the input stay where it is?", "-k, --keep name..."),
    ],
)
def test_what_an_option_does_is_not_kept_without_the_option(question, option, options):
    text = Compressor(CompressionConfig(max_tokens=60, **options)).compress(question, [PAGE]).text
    assert option in text


@pytest.mark.parametrize(
    "text",
    [
        PAGE,
        PAGE[PAGE.index("SYNOPSIS") : PAGE.index("OPTIONS")],
    ],
)
def test_a_synopsis_is_no_source_code(text):
    assert Kind.CODE not in {part.kind for part in segment(text)}


def test_markdown_that_quotes_a_manual_stays_markdown():
    text = f"# Pack\n\nIt has these options:\n\n```\n{PAGE}```\n\n## Boxes\n\nA box is open.\n"
    headings = [title for kind, title, _ in read(text) if kind is Kind.HEADING]
    assert headings == ["# Pack", "## Boxes"]


@given(
    st.lists(st.sampled_from(["NAME", "OPTIONS", " -a, --all", "  x y.", "", "\t\tz. A b.", "   * q", "a: b", "\r"]))
)
def test_segments_partition_any_manual(lines):
    text = "\n".join(lines)
    parts = segment(text)
    assert "".join(text[part.start : part.end] for part in parts) == text
    assert all(need < len(parts) for part in parts for need in part.needs)


def test_a_label_is_not_kept_with_the_text_of_the_next_entry_only():
    page = (
        f"OPTIONS\n       --green=NAME\n              {LONG * 4}\n\n       --blue\n              Colours boxes blue.\n"
    )
    text = Compressor(CompressionConfig(max_tokens=30)).compress("Which option colours boxes blue or green?", [page])
    assert "--green=NAME" not in text.text or "It may be" in text.text
