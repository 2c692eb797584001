"""Source code: told from prose, and cut at functions with their qualified names."""

import pytest
from segment_texts import markdown_pages, sources

from ctxcompress import compress
from ctxcompress.code.detection import looks_like_code, source_language
from ctxcompress.code.line_outline import line_outline
from ctxcompress.data.passages import Kind
from ctxcompress.segment.formats import segment
from ctxcompress.segment.source_code import code_segments, outline

CODE = {
    "py": "import os\n\n\ndef first(x):\n    return x + 1\n\n\nclass Box:\n    def open(self):\n"
    "        return self.size\n",
    "js": "import fs from 'fs';\n\nexport function load(path) {\n  return fs.read(path);\n}\n\n"
    "const twice = (x) => {\n"
    "  return x * 2;\n};\n\nclass Cache {\n  get(key) {\n    return this.map[key];\n  }\n}\n",
    "ts": "interface User {\n  name: string;\n}\n\nexport async function find(id: number): Promise<User> {\n"
    "  const rows = await db.query(id);\n  return rows[0];\n}\n",
    "java": "package a.b;\n\npublic class Shop {\n    private final int size;\n\n    @Override\n"
    "    public String toString() {\n"
    "        return name;\n    }\n\n    static int count(List<Item> items) {\n"
    "        return items.size();\n    }\n}\n",
    "go": "package main\n\ntype Point struct {\n\tX, Y int\n}\n\nfunc (p *Point) Norm() int {\n"
    "\treturn p.X + p.Y\n}\n\n"
    'func main() {\n\tfmt.Println("hi")\n}\n',
    "rs": "use std::io;\n\npub struct Stack<T> {\n    items: Vec<T>,\n}\n\nimpl<T> Stack<T> {\n"
    "    pub fn push(&mut self, item: T) {\n        self.items.push(item);\n    }\n}\n",
    "c": "#include <stdio.h>\n\nstatic int add(int a, int b)\n{\n    return a + b;\n}\n\n"
    "int main(void) {\n    return 0;\n}\n",
    "cpp": "#include <vector>\n\nnamespace shop {\nclass Item {\n  int price_;\n};\n}\n\nint Item::total(int n) {\n"
    "  return n * price_;\n}\n",
    "cs": "using System;\n\nnamespace Shop\n{\n    public class Item\n    {\n"
    "        public int Total(int count)\n        {\n"
    "            return Price * count;\n        }\n    }\n}\n",
    "rb": "require 'json'\n\nclass Shop\n  def initialize(name)\n    @name = name\n  end\n\n"
    "  def open?\n    @open == true\n  end\nend\n",
    "php": "<?php\n\nfunction add($a, $b) {\n    return $a + $b;\n}\n",
    "kt": "fun add(a: Int, b: Int): Int {\n    return a + b\n}\n\nclass Box(val size: Int) {\n"
    "    fun open() = size\n}\n",
    "swift": "import Foundation\n\nstruct Box {\n    let size: Int\n    func open() -> Int {\n"
    "        return size\n    }\n}\n",
    "scala": "object Main {\n  def add(a: Int): Int = {\n    a + 1\n  }\n}\n",
    "lua": "local function add(a, b)\n  return a + b\nend\n",
    "json": '{\n  "name": "x",\n  "items": [1, 2, 3]\n}\n',
}


def names(text, name="a.py"):
    """The qualified names of what the text defines, those of functions inside of functions apart."""
    nodes = line_outline(text, source_language(text, name))
    return list(dict.fromkeys(tuple(node.name.split(".")) for node in definitions_of(nodes)))


def definitions_of(nodes):
    for node in nodes:
        if node.signature >= 0 and node.kind != "constant":
            yield node
        if node.kind not in ("function", "method"):
            yield from definitions_of(node.children)


def blocks(text):
    return [
        (item.heading, text[item.start : item.end].splitlines()[0])
        for item in code_segments(text, outline(text, "a.py"))
    ]


PROSE = "Node.js is a runtime.\n\nIt runs JavaScript outside of browsers; it was written in 2009.\nMany use it.\n"


@pytest.mark.parametrize("ending", CODE)
def test_code_is_recognized_with_and_without_its_name(ending):
    assert looks_like_code(CODE[ending])
    assert looks_like_code(CODE[ending], f"src/file.{ending}")
    assert {item.kind for item in segment(CODE[ending])} == {Kind.RECORD if ending == "json" else Kind.CODE}


def test_a_shell_script_is_recognized_by_its_name():
    assert looks_like_code('#!/bin/bash\nset -e\nfor f in *.txt; do\n  echo "$f"\ndone\n', "run.sh")


@pytest.mark.parametrize("name", [None, "Node.js", "https://en.wikipedia.org/wiki/Node.js", "a.md", "a.txt"])
def test_prose_stays_prose(name):
    assert not looks_like_code(PROSE, name)
    assert Kind.CODE not in {item.kind for item in segment(PROSE, name=name)}


@pytest.mark.parametrize("name", ["README.md", "page.html", "notes.txt"])
def test_a_name_of_prose_decides(name):
    assert not looks_like_code(CODE["py"], name)


def test_markdown_with_fences_is_not_code():
    assert not looks_like_code("```py\n" + CODE["py"] + "```\n")
    assert not looks_like_code("Text.\n\n```py\n" + CODE["py"] + "```\n")


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
