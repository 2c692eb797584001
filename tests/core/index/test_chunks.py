"""From a file to chunks."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxcompress.apps.index.chunks import LONGEST, chunks_of

PIECES = st.sampled_from(
    [
        "# One\n\n",
        "## Two\n",
        "A sentence about nothing. " * 3 + "\n\n",
        "One paragraph of a single line that goes on and on. " * 60 + "\n\n",
        "- item\n- another\n\n",
        "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 300,
        "```python\n" + "x = 1\n" * 400 + "```\n",
        "word" * 1_000 + "\n",
        "\u4e2d\u6587" * 900,
        "   \n\n\n",
        "def f(a):\n    return a\n\n\n",
        "\x0c\u2028\r\n",
    ]
)
TEXTS = st.lists(PIECES, max_size=8).map("".join)


@given(TEXTS, st.sampled_from(["a.md", "b.py", "c.txt"]))
def test_chunks_are_the_text_but_for_white_space_with_the_lines_they_are_on(text, path):
    chunks = chunks_of(text, path, language="en")
    assert re.sub(r"\s", "", "".join(chunk.text for chunk in chunks)) == re.sub(r"\s", "", text)
    assert len({chunk.id for chunk in chunks}) == len(chunks)
    lines = text.split("\n")
    for chunk in chunks:
        first, last = map(int, re.match(rf"{re.escape(path)}#L(\d+)-L(\d+)(?:-\d+)?$", chunk.id).groups())
        assert chunk.text in "\n".join(lines[first - 1 : last])
        assert 0 < len(chunk.text) <= LONGEST


def test_sections_are_chunks_under_their_headings():
    body = "What there is to say about it, at some length. " * 6
    text = f"# Guide\n\n{body}\n\n## Setup\n\n{body}\n\n### Linux\n\n{body}\n"
    chunks = chunks_of(text, "guide.md", language="en")
    assert [chunk.header_path for chunk in chunks] == [("Guide",), ("Guide", "Setup"), ("Guide", "Setup", "Linux")]
    assert [chunk.id for chunk in chunks] == ["guide.md#L1-L3", "guide.md#L5-L7", "guide.md#L9-L11"]


def test_no_chunk_has_the_end_of_one_section_and_the_beginning_of_the_next():
    release = (
        "## {n}.0\n\n### Added\n\n"
        + "- An option for the exporter.\n" * 8
        + "\n### Changed\n\n- The timeout is {n} seconds.\n\n"
    )
    text = "# Changelog\n\n" + "".join(release.replace("{n}", str(n)) for n in range(9, 1, -1))
    chunks = chunks_of(text, "CHANGELOG.md", language="en")
    for n in range(2, 10):
        (found,) = [chunk for chunk in chunks if f"The timeout is {n} seconds." in chunk.text]
        assert found.header_path[:2] == ("Changelog", f"{n}.0")


def test_a_chunk_of_data_has_the_name_of_what_it_is_within():
    services = "".join(
        f"  service{n}:\n    image: registry/{n}\n    port: {7000 + n}\n    replicas: 2\n" for n in range(60)
    )
    chunks = chunks_of(f"services:\n{services}", "compose.yaml", language="en")
    assert len(chunks) > 2
    assert {chunk.header_path for chunk in chunks[1:]} == {("services",)}


@pytest.mark.parametrize(
    ("path", "header", "row"),
    [
        ("staff.csv", "name,serial,price\n", "Person {n},SN{n},{n}.50\n"),
        ("staff.md", "| name | serial |\n|---|---|\n", "| Person {n} | SN{n} |\n"),
        ("staff.py", "class Staff:\n", "    def person{n}(self):\n        return 'SN{n} is a number'\n\n"),
    ],
)
def test_a_chunk_is_read_with_what_it_needs_of_the_text_before_it(path, header, row):
    chunks = chunks_of(header + "".join(row.replace("{n}", str(n)) for n in range(900, 1_000)), path, language="en")
    assert len(chunks) > 1
    for chunk in chunks:
        assert chunk.whole.startswith(header)
        assert chunk.whole.count(header) == 1
        assert chunk.whole.endswith(chunk.text)


def test_what_a_chunk_needs_is_not_longer_than_a_chunk():
    header = ",".join(f"column{n}" for n in range(300)) + "\n"
    row = ",".join(str(n) for n in range(300)) + "\n"
    chunks = chunks_of(header + row * 20, "wide.csv", language="en")
    assert max(len(chunk.whole) for chunk in chunks) <= 2 * LONGEST


def test_turns_of_several_speakers_fill_a_chunk():
    turns = [f"{'Ann' if n % 2 else 'Ben'}: This is what I wanted to say about number {n} of them." for n in range(60)]
    text = "\n".join(turns) + "\n"
    chunks = chunks_of(text, "chat.txt", language="en")
    assert len(chunks) == -(-len(text) // LONGEST)
    assert {chunk.header_path for chunk in chunks} == {()}
