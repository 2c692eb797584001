"""Source code: told from prose, and cut at functions with their qualified names."""

from pathlib import Path

import pytest
from segment_texts import markdown_pages, sources

from ctxcompress import compress
from ctxcompress.code.detection import looks_like_code
from ctxcompress.data.passages import Kind
from ctxcompress.segment.formats import segment
from ctxcompress.segment.source_code import code_segments, outline

PYTHON = (
    "import os\n\n\ndef first(x):\n    return x + 1\n\n\nclass Box:\n    def open(self):\n        return self.size\n"
)
SAMPLES = sorted((Path(__file__).parents[1] / "code" / "samples").iterdir())


def blocks(text):
    return [
        (item.heading, text[item.start : item.end].splitlines()[0])
        for item in code_segments(text, outline(text, "a.py"))
    ]


PROSE = "Node.js is a runtime.\n\nIt runs JavaScript outside of browsers; it was written in 2009.\nMany use it.\n"


@pytest.mark.parametrize(("name", "text"), [("box.py", PYTHON), *((path.name, path.read_text()) for path in SAMPLES)])
def test_code_is_recognized_with_and_without_its_name(name, text):
    assert looks_like_code(text)
    assert looks_like_code(text, f"src/{name}")
    assert {item.kind for item in segment(text)} == {Kind.RECORD if name == "items.json" else Kind.CODE}


def test_a_shell_script_is_recognized_by_its_name():
    assert looks_like_code('#!/bin/bash\nset -e\nfor f in *.txt; do\n  echo "$f"\ndone\n', "run.sh")


@pytest.mark.parametrize("name", [None, "Node.js", "https://en.wikipedia.org/wiki/Node.js", "a.md", "a.txt"])
def test_prose_stays_prose(name):
    assert not looks_like_code(PROSE, name)
    assert Kind.CODE not in {item.kind for item in segment(PROSE, name=name)}


@pytest.mark.parametrize("name", ["README.md", "page.html", "notes.txt"])
def test_a_name_of_prose_decides(name):
    assert not looks_like_code(PYTHON, name)


def test_markdown_with_fences_is_not_code():
    assert not looks_like_code("```py\n" + PYTHON + "```\n")
    assert not looks_like_code("Text.\n\n```py\n" + PYTHON + "```\n")


def test_pages_are_not_code_and_sources_are():
    assert not any(looks_like_code(text) for text in markdown_pages().values())
    assert all(looks_like_code(text, name) for name, text in sources().items())


def test_comments_and_decorators_belong_to_what_they_stand_above():
    text = (
        "x = 1\n\n# says what\n@cache\n@other(1)\ndef one(y):\n    return y\n\n\n# floating\n\ndef two():\n    pass\n"
    )
    assert blocks(text) == [
        ((), "x = 1"),
        (("one",), "# says what"),
        ((), "# floating"),
        (("two",), "def two():"),
    ]


def test_a_long_function_is_cut_at_statements_that_need_its_signature():
    body = "".join(
        f"    value_{n} = compute(value_{n})\n    if value_{n}:\n        stop(value_{n})\n" for n in range(60)
    )
    text = "def long(values):\n" + body
    segments = segment(text, name="a.py")
    assert text[: segments[0].end] == "def long(values):\n"
    assert len(segments) > 5
    assert all(item.needs == (0,) for item in segments[1:])
    assert all(text[item.start :].startswith(("    value", "    if")) for item in segments[1:])
    assert {item.heading for item in segments} == {("long",)}


def test_a_block_of_a_configuration_is_a_segment_as_a_function_is() -> None:
    block = (
        "server {{\n    listen 80;\n    server_name {0}.acme.test;\n    root /var/www/site{1};\n    location / {{\n"
        "        proxy_pass http://10.0.0.{1}:300{1};\n        proxy_read_timeout 4{1}s;\n    }}\n}}\n"
    )
    texts = [block.format(name, number) for number, name in enumerate(("www", "api", "wiki", "git", "mail", "cdn"))]
    kept = compress("upstream of wiki", texts, max_tokens=150).text
    assert texts[2].strip() in kept
    assert "// ..." not in kept


@pytest.mark.parametrize(
    ("name", "line", "has_functions"),
    [
        ("a.graphql", '  """\n  The parcel waits at stop {n}.\n  """\n  STOP_{n}\n\n', False),
        ("a.rs", "    /// The parcel waits at stop {n}.\n    Stop{n},\n", False),
        ("a.swift", "    /// The parcel waits at stop {n}.\n    func stop{n}() {{ wait({n}) }}\n", True),
    ],
)
def test_a_type_that_has_only_values_is_one_segment(name, line, has_functions):
    text = "enum Parcel {\n" + "".join(line.format(n=n) for n in range(12)) + "}\n"
    assert 250 < len(text) < 1_500
    assert (len(segment(text, name=name)) > 1) is has_functions
